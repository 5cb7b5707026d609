package lease

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chainPool has the keys a, b and c, of which each uses the next one. closed lists them in the order of
// Close.
type chainPool struct {
	*Pool[string, string]
	mu     sync.Mutex
	closed []string
	late   []string
	hangs  map[string]bool
}

func newChainPool() *chainPool {
	next := map[string][]string{"a": {"b"}, "b": {"c"}}
	p := &chainPool{hangs: map[string]bool{}}
	p.Pool = NewPool[string, string](Options[string]{
		Uses:       func(k string) []string { return next[k] },
		CloseLimit: 30 * time.Second,
		CloseTimeout: func(k string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.late = append(p.late, k)
		},
	})
	return p
}

func (p *chainPool) thing(k string, after func()) Thing[string] {
	return Thing[string]{Value: k, After: after, Close: func(ctx context.Context) {
		p.mu.Lock()
		p.closed = append(p.closed, k)
		hangs := p.hangs[k]
		p.mu.Unlock()
		if hangs {
			time.Sleep(time.Hour)
		}
	}}
}

func (p *chainPool) open(t *testing.T, k string, after func()) *Lease[string, string] {
	t.Helper()
	l, err := p.Acquire(k, await(t.Context()), func() (Thing[string], error) { return p.thing(k, after), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (p *chainPool) check(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff(want, p.closed); diff != "" {
		t.Errorf("closed (-want +got)\n%s", diff)
	}
}

func TestE53_ShutdownClosesInOrder(t *testing.T) {
	tests := []struct {
		name  string
		setup func(t *testing.T, p *chainPool)
	}{
		{"claimed", func(t *testing.T, p *chainPool) {
			p.Claim("a", "b", "b", "c")
			for _, k := range []string{"c", "b", "a"} {
				p.open(t, k, nil).Release()
			}
		}},
		{"leased by each other", func(t *testing.T, p *chainPool) {
			p.Claim("a")
			c := p.open(t, "c", nil)
			b := p.open(t, "b", c.Release)
			p.open(t, "a", b.Release).Release()
		}},
		{"leases never released", func(t *testing.T, p *chainPool) {
			for _, k := range []string{"c", "b", "a", "c", "c"} {
				p.open(t, k, nil)
			}
		}},
		{"one lease never released", func(t *testing.T, p *chainPool) {
			p.Claim("a")
			p.open(t, "c", nil)
			p.open(t, "b", nil).Release()
			p.open(t, "a", nil).Release()
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 20 { // maps are iterated in random order
				p := newChainPool()
				test.setup(t, p)
				p.Drained()
				p.check(t)
				p.Shutdown()
				p.Shutdown()
				p.check(t, "a", "b", "c")
			}
		})
	}
}

// TestShutdownWaitsForNothingElse leaves the leases of two pairs unreleased: each pair is closed in order and
// without waiting for the other one.
func TestShutdownWaitsForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool[string, string](Options[string]{
			Uses:       func(k string) []string { return map[string][]string{"a": {"b"}, "c": {"d"}}[k] },
			CloseLimit: time.Minute,
		})
		for k, takes := range map[string]time.Duration{"b": 10 * time.Second, "a": time.Second, "d": time.Second, "c": 10 * time.Second} {
			_, err := p.Acquire(k, await(t.Context()), func() (Thing[string], error) {
				return Thing[string]{Close: func(context.Context) { time.Sleep(takes) }}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		p.Shutdown()
		if took := time.Since(begin); took != 11*time.Second {
			t.Errorf("Shutdown took %s, want %s", took, 11*time.Second)
		}
	})
}

func TestE54_HangingCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newChainPool()
		p.hangs["a"], p.hangs["c"] = true, true
		begun := time.Now()
		c := p.open(t, "c", nil)
		b := p.open(t, "b", c.Release)
		p.open(t, "a", b.Release)
		p.Shutdown()
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("Shutdown took %s, want %s", took, time.Minute)
		}
		p.check(t, "a", "b", "c")
		slices.Sort(p.late)
		if diff := cmp.Diff([]string{"a", "c"}, p.late); diff != "" {
			t.Errorf("late (-want +got)\n%s", diff)
		}
		time.Sleep(2 * time.Hour) // late answers do no harm
	})
}

