package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

var errInterrupted = errors.New("interrupted")

// interruptible returns two contexts: soft ends at the first interrupt, when what runs is to end and nothing
// new may start, hard at the second, when everything is given up. The person is notified each time. The third
// ends the process where it stands: something may not let itself be stopped. stop must be called at the end.
func (a *app) interruptible(ctx context.Context) (hard, soft context.Context, stop func()) {
	return a.endable(ctx,
		"Interrupt received.\nWaiting for what is under way, and starting nothing new. A second interrupt gives it up.",
		"Second interrupt received. What is under way is given up; what it has made may not be in the state.\nA third interrupt ends the program where it stands.")
}

// endable is interruptible with other notices, or without any.
func (a *app) endable(ctx context.Context, notices ...string) (hard, soft context.Context, stop func()) {
	hard, cancelHard := context.WithCancelCause(ctx)
	soft, cancelSoft := context.WithCancelCause(hard)
	done, signals := make(chan struct{}), make(chan os.Signal, 8)
	unsubscribe := sync.OnceFunc(a.env.Notify(signals))
	texts, shown := make(chan string, 2), make(chan struct{})
	go func() { // what has to end must not wait for those who read of it
		defer close(shown)
		for text := range texts {
			a.notice(text)
		}
	}()
	go func() {
		defer close(texts)
		var in interrupts
		for n, cancel := range []context.CancelCauseFunc{cancelSoft, cancelHard} {
			if in.next(signals, done) == nil {
				return
			}
			asking := a.prompt.Asking() // the one who asks reports the interrupt
			cancel(errInterrupted)
			a.patience.Interrupt()
			if n < len(notices) && !asking {
				texts <- notices[n]
			}
		}
		if sig := in.next(signals, done); sig != nil {
			unsubscribe()
			a.env.Die(sig)
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

// repeatTime is how soon after another the same signal is taken for that one again: timeout(1) signals a
// process and then the group that it is in, and a key that is held repeats.
const repeatTime = 200 * time.Millisecond

// interrupts tells signals that are interrupts of their own from those that arrive several times for one
// reason.
type interrupts struct {
	last   os.Signal
	at     time.Time
	hungUp bool
}

// next returns the signal of the next interrupt, nil once done is closed.
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

// counts reports whether a signal is an interrupt of its own. A terminal closes once, although the system and
// the shell both signal it, some time apart.
func (in *interrupts) counts(sig os.Signal, now time.Time) bool {
	repeated := sig == in.last && now.Sub(in.at) < repeatTime
	in.last, in.at = sig, now
	if sig == syscall.SIGHUP {
		repeated, in.hungUp = in.hungUp, true
	}
	return !repeated
}

// notice tells of something that happens beside the run.
func (a *app) notice(text string) {
	for _, s := range a.streams() {
		s.Log(text)
	}
	if a.stream != nil {
		return
	}
	// The run goes on, whether or not this can be read.
	a.status.Above(func() { _, _ = a.env.Stderr.Write([]byte("\n" + text + "\n\n")) })
}
