package deferral

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/component"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Crossed returns the replacements in the set that wait for an object which depends on the replaced one and,
// directly or through others, waits for the replacement, so that a plan which changes nothing would be
// followed by the same plan. Their WaitsFor has that object only. One object in the cycle must wait until a
// change of a seed is applied: if deferrals only follow from each other, they all end as soon as anything
// else ends one of them.
func (s *Set) Crossed(prior *state.State, seeds map[addr.Instance]*plan.Deferral) (out []*plan.Deferral) {
	w, list := findWaits(s, nil), s.List()
	_, number := component.Find(w.next, func(to int32) int32 { return to })
	changed := map[int32]struct{}{} // the nodes that refer to a seed in their component
	for a := range seeds {
		n, known := w.nodes[a]
		if !known {
			continue // its block has unknown instances by now
		}
		changed[n] = struct{}{}
		for _, g := range groups(a) {
			if of := w.nodes[g]; number[of] == number[n] {
				changed[of] = struct{}{}
			}
		}
	}
	lasting := map[int32]struct{}{} // the numbers of components
	for _, d := range list {
		if d.Reason != plan.DeferredCountUnknown && d.Reason != plan.DeferredProviderConfig {
			continue
		}
		n := number[w.node(d.Change.Addr)]
		for _, on := range d.WaitsFor {
			for _, to := range w.referred(on) {
				if _, ok := changed[to]; ok && number[to] == n {
					lasting[n] = struct{}{}
				}
			}
		}
	}
	for _, d := range list {
		if d.Change.Action != plan.DeleteThenCreate {
			continue
		}
		n := number[w.node(d.Change.Addr)]
		if _, ok := lasting[n]; !ok {
			continue
		}
		for _, on := range d.WaitsFor {
			o := prior.Object(addr.Object{Instance: on.Resource.Instance(on.Key)})
			if o != nil && slices.Contains(o.Dependencies, d.Change.Addr.Config()) &&
				slices.ContainsFunc(w.referred(on), func(to int32) bool { return number[to] == n }) {
				out = append(out, &plan.Deferral{Change: d.Change, Reason: d.Reason, WaitsFor: []plan.Dep{on}})
				break
			}
		}
	}
	return out
}
