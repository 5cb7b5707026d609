// Package slot bounds how many provider operations run at once. An operation runs in a Turn, which holds one
// slot of a Pool. While the operation waits for things that it needs, it lends its slot to the operations
// that provide them, so nothing that holds a slot ever waits for a slot.
//
// It imports the standard library only and knows nothing of the operations.
package slot

import "sync"

// Pool is a number of slots. Its methods may be called concurrently.
type Pool struct {
	mu     sync.Mutex
	free   int
	parts  []chan struct{} // waiting for the sake of a turn that has begun, served first
	begins []chan struct{} // waiting to begin a turn
}

// NewPool returns a pool of n slots.
func NewPool(n int) *Pool { return &Pool{free: max(n, 1)} }

// Begin waits for a slot and begins a turn, which must end by End. Turns that have begun are served before
// new ones, and new ones in the order in which they wait.
func (p *Pool) Begin() *Turn {
	<-p.request(&p.begins)
	return &Turn{pool: p, lent: make(chan struct{}, 1), holds: true}
}

// request returns a channel that is closed once its owner has a slot.
func (p *Pool) request(queue *[]chan struct{}) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := make(chan struct{})
	if p.free > 0 {
		p.free--
		close(got)
		return got
	}
	*queue = append(*queue, got)
	return got
}

// give passes a slot on to whoever waits for it.
func (p *Pool) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&p.parts, &p.begins} {
		if q := *queue; len(q) > 0 {
			close(q[0])
			q[0] = nil
			*queue = q[1:]
			return
		}
	}
	p.free++
}

// withdraw ends a request of a part of a turn.
func (p *Pool) withdraw(got <-chan struct{}) {
	p.mu.Lock()
	for i, c := range p.parts {
		if c == got {
			p.parts = append(p.parts[:i], p.parts[i+1:]...)
			p.mu.Unlock()
			return
		}
	}
	p.mu.Unlock()
	p.give() // the slot had come meanwhile
}

// Turn is one operation, or a part of it that runs beside other parts. A Turn must be used by one goroutine
// at a time, except for Part. A nil Turn has no slot and no bound: its methods call their functions.
type Turn struct {
	pool  *Pool
	lent  chan struct{} // shared by all parts; has the slot of the turn while no part holds it
	holds bool
}

// End ends the turn. All its parts must have returned.
func (t *Turn) End() { t.pool.give() }

// Part returns the turn as a part of it sees it. A part holds no slot except within Do.
func (t *Turn) Part() *Turn {
	if t == nil {
		return nil
	}
	return &Turn{pool: t.pool, lent: t.lent}
}

// Lend calls wait, during which parts may use the slot that t holds. It returns when they have given it back.
func (t *Turn) Lend(wait func()) {
	if t == nil || !t.holds {
		wait()
		return
	}
	t.lent <- struct{}{}
	t.holds = false
	defer func() { // also when wait panics
		<-t.lent
		t.holds = true
	}()
	wait()
}

// Do calls f with a slot: the one that t holds, or else the one that the turn has lent or one of the pool,
// whichever is free first. f is a call of a provider: it must not wait for anything else.
func (t *Turn) Do(f func()) {
	if t == nil || t.holds {
		f()
		return
	}
	defer t.take()()
	f()
}

// take waits for a slot and returns the function that gives it back.
func (t *Turn) take() (give func()) {
	giveBack := func() { t.lent <- struct{}{} }
	select {
	case <-t.lent:
		return giveBack
	default:
	}
	got := t.pool.request(&t.pool.parts)
	select {
	case <-got:
		return t.pool.give
	case <-t.lent:
		t.pool.withdraw(got)
		return giveBack
	}
}
