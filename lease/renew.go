package lease

import (
	"context"
	"fmt"
	"time"
)

// minRenewGap is the least time between two renewals, also when a provider asks for one in the past.
const minRenewGap = time.Second

// maxRenewPause bounds the growing pause between attempts after failures.
const maxRenewPause = 30 * time.Second

// startRenewal starts the loop that renews e for as long as it is open. p.mu is held.
func (p *Pool[K, V]) startRenewal(e *entry[K, V]) {
	if e.renewAt.IsZero() || e.thing.Renew == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.stop = cancel
	renew := e.thing.Renew
	go e.renewLoop(ctx, renew, p.opt.Now)
}

func (e *entry[K, V]) renewLoop(ctx context.Context, renew func(context.Context) (time.Time, error), now func() time.Time) {
	pause := minRenewGap
	for {
		e.renewal.Lock()
		at := e.renewAt
		e.renewal.Unlock()
		if at.IsZero() {
			return
		}
		wait := max(at.Sub(now()), minRenewGap)
		if e.failing() {
			wait = pause
			pause = min(2*pause, maxRenewPause)
		} else {
			pause = minRenewGap
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		e.renewal.Lock()
		if ctx.Err() == nil && !e.renewAt.IsZero() && !now().Before(e.renewAt) {
			e.renewOnce(ctx, renew, now)
		}
		e.renewal.Unlock()
	}
}

func (e *entry[K, V]) failing() bool {
	e.renewal.Lock()
	defer e.renewal.Unlock()
	return e.renewOK != nil
}

// renewOnce makes one attempt. e.renewal is held. A failure leaves renewAt where it is, so that the next use tries again.
func (e *entry[K, V]) renewOnce(ctx context.Context, renew func(context.Context) (time.Time, error), now func() time.Time) {
	at, err := renew(ctx)
	e.renewOK = err
	if err == nil {
		e.renewAt, e.renewed = at, now()
	}
}

// renewIfDue renews e if its time has come or the last attempt failed.
func (e *entry[K, V]) renewIfDue(ctx context.Context, now func() time.Time) error {
	if e.thing.Renew == nil {
		return nil
	}
	e.renewal.Lock()
	defer e.renewal.Unlock()
	if e.renewAt.IsZero() || now().Before(e.renewAt) && e.renewOK == nil {
		return nil
	}
	if e.renewOK == nil && now().Sub(e.renewed) < minRenewGap {
		return nil
	}
	e.renewOnce(ctx, e.thing.Renew, now)
	if e.renewOK != nil {
		return fmt.Errorf("%w: %w", ErrExpired, e.renewOK)
	}
	return nil
}
