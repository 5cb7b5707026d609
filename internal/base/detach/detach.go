// Package detach runs work that its caller can leave behind: pure computations, such as a call of a function,
// that may take forever and look at no context.
//
// It may import bug. It must not know the computations.
package detach

import (
	"runtime"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// Patience is how long work may still take after its caller was asked to end. It is enough for anything that
// a person would not call stuck.
const Patience = time.Second

// Caller stands for the goroutine that waits for detached work. The work uses it for calls that must run on
// that goroutine. The zero value is ready to use, for one Run after the other. A Caller whose work was left
// behind belongs to that work.
type Caller struct {
	errands chan func()   // nil while nothing is detached
	left    chan struct{} // closed when the caller no longer waits
}

// Do runs f on the goroutine of the caller, which waits in Run, and returns when f has. If the caller has
// left the work behind, Do does not return: it ends the goroutine of the work. A panic of f continues in the
// caller. If nothing is detached, Do only calls f.
func (c *Caller) Do(f func()) {
	if c.errands == nil {
		f()
		return
	}
	done := make(chan struct{})
	select {
	case c.errands <- func() { defer close(done); f() }:
		<-done
	case <-c.left:
		runtime.Goexit()
	}
}

// Run calls work on a goroutine of its own and returns its result. If work has not returned Patience after
// stop was closed, Run leaves it behind and returns false: work goes on by itself, and so must not change
// anything that others use. A panic of work continues in the caller as a *bug.Error. c may be nil.
func Run[T any](c *Caller, stop <-chan struct{}, work func() T) (result T, ok bool) {
	type outcome struct {
		value    T
		panicked error
	}
	if c == nil {
		c = &Caller{}
	}
	c.errands, c.left = make(chan func()), make(chan struct{})
	defer close(c.left)
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.panicked = bug.Call(func() { o.value = work() })
		done <- o
	}()
	var late <-chan time.Time
	for {
		select {
		case o := <-done:
			c.errands = nil
			if o.panicked != nil {
				panic(o.panicked)
			}
			return o.value, true
		case errand := <-c.errands:
			errand()
		case <-stop:
			timer := time.NewTimer(Patience)
			defer timer.Stop()
			stop, late = nil, timer.C
		case <-late:
			return result, false
		}
	}
}
