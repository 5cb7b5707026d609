package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// renewer is one thing in a pool on virtual time, with a log of when it was renewed and closed, in seconds
// since the start.
type renewer struct {
	pool  *Pool[string, string]
	begun time.Time
	at    func(n int) (time.Duration, error) // the answer to the n-th renewal: the time until the next one
	takes time.Duration

	mu       sync.Mutex
	renewals []float64
	closed   []float64
	private  int // grows with each successful renewal
	atClose  int
	until    error // why the last renewal's context had ended, if it had
}

func newRenewer(at func(n int) (time.Duration, error)) *renewer {
	return &renewer{
		begun: time.Now(), at: at,
		pool: NewPool[string, string](Options[string]{CloseLimit: 10 * time.Second}),
	}
}

func (r *renewer) seconds() float64 { return time.Since(r.begun).Seconds() }

func (r *renewer) acquire(t *testing.T, first time.Duration) *Lease[string, string] {
	t.Helper()
	l, err := r.pool.Acquire("k", await(t.Context()), func() (Thing[string], error) {
		return Thing[string]{Value: "v", RenewAt: time.Now().Add(first), Renew: r.renew, Close: func(context.Context) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.closed, r.atClose = append(r.closed, r.seconds()), r.private
		}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (r *renewer) renew(ctx context.Context) (time.Time, error) {
	r.mu.Lock()
	r.renewals = append(r.renewals, r.seconds())
	n, takes := len(r.renewals), r.takes
	r.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		r.until = ctx.Err()
		return time.Time{}, ctx.Err()
	}
	next, err := r.at(n)
	if err != nil {
		return time.Time{}, err
	}
	r.private++
	if next == never {
		return time.Time{}, nil
	}
	return time.Now().Add(next), nil
}

const never = time.Duration(1<<63 - 1)

func every(d time.Duration) func(int) (time.Duration, error) {
	return func(int) (time.Duration, error) { return d, nil }
}

func (r *renewer) check(t *testing.T, renewals ...float64) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(renewals, r.renewals); diff != "" {
		t.Errorf("renewals (-want +got)\n%s", diff)
	}
}

func use(t *testing.T, l *Lease[string, string]) {
	t.Helper()
	if v, err := l.Value(t.Context()); v != "v" || err != nil {
		t.Errorf("Value: got %q, %v, want \"v\"", v, err)
	}
}

var errRenew = errors.New("no longer entitled")

func failing(int) (time.Duration, error) { return 0, errRenew }

func TestE50_RenewalInBackground(t *testing.T) {
	tests := []struct {
		name  string
		first time.Duration
		at    func(int) (time.Duration, error)
		lasts time.Duration
		want  []float64
	}{
		{"regular", 10 * time.Second, every(10 * time.Second), 35 * time.Second, []float64{10, 20, 30}},
		{"soon after opening", 300 * time.Millisecond, every(time.Hour), time.Minute, []float64{0.3}},
		{"in the past never spins", -time.Minute, every(-time.Minute), 3500 * time.Millisecond, []float64{0, 1, 2, 3}},
		{"too often", time.Second, every(time.Millisecond), 3500 * time.Millisecond, []float64{1, 2, 3}},
		{"no more", time.Second, every(never), time.Hour, []float64{1}},
		{"growing pauses after failures", 10 * time.Second, failing, 103 * time.Second, []float64{10, 11, 13, 17, 25, 41, 71, 101}},
		{"pauses begin anew after a success", time.Second, func(n int) (time.Duration, error) {
			if n%3 == 0 {
				return 10 * time.Second, nil
			}
			return 0, errRenew
		}, 20 * time.Second, []float64{1, 2, 4, 14, 15, 17}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRenewer(test.at)
				l := r.acquire(t, test.first)
				time.Sleep(test.lasts)
				l.Release()
				r.pool.Drained()
				closed := r.seconds()
				time.Sleep(time.Hour)
				r.check(t, test.want...)
				if diff := cmp.Diff([]float64{closed}, r.closed); diff != "" {
					t.Errorf("closings (-want +got)\n%s", diff)
				}
			})
		})
	}
}

