package view

import (
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
)

// screen is what a terminal shows after some text with returns and cleared lines.
func screen(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if at := strings.LastIndex(l, clearLine); at >= 0 {
			l = l[at+len(clearLine):]
		}
		lines[i] = strings.TrimSuffix(l, "\r") // the cursor waits at the beginning
	}
	return lines
}

func TestStatusText(t *testing.T) {
	var out strings.Builder
	now, width := time.Unix(0, 0), 80
	p := &plan.Plan{Changes: []*plan.Change{{Action: plan.Create}, {Action: plan.NoOp}, {Action: plan.DeleteThenCreate}, {Action: plan.Read}}}
	s := NewStatus(&out, Options{}, nil, func() int { return width }, func() time.Time { return now })
	s.Count(Steps(p))
	expect := func(want ...string) {
		t.Helper()
		if got := strings.Join(screen(out.String()), "|"); got != strings.Join(want, "|") {
			t.Errorf("the screen has %q, want %q", got, want)
		}
	}
	_, _ = s.Pass(&out, []byte("before\n"))
	expect("before", "")
	s.Draw()
	expect("before", "0/4 done, 0s elapsed")
	s.Event(event.Event{Kind: event.Started, Op: event.OpCreate})
	s.Event(event.Event{Kind: event.Started, Op: event.OpDelete})
	s.Event(event.Event{Kind: event.Started, Op: event.OpOpen})
	s.Event(event.Event{Kind: event.Progress, Op: event.OpCreate})
	s.Event(event.Event{Kind: event.Failed, Op: event.OpDelete})
	now = now.Add(90 * time.Second)
	_, _ = s.Pass(&out, []byte("a line\n"))
	expect("before", "a line", "1/4 done, 1 running, 1m30s elapsed")
	_, _ = s.Pass(&out, []byte("half "))
	s.Draw()
	expect("before", "a line", "half ")
	_, _ = s.Pass(&out, []byte("and half\n"))
	s.Draw()
	width = 10
	s.Draw()
	if !strings.HasSuffix(out.String(), "\r\x1b[J1/4 done,\r") {
		t.Errorf("a line that a narrower terminal breaks would not be cleared: %q", out.String())
	}
	expect("before", "a line", "half and half", "1/4 done,")
	_, _ = s.Pass(&out, []byte("aside\n"))
	s.Event(event.Event{Kind: event.PutOff, Op: event.OpRead})
	for range 4 {
		s.Event(event.Event{Kind: event.Completed, Op: event.OpRead})
	}
	width = 0
	s.Draw()
	expect("before", "a line", "half and half", "aside", "6/6 done, 1m30s elapsed")
	s.End()
	s.Draw()
	_, _ = s.Pass(&out, []byte("after\n"))
	expect("before", "a line", "half and half", "aside", "after", "")
}
