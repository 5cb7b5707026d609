//go:build !windows

package term

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// followSize calls resize now and, until stop is called, whenever the size of the terminal changes.
func followSize(resize func()) (stop func()) {
	changed, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changed, syscall.SIGWINCH)
	resize()
	go func() {
		for {
			select {
			case <-done:
				return
			case <-changed:
				_ = bug.Call(func() { resize() }) // the size stays as it was
			}
		}
	}()
	return func() {
		signal.Stop(changed)
		close(done)
	}
}
