// Package deferral keeps the instances and blocks that a plan leaves to a later one, with reasons, and the
// destructions that have to wait for them. It also finds instances that a plan has left out.
//
// It may import plan and state, whose data it works on. It must not know how anything is planned.
package deferral

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Set has the instances and blocks that a plan defers. The zero value is empty. Its methods may be called
// concurrently.
type Set struct {
	mu      sync.Mutex
	entries map[addr.Object]*plan.Deferral
	at      plan.Instances // the instances; blocks and calls stand for theirs
	blocks  map[addr.AbsResource]struct{}
	calls   map[addr.ModuleInstance]struct{} // without keys
	left    map[addr.ConfigResource]struct{} // blocks with unknown instances that are left out
}

// Of returns the set of a plan.
func Of(p *plan.Plan) *Set {
	s := &Set{}
	for _, d := range p.Deferrals {
		s.Add(d)
		s.addBlocks(d.Change.Addr)
	}
	return s
}

// addBlocks adds the blocks with unknown instances that are in an address.
func (s *Set) addBlocks(a addr.Instance) {
	for _, m := range a.Module.Path() {
		if outer, name, key := m.Parent(); key == addr.AnyKey {
			s.AddBlock(addr.Target{Module: outer.Child(name, addr.NoKey)})
		}
	}
	if a.Key == addr.AnyKey {
		s.AddBlock(addr.Target{Module: a.Module, Resource: &a.Resource})
	}
}

// Add adds an instance, or the generic instance of a block.
func (s *Set) Add(d *plan.Deferral) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[addr.Object]*plan.Deferral{}
	}
	s.entries[d.Change.Object()] = d
	if d.Change.Deposed == addr.Current {
		s.at.Add(d.Change.Addr)
	}
}

// AddBlock adds a resource or a module call, without a key, whose instances are unknown.
func (s *Set) AddBlock(t addr.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocks == nil {
		s.blocks, s.calls = map[addr.AbsResource]struct{}{}, map[addr.ModuleInstance]struct{}{}
	}
	if t.Resource == nil {
		s.calls[t.Module] = struct{}{}
		s.at.Add(addr.Instance{Module: t.Module})
		return
	}
	r := addr.AbsResource{Module: t.Module, Resource: *t.Resource}
	s.blocks[r] = struct{}{}
	s.at.Add(r.Instance(addr.AnyKey))
}

// Leave notes that a plan leaves out a block, whose generic instance is given: nothing waits for its objects.
func (s *Set) Leave(a addr.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		s.left = map[addr.ConfigResource]struct{}{}
	}
	s.left[a.Config()] = struct{}{}
}

// AddSilent adds an instance that depends on something deferred and does not count itself.
func (s *Set) AddSilent(a addr.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at.Add(a)
}

// Empty reports whether nothing is deferred.
func (s *Set) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)+len(s.blocks)+len(s.calls) == 0
}

// Covers reports whether an instance is deferred, by itself or with its block or a call around it. One that
// is left out is not.
func (s *Set) Covers(a addr.Instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.entries[addr.Object{Instance: a}]; ok {
		return true
	}
	_, left := s.left[a.Config()]
	return !left && s.covers(a.Abs())
}

// CoversBlock reports whether a resource is deferred as a whole, or with a call around it.
func (s *Set) CoversBlock(r addr.AbsResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.covers(r)
}

func (s *Set) covers(r addr.AbsResource) bool {
	_, ok := s.blocks[r]
	return ok || s.inCall(r.Module)
}

// inCall reports whether a module instance lies in a call whose instances are unknown.
func (s *Set) inCall(m addr.ModuleInstance) bool {
	if len(s.calls) == 0 {
		return false
	}
	return slices.ContainsFunc(m.Path(), func(step addr.ModuleInstance) bool {
		outer, name, _ := step.Parent()
		_, ok := s.calls[outer.Child(name, addr.NoKey)]
		return ok
	})
}

// Touched returns the dependencies that are on something deferred.
func (s *Set) Touched(deps []plan.Dep) []plan.Dep {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.Empty() {
		return nil
	}
	var out []plan.Dep
	for _, d := range deps {
		if s.at.Touched(d) || !d.All && s.covers(d.Resource) || s.inCall(d.Resource.Module) {
			out = append(out, d)
		}
	}
	return out
}

// named returns the objects that an entry waits for, without itself, calls around it and
// ephemeral resources with unknown instances.
func (s *Set) named(d *plan.Deferral) (out []plan.Dep) {
	for _, w := range d.WaitsFor {
		switch {
		case w.Resource == d.Change.Addr.Abs() && (w.All || w.Key == d.Change.Addr.Key), w.All && w.Resource.Resource.Mode == addr.Ephemeral:
		case w.Resource.Resource.Type != "":
			out = append(out, w)
		case !within(d.Change.Addr.Module, w.Resource.Module):
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b plan.Dep) int {
		return cmp.Or(a.Resource.Compare(b.Resource), a.Key.Compare(b.Key), a.Within.Compare(b.Within))
	})
	return slices.Compact(out)
}

// within reports whether a module instance lies in a call, whose last step has no key.
func within(m, call addr.ModuleInstance) bool {
	return slices.ContainsFunc(m.Path(), func(step addr.ModuleInstance) bool {
		outer, name, _ := step.Parent()
		return outer.Child(name, addr.NoKey) == call
	})
}

// List returns the deferrals, ordered by address.
func (s *Set) List() []*plan.Deferral {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.entries {
		d.WaitsFor = s.named(d)
	}
	return slices.SortedFunc(maps.Values(s.entries), func(a, b *plan.Deferral) int {
		return cmp.Or(a.Change.Addr.Compare(b.Change.Addr), cmp.Compare(a.Change.Deposed, b.Change.Deposed))
	})
}
