package lease

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// TestE50_ClockIsSet sets the wall clock while something is open that is to be renewed every ten minutes. Set
// back, it must not delay the renewal. Set forward, as after the machine has slept, the renewal soon catches
// up.
func TestE50_ClockIsSet(t *testing.T) {
	for _, test := range []struct {
		name string
		by   time.Duration
		wait time.Duration
	}{{"back", -time.Hour, 10*time.Minute + time.Second}, {"forward", time.Hour, time.Minute + time.Second}} {
		t.Run(test.name, func(t *testing.T) {
			real := time.Now() // those of synctest have no monotonic part
			synctest.Test(t, func(t *testing.T) {
				var shift atomic.Int64 // seconds
				begin := time.Now()
				now := func() time.Time {
					at := real.Add(time.Since(begin))
					// A Time begins with the wall clock, whose seconds begin at bit 30.
					*(*uint64)(unsafe.Pointer(&at)) += uint64(shift.Load()) << 30
					return at
				}
				var renewals atomic.Int32
				next := func() time.Time { return now().Round(0).Add(10 * time.Minute) }
				l := newLife(Thing[int]{RenewAt: next(), Renew: func(context.Context) (time.Time, error) {
					renewals.Add(1)
					return next(), nil
				}}, now)
				for round := range int32(2) {
					synctest.Wait() // the loop has looked at the time
					shift.Add(int64(test.by / time.Second))
					time.Sleep(test.wait)
					synctest.Wait()
					if n := renewals.Load(); n != round+1 {
						t.Errorf("got %d renewals, want %d", n, round+1)
					}
				}
				l.end(time.Second)
			})
		})
	}
}
