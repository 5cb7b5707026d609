package term

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// statusRefresh is the time between two drawings of a status, short enough for a clock that counts seconds.
const statusRefresh = 250 * time.Millisecond

// Status can be drawn at the bottom of a terminal. Its methods must be safe for concurrent use.
type Status interface {
	// Pass writes whole lines to a stream of the terminal, above the status.
	Pass(to io.Writer, text []byte) (int, error)
	// Draw draws the status anew.
	Draw()
	// Hide takes the status away until show is called.
	Hide() (show func())
	// End takes the status away.
	End()
}

// Bottom is the bottom of a terminal, where a status may be drawn. The zero value has none. It is safe for
// concurrent use.
type Bottom struct {
	status atomic.Pointer[Status]
}

// Show draws a status repeatedly until stop is called, which may be called more than once.
func (b *Bottom) Show(s Status) (stop func()) {
	b.status.Store(&s)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(statusRefresh)
		defer tick.Stop()
		for bug.Call(func() { s.Draw() }) == nil {
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
		b.status.Store(nil)
	})
}

// Hide takes the status away, if there is one, until show is called.
func (b *Bottom) Hide() (show func()) {
	if s := b.status.Load(); s != nil {
		return (*s).Hide()
	}
	return func() {}
}

// pass writes a text to a stream of the terminal, above the status if there is one.
func (b *Bottom) pass(to io.Writer, text []byte) (int, error) {
	if s := b.status.Load(); s != nil {
		return (*s).Pass(to, text)
	}
	return to.Write(text)
}
