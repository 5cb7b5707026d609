package lease

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// drawWorld draws what uses what, and how opening goes.
func drawWorld(t *rapid.T) *world {
	n := rapid.IntRange(1, 8).Draw(t, "things")
	uses, acts := make([][]int, n), make([]behaviour, n)
	for k := range n {
		if k > 0 {
			uses[k] = rapid.SliceOfNDistinct(rapid.IntRange(0, k-1), 0, min(k, 3), rapid.ID).Draw(t, "uses")
		}
		acts[k] = rapid.SampledFrom([]behaviour{opensWell, opensWell, opensWell, opensWell, failsToOpen, panicsInOpen}).Draw(t, "behaviour")
	}
	return newWorld(t, uses, acts)
}

func drawKey(t *rapid.T, w *world) int {
	return rapid.SampledFrom(append([]int{-1, -2, outerGroup}, upTo(len(w.uses))...)).Draw(t, "key")
}

func upTo(n int) []int {
	var s []int
	for i := range n {
		s = append(s, i)
	}
	return s
}

// opensAtAll is the oracle for Acquire: a thing opens if it and all that it uses do.
func (w *world) opensAtAll(k int) bool {
	return w.acts[k] == opensWell && !slices.ContainsFunc(w.uses[k], func(u int) bool { return !w.opensAtAll(u) })
}

// wantOpen is the oracle for what stays open of what is: things leased, claimed, or used by something that
// stays open.
func (w *world) wantOpen(users []*held) map[int]bool {
	want := map[int]bool{}
	var keep func(k int)
	keep = func(k int) {
		if want[k] || w.live[k] == nil {
			return
		}
		want[k] = true
		for _, u := range w.uses[k] {
			keep(u)
		}
	}
	for k := range w.live {
		if w.claimed(k) || slices.ContainsFunc(users, func(l *held) bool { return l.k == k }) {
			keep(k)
		}
	}
	return want
}

func TestPoolAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		var claims []int
		var leases []*held
		take := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "index") }
		t.Repeat(map[string]func(*rapid.T){
			"claim": func(t *rapid.T) {
				k := drawKey(t, w)
				w.claim(k)
				claims = append(claims, k)
			},
			"waive": func(t *rapid.T) {
				if len(claims) == 0 {
					t.Skip("nothing is claimed")
				}
				i := take(len(claims))
				k := claims[i]
				claims = slices.Delete(claims, i, i+1)
				w.waive(k)
			},
			"acquire": func(t *rapid.T) {
				k := rapid.IntRange(0, len(w.uses)-1).Draw(t, "thing")
				l, err := w.acquire(context.Background(), k)
				if (err == nil) != w.opensAtAll(k) {
					t.Fatalf("acquiring %d: got %v, want success %t", k, err, w.opensAtAll(k))
				}
				if l != nil {
					leases = append(leases, l)
				}
			},
			"release": func(t *rapid.T) {
				if len(leases) == 0 {
					t.Skip("nothing is leased")
				}
				i := take(len(leases))
				l := leases[i]
				leases = slices.Delete(leases, i, i+1)
				w.release(l)
				l.Release() // once more does nothing
				if _, err := l.Value(context.Background()); err != ErrClosed {
					t.Fatalf("value of a lease that was released: got %v, want %v", err, ErrClosed)
				}
			},
			"": func(t *rapid.T) {
				w.pool.Drained()
				w.mu.Lock()
				defer w.mu.Unlock()
				want := w.wantOpen(leases)
				for k := range w.uses {
					if open := w.live[k] != nil; open != want[k] {
						t.Fatalf("%d is open: got %t, want %t", k, open, want[k])
					}
				}
				w.checkCounts(func(e *entry[int, string]) bool { return e.claims >= 0 && e.needs >= 0 && e.leases >= 0 })
			},
		})
		if rapid.Bool().Draw(t, "shut down with claims") {
			w.shutdown = true
		} else {
			w.waive(claims...)
		}
		for _, l := range leases {
			w.release(l)
		}
		if w.shutdown {
			w.pool.Shutdown()
			w.waive(claims...) // late waivers do no harm
			w.claim(0)
			if _, err := w.acquire(context.Background(), 0); err != ErrClosed {
				t.Fatalf("acquiring after Shutdown: got %v, want %v", err, ErrClosed)
			}
		}
		w.checkIdle()
	})
}

// consume is one user: it has claimed all that it may use, uses some of it, and ends its claims.
func (w *world) consume(seed uint64, claims []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	ctx := context.Background()
	for range r.IntN(5) {
		var leases []*held
		for range 1 + r.IntN(2) {
			if l, err := w.acquire(ctx, r.IntN(len(w.uses))); err == nil {
				leases = append(leases, l)
			}
		}
		for _, l := range leases {
			if _, err := l.Value(ctx); err != nil {
				w.t.Errorf("the value of %d: %v", l.k, err)
			}
			w.release(l)
		}
	}
	for _, k := range claims {
		w.waive(k)
	}
}

func TestPoolUnderStress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		claims := make([][]int, rapid.IntRange(1, 8).Draw(t, "consumers"))
		for i := range claims {
			for range rapid.IntRange(0, 3).Draw(t, "claims") {
				claims[i] = append(claims[i], drawKey(t, w))
			}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		var users sync.WaitGroup
		var claimed sync.WaitGroup
		claimed.Add(len(claims))
		for i := range claims {
			users.Go(func() {
				w.claim(claims[i]...)
				claimed.Done()
				claimed.Wait() // claims only go down from here on, so that Close can check them
				w.consume(seed+uint64(i), claims[i])
			})
		}
		users.Wait()
		w.checkIdle()
		w.pool.Shutdown()
	})
}

// Drained may be called at any time, while things are being closed and others opened.
func TestDrainedWhileInUse(t *testing.T) {
	w := newWorld(t, [][]int{nil, {0}, {1}}, make([]behaviour, 3))
	var users sync.WaitGroup
	for i := range 4 {
		users.Go(func() {
			for n := range 200 {
				w.consume(uint64(i*1000+n), nil)
				w.pool.Drained()
			}
		})
	}
	users.Wait()
	w.checkIdle()
}
