package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/view"
)

// statusLine is the bottom of standard output, where the progress of a running apply is drawn. It passes
// events on for as long as the line is there: the observers of a run are set up before anything is planned.
type statusLine struct {
	term.Bottom
	drawn atomic.Pointer[view.Status] // nil at other times
}

// Event implements event.Observer.
func (l *statusLine) Event(e event.Event) {
	if s := l.drawn.Load(); s != nil {
		s.Event(e)
	}
}

// Run counts a run of a suite that begins, or ends.
func (l *statusLine) Run(begins bool) {
	s := l.drawn.Load()
	switch {
	case s == nil:
	case begins:
		s.Begin()
	default:
		s.Done()
	}
}

// showStatus draws the progress of a number of steps until stop is called. It does so only if a person
// watches at a terminal. stop may be called more than once.
func (a *app) showStatus(steps int) (stop func()) {
	out := term.Of(a.env.Stdout)
	if out == nil || a.stream != nil || a.vars["TF_IN_AUTOMATION"] != "" || a.vars["TERM"] == "dumb" || a.view.Concise || steps == 0 {
		return func() {}
	}
	s := view.NewStatus(a.env.Stdout, a.view, steps, func() int {
		width, _ := term.Width(out)
		return width
	}, time.Now)
	a.status.drawn.Store(s)
	end := a.status.Show(s)
	return sync.OnceFunc(func() {
		end()
		a.status.drawn.Store(nil)
	})
}
