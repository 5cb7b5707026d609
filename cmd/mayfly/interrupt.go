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

// interruptible returns two contexts: soft ends at the first interrupt, after which nothing new may start;
// hard ends at the second, which cancels running work. Each is announced. A third ends the process at once,
// because not everything can be cancelled. stop must be called at the end.
func (a *app) interruptible(ctx context.Context) (hard, soft context.Context, stop func()) {
	return a.endable(ctx,
		"Interrupt received.\nWaiting for what is under way, and starting nothing new. A second interrupt gives it up.",
		"Second interrupt received. What is under way is given up; what it has made may not be in the state.\nA third interrupt ends the program where it stands.")
}

// endable is interruptible with other announcements, or none.
func (a *app) endable(ctx context.Context, notices ...string) (hard, soft context.Context, stop func()) {
	hard, cancelHard := context.WithCancelCause(ctx)
	soft, cancelSoft := context.WithCancelCause(hard)
	done, signals := make(chan struct{}), make(chan os.Signal, 8)
	unsubscribe := sync.OnceFunc(a.env.Notify(signals))
	texts, shown := make(chan string, 2), make(chan struct{})
	go func() { // ending must not wait for a reader of the announcement
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
			asking := a.prompt.Asking() // a pending question reports the interrupt itself
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

// notice shows a message beside the output of the run.
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
