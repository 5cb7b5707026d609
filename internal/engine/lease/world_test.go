package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Keys of a world are numbers. Things are 0 and up and use only lower ones; thing k belongs to group -1-k%2,
// and both groups to group -9.
const outerGroup = -9

func groupOf(k int) (int, bool) {
	switch {
	case k >= 0:
		return -1 - k%2, true
	case k > outerGroup:
		return outerGroup, true
	default:
		return 0, false
	}
}

type behaviour int

const (
	opensWell behaviour = iota
	failsToOpen
	panicsInOpen
)

var errOpen = errors.New("the provider said no")

// world opens things in a pool and holds the pool to its promises.
type world struct {
	t    interface{ Errorf(string, ...any) }
	pool *Pool[int, string]
	uses [][]int // by thing
	acts []behaviour

	mu       sync.Mutex
	claims   map[int]int // by key or group
	asked    map[int]int // callers within Acquire
	live     map[int]*session
	holders  map[int]int // leases held on a thing
	opens    map[int]int
	closes   map[int]int
	shutdown bool
}

// session is one Open to Close of a thing.
type session struct {
	private int
	closing bool
}

func newWorld(t interface{ Errorf(string, ...any) }, uses [][]int, acts []behaviour) *world {
	w := &world{
		t: t, uses: uses, acts: acts, claims: map[int]int{}, asked: map[int]int{}, live: map[int]*session{},
		holders: map[int]int{}, opens: map[int]int{}, closes: map[int]int{},
	}
	w.pool = NewPool[int, string](Options[int]{
		Group: groupOf, Uses: w.usesOf, CloseLimit: time.Minute,
		CloseTimeout: func(k int) { t.Errorf("closing %d took too long", k) },
	})
	return w
}

// usesOf says what a thing uses, and what the things of a group use.
func (w *world) usesOf(k int) []int {
	if k >= 0 {
		return w.uses[k]
	}
	var all []int
	for member := range w.uses {
		if g, _ := groupOf(member); g == k || k == outerGroup {
			all = append(all, w.uses[member]...)
		}
	}
	return all
}

func (w *world) claim(keys ...int) {
	w.mu.Lock()
	for _, k := range keys {
		w.claims[k]++
	}
	w.mu.Unlock()
	w.pool.Claim(keys...)
}

func (w *world) waive(keys ...int) {
	w.mu.Lock()
	for _, k := range keys {
		w.claims[k]--
	}
	w.mu.Unlock()
	w.pool.Waive(keys...)
}

// held is a lease on a thing, as a user of the pool holds it.
type held struct {
	k int
	*Lease[int, string]
}

func (w *world) acquire(ctx context.Context, k int) (l *held, err error) {
	w.mu.Lock()
	w.asked[k]++
	w.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked[k]--
		if l != nil {
			w.holders[k]++
		}
	}()
	got, err := w.pool.Acquire(k, await(ctx), func() (Thing[string], error) { return w.open(ctx, k) })
	if err != nil {
		return nil, err
	}
	v, err := got.Value(ctx)
	if err != nil {
		got.Release()
		return nil, err
	}
	if v != value(k) {
		w.t.Errorf("value of %d: got %q, want %q", k, v, value(k))
	}
	return &held{k, got}, nil
}

func value(k int) string { return fmt.Sprint("value of ", k) }

func (w *world) release(l *held) {
	w.mu.Lock()
	w.holders[l.k]--
	w.mu.Unlock()
	l.Release()
}

// open opens thing k with leases on all that it uses.
func (w *world) open(ctx context.Context, k int) (Thing[string], error) {
	var leases []*held
	after := func() {
		for _, l := range leases {
			w.release(l)
		}
	}
	for _, u := range w.uses[k] {
		l, err := w.acquire(ctx, u)
		if err != nil {
			after()
			return Thing[string]{}, err
		}
		leases = append(leases, l)
	}
	switch w.acts[k] {
	case failsToOpen:
		after()
		return Thing[string]{}, errOpen
	case panicsInOpen:
		after()
		panic("open of a thing")
	}
	o := &session{}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live[k] != nil {
		w.t.Errorf("%d is opened while it is open", k)
	}
	if w.asked[k] == 0 {
		w.t.Errorf("%d is opened although no task needs it", k)
	}
	w.live[k] = o
	w.opens[k]++
	return Thing[string]{
		Value: value(k), RenewAt: time.Now(), After: after,
		Renew: func(context.Context) (time.Time, error) { return w.renew(k, o) },
		Close: w.closer(k, o),
	}, nil
}

func (w *world) renew(k int, o *session) (time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.closing || w.live[k] != o {
		w.t.Errorf("%d: got a renewal after Close began, want none", k)
	}
	o.private++
	return time.Now().Add(time.Hour), nil
}

// closer returns the Close of a session, which holds the pool to its promises.
func (w *world) closer(k int, o *session) func(context.Context) {
	return func(context.Context) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if o.closing || w.live[k] != o {
			w.t.Errorf("%d: got it closed twice, want once", k)
		}
		o.closing = true
		if w.holders[k] > 0 {
			w.t.Errorf("%d is closed with %d leases on it", k, w.holders[k])
		}
		if !w.shutdown && w.claimed(k) {
			w.t.Errorf("%d is closed although it is claimed", k)
		}
		delete(w.live, k)
		w.closes[k]++
	}
}

// claimed reports whether k, one of its groups, or something that may use k, is claimed. w.mu is held.
func (w *world) claimed(k int) bool {
	seen := map[int]bool{}
	var reach func(from int) bool
	reach = func(from int) bool {
		if seen[from] {
			return false
		}
		seen[from] = true
		return covers(from, k) || slices.ContainsFunc(w.usesOf(from), reach)
	}
	for from, n := range w.claims {
		if n > 0 && reach(from) {
			return true
		}
	}
	return false
}

// covers reports whether a claim on key is one on k: it is k or a group of it.
func covers(key, k int) bool {
	for g, ok := k, true; ok; g, ok = groupOf(g) {
		if g == key {
			return true
		}
	}
	return false
}

// checkIdle holds that nothing is left: everything opened was closed once, and no count in the pool is other
// than zero.
func (w *world) checkIdle() {
	w.pool.Drained()
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, n := range w.opens {
		if w.closes[k] != n {
			w.t.Errorf("%d was opened %d times and closed %d times, want %d", k, n, w.closes[k], n)
		}
	}
	w.checkCounts(func(e *entry[int, string]) bool {
		return e.claims == 0 && e.needs == 0 && e.leases == 0 && !e.engaged && e.phase == unopened && e.life == nil
	})
}

func (w *world) checkCounts(ok func(*entry[int, string]) bool) {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	for k, e := range w.pool.entries {
		if !ok(e) {
			w.t.Errorf("entry %d: %d claims, %d needs, %d leases, engaged %v, phase %d", k, e.claims, e.needs, e.leases, e.engaged, e.phase)
		}
	}
}

// await returns a function that waits for a channel until ctx ends.
func await(ctx context.Context) func(<-chan struct{}) error {
	return func(ready <-chan struct{}) error {
		select {
		case <-ready:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