func TestE53_ShutdownWhileOpening(t *testing.T) {
	tests := []struct {
		name     string
		opensIn  time.Duration
		shutsFor time.Duration
	}{
		{"waited for", 10 * time.Second, 9 * time.Second},
		{"too late", time.Hour, 30 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newChainPool()
				failed := make(chan error, 2)
				for range 2 {
					go func() {
						_, err := p.Acquire("c", await(context.Background()), func() (Thing[string], error) {
							time.Sleep(test.opensIn)
							return p.thing("c", nil), nil
						})
						failed <- err
					}()
				}
				time.Sleep(time.Second)
				begun := time.Now()
				p.Shutdown()
				if took := time.Since(begun); took != test.shutsFor {
					t.Errorf("Shutdown took %s, want %s", took, test.shutsFor)
				}
				for range 2 {
					if err := <-failed; !errors.Is(err, ErrClosed) {
						t.Errorf("Acquire: %v", err)
					}
				}
				p.Drained()
				p.check(t, "c")
			})
		})
	}
}

// TestShutdownWhileOpeningFails waits no longer than until an opening has failed.
func TestShutdownWhileOpeningFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newChainPool()
		go func() {
			_, _ = p.Acquire("c", await(context.Background()), func() (Thing[string], error) {
				time.Sleep(time.Second)
				return Thing[string]{}, errors.New("no")
			})
		}()
		synctest.Wait()
		begun := time.Now()
		p.Shutdown()
		if took := time.Since(begun); took != time.Second {
			t.Errorf("Shutdown took %s, want %s", took, time.Second)
		}
	})
}

func TestUseAfterForcedClose(t *testing.T) {
	p := newChainPool()
	l := p.open(t, "c", nil)
	p.Shutdown()
	if v, err := l.Value(t.Context()); v != "" || !errors.Is(err, ErrClosed) {
		t.Errorf("Value: got %q, %v, want %v", v, err, ErrClosed)
	}
	l.Release()
	p.check(t, "c")
}

func TestAcquireFailures(t *testing.T) {
	p := newChainPool()
	calls := 0
	errNo := errors.New("no")
	for range 3 {
		_, err := p.Acquire("c", await(t.Context()), func() (Thing[string], error) { calls++; return Thing[string]{}, errNo })
		if !errors.Is(err, errNo) {
			t.Errorf("Acquire: %v", err)
		}
	}
	if calls != 1 {
		t.Errorf("opened %d times, want 1", calls)
	}
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered: got %v, want %v", r, "boom")
			}
		}()
		_, err := p.Acquire("b", await(t.Context()), func() (Thing[string], error) { panic("boom") })
		t.Errorf("Acquire returned %v", err)
	}()
	if _, err := p.Acquire("b", await(t.Context()), func() (Thing[string], error) { return p.thing("b", nil), nil }); err == nil {
		t.Error("opened although the first attempt panicked")
	}
	p.Waive("a", "b", "nothing of the kind")
	p.check(t)
	p.Shutdown()
}

func TestAcquireWaitsOnlyAsLongAsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newChainPool()
		go func() {
			l, err := p.Acquire("c", await(context.Background()), func() (Thing[string], error) {
				time.Sleep(time.Minute)
				return p.thing("c", nil), nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			l.Release()
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Acquire("c", await(ctx), func() (Thing[string], error) {
			t.Error("opened a second time")
			return Thing[string]{}, nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire: %v", err)
		}
		time.Sleep(2 * time.Minute)
		p.check(t, "c")
	})
}

// TestE53_UsedUntilClosed claims a thing once more, and in vain, while it is being closed: what it uses stays
// open until it is closed.
func TestE53_UsedUntilClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newChainPool()
		p.hangs["b"] = true
		p.Claim("b")
		for _, k := range []string{"c", "b"} {
			p.open(t, k, nil).Release()
		}
		p.Waive("b")
		synctest.Wait()
		p.Claim("b")
		p.Waive("b")
		synctest.Wait()
		p.check(t, "b")
		p.Drained()
		p.check(t, "b", "c")
		time.Sleep(2 * time.Hour)
	})
}

