package main

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/telemetry"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// statusLine is the bottom of standard output, which shows the work of a command and its progress. It passes
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

// showActivity draws the command's work until stop is called, if it takes more than a second and a person
// watches at a terminal; elsewhere, one line says that the state's service is slow. It returns a watcher,
// which must be given the spans. stop may be called more than once.
func (o *output) showActivity(asking func() bool) (watch telemetry.Watcher, stop func()) {
	out := term.Of(o.env.Stdout)
	if out == nil || o.env.vars["TF_IN_AUTOMATION"] != "" || o.env.vars["TERM"] == "dumb" {
		return view.NewWaiting(5*time.Second, func(text string) {
			if !asking() {
				o.notice(text)
			}
		}), func() {}
	}
	doing := view.NewActivity()
	stop = o.draw(out, doing)
	return doing, stop
}

// draw draws a status on a terminal until stop is called. doing may be nil.
func (o *output) draw(out *os.File, doing *view.Activity) (stop func()) {
	var to io.Writer = out
	if o, ok := o.env.Stdout.(*term.Outlet); ok {
		to = o.Direct()
	}
	s := view.NewStatus(to, o.view, doing, func() int {
		width, _ := term.Width(out)
		return width
	}, time.Now)
	o.status.drawn.Store(s)
	end := o.status.Show(s)
	return sync.OnceFunc(func() {
		end()
		o.status.drawn.Store(nil)
	})
}

// silence draws nothing from now on, since the output is for programs, or is to be short.
func (o *output) silence() { _ = o.status.Hide() }

// showStatus draws the progress of a number of steps until stop is called. It does so only if a person
// watches at a terminal. stop may be called more than once.
func (o *output) showStatus(steps int) (stop func()) {
	out := term.Of(o.env.Stdout)
	if out == nil || o.stream != nil || o.env.vars["TF_IN_AUTOMATION"] != "" || o.env.vars["TERM"] == "dumb" || o.view.Concise || steps == 0 {
		return func() {}
	}
	s, end := o.status.drawn.Load(), func() {}
	if s == nil {
		end = o.draw(out, nil)
		s = o.status.drawn.Load()
	}
	s.Count(steps)
	s.Draw()
	return sync.OnceFunc(func() {
		s.Count(0)
		end()
	})
}
