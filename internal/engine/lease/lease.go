// Package lease keeps things that exist only while they are needed: ephemeral resource instances, and
// provider processes configured from them. It opens a thing on first use, renews it while it is open, and
// closes it exactly once, as soon as it has no users left and none are expected.
//
// Two counts decide. A *lease* is a use: it is held during the operation that needs the value. A *claim*
// announces a possible use: a task that has not run yet may take a lease. A thing is closed when both
// counts are zero. Claims are made on a key or on a group of keys, such as a whole resource whose instances
// are not known yet.
//
// It imports the standard library only. It must not know the kind of things it opens: values are opaque and
// never printed.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Thing is an open thing, with the functions that renew and close it.
type Thing[V any] struct {
	Value   V
	RenewAt time.Time // zero if it needs no renewal
	// Renew extends the thing's life and returns the next time to renew, zero for never. It never runs
	// concurrently with itself or Close, so it must return once its context ends: after RenewLimit, after
	// the end of the use that needed it, or, in the background, CloseLimit after the last use.
	Renew func(context.Context) (time.Time, error)
	// Close ends the thing. It is called exactly once, with a context that ends after the pool's limit. It
	// may be nil.
	Close func(context.Context)
	// After is called when Close has returned or its time is up. It releases the things that the thing itself
	// was using.
	After func()
}

