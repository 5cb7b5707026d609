package simprovider

import (
	"context"
	"errors"
	"sync"
)

var errStopped = errors.New("the provider was asked to stop")

// runningCalls are the calls that a provider works on. Stopping cancels them; later calls are not affected.
type runningCalls struct {
	mu      sync.Mutex
	stopped bool
	cancel  map[int]context.CancelCauseFunc // by number
}

// track registers a running call; done must be called when it is over.
func (r *runningCalls) track(ctx context.Context, seq int) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel[seq] = cancel
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.cancel, seq)
		cancel(nil)
	}
}

// stop cancels the running calls.
func (r *runningCalls) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, cancel := range r.cancel {
		cancel(errStopped)
	}
}

func (r *runningCalls) areStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}
