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

// Status is a line at the bottom of a terminal with the current work of a command, or the progress of an
// apply or of a suite of tests. Text that is passed on by it appears above the line. It is safe for
// concurrent use: events, text and drawing come from different goroutines.
type Status struct {
	mu    sync.Mutex
	w     io.Writer
	o     Options
	width func() int
	now   func() time.Time
	begin time.Time
	doing *Activity // nil for none

	total, done, running int // total is 0 if no steps are counted
	hidden               int // how many callers want the line hidden
	drawn, ended         bool
	middle               bool // the text written last has no line end yet
}

// NewStatus returns a status line that is drawn on w. width returns the current width of the terminal, 0 if
// unknown. While no steps are counted, the line shows the work from doing, which may be nil, that has taken
// more than a second.
func NewStatus(w io.Writer, o Options, doing *Activity, width func() int, now func() time.Time) *Status {
	return &Status{w: w, o: o, doing: doing, width: width, now: now, begin: now()}
}

// Count counts steps from now on; of none, the line shows no count any more.
func (s *Status) Count(steps int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total, s.done, s.running, s.begin = steps, 0, 0, s.now()
	if steps == 0 {
		s.clear()
	}
}

// Hide removes the line until the returned function is called.
func (s *Status) Hide() (show func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.hidden++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hidden--
	})
}

// Steps returns how many steps the apply of a plan has.
func Steps(p *plan.Plan) int {
	n := len(p.Invocations)
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
	case event.OpCreate, event.OpUpdate, event.OpDelete, event.OpForget, event.OpRead, event.OpInvoke:
	default:
		return
	}
	switch e.Kind {
	case event.Started:
		s.Begin()
	case event.Completed, event.Failed, event.PutOff:
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
	if s.total > 0 {
		s.total = max(s.total, s.done) // data sources that only a check reads are in no plan
	}
}

// Draw shows the line as it is now.
func (s *Status) Draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw()
}

// text returns the text of the line; "" for an empty line. s.mu is held.
func (s *Status) text() string {
	now := s.now()
	doing := ""
	if s.doing != nil && s.done >= s.total {
		doing = s.doing.text(now)
	}
	if doing != "" || s.total == 0 {
		return doing
	}
	return fmt.Sprintf("%d/%d done%s, %s elapsed%s", s.done, s.total, runningText(s.running), seconds(now.Sub(s.begin)), s.doing.longNow(now))
}

// runningText returns how many steps are running, to be appended to a line; "" for none: something else that
// is no step, such as an opening, is under way then.
func runningText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d running", n)
}

// draw draws the line, unless the cursor is in the middle of a line of text. s.mu is held.
func (s *Status) draw() {
	if s.ended || s.middle || s.hidden > 0 {
		return
	}
	text := s.text()
	if text == "" {
		s.clear()
		return
	}
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

// Pass writes a text to a stream of the same terminal: it appears above the line.
func (s *Status) Pass(to io.Writer, text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.drawn
	s.clear()
	n, err := to.Write(text)
	if len(text) > 0 {
		s.middle = text[len(text)-1] != '\n'
	}
	if shown {
		s.draw()
	}
	return n, err
}

// End removes the line for good.
func (s *Status) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.ended = true
}
