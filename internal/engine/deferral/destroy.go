package deferral

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Destructions finds the destructions that have to wait, in a plan all of whose instances are planned: an
// object must not be destroyed while a deferred object that exists depends on it.
type Destructions struct {
	Set     *Set
	Changes map[addr.Object]*plan.Change // without those that are deferred in the end
	Prior   *state.State
	Seeds   map[addr.Instance]*plan.Deferral // of earlier attempts; gets the seeds of the next one

	protected map[addr.ConfigResource]addr.Instance // by a deferred object
	queue     []addr.ConfigResource
}

// Settle defers the destructions that have to wait. It leaves out the second halves of replacements that
// create first. It returns true if other replacements have to be deferred as a whole: the plan must be made
// again then, with the seeds deferred.
func (d *Destructions) Settle() (again bool) {
	d.protected = map[addr.ConfigResource]addr.Instance{}
	existing := map[addr.Instance]*state.Object{}
	for a, in := range d.Prior.AllInstances() {
		if in.Current != nil && a.Resource.Mode == addr.Managed && d.Set.Covers(a) {
			existing[a] = in.Current
		}
	}
	for _, a := range slices.SortedFunc(maps.Keys(existing), addr.Instance.Compare) {
		d.protect(a, existing[a].Dependencies)
	}
	of := map[addr.ConfigResource][]*plan.Change{}
	for _, c := range d.Changes {
		if c.Action == plan.Delete || c.Action == plan.DeleteThenCreate || c.Action == plan.CreateThenDelete {
			of[c.Addr.Config()] = append(of[c.Addr.Config()], c)
		}
	}
	for len(d.queue) > 0 {
		r := d.queue[0]
		d.queue = d.queue[1:]
		slices.SortFunc(of[r], func(a, b *plan.Change) int {
			return cmp.Or(a.Addr.Compare(b.Addr), cmp.Compare(a.Deposed, b.Deposed))
		})
		for _, c := range of[r] {
			again = d.wait(c, d.protected[r]) || again
		}
	}
	return again
}

// protect protects the objects that an object of the instance depends on.
func (d *Destructions) protect(by addr.Instance, deps []addr.ConfigResource) {
	for _, r := range deps {
		if _, ok := d.protected[r]; !ok {
			d.protected[r] = by
			d.queue = append(d.queue, r)
		}
	}
}

// wait has a destruction wait for the deferred object that is against it.
func (d *Destructions) wait(c *plan.Change, on addr.Instance) (again bool) {
	later := &plan.Deferral{Change: c, Reason: plan.DeferredPrereq, WaitsFor: []plan.Dep{{Resource: on.Abs(), Key: on.Key}}}
	switch c.Action {
	case plan.Delete:
		delete(d.Changes, c.Object())
		d.Set.Add(later)
	case plan.CreateThenDelete:
		c.KeepsReplaced = true
	default:
		d.Seeds[c.Addr] = later
		again = true
	}
	d.protect(c.Addr, c.StateDeps)
	return again
}

// Stuck returns the seeds that are deferred for the sake of an object that waits for them, in the order of
// their addresses: no later plan could go on.
func (d *Destructions) Stuck() (stuck []*plan.Deferral) {
	for _, a := range slices.SortedFunc(maps.Keys(d.Seeds), addr.Instance.Compare) {
		seed := d.Seeds[a]
		if len(seed.WaitsFor) > 0 && d.Set.awaits(seed.WaitsFor[0].Resource.Instance(seed.WaitsFor[0].Key), a) {
			stuck = append(stuck, seed)
		}
	}
	return stuck
}

// awaits reports whether a deferred instance waits for another one, directly or through others.
func (s *Set) awaits(a, other addr.Instance) bool {
	var target plan.Instances
	target.Add(other)
	list := s.List()
	seen := map[addr.Object]struct{}{}
	stands := func(d *plan.Deferral, a addr.Instance) bool { // d is the entry of a, or of its block
		at := Of(&plan.Plan{Deferrals: []*plan.Deferral{d}})
		return at.Covers(a)
	}
	var from func(d *plan.Deferral) bool
	from = func(d *plan.Deferral) bool {
		if _, ok := seen[d.Change.Object()]; ok {
			return false
		}
		seen[d.Change.Object()] = struct{}{}
		if d.Change.Addr != other && slices.ContainsFunc(d.WaitsFor, target.Touched) {
			return true
		}
		return slices.ContainsFunc(list, func(next *plan.Deferral) bool {
			return len(Of(&plan.Plan{Deferrals: []*plan.Deferral{next}}).Touched(d.WaitsFor)) > 0 && from(next)
		})
	}
	return slices.ContainsFunc(list, func(d *plan.Deferral) bool { return stands(d, a) && from(d) })
}
