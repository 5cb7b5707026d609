package view

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
)

// clearLine returns to the beginning of a terminal's line and empties all from there on. The cursor waits at
// the beginning of the line that is drawn: many terminals break lines anew when they become narrower, and
// then the rest of it is below.
const clearLine = "\r\x1b[J"

// Status is a line at the bottom of a terminal with the progress of an apply, or of a suite of tests. Text
// written through it appears above the line. It is safe for concurrent use: events, text and drawing come
// from different goroutines.
type Status struct {
	mu    sync.Mutex
	w     io.Writer
	o     Options
	width func() int
	now   func() time.Time
	begin time.Time

	total, done, running int
	drawn, ended         bool
	middle               bool // the text written last has no line end yet
}

// NewStatus returns a status line for a number of steps, which begins to count time now. width is that of the
// terminal at the moment it is called, 0 if unknown. Nothing is drawn before Draw.
func NewStatus(w io.Writer, o Options, steps int, width func() int, now func() time.Time) *Status {
	return &Status{w: w, o: o, total: steps, width: width, now: now, begin: now()}
}

// Steps returns how many steps the apply of a plan has.
func Steps(p *plan.Plan) int {
	n := 0
	for _, c := range p.Changes {
		switch {
		case c.Action.IsReplace():
			n += 2
		case c.Action != plan.NoOp:
			n++
		}
	}
	return n
}

// Event implements event.Observer. It only counts: the caller draws at its own pace, however many events
// there are.
func (s *Status) Event(e event.Event) {
	switch e.Op {
	case event.OpCreate, event.OpUpdate, event.OpDelete, event.OpForget, event.OpRead:
	default:
		return
	}
	switch e.Kind {
	case event.Started:
		s.Begin()
	case event.Completed, event.Failed:
		s.Done()
	}
}

// Begin counts a step that begins.
func (s *Status) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
}

// Done counts a step that ends.
func (s *Status) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = max(0, s.running-1)
	s.done++
	s.total = max(s.total, s.done) // data sources that only a check reads are in no plan
}

// Draw shows the line as it is now.
func (s *Status) Draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw()
}

// draw draws the line, unless the cursor is in the middle of a line of text. s.mu is held.
func (s *Status) draw() {
	if s.ended || s.middle {
		return
	}
	text := fmt.Sprintf("%d/%d done, %d running, %s elapsed", s.done, s.total, s.running, seconds(s.now().Sub(s.begin)))
	if width := s.width(); width > 1 {
		text = ansi.Truncate(text, width-1, "") // a full line would move the cursor
	}
	if s.o.Color {
		text = s.o.paint(bold, text)
	}
	s.put(clearLine + text + "\r")
	s.drawn = true
}

// put writes to the terminal. Errors are ignored: a closed terminal needs no status line.
func (s *Status) put(text string) { _, _ = io.WriteString(s.w, text) }

// clear removes the line for the moment. s.mu is held.
func (s *Status) clear() {
	if s.drawn {
		s.put(clearLine)
		s.drawn = false
	}
}

// Write implements io.Writer: the text appears above the line.
func (s *Status) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.drawn
	s.clear()
	n, err := s.w.Write(text)
	if len(text) > 0 {
		s.middle = text[len(text)-1] != '\n'
	}
	if shown {
		s.draw()
	}
	return n, err
}

// Above removes the line, calls f, which writes whole lines to the terminal by other means, and draws the
// line again.
func (s *Status) Above(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.drawn
	s.clear()
	f()
	if shown {
		s.draw()
	}
}

// End removes the line for good.
func (s *Status) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.ended = true
}
