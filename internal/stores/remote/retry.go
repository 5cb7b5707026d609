package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// The pauses between attempts double from the first to the longest, each shortened by a random part so that
// many runs do not come back at once.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 15 * time.Second
)

// lingering is how long the answer to a request that takes a lock is awaited after an interrupt.
const lingering = 5 * time.Second

// patience is how long a request is tried. After that, the last error is final.
type patience time.Duration

const (
	// impatient is for requests at the beginning of a run: nothing is lost if it fails, and a user who has
	// mistyped an address is waiting for the answer.
	impatient = patience(20 * time.Second)
	// patient is for requests without which results of a run are lost.
	patient = patience(2 * time.Minute)
)

// attempts counts the attempts of one request.
type attempts struct {
	limit patience
	began time.Time
	n     int
	pause time.Duration
}

func newAttempts(limit patience) *attempts {
	return &attempts{limit: limit, began: time.Now(), pause: firstPause}
}

// again waits before the next attempt after err. It returns nil if there is to be one, and else the error to
// return to the caller: err itself if it is final, or err with the number of attempts.
func (a *attempts) again(ctx context.Context, err error) error {
	var passing *Passing
	if !errors.As(err, &passing) {
		return err
	}
	a.n++
	pause := max(a.pause-rand.N(a.pause/2+1), passing.After)
	a.pause = min(2*a.pause, longestPause)
	if spent := time.Since(a.began); spent+pause > time.Duration(a.limit) {
		err = fmt.Errorf("%w (tried %d times in %s)", err, a.n, spent.Round(time.Second))
		if passing.Hint != "" {
			err = fmt.Errorf("%w. %s", err, passing.Hint)
		}
		return err
	}
	trace.Note(ctx, trace.Warn, "trying again in %s: %s", pause.Round(time.Millisecond), err)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), err)
	}
}

// retry calls f, which must be safe to repeat, until it succeeds or fails for good.
func retry(ctx context.Context, limit patience, f func() error) error {
	for a := newAttempts(limit); ; {
		err := bug.Catch(f) // in which a journal or a state must not get lost
		if err == nil {
			return nil
		}
		if err = a.again(ctx, err); err != nil {
			return err
		}
	}
}

// ask is retry for requests with an answer.
func ask[T any](ctx context.Context, limit patience, f func() (T, error)) (answer T, err error) {
	err = retry(ctx, limit, func() (err error) {
		answer, err = f()
		return err
	})
	return answer, err
}

// linger returns a context that ends some time after ctx does. The caller cancels it.
func linger(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(after, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(later, func() { timer.Stop() })
	})
	return later, func() {
		stop()
		cancel(nil)
	}
}