func TestE50_NoRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, thing := range []Thing[string]{
			{Value: "v", RenewAt: time.Now().Add(time.Second)},
			{Value: "v", Renew: func(context.Context) (time.Time, error) {
				t.Error("renewed without a RenewAt")
				return time.Time{}, nil
			}},
		} {
			pool := NewPool[string, string](Options[string]{CloseLimit: time.Second})
			l, err := pool.Acquire("k", await(t.Context()), func() (Thing[string], error) { return thing, nil })
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(24 * time.Hour)
			use(t, l)
			l.Release()
			pool.Drained()
		}
	})
}

// The clock may stand ahead of the timers, as after a suspend: then it is the use that notices.
func TestE50_UseRenewsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRenewer(every(10 * time.Second))
		var ahead time.Duration
		r.pool.opt.Now = func() time.Time { return time.Now().Add(ahead) }
		l := r.acquire(t, 10*time.Second)
		use(t, l)
		r.check(t)
		synctest.Wait()
		ahead = time.Minute
		use(t, l)
		r.check(t, 0)
		l.Release()
		r.pool.Drained()
	})
}

func TestE50_UseWaitsForRenewalUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRenewer(every(time.Hour))
		r.takes = 3 * time.Second
		l := r.acquire(t, time.Second)
		time.Sleep(2 * time.Second)
		use(t, l)
		if got := r.seconds(); got != 4 {
			t.Errorf("the value was there at %v, want 4", got)
		}
		r.check(t, 1)
		l.Release()
		r.pool.Drained()
	})
}

func TestUseGivesUpWaitingWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRenewer(every(time.Hour))
		r.takes = time.Hour
		l := r.acquire(t, time.Second)
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Value(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrExpired) {
			t.Errorf("Value: %v", err)
		}
		r.check(t, 1)
		l.Release()
		r.pool.Drained()
	})
}

// TestE54_RenewalOfAUse has a use renew first, which takes long. It ends with the context of the use. When
// the thing is to be closed, it ends after the limit for that.
func TestE54_RenewalOfAUse(t *testing.T) {
	tests := []struct {
		name  string
		until time.Duration // of the use
		want  error
		ended float64
	}{
		{"the use ends", time.Second, context.DeadlineExceeded, 1},
		{"the thing is closed", time.Hour, ErrExpired, 10},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRenewer(every(time.Hour))
				r.takes = time.Hour
				var ahead atomic.Int64
				r.pool.opt.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
				l := r.acquire(t, time.Minute)
				synctest.Wait() // the loop has looked at the time
				ahead.Store(int64(time.Hour))
				ctx, cancel := context.WithTimeout(t.Context(), test.until)
				defer cancel()
				used := make(chan error)
				go func() {
					_, err := l.Value(ctx)
					used <- err
				}()
				synctest.Wait()
				go r.pool.Shutdown()
				if err := <-used; !errors.Is(err, test.want) || errors.Is(err, ErrExpired) != (test.want == ErrExpired) {
					t.Errorf("Value: got %v, want %v", err, test.want)
				}
				synctest.Wait()
				r.pool.Drained()
				r.check(t, 0)
				if diff := cmp.Diff([]float64{test.ended}, r.closed); diff != "" {
					t.Errorf("closings (-want +got)\n%s", diff)
				}
			})
		})
	}
}

func TestE50_UseAfterFailureTriesOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ok atomic.Bool
		r := newRenewer(func(int) (time.Duration, error) {
			if !ok.Load() {
				return 0, errRenew
			}
			return 5 * time.Second, nil
		})
		l := r.acquire(t, time.Second)
		time.Sleep(2500 * time.Millisecond)
		r.check(t, 1, 2)
		v, err := l.Value(t.Context())
		if v != "" || !errors.Is(err, ErrExpired) || !errors.Is(err, errRenew) {
			t.Errorf("Value: got %q, %v, want %v because of %v", v, err, ErrExpired, errRenew)
		}
		r.check(t, 1, 2, 2.5)
		time.Sleep(1900 * time.Millisecond) // the pause counts from the last attempt
		r.check(t, 1, 2, 2.5)
		ok.Store(true)
		use(t, l)
		use(t, l) // renewed is renewed
		r.check(t, 1, 2, 2.5, 4.4)
		time.Sleep(5100 * time.Millisecond) // the background knows the new time
		r.check(t, 1, 2, 2.5, 4.4, 9.4)
		l.Release()
		r.pool.Drained()
		if r.private != 2 || r.atClose != 2 {
			t.Errorf("private data: got %d, at Close %d, want 2, 2", r.private, r.atClose)
		}
	})
}

