package deferral

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// AddMoved adds the objects that moves take to instances of blocks whose instances are unknown: the plan
// carries out these moves, although only a later one can plan the objects. moves has the previous addresses
// by the new ones, and prior the objects at the new ones. Those with a change are not added.
func (s *Set) AddMoved(moves map[addr.Instance]addr.Instance, prior *state.State, changes map[addr.Object]*plan.Change) {
	list := s.List()
	for _, to := range slices.SortedFunc(maps.Keys(moves), addr.Instance.Compare) {
		obj := addr.Object{Instance: to}
		o := prior.Object(obj)
		if o == nil || to.Resource.Mode != addr.Managed || changes[obj] != nil || !s.CoversBlock(to.Abs()) || s.has(obj) {
			continue
		}
		d := &plan.Deferral{Reason: plan.DeferredCountUnknown, Change: &plan.Change{
			Addr: to, PrevAddr: moves[to], Action: plan.NoOp, Provider: prior.Instance(to).Provider, SchemaVersion: o.SchemaVersion,
			StateDeps: o.Dependencies, CreateBeforeDestroy: o.CreateBeforeDestroy,
		}}
		if i := slices.IndexFunc(list, func(of *plan.Deferral) bool {
			return of.Change.Addr.Unkeyed() && of.Change.Addr.Config() == to.Config()
		}); i >= 0 {
			d.WaitsFor = slices.Clone(list[i].WaitsFor)
		}
		s.Add(d)
	}
}

func (s *Set) has(o addr.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[o] != nil
}
