package main

import (
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/internal/testing/pty"
)

// TestStatusLine checks when a line is drawn, and that it is gone at the end.
func TestStatusLine(t *testing.T) {
	master, slave := pty.Open(t)
	seen := pty.Watch(master)
	for name, vars := range map[string]map[string]string{"automation": {"TF_IN_AUTOMATION": "1"}, "dumb": {"TERM": "dumb"}} {
		o := &output{env: environment{Stdout: slave, vars: vars}}
		stop := o.showStatus(1)
		if o.status.drawn.Load() != nil {
			t.Errorf("%s: there is a line", name)
		}
		stop()
	}
	o := &output{}
	out := term.NewOutlet(slave, o.patience.Over())
	out.Bottom = &o.status.Bottom
	o.env.Stdout = out
	if o.showStatus(0); o.status.drawn.Load() != nil {
		t.Error("there is a line for nothing")
	}
	stop := o.showStatus(1)
	eventually(t, "the line is drawn", func() bool { return strings.Contains(seen.String(), "0/1 done, ") })
	if _, err := out.Write([]byte("above\n")); err != nil {
		t.Error(err)
	}
	stop()
	stop()
	eventually(t, "the line is gone", func() bool {
		text := seen.String()
		return strings.Contains(text, "\x1b[Jabove") && strings.HasSuffix(text, "\r\x1b[J")
	})
	time.Sleep(500 * time.Millisecond) // it is drawn twice in this time
	if text := seen.String(); !strings.HasSuffix(text, "\r\x1b[J") {
		t.Errorf("it comes back: %q", text)
	}
}
