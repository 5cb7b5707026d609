package deferral

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Producers finds changes that compute values which are not stored, for deferred objects. The values would be
// lost before these objects are planned, so the changes have to wait too.
type Producers struct {
	Set     *Set
	Changes map[addr.Object]*plan.Change
	Users   func(c *plan.Change) []addr.Instance // deferred objects that use values which the change makes
	Seeds   map[addr.Instance]*plan.Deferral     // gets the seeds of the next attempt
}

// Defer defers the given changes that have to wait. It returns true if there are any: the plan must then be
// made again. stuck are changes that cannot wait, because a deferred object, the first of WaitsFor, waits for
// them: no later plan could make them either.
func (p *Producers) Defer(changes []*plan.Change) (again bool, stuck []*plan.Deferral) {
	var list []*plan.Deferral
	for _, c := range changes {
		later := &plan.Deferral{Change: c, Reason: plan.DeferredPrereq}
		for _, u := range p.Users(c) {
			later.WaitsFor = append(later.WaitsFor, plan.Dep{Resource: u.Abs(), Key: u.Key})
		}
		if len(later.WaitsFor) > 0 {
			list = append(list, later)
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	for i, by := range findWaits(p.Set, p.Changes).closing(list) {
		later := list[i]
		if by >= 0 {
			later.WaitsFor = later.WaitsFor[by : by+1]
			stuck = append(stuck, later)
			continue
		}
		p.Seeds[later.Change.Addr], again = later, true
	}
	return again, stuck
}
