package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apparentlymart/go-versions/versions"
	"golang.org/x/sys/unix"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/pty"
)

// TestDownloadBar checks that a bar appears on a terminal, and that nothing at all does elsewhere.
func TestDownloadBar(t *testing.T) {
	p, v := addr.DefaultProvider("random"), versions.MustParseVersion("3.9.0")
	var buf bytes.Buffer
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, env := range []environment{{Stdout: &buf}, {Stdout: file}} {
		if (&output{env: env}).downloading() != nil {
			t.Errorf("a bar for %T", env.Stdout)
		}
	}
	master, slave := pty.Open(t)
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	seen := pty.Watch(master)
	o := &output{env: environment{Stdout: slave}}
	progress, done := o.downloading()(p, v)
	const size = 10 << 20
	for n := int64(0); n <= size; n += size / 8 {
		progress(n, size)
		time.Sleep(30 * time.Millisecond) // the bar is drawn by the clock
	}
	eventually(t, "the bar is drawn", func() bool {
		return strings.Contains(seen.String(), "hashicorp/random v3.9.0") && strings.Contains(seen.String(), "of 10.0 MiB")
	})
	done()
	_, done = o.downloading()(p, v)
	done() // a download that fails before it begins
}

// TestCommandsAreWholeOnTerminals has a command at the end of a line, in a message for a terminal and in one
// for a pipe.
func TestCommandsAreWholeOnTerminals(t *testing.T) {
	master, slave := pty.Open(t)
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: plainWidth}); err != nil {
		t.Fatal(err)
	}
	_ = pty.Watch(master)
	o := &output{}
	text := strings.Repeat("word ", 10) + "then run: mayfly state list"
	for stream, want := range map[io.Writer]string{
		slave:           "word then run:\n       mayfly state list",
		&bytes.Buffer{}: "word then run: mayfly\n       state list",
	} {
		if got := o.terminal(stream).Hanging(text, 7); !strings.HasSuffix(got, want) {
			t.Errorf("%T: %q", stream, got)
		}
	}
}
