package lease

import "time"

// Shutdown closes everything that is still open, regardless of claims, users before the things they use, and
// returns when every Close has ended or timed out. Call it when all tasks have ended or are abandoned: things
// that are still leased, because their user is running or a panic prevented the release, are closed too.
// Shutdown waits for openings in progress, within the limit, and closes the things they open; their callers
// get ErrClosed, as does every later Acquire. It is safe to call more than once.
//
// Leases count until everything is closed that can be without ending one. After that, a thing is closed as
// soon as no open thing may use it.
func (p *Pool[K, V]) Shutdown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	p.giveUp(unopened)
	p.awaitOpens()
	p.drain()
	p.forced = true
	p.giveUp(opening)
	p.drain()
	for p.force() {
		p.drain()
	}
}

// giveUp ends the claims of callers and of the entries in a phase, which will not be opened or take too long
// to open. p.mu is held.
func (p *Pool[K, V]) giveUp(in phase) {
	for _, e := range p.entries {
		e.claims = 0
		if e.phase == in {
			p.disengage(e)
		}
	}
	for _, e := range p.entries {
		p.closeUnwanted(e)
	}
}

// force closes open things when no closing is in progress, and reports whether there were any: as far as is
// known, they may use each other. Those without leases are not really in use, and come first. p.mu is held.
func (p *Pool[K, V]) force() bool {
	var unused, used []*entry[K, V]
	for _, e := range p.entries {
		switch {
		case e.phase != open:
		case e.leases == 0:
			unused = append(unused, e)
		default:
			used = append(used, e)
		}
	}
	if len(unused) == 0 {
		unused = used
	}
	for _, e := range unused {
		p.startClose(e)
	}
	return len(unused) > 0
}

// awaitOpens waits until no opening is in progress or CloseLimit is over. p.mu is held.
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

// drain waits until no closing is in progress. p.mu is held.
func (p *Pool[K, V]) drain() {
	for p.closes > 0 {
		p.ended.Wait()
	}
}

// Drained waits for the closings in progress.
func (p *Pool[K, V]) Drained() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drain()
}

// Busy returns a channel that is closed when an opening or a closing in progress ends: of one of keys or of
// their uses. It returns nil if there is none. Members of groups are not looked at.
func (p *Pool[K, V]) Busy(keys ...K) <-chan struct{} {
	p.learn(keys, map[K]struct{}{})
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[K]struct{}{}
	var busy func(keys []K) chan struct{}
	busy = func(keys []K) chan struct{} {
		for _, k := range keys {
			if _, ok := seen[k]; ok {
				continue
			}
			seen[k] = struct{}{}
			e := p.entries[k]
			switch {
			case e != nil && (e.phase == opening || e.phase == closing):
				return e.ready
			case e != nil && e.phase == open:
				continue // so is all that it uses
			}
			if uses, ok := p.known.Load(k); ok {
				if ch := busy(uses.([]K)); ch != nil {
					return ch
				}
			}
		}
		return nil
	}
	return busy(keys)
}
