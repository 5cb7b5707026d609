// Package rounds has the memory of a run that plans and applies in rounds: the objects that need not be asked
// for again, and the deferrals by which the run knows whether it gets anything done.
//
// It may import addr, diag and the model. It must not know providers or evaluation: they are the engine's.
package rounds

import (
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Memory is the knowledge that the rounds of one run share. The state must stay locked from the first plan to
// the last apply. Where it is not, ForgetOthers must be called whenever the state was read again. All
// methods may be called on a nil Memory, which remembers nothing, and concurrently.
type Memory struct {
	at time.Time

	mu      sync.Mutex
	seen    map[addr.Object]struct{}
	settled map[addr.Instance]struct{}
	changes map[addr.Instance]*plan.Change // the last one that was made of each instance
	last    *plan.Plan                     // that was applied last; nil for none
	known   map[plan.Dep]struct{}          // everything that deferred objects waited for and that became known
	kept    map[addr.Instance][]kept       // see Keep
	least   [2]int                         // the smallest number of deferrals since known last grew; see remaining
}

// New returns the memory of a run that begins at the given time.
func New(at time.Time) *Memory {
	return &Memory{at: at.UTC().Truncate(time.Second), seen: map[addr.Object]struct{}{}, settled: map[addr.Instance]struct{}{}, changes: map[addr.Instance]*plan.Change{}, known: map[plan.Dep]struct{}{}, kept: map[addr.Instance][]kept{}}
}

// Time returns the time of the run, which has no fractions of a second; the zero time without a memory.
func (m *Memory) Time() time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.at
}

// See notes that the state has the object as its provider sees it.
func (m *Memory) See(o addr.Object) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[o] = struct{}{}
}

// Seen reports whether the state has the object as its provider saw it in this run, so that it need not be
// refreshed.
func (m *Memory) Seen(o addr.Object) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.seen[o]
	return ok
}

// Settled reports whether a round has planned the instance and carried out its plan, so that it need not be
// planned unless something that it refers to has changed.
func (m *Memory) Settled(a addr.Instance) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.settled[a]
	return ok
}

// Change returns the last change that a round has made of an instance, nil if there is none.
func (m *Memory) Change(a addr.Instance) *plan.Change {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes[a]
}

// Replaced reports whether a round has replaced the object of an instance, and left the old one to a later
// round.
func (m *Memory) Replaced(a addr.Instance) bool {
	c := m.Change(a)
	return c != nil && c.KeepsReplaced
}

// forget forgets an object that another run has changed between two rounds.
func (m *Memory) forget(o addr.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, o)
	delete(m.settled, o.Instance)
	delete(m.kept, o.Instance)
}

// Own returns the plan, which is about to be carried out, for ForgetOthers; nil if m is nil, so that nothing
// holds the plan for it.
func (m *Memory) Own(p *plan.Plan) *plan.Plan {
	if m == nil {
		return nil
	}
	return p
}

// ForgetOthers forgets the objects that other runs have changed between two states: all that differ and that
// own, the plan that was carried out in between, does not change. own may be nil.
func (m *Memory) ForgetOthers(before, after *state.State, own *plan.Plan) {
	if m == nil {
		return
	}
	ours := map[addr.Instance]struct{}{}
	if own != nil {
		for _, c := range own.Changes {
			if c.Action != plan.NoOp {
				ours[c.Addr] = struct{}{}
			}
		}
		for _, c := range own.Adopted {
			ours[c.Object.Instance] = struct{}{}
		}
	}
	for _, c := range state.Diff(before, after) {
		if _, is := ours[c.Object.Instance]; !is && !c.New.Equal(before.Object(c.Object)) {
			m.forget(c.Object)
		}
	}
}

// Applied notes that a plan was carried out without errors.
func (m *Memory) Applied(p *plan.Plan) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = p
	m.dropUnneeded(p)
	for _, c := range p.Changes {
		if c.Deposed == addr.Current && c.Action != plan.NoOp {
			m.changes[c.Addr] = c
		}
		if c.Addr.Resource.Mode != addr.Managed || c.Action == plan.Delete || c.Action == plan.Forget {
			continue // if it comes back, it is a new object
		}
		m.seen[c.Object()] = struct{}{}
		if c.Deposed == addr.Current {
			m.settled[c.Addr] = struct{}{}
		}
	}
}
