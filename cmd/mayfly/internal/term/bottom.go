package term

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-iac/mayfly/bug"
)

// statusRefresh is the time between two drawings of a status, short enough for a clock that counts seconds.
const statusRefresh = 250 * time.Millisecond

// Status is what can be drawn at the bottom of a terminal. Its methods must be safe for concurrent use.
type Status interface {
	io.Writer // writes whole lines above the status
	// Draw draws the status anew.
	Draw()
	// End takes the status away.
	End()
	// Above calls write, which writes to the terminal past the status, with the status out of the way.
	Above(write func())
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

// Above calls write, which writes to the terminal directly, with the status removed meanwhile.
func (b *Bottom) Above(write func()) {
	if s := b.status.Load(); s != nil {
		(*s).Above(write)
		return
	}
	write()
}

// Writer returns a stream for text on a terminal whose bottom this is.
func (b *Bottom) Writer(terminal io.Writer) io.Writer { return above{b, terminal} }

type above struct {
	bottom   *Bottom
	terminal io.Writer
}

// Write implements io.Writer.
func (a above) Write(text []byte) (int, error) {
	if s := a.bottom.status.Load(); s != nil {
		return (*s).Write(text)
	}
	return a.terminal.Write(text)
}
