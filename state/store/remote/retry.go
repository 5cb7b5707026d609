package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// The pauses between attempts double from the first to the longest, each shortened by a random part so that
// many runs do not come back at once. After the budget, the last error is final.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 15 * time.Second
	retryBudget  = 2 * time.Minute
)

// attempts counts the attempts of one request.
type attempts struct {
	began time.Time
	n     int
	pause time.Duration
}

func newAttempts() *attempts { return &attempts{began: time.Now(), pause: firstPause} }

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
	if spent := time.Since(a.began); spent+pause > retryBudget {
		return fmt.Errorf("%w (tried %d times in %s)", err, a.n, spent.Round(time.Second))
	}
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
func retry(ctx context.Context, f func() error) error {
	for a := newAttempts(); ; {
		err := f()
		if err == nil {
			return nil
		}
		if err = a.again(ctx, err); err != nil {
			return err
		}
	}
}