// A task that needs a thing while it is being closed gets a new one.
func TestReopenedAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newChainPool()
		p.hangs["c"] = true
		p.open(t, "c", nil).Release()
		synctest.Wait()
		p.hangs["c"] = false
		l := p.open(t, "c", nil)
		if v, err := l.Value(t.Context()); v != "c" || err != nil {
			t.Errorf("Value: got %q, %v, want \"c\"", v, err)
		}
		p.check(t, "c")
		l.Release()
		p.Drained()
		p.check(t, "c", "c")
		time.Sleep(2 * time.Hour)
	})
}

// TestE53_ShutdownEndsUsersFirst leaves things open for different reasons. Each takes a second to close, and
// what uses others must be closed before them.
func TestE53_ShutdownEndsUsersFirst(t *testing.T) {
	circle := map[string][]string{"users": {"used"}, "used": {"users"}}
	tests := []struct {
		name  string
		uses  map[string][]string
		setup func(open func(k string, after func()) *Lease[string, string], p *Pool[string, string])
		begun map[string]time.Duration // when each Close began
	}{
		{"a user that is claimed, not known to use anything", nil, func(open func(string, func()) *Lease[string, string], p *Pool[string, string]) {
			p.Claim("user")
			open("user", open("thing", nil).Release).Release()
		}, map[string]time.Duration{"user": 0, "thing": time.Second}},
		{"a user that a circle of groups keeps open", circle, func(open func(string, func()) *Lease[string, string], p *Pool[string, string]) {
			p.Claim("users")
			open("user", open("thing", nil).Release).Release()
			p.Waive("users")
		}, map[string]time.Duration{"user": 0, "thing": time.Second}},
		{"leases in a circle that are never released", map[string][]string{"user": {"thing"}, "thing": {"user"}}, func(open func(string, func()) *Lease[string, string], p *Pool[string, string]) {
			open("user", nil)
			open("thing", nil)
		}, map[string]time.Duration{"user": 0, "thing": 0}},
		{"a user whose opening takes too long", map[string][]string{"late": {"user"}, "user": {"thing"}}, func(open func(string, func()) *Lease[string, string], p *Pool[string, string]) {
			open("thing", nil)
			open("user", nil)
			go func() {
				_, _ = p.Acquire("late", await(context.Background()), func() (Thing[string], error) {
					time.Sleep(time.Hour)
					return Thing[string]{}, nil
				})
			}()
		}, map[string]time.Duration{"user": time.Minute, "thing": time.Minute + time.Second}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPool[string, string](Options[string]{
					Group:      func(k string) (string, bool) { return "users", k == "user" && test.uses["users"] != nil },
					Uses:       func(k string) []string { return test.uses[k] },
					CloseLimit: time.Minute,
				})
				begin, begun := time.Now(), map[string]time.Duration{}
				var mu sync.Mutex
				test.setup(func(k string, after func()) *Lease[string, string] {
					l, err := p.Acquire(k, await(t.Context()), func() (Thing[string], error) {
						return Thing[string]{After: after, Close: func(context.Context) {
							mu.Lock()
							begun[k] = time.Since(begin)
							mu.Unlock()
							time.Sleep(time.Second)
						}}, nil
					})
					if err != nil {
						t.Fatal(err)
					}
					return l
				}, p)
				synctest.Wait()
				p.Shutdown()
				if diff := cmp.Diff(test.begun, begun); diff != "" {
					t.Errorf("closings begin (-want +got)\n%s", diff)
				}
				time.Sleep(2 * time.Hour) // what is late ends
			})
		})
	}
}