// Options are the parameters of a pool.
type Options[K comparable] struct {
	// Group returns the group that a key belongs to; a claim on the group keeps all its keys open. Groups may
	// have groups.
	Group func(K) (K, bool)
	// Uses returns the keys that k may use while it is open or being opened. The pool claims these keys for
	// as long as k is claimed or leased. Uses is called without locks held, possibly more than once, and must
	// not lead back to k.
	Uses func(K) []K
	// CloseLimit bounds one Close, and how long Shutdown waits for openings in progress.
	CloseLimit time.Duration
	// CloseTimeout is called for a thing whose Close did not return within the limit.
	CloseTimeout func(K)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// ErrClosed is returned by Acquire on a pool that has been shut down.
var ErrClosed = errors.New("the run is ending: nothing new is opened")

// ErrExpired is wrapped by the error of a use whose renewal failed.
var ErrExpired = errors.New("the lease could not be renewed and may have expired")

// Pool holds the things of one walk. All methods may be called concurrently.
type Pool[K comparable, V any] struct {
	opt     Options[K]
	known   sync.Map // K → []K: results of Uses
	mu      sync.Mutex
	entries map[K]*entry[K, V]
	opens   int        // openings in progress
	closes  int        // closings in progress
	ended   *sync.Cond // on mu: an opening or a closing has ended
	shut    bool       // nothing is opened any more
	forced  bool       // leases keep nothing open any more
}

// NewPool returns an empty pool.
func NewPool[K comparable, V any](opt Options[K]) *Pool[K, V] {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	p := &Pool[K, V]{opt: opt, entries: map[K]*entry[K, V]{}}
	p.ended = sync.NewCond(&p.mu)
	return p
}

type phase uint8

const (
	unopened phase = iota
	opening
	open
	closing
)

// entry is the state of one key or group. The pool's mutex protects all fields.
type entry[K comparable, V any] struct {
	key     K
	group   *entry[K, V]
	members []*entry[K, V]
	claims  int // by callers
	needs   int // claims by engaged entries that may use this one
	leases  int
	uses    []K // while e is engaged, it adds one to the needs of each
	engaged bool

	phase  phase
	life   *life[V]      // set while open
	failed error         // the error of the last attempt to open
	ready  chan struct{} // closed when the phase leaves opening or closing
}

// entry returns the entry of a key, after adding it and its group's if necessary. p.mu is held.
func (p *Pool[K, V]) entry(k K) *entry[K, V] {
	e := p.entries[k]
	if e == nil {
		e = &entry[K, V]{key: k}
		p.entries[k] = e
		if p.opt.Group != nil {
			if g, ok := p.opt.Group(k); ok {
				e.group = p.entry(g)
				e.group.members = append(e.group.members, e)
			}
		}
	}
	return e
}

// Claim announces a possible later use of each key, or of any key of a group. Every Claim must be ended by
// a Waive of the same key.
func (p *Pool[K, V]) Claim(keys ...K) {
	p.learn(keys, map[K]struct{}{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return
	}
	for _, k := range keys {
		e := p.entry(k)
		e.claims++
		p.engage(e)
	}
}

// learn calls Uses for keys, and for the keys they use, before the lock is taken. Once a key is known, so are
// all keys reachable from it.
func (p *Pool[K, V]) learn(keys []K, asked map[K]struct{}) {
	if p.opt.Uses == nil {
		return
	}
	for _, k := range keys {
		if _, ok := p.known.Load(k); ok {
			continue
		}
		if _, ok := asked[k]; ok {
			continue
		}
		asked[k] = struct{}{}
		uses := p.opt.Uses(k)
		p.learn(uses, asked)
		p.known.Store(k, uses)
	}
}

// engage adds a need to everything that e may use, on the first claim or lease.
func (p *Pool[K, V]) engage(e *entry[K, V]) {
	if e.engaged {
		return
	}
	e.engaged = true
	if uses, ok := p.known.Load(e.key); ok {
		e.uses = uses.([]K)
		for _, u := range e.uses {
			used := p.entry(u)
			used.needs++
			p.engage(used)
		}
	}
}

// Waive ends claims. Things that are no longer used or claimed are closed in the background. Without a
// matching claim it does nothing.
func (p *Pool[K, V]) Waive(keys ...K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range keys {
		if e := p.entries[k]; e != nil && e.claims > 0 {
			e.claims--
			p.closeUnwanted(e)
		}
	}
}

// needed reports whether something that is open or may be opened may use e.
func (e *entry[K, V]) needed() bool {
	for g := e; g != nil; g = g.group {
		if g.needs > 0 {
			return true
		}
	}
	return false
}

// wanted reports whether e is in use or may still be used.
func (p *Pool[K, V]) wanted(e *entry[K, V]) bool {
	for g := e; g != nil; g = g.group {
		if g.claims > 0 {
			return true
		}
	}
	return e.leases > 0 && !p.forced || e.needed()
}

// closeUnwanted closes e and the members of its group if they are not wanted, and gives up their own claims.
func (p *Pool[K, V]) closeUnwanted(e *entry[K, V]) {
	if e.claims == 0 && e.needs == 0 {
		for _, m := range e.members {
			p.closeUnwanted(m)
		}
	}
	if p.wanted(e) || e.phase == opening || e.phase == closing {
		return
	}
	if e.phase == open {
		p.startClose(e)
		return
	}
	p.disengage(e)
}

func (p *Pool[K, V]) disengage(e *entry[K, V]) {
	uses := e.uses
	e.engaged, e.uses = false, nil
	for _, u := range uses {
		used := p.entries[u]
		used.needs--
		p.closeUnwanted(used)
	}
}

// Lease is a use of an open thing. It must be released exactly once.
type Lease[K comparable, V any] struct {
	pool  *Pool[K, V]
	entry *entry[K, V]
	life  *life[V] // nil once it is released
}

// Acquire returns a lease on k, opening it with openFn if it is not open. If several goroutines call it at
// once, one opens and the others wait. If opening fails, all of them get the error, and later callers get
// the same error without another attempt. While others open or close k, wait is called: it returns nil when
// the channel is closed, or an error to give up.
func (p *Pool[K, V]) Acquire(k K, wait func(ready <-chan struct{}) error, openFn func() (Thing[V], error)) (l *Lease[K, V], err error) {
	p.learn([]K{k}, map[K]struct{}{})
	e, l, err := p.begin(k, wait)
	if l != nil || err != nil {
		return l, err
	}
	var thing Thing[V]
	err = errors.New("opening did not end normally")
	defer func() { // also when openFn panics, so that those who wait for the entry are woken
		p.mu.Lock()
		defer p.mu.Unlock()
		close(e.ready)
		p.opens--
		p.ended.Broadcast()
		switch {
		case err != nil:
			e.phase, e.failed = unopened, err
			e.leases--
			p.closeUnwanted(e)
		case p.shut:
			e.phase, e.life = open, newLife(thing, p.opt.Now)
			p.startClose(e)
			err = ErrClosed
		default:
			e.phase, e.life = open, newLife(thing, p.opt.Now)
			l = &Lease[K, V]{pool: p, entry: e, life: e.life}
		}
	}()
	thing, err = openFn()
	return nil, err
}

// begin returns a lease on k if it is open. If it is not, begin marks it as being opened, which the caller
// must do then, and returns neither a lease nor an error.
func (p *Pool[K, V]) begin(k K, wait func(<-chan struct{}) error) (*entry[K, V], *Lease[K, V], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.entry(k); ; {
		switch {
		case p.shut:
			return e, nil, ErrClosed
		case e.failed != nil:
			return e, nil, e.failed
		case e.phase == open:
			e.leases++
			return e, &Lease[K, V]{pool: p, entry: e, life: e.life}, nil
		case e.phase == unopened:
			e.phase, e.ready = opening, make(chan struct{})
			e.leases++
			p.opens++
			p.engage(e)
			return e, nil, nil
		}
		if err := p.await(e.ready, wait); err != nil {
			return e, nil, err
		}
	}
}

// await calls wait without the lock.
func (p *Pool[K, V]) await(ready <-chan struct{}, wait func(<-chan struct{}) error) error {
	p.mu.Unlock()
	defer p.mu.Lock() // also if wait panics
	return wait(ready)
}

// Retry makes the next Acquire try again to open things that failed to open.
func (p *Pool[K, V]) Retry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		e.failed = nil
	}
}

