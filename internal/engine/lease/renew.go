package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// minRenewGap is the minimum time between two renewals, even if a provider asks for one in the past.
const minRenewGap = time.Second

// maxRenewPause bounds the growing pause between attempts after failures.
const maxRenewPause = 30 * time.Second

// RenewLimit bounds one renewal. It is far longer than any renewal takes, since one that is given up may have
// happened.
const RenewLimit = 5 * time.Minute

// ErrRenewLimit is the cause with which the context of a renewal ends that takes longer than RenewLimit.
var ErrRenewLimit = errors.New("the renewal did not end in time")

// lookEvery is how often the loop looks at the time. Timers stand still while the machine sleeps.
const lookEvery = time.Minute

// life is one open thing between Open and Close. Its loop and its users compete to renew it; a token,
// of which there is one, keeps renewals apart.
type life[V any] struct {
	thing Thing[V] // protected by the pool's mutex; zero once closing has begun
	renew func(context.Context) (time.Time, error)
	now   func() time.Time

	ctx    context.Context // of renewals in the background
	cancel context.CancelFunc
	ending chan struct{} // closed when closing begins: no more renewals start
	kick   chan struct{} // wakes the loop after a use has renewed or tried to

	token   chan struct{} // full while a goroutine uses the fields below
	due     time.Time     // zero for never
	renewed time.Time     // of the last success, zero if none yet
	failed  error         // of the last attempt
	tried   time.Time     // of the last failure
	pause   time.Duration // after the last failure
}

// newLife takes over an open thing and starts the loop that renews it, which ends at once if nothing is due.
func newLife[V any](thing Thing[V], now func() time.Time) *life[V] {
	l := &life[V]{
		thing: thing, renew: thing.Renew, now: now,
		ending: make(chan struct{}), kick: make(chan struct{}, 1), token: make(chan struct{}, 1),
	}
	l.due = l.steady(thing.RenewAt)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if l.renew != nil {
		go l.keep()
	}
	return l
}

// end lets a renewal in progress finish, for limit at most, and prevents further ones.
func (l *life[V]) end(limit time.Duration) {
	close(l.ending)
	timer := time.AfterFunc(limit, l.cancel)
	l.token <- struct{}{}
	timer.Stop()
	l.cancel()
}

// take waits for the token. It fails when ctx or the life ends.
func (l *life[V]) take(ctx context.Context) error {
	select {
	case l.token <- struct{}{}:
	case <-l.ending:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-l.ending: // closing has begun
		l.give()
		return ErrClosed
	default:
		return nil
	}
}

func (l *life[V]) give() { <-l.token }

// next returns the time of the next renewal in the background, zero for never. The token is taken.
func (l *life[V]) next() time.Time {
	switch earliest := l.renewed.Add(minRenewGap); {
	case l.due.IsZero():
		return time.Time{}
	case l.failed != nil:
		return l.tried.Add(max(l.pause, minRenewGap))
	case l.due.Before(earliest):
		return earliest
	default:
		return l.due
	}
}

// steady returns a time, as a provider names it, with a reading of the monotonic clock for that time.
func (l *life[V]) steady(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	now := l.now()
	return now.Add(at.Sub(now))
}

// reached reports whether a time has come by either of the system's clocks: the wall clock may be set back,
// and the monotonic clock stands still while the machine sleeps.
func (l *life[V]) reached(at time.Time) bool {
	now := l.now()
	return !now.Before(at) || !now.Round(0).Before(at.Round(0))
}

// attempt renews once. The token is taken. A failure leaves due unchanged.
func (l *life[V]) attempt(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, RenewLimit, ErrRenewLimit)
	defer cancel()
	at, err := l.renew(ctx)
	l.failed = err
	if err != nil {
		l.tried = l.now()
		return
	}
	l.due, l.renewed, l.pause = l.steady(at), l.now(), 0
}

// keep renews in the background whenever renewal is due, with growing pauses after failures.
func (l *life[V]) keep() {
	for {
		next, ok := l.keepOnce()
		if !ok || next.IsZero() {
			return
		}
		select {
		case <-l.ending:
		case <-l.kick:
		case <-time.After(min(next.Sub(l.now()), lookEvery)):
		}
	}
}

// keepOnce renews if renewal is due, and returns the time of the next one. It returns false once the life
// ends.
func (l *life[V]) keepOnce() (time.Time, bool) {
	if l.take(l.ctx) != nil {
		return time.Time{}, false
	}
	defer l.give()
	if next := l.next(); next.IsZero() || !l.reached(next) {
		return next, true
	}
	l.attempt(l.ctx)
	if l.failed != nil {
		l.pause = min(max(2*l.pause, minRenewGap), maxRenewPause)
	}
	return l.next(), true
}

// fresh renews before a use if renewal is due or if the last attempt failed. The first failure is followed
// by one more attempt at once, whether it happened in the background or in a use, so that the outcome does
// not depend on which comes first.
func (l *life[V]) fresh(ctx context.Context) error {
	if l.renew == nil {
		return nil
	}
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.give()
	if l.due.IsZero() || l.failed == nil && !l.reached(l.next()) {
		return nil
	}
	trying, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	first := l.failed == nil
	l.attempt(trying)
	if first && l.failed != nil && trying.Err() == nil {
		l.attempt(trying)
	}
	select {
	case l.kick <- struct{}{}:
	default:
	}
	switch {
	case l.failed == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("%w: %w", ErrExpired, l.failed)
	}
}
