package main

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/view"
)

const statusRefresh = 250 * time.Millisecond

// live is what is drawn at the bottom of the terminal while an apply runs; nil at other times.
type live struct{ status atomic.Pointer[view.Status] }

// Event implements event.Observer.
func (l *live) Event(e event.Event) {
	if s := l.status.Load(); s != nil {
		s.Event(e)
	}
}

// above is standard output for what is written while an apply may run.
type above struct {
	live *live
	out  io.Writer
}

// Write implements io.Writer.
func (a above) Write(text []byte) (int, error) {
	if s := a.live.status.Load(); s != nil {
		return s.Write(text)
	}
	return a.out.Write(text)
}

// showStatus draws a line with the progress of an apply until stop is called. It does so on terminals with a
// person in front of them only.
func (a *app) showStatus(p *plan.Plan) (stop func()) {
	out := terminalOf(a.env.Stdout)
	if out == nil || a.stream != nil || a.vars["TF_IN_AUTOMATION"] != "" || a.vars["TERM"] == "dumb" || a.view.Concise || !p.Changed() {
		return func() {}
	}
	s := view.NewStatus(a.env.Stdout, a.view, p, func() int {
		width, _, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return 0
		}
		return width
	}, time.Now)
	a.live.status.Store(s)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(statusRefresh)
		defer tick.Stop()
		for {
			s.Draw()
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
		s.End()
		a.live.status.Store(nil)
	})
}