// Value returns the value, after renewing it if renewal is due. If the last renewal failed, each use makes
// one more attempt; if that fails too, the error wraps ErrExpired. After Release or Shutdown the error is
// ErrClosed.
func (l *Lease[K, V]) Value(ctx context.Context) (V, error) {
	var none V
	l.pool.mu.Lock()
	life := l.life
	l.pool.mu.Unlock()
	if life == nil {
		return none, ErrClosed
	}
	if err := life.fresh(ctx); err != nil {
		return none, err
	}
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.entry.life != life {
		return none, ErrClosed
	}
	return life.thing.Value, nil
}

// Release ends the use. A second call does nothing.
func (l *Lease[K, V]) Release() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.life == nil {
		return
	}
	if l.entry.life == l.life { // otherwise Shutdown has closed it
		l.entry.leases--
		l.pool.closeUnwanted(l.entry)
	}
	l.life = nil
}

// startClose closes e, whose leases are of no use from then on, in a new goroutine. p.mu is held.
func (p *Pool[K, V]) startClose(e *entry[K, V]) {
	e.phase, e.ready, e.leases = closing, make(chan struct{}), 0
	ending := e.life
	// Neither a lease that was never released nor the closing itself, which may take long, keeps the value.
	thing := Thing[V]{Close: ending.thing.Close, After: ending.thing.After}
	ending.thing = Thing[V]{}
	e.life = nil
	p.closes++
	go func() {
		ending.end(p.opt.CloseLimit)
		p.runClose(e.key, thing)
		if thing.After != nil {
			thing.After()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		e.phase = unopened
		close(e.ready)
		p.closeUnwanted(e)
		p.closes--
		p.ended.Broadcast()
	}()
}

// runClose closes a thing, within the limit that the pool has for that. A close that takes longer is left
// running and reported: the run must be able to end.
func (p *Pool[K, V]) runClose(k K, thing Thing[V]) {
	if thing.Close == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.opt.CloseLimit)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		thing.Close(ctx)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		select {
		case <-ended: // it ended within its time after all
		default:
			if p.opt.CloseTimeout != nil {
				p.opt.CloseTimeout(k)
			}
		}
	}
}
