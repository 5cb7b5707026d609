// Package slot bounds how many provider operations run at once. An operation runs in a Turn, which has one of
// the slots of a Pool. While it waits for things that it needs, its slot serves the parts of the turn that
// provide them, so nothing that holds a slot ever waits for a slot. The turn has its slot at hand when they
// are done: instances that they have opened do not stay open longer for the sake of other turns.
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
	calls int // turns that hold their slot, and calls of parts
	spare int // slots that are free, but reserved for a turn

	parts  []*shared // turns that have begun, once for each time that a part began to wait for a slot
	begins []waiter  // waiting to begin a turn, the highest rank first
}

// waiter is one who waits to begin a turn.
type waiter struct {
	rank   int64
	served chan struct{}
}

// NewPool returns a pool of n slots.
func NewPool(n int) *Pool { return &Pool{limit: max(n, 1)} }

// Begin waits for a slot and begins a turn, which must end by End. There are no more turns than slots, apart
// from turns that wait in Release. Turns that have begun are served first, then new ones, those with a higher
// rank before others and those with the same rank in the order in which they wait.
func (p *Pool) Begin(rank int64) *Turn {
	w := waiter{rank, make(chan struct{})}
	p.mu.Lock()
	at := sort.Search(len(p.begins), func(i int) bool { return p.begins[i].rank < rank })
	p.begins = slices.Insert(p.begins, at, w)
	p.serve()
	p.mu.Unlock()
	<-w.served
	return &Turn{pool: p, shared: &shared{calls: 1}, holds: true}
}

// beginCall waits for a slot for s, the reserved one if there is one.
func (p *Pool) beginCall(s *shared) {
	served := make(chan struct{})
	p.mu.Lock()
	s.parts = append(s.parts, served)
	if s.reserves {
		p.serveTurn(s)
	} else {
		p.parts = append(p.parts, s)
		p.serve()
	}
	p.mu.Unlock()
	<-served
}

// endCall gives a slot of s back. The last one that s has goes to the next part of s, or else stays reserved
// for s, unless a part waits for another turn, which may need the slot.
func (p *Pool) endCall(s *shared) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.calls--
	p.calls--
	switch {
	case s.calls > 0 || s.waiting > 0 || s.left:
	case len(s.parts) > 0:
		p.serveTurn(s)
	default:
		p.reserve(s, true)
	}
	p.serve()
}

// serve serves the waiting turns, as far as there are slots. p.mu is held.
func (p *Pool) serve() {
	for len(p.parts) > 0 && p.free() {
		if s := p.parts[0]; len(s.parts) > 0 { // otherwise the turn's own slot has served it
			p.serveTurn(s)
		}
		p.parts[0] = nil
		p.parts = p.parts[1:]
	}
	for len(p.begins) > 0 && p.free() && p.turns < p.limit {
		p.calls++
		p.turns++
		close(p.begins[0].served)
		p.begins[0] = waiter{}
		p.begins = p.begins[1:]
	}
}

// free reports whether there is a slot that anything may use. p.mu is held.
func (p *Pool) free() bool { return p.calls+p.spare < p.limit }

// serveTurn gives a slot to the part of s that waits first. p.mu is held.
func (p *Pool) serveTurn(s *shared) {
	p.reserve(s, false)
	p.calls++
	s.calls++
	close(s.parts[0])
	s.parts[0] = nil
	s.parts = s.parts[1:]
}

// reserve reserves a slot for s, or no longer. p.mu is held.
func (p *Pool) reserve(s *shared, reserves bool) {
	if reserves != s.reserves {
		s.reserves = reserves
		if reserves {
			p.spare++
		} else {
			p.spare--
		}
	}
}

// Turn is one operation, or a part of it that runs beside other parts. A Turn must be used by one goroutine
// at a time, except that parts of it may use it side by side while its slot is lent.
type Turn struct {
	pool *Pool
	*shared
	holds bool // the slot
}

// shared is the state that all parts of a turn share. The pool's mutex protects it.
type shared struct {
	calls    int             // of the pool's calls
	reserves bool            // one of the pool's spare slots
	parts    []chan struct{} // waiting for a slot
	kept     bool
	waiting  int // parts within Release
	held     int // 1 if the turn is not counted among the running ones
	left     bool
}

// count counts the turn as one that goes on, or not. p.mu is held.
func (p *Pool) count(s *shared) {
	held := 0
	if s.left || s.waiting > 0 && !s.kept {
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
	if t.holds {
		t.pool.calls--
	}
	t.pool.turns -= 1 - t.held
	t.pool.serve()
}

// Leave gives the slot to other turns for good, because the rest of the turn waits for other things than
// providers, such as a disk. If it calls a provider all the same, it must do so in a Call, which waits for a
// slot like the calls of parts. It reports whether there was a slot to give: a kept turn does not leave,
// since its open instances would be open for longer.
func (t *Turn) Leave() bool {
	if !t.holds {
		return false
	}
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.kept {
		return false
	}
	t.holds, t.left = false, true
	t.calls--
	p.calls--
	p.count(t.shared)
	return true
}

// Lend lends the slot that t holds to the parts of the turn, which the caller waits for. The returned
// function takes it back.
func (t *Turn) Lend() (takeBack func()) {
	if !t.holds {
		return func() {}
	}
	t.pool.endCall(t.shared)
	t.holds = false
	return func() {
		t.pool.beginCall(t.shared)
		t.holds = true
	}
}

// Call waits for a slot for a call of a provider, unless t holds one, and returns the function that gives it
// back. The caller must not wait for anything but the call meanwhile.
func (t *Turn) Call() (end func()) {
	if t.holds {
		return func() {}
	}
	t.pool.beginCall(t.shared)
	return func() { t.pool.endCall(t.shared) }
}

// Keep ends the effect of Release: no other turn begins in place of this one any more. It is for a turn that
// has something open, which is not to be open for long.
func (t *Turn) Keep() {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.kept = true
	t.pool.count(t.shared)
}

// Release is Lend for waiting for a part of another turn, or of the same one. Until the returned function is
// called, parts of all turns may use the slot, and unless t is kept, another turn may begin in its place.
func (t *Turn) Release() (takeBack func()) {
	t.addWaiting(1)
	lent := t.Lend()
	return func() {
		lent()
		t.addWaiting(-1)
	}
}

func (t *Turn) addWaiting(n int) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.waiting += n
	if t.waiting > 0 {
		t.pool.reserve(t.shared, false)
	}
	t.pool.count(t.shared)
}
