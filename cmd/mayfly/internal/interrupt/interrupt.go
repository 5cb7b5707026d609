// Package interrupt turns the signals that ask the program to end into the end of contexts.
//
// It knows no command: it is given the actions at an interrupt, beyond the contexts.
package interrupt

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// Err is the cause with which contexts end at an interrupt.
var Err = errors.New("interrupted")

// Source is where signals come from, with the functions called at an interrupt.
type Source struct {
	// Notify delivers signals to c until stop is called.
	Notify func(c chan<- os.Signal) (stop func())
	// Die ends the process as the signal would have without Notify.
	Die func(os.Signal)
	// Interrupted is called at the first and at the second interrupt, and must not block. quiet is true if
	// nothing needs to be announced, because a question is pending that reports the interrupt itself.
	Interrupted func() (quiet bool)
	// Announce shows a text. It may block until the text is read.
	Announce func(text string)
}

// Contexts returns two contexts: soft ends at the first interrupt, after which nothing new may start; hard
// ends at the second, which cancels running work. Each is announced by a notice, if there is one for it. A
// third interrupt ends the process at once, because not everything can be cancelled. stop must be called at
// the end; it waits until the announcements are written.
func (s Source) Contexts(ctx context.Context, notices ...string) (hard, soft context.Context, stop func()) {
	hard, cancelHard := context.WithCancelCause(ctx)
	soft, cancelSoft := context.WithCancelCause(hard)
	done, signals := make(chan struct{}), make(chan os.Signal, 8)
	unsubscribe := sync.OnceFunc(s.Notify(signals))
	texts, shown := make(chan string, 2), make(chan struct{})
	go func() { // ending must not wait for a reader of the announcement
		defer close(shown)
		for text := range texts {
			_ = bug.Call(func() { s.Announce(text) })
		}
	}()
	go func() {
		defer close(texts)
		var in interrupts
		for n, cancel := range []context.CancelCauseFunc{cancelSoft, cancelHard} {
			if in.next(signals, done) == nil {
				return
			}
			quiet := false
			_ = bug.Call(func() { quiet = s.Interrupted() }) // the run ends all the same
			cancel(Err)
			if n < len(notices) && !quiet {
				texts <- notices[n]
			}
		}
		if sig := in.next(signals, done); sig != nil {
			unsubscribe()
			s.Die(sig)
		}
	}()
	return hard, soft, sync.OnceFunc(func() {
		unsubscribe()
		close(done)
		<-shown
		cancelSoft(nil)
		cancelHard(nil)
	})
}

// Once returns a context that ends at the first interrupt, for work that need not be finished. The second
// interrupt ends the process. stop must be called at the end.
func (s Source) Once(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done, signals := make(chan struct{}), make(chan os.Signal, 1)
	unsubscribe := s.Notify(signals)
	go func() {
		select {
		case <-done:
		case <-signals:
			unsubscribe() // as if the program had never asked for signals
			cancel(Err)
		}
	}()
	return ctx, func() {
		unsubscribe()
		close(done)
		cancel(nil)
	}
}

// repeatTime is the time within which the same signal counts as a repetition: timeout(1) signals a process
// and then its process group, and a key that is held down repeats.
const repeatTime = 200 * time.Millisecond

// interrupts separates interrupts from repetitions of the same one.
type interrupts struct {
	last   os.Signal
	at     time.Time
	hungUp bool
}

// next returns the signal of the next interrupt. It returns nil when done is closed.
func (in *interrupts) next(signals <-chan os.Signal, done <-chan struct{}) os.Signal {
	for {
		select {
		case <-done:
			return nil
		case sig := <-signals:
			if in.counts(sig, time.Now()) {
				return sig
			}
		}
	}
}

// counts reports whether a signal is an interrupt of its own. A closing terminal counts once, although the
// system and the shell both report it, some time apart.
func (in *interrupts) counts(sig os.Signal, now time.Time) bool {
	repeated := sig == in.last && now.Sub(in.at) < repeatTime
	in.last, in.at = sig, now
	if sig == syscall.SIGHUP {
		repeated, in.hungUp = in.hungUp, true
	}
	return !repeated
}
