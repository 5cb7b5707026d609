// Package slot bounds how many provider operations run at once. An operation runs in a Turn, which holds one
// of the slots of a Pool. While it waits for things that it needs, its slot serves the operations that
// provide them, so nothing that holds a slot ever waits for a slot.
//
// It imports the standard library only and knows nothing of the operations.
package slot

import (
	"slices"
	"sort"
	"sync"
)

// Pool is a number of slots. Its methods may be called concurrently.
type Pool struct {
	limit int

	mu    sync.Mutex
	turns int // that have begun and go on
	calls int // turns that hold their slot, and parts in Do

	parts  []waiter // waiting for a slot for the sake of a turn that has begun
	begins []waiter // waiting to begin a turn, the highest rank first
}

// waiter is one who waits for a slot.
type waiter struct {
	rank   int64
	served chan struct{}
}

// NewPool returns a pool of n slots.
func NewPool(n int) *Pool { return &Pool{limit: max(n, 1)} }

// Begin waits for a slot and begins a turn, which must end by End. There are no more turns than slots, apart
// from those that Release holds up. Turns that have begun are served first, then new ones, those with
// a higher rank before others and those with the same rank in the order in which they wait.
func (p *Pool) Begin(rank int64) *Turn {
	p.await(&p.begins, rank)
	return &Turn{pool: p, shared: &shared{}, holds: true}
}

// await waits in a queue, before all of a lower rank, until its turn comes.
func (p *Pool) await(queue *[]waiter, rank int64) {
	w := waiter{rank, make(chan struct{})}
	p.mu.Lock()
	at := sort.Search(len(*queue), func(i int) bool { return (*queue)[i].rank < rank })
	*queue = slices.Insert(*queue, at, w)
	p.serve()
	p.mu.Unlock()
	<-w.served
}

// serve serves those who wait, as far as there are slots. p.mu is held.
func (p *Pool) serve() {
	for len(p.parts) > 0 && p.calls < p.limit {
		p.calls++
		p.parts = first(p.parts)
	}
	for len(p.begins) > 0 && p.calls < p.limit && p.turns < p.limit {
		p.calls++
		p.turns++
		p.begins = first(p.begins)
	}
}

// first serves the first in a queue and returns the rest.
func first(queue []waiter) []waiter {
	close(queue[0].served)
	queue[0] = waiter{}
	return queue[1:]
}

// endCall gives a slot back.
func (p *Pool) endCall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls--
	p.serve()
}

// Turn is one operation, or a part of it that runs beside other parts. A Turn must be used by one goroutine
// at a time, except for Part. A nil Turn has no slot and no bound: its methods call their functions.
type Turn struct {
	pool *Pool
	*shared
	holds bool // the slot
}

// shared is what all parts of a turn share. The pool's mutex guards it.
type shared struct {
	kept    bool
	waiting int // parts within Release
	held    int // 1 if the turn is not counted among those that go on
}

// count counts the turn as one that goes on, or not. p.mu is held.
func (p *Pool) count(s *shared) {
	held := 0
	if s.waiting > 0 && !s.kept {
		held = 1
	}
	p.turns += s.held - held
	s.held = held
	p.serve()
}

// End ends the turn. All its parts must have returned.
func (t *Turn) End() {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.pool.calls--
	t.pool.turns--
	t.pool.serve()
}

// Part returns the turn as a part of it sees it. A part holds no slot except within Do.
func (t *Turn) Part() *Turn {
	if t == nil {
		return nil
	}
	return &Turn{pool: t.pool, shared: t.shared}
}

// Lend calls wait, which waits for parts of turns. Meanwhile they may use the slot that t holds.
func (t *Turn) Lend(wait func()) {
	if t == nil || !t.holds {
		wait()
		return
	}
	t.pool.endCall()
	t.holds = false
	defer func() { // also when wait panics
		t.pool.await(&t.pool.parts, 0)
		t.holds = true
	}()
	wait()
}

// Do calls f with a slot: the one that t holds, or else the next one that is free. f is a call of a provider:
// it must not wait for anything else.
func (t *Turn) Do(f func()) {
	if t == nil || t.holds {
		f()
		return
	}
	t.pool.await(&t.pool.parts, 0)
	defer t.pool.endCall()
	f()
}

// Keep ends what Release allows: no other turn begins in place of this one any more. It is for a turn that
// has something open, which is not to be open for long.
func (t *Turn) Keep() {
	if t == nil {
		return
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.kept = true
	t.pool.count(t.shared)
}

// Release is Lend for waiting for a part of another turn. Unless t is kept, another turn may begin in its
// place.
func (t *Turn) Release(wait func()) {
	if t == nil {
		wait()
		return
	}
	t.addWaiting(1)
	defer t.addWaiting(-1)
	t.Lend(wait)
}

func (t *Turn) addWaiting(n int) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.waiting += n
	t.pool.count(t.shared)
}