// A use that comes when the lease is due makes the first attempt itself, and one more at once if that fails.
func TestE50_UseThatRenewsTriesOnceMore(t *testing.T) {
	tests := []struct {
		name     string
		failures int
		want     error
	}{
		{"the second succeeds", 1, nil},
		{"both fail", 2, ErrExpired},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries atomic.Int32
				l := newLife(Thing[string]{Renew: func(context.Context) (time.Time, error) {
					if int(tries.Add(1)) <= test.failures {
						return time.Time{}, errRenew
					}
					return time.Now().Add(time.Minute), nil
				}}, time.Now)
				l.due = time.Now() // no loop runs: the use is first
				if err := l.fresh(t.Context()); !errors.Is(err, test.want) || tries.Load() != 2 {
					t.Errorf("after %d tries, want 2: %v", tries.Load(), err)
				}
				l.end(time.Second)
			})
		})
	}
}

func TestE54_RenewalUnderWayEndsBeforeClose(t *testing.T) {
	tests := []struct {
		name        string
		takes       time.Duration
		wantClosed  float64
		wantPrivate int
		wantUntil   error
	}{
		{"in time", 4 * time.Second, 5, 1, nil},
		{"cut off", time.Hour, 12, 0, context.Canceled},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRenewer(every(-time.Hour))
				r.takes = test.takes
				l := r.acquire(t, time.Second)
				time.Sleep(2 * time.Second)
				l.Release()
				r.pool.Drained()
				time.Sleep(time.Hour)
				r.check(t, 1)
				if diff := cmp.Diff([]float64{test.wantClosed}, r.closed); diff != "" {
					t.Errorf("closings (-want +got)\n%s", diff)
				}
				if r.atClose != test.wantPrivate || !errors.Is(r.until, test.wantUntil) {
					t.Errorf("private data at Close: got %d, want %d; the renewal ended with %v", r.atClose, test.wantPrivate, r.until)
				}
			})
		})
	}
}

// TestE54_UseThatWaitsWhenClosingBegins has a use that waits for the end of a renewal when closing begins.
// The use ends at once, and the thing is closed after the renewal nevertheless.
func TestE54_UseThatWaitsWhenClosingBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRenewer(every(time.Hour))
		r.takes = 4 * time.Second
		l := r.acquire(t, time.Second)
		time.Sleep(2 * time.Second)
		used := make(chan float64)
		go func() {
			if _, err := l.Value(t.Context()); !errors.Is(err, ErrClosed) {
				t.Errorf("Value: %v", err)
			}
			used <- r.seconds()
		}()
		synctest.Wait()
		go r.pool.Shutdown()
		if at := <-used; at != 2 {
			t.Errorf("the use ended after %v s, want 2", at)
		}
		time.Sleep(time.Minute)
		r.check(t, 1)
		if diff := cmp.Diff([]float64{5}, r.closed); diff != "" {
			t.Errorf("closings (-want +got)\n%s", diff)
		}
	})
}

// Opened anew after a close, a thing has a schedule of its own.
func TestRenewalAfterReopening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRenewer(failing)
		l := r.acquire(t, time.Second)
		time.Sleep(1500 * time.Millisecond)
		l.Release()
		l = r.acquire(t, 10*time.Second)
		use(t, l)
		time.Sleep(9 * time.Second)
		r.check(t, 1)
		time.Sleep(1500 * time.Millisecond)
		r.check(t, 1, 11.5)
		l.Release()
		r.pool.Drained()
	})
}

// TestE50_RenewalThatHangs has renewals that do not end by themselves: each is given up after its limit, in
// the background and for a use, and the next one follows.
func TestE50_RenewalThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRenewer(every(time.Hour))
		r.takes = 24 * time.Hour
		l := r.acquire(t, time.Minute)
		time.Sleep(2 * time.Minute)
		if _, err := l.Value(t.Context()); !errors.Is(err, ErrExpired) {
			t.Errorf("a use whose renewal hung: %v", err)
		}
		if got, limit := r.seconds(), (time.Minute + 2*RenewLimit).Seconds(); got < limit || got > limit+2 {
			t.Errorf("the use ended after %v s", got)
		}
		r.mu.Lock()
		r.takes = 0
		r.mu.Unlock()
		use(t, l)
		l.Release()
		r.pool.Shutdown()
		if len(r.closed) != 1 {
			t.Errorf("closed %d times, want 1", len(r.closed))
		}
	})
}
