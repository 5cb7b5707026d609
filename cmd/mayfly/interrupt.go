package main

import (
	"context"
	"errors"
	"os"
	"sync"
)

var errInterrupted = errors.New("interrupted")

// interruptible returns two contexts: soft ends at the first interrupt, when what runs is to be finished and nothing new may start, hard at the
// second, when everything is to stop. The person is told each time. The third is nobody's to handle any more and ends the process: something may not let
// itself be stopped. stop must be called at the end.
func (a *app) interruptible(ctx context.Context) (hard, soft context.Context, stop func()) {
	return a.endable(ctx,
		"Interrupt received.\nWaiting for what is under way, then recording the results. A second interrupt gives it up.",
		"Second interrupt received. What is under way is given up; what it has made may not be in the state.\nA third interrupt ends the program where it stands.")
}

// endable is interruptible with other notices, or without any.
func (a *app) endable(ctx context.Context, notices ...string) (hard, soft context.Context, stop func()) {
	hard, cancelHard := context.WithCancelCause(ctx)
	soft, cancelSoft := context.WithCancelCause(hard)
	done, signals := make(chan struct{}), make(chan os.Signal, 4)
	unsubscribe := sync.OnceFunc(a.env.Notify(signals))
	go func() {
		for n, cancel := range []context.CancelCauseFunc{cancelSoft, cancelHard} {
			select {
			case <-done:
				return
			case <-signals:
			}
			if n == 1 {
				unsubscribe()
			}
			if n < len(notices) {
				a.notice(notices[n])
			}
			cancel(errInterrupted)
		}
	}()
	return hard, soft, sync.OnceFunc(func() {
		unsubscribe()
		close(done)
		cancelSoft(nil)
		cancelHard(nil)
	})
}

// notice tells of something that happens beside the run.
func (a *app) notice(text string) {
	for _, s := range a.streams() {
		s.Log(text)
	}
	if a.stream != nil {
		return
	}
	write := func() { _, _ = a.env.Stderr.Write([]byte("\n" + text + "\n\n")) } // the run goes on, whether or not somebody reads this
	if s := a.live.status.Load(); s != nil {
		s.Above(write)
		return
	}
	write()
}
