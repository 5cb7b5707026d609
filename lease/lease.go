// Package lease keeps things that exist for as long as somebody needs them: ephemeral resource instances and
// provider processes configured from them. It opens on first use, renews while open, and closes exactly once,
// as soon as nobody uses the thing and nobody may still come to use it.
//
// Two counts decide. A *lease* is a use: it is held around the operation that needs the value. A *claim* is a
// may-use: somebody who has not run yet might take a lease. A thing is closed when both are zero. Claims are
// made on a key or on a group of keys (a whole resource whose instances are not told apart yet).
//
// It imports the standard library only. It must not know what is opened: values are opaque here and never
// printed.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Opened is a thing that was opened, with what is needed to keep and to end it.
type Opened[V any] struct {
	Value   V
	RenewAt time.Time // zero if it needs no renewal
	// Renew extends the life and returns the next time to renew, zero for never. It is never called
	// concurrently with itself or Close, so it must return once its context ends: after the end of the use
	// that needed it, or CloseLimit after the last use if it runs in the background.
	Renew func(context.Context) (time.Time, error)
	// Close ends the thing. It is called exactly once, with a context that ends after the pool's limit. It
	// may be nil.
	Close func(context.Context)
	// After is called once Close has returned or its time is up: it releases what the thing itself was using.
	After func()
}

// Options are the fixed parameters of a pool.
type Options[K comparable] struct {
	// Group returns the group that a key belongs to; a claim on the group keeps all its keys open. Groups may
	// have groups.
	Group func(K) (K, bool)
	// Uses returns what k may use while it is open or may be opened. The pool claims it for as long as k is
	// claimed or leased. It is called without locks held, possibly more than once, and must not lead back to
	// k.
	Uses func(K) []K
	// CloseLimit bounds one Close, and how long Shutdown waits for openings that are under way.
	CloseLimit time.Duration
	// CloseTimeout is told of a Close that did not return within the limit.
	CloseTimeout func(K)
	// Now is the clock, nil for the machine's.
	Now func() time.Time
}

// ErrClosed is returned by Acquire on a pool that has been shut down.
var ErrClosed = errors.New("the run is ending: nothing new is opened")

// ErrExpired is wrapped by the error of a use whose renewal failed.
var ErrExpired = errors.New("the lease could not be renewed and may have expired")

