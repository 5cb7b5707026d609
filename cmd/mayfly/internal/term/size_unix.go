//go:build !windows

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// followSize passes changes of the window size on to the line editor until stop is called.
func (l *terminalLines) followSize() (stop func()) {
	changed, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changed, syscall.SIGWINCH)
	l.resize()
	go func() {
		for {
			select {
			case <-done:
				return
			case <-changed:
				l.resize()
			}
		}
	}()
	return func() {
		signal.Stop(changed)
		close(done)
	}
}