// Pool holds the things of one walk. All methods may be called concurrently.
type Pool[K comparable, V any] struct {
	opt     Options[K]
	known   sync.Map // K → []K: what Uses returned
	mu      sync.Mutex
	entries map[K]*entry[K, V]
	opens   int        // openings under way
	closes  int        // closings under way
	ended   *sync.Cond // on mu: an opening or a closing has ended
	shut    bool
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

// entry is what the pool knows of one key or group. All fields are guarded by the pool's mutex.
type entry[K comparable, V any] struct {
	key     K
	group   *entry[K, V]
	members []*entry[K, V]
	claims  int // by callers
	needs   int // claims by engaged entries that may use this one
	leases  int
	uses    []K // the needs of these count e while it is engaged
	engaged bool

	phase  phase
	life   *life[V]      // set while open
	failed error         // the error of the last attempt to open
	ready  chan struct{} // closed when the phase leaves opening or closing
}

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

// Claim announces that somebody may come to use each key (or any key of the group) later. Every Claim is
// ended by a Waive of the same key.
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

// learn asks for the uses of keys, and of their uses, before the lock is taken. What is known of a key is
// complete: its uses are known too.
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

// engage claims what e may use, on the first claim or lease.
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

// Waive ends claims. What nobody uses or may use any more is closed in the background. Without a claim to end
// it does nothing.
func (p *Pool[K, V]) Waive(keys ...K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range keys {
		if e := p.entries[k]; e != nil && e.claims > 0 {
			e.claims--
			p.settle(e)
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

// wanted reports whether somebody uses e or may still come to use it.
func (e *entry[K, V]) wanted() bool {
	for g := e; g != nil; g = g.group {
		if g.claims > 0 {
			return true
		}
	}
	return e.leases > 0 || e.needed()
}

// settle closes e and the members of its group if nothing wants them, and gives up what they were claiming.
func (p *Pool[K, V]) settle(e *entry[K, V]) {
	if e.claims == 0 && e.needs == 0 {
		for _, m := range e.members {
			p.settle(m)
		}
	}
	if e.wanted() || e.phase == opening || e.phase == closing {
		return
	}
	if e.phase == open {
		p.startClose(e)
		return
	}
	p.disengage(e)
}

func (p *Pool[K, V]) disengage(e *entry[K, V]) {
	if !e.engaged {
		return
	}
	e.engaged = false
	uses := e.uses
	e.uses = nil
	for _, u := range uses {
		used := p.entries[u]
		used.needs--
		p.settle(used)
	}
}

// Lease is a use of an open thing. It must be released exactly once.
type Lease[K comparable, V any] struct {
	pool     *Pool[K, V]
	entry    *entry[K, V]
	life     *life[V]
	released bool
}

// Acquire returns a lease on k, opening it with open if it is not open. Of several callers one opens and the
// others wait for it. If opening fails, every waiting caller gets the error, and later callers get the same
// error without another attempt.
func (p *Pool[K, V]) Acquire(ctx context.Context, k K, openFn func(context.Context) (Opened[V], error)) (*Lease[K, V], error) {
	p.learn([]K{k}, map[K]struct{}{})
	p.mu.Lock()
	e := p.entry(k)
	for {
		if p.shut {
			p.mu.Unlock()
			return nil, ErrClosed
		}
		if e.failed != nil {
			err := e.failed
			p.mu.Unlock()
			return nil, err
		}
		if e.phase == open {
			e.leases++
			l := &Lease[K, V]{pool: p, entry: e, life: e.life}
			p.mu.Unlock()
			return l, nil
		}
		if e.phase == unopened {
			break
		}
		ready := e.ready
		p.mu.Unlock()
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
	}
	e.phase, e.ready = opening, make(chan struct{})
	e.leases++
	p.opens++
	p.engage(e)
	p.mu.Unlock()
	return p.open(ctx, e, openFn)
}

func (p *Pool[K, V]) open(ctx context.Context, e *entry[K, V], openFn func(context.Context) (Opened[V], error)) (l *Lease[K, V], err error) {
	var thing Opened[V]
	err = errors.New("opening did not end normally")
	defer func() { // also when openFn panics
		p.mu.Lock()
		defer p.mu.Unlock()
		close(e.ready)
		p.opens--
		p.ended.Broadcast()
		switch {
		case err != nil:
			e.phase, e.failed = unopened, err
			e.leases--
			p.settle(e)
		case p.shut:
			e.phase, e.life = open, newLife(thing, p.opt.Now)
			e.leases = 0
			p.startClose(e)
			err = ErrClosed
		default:
			e.phase, e.life = open, newLife(thing, p.opt.Now)
			l = &Lease[K, V]{pool: p, entry: e, life: e.life}
		}
	}()
	thing, err = openFn(ctx)
	return nil, err
}

// Retry lets what failed to open be tried again by the next Acquire.
func (p *Pool[K, V]) Retry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		e.failed = nil
	}
}

// Value returns the value, after renewing it if its time has come. A renewal that failed is tried once more
// at each use; if that fails too, the error wraps ErrExpired. After Release or Shutdown the error is
// ErrClosed.
func (l *Lease[K, V]) Value(ctx context.Context) (V, error) {
	var none V
	l.pool.mu.Lock()
	life := l.life
	usable := !l.released && l.entry.life == life
	l.pool.mu.Unlock()
	if !usable {
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
	if l.released {
		return
	}
	l.released = true
	if l.entry.life == l.life { // else it was closed by force
		l.entry.leases--
		l.pool.settle(l.entry)
	}
	l.life = nil
}

// startClose closes e in a goroutine of its own. p.mu is held.
func (p *Pool[K, V]) startClose(e *entry[K, V]) {
	e.phase, e.ready = closing, make(chan struct{})
	ending := e.life
	thing := ending.thing
	ending.thing = Opened[V]{} // a lease that was never released must not keep the value
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
		p.settle(e)
		p.closes--
		p.ended.Broadcast()
	}()
}

func (p *Pool[K, V]) runClose(k K, thing Opened[V]) {
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
		case <-ended: // it ended together with its time
		default:
			if p.opt.CloseTimeout != nil {
				p.opt.CloseTimeout(k)
			}
		}
	}
}

// Shutdown closes everything that is still open, whatever claims there are, users before what they use, and
// returns when every Close has ended or timed out. It is called when everybody has ended or is given up: what
// is still leased then, because its user is under way or a panic kept it from releasing the lease, is closed
// too. An opening that is under way is waited for, within the limit, and closed as soon as it has succeeded;
// its caller gets ErrClosed, as does everyone who comes to open something afterwards. It is safe to call more
// than once.
func (p *Pool[K, V]) Shutdown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	for _, e := range p.entries {
		e.claims = 0
	}
	for _, e := range p.entries {
		p.settle(e)
	}
	p.awaitOpens()
	p.drain()
	for p.force() {
		p.drain()
	}
}

// awaitOpens waits until nothing is being opened or CloseLimit is over. p.mu is held.
func (p *Pool[K, V]) awaitOpens() {
	late := false
	timer := time.AfterFunc(p.opt.CloseLimit, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.ended.Broadcast()
	})
	defer timer.Stop()
	for p.opens > 0 && !late {
		p.ended.Wait()
	}
}

// force closes those of the things still open that nothing else open uses or may use, in spite of leases, and
// reports whether there were any. p.mu is held.
func (p *Pool[K, V]) force() bool {
	var first []*entry[K, V]
	rank := 3 // of first: the lower, the surer that nothing open uses them
	for _, e := range p.entries {
		if e.phase != open {
			continue
		}
		r := 2
		switch {
		case e.leases == 0:
			r = 0
		case !e.needed():
			r = 1
		}
		if r < rank {
			rank, first = r, nil
		}
		if r == rank {
			first = append(first, e)
		}
	}
	for _, e := range first {
		e.leases = 0
		p.startClose(e)
	}
	return len(first) > 0
}

// drain waits until nothing is being closed. p.mu is held.
func (p *Pool[K, V]) drain() {
	for p.closes > 0 {
		p.ended.Wait()
	}
}

// Drained waits for the closings that are under way.
func (p *Pool[K, V]) Drained() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drain()
}
