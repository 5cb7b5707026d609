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

	// Stuck gets the replacements that cannot be deferred, because the deferred object that is against them
	// waits for them, which is the first of WaitsFor: no later plan could make them either.
	Stuck []*plan.Deferral

	waits     *waits
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
		if d.waits == nil {
			d.waits = findWaits(d.Set, d.Changes)
		}
		if d.waits.leadTo(later.WaitsFor[0], c.Addr) {
			d.Stuck = append(d.Stuck, later)
			break
		}
		d.Seeds[c.Addr] = later
		again = true
	}
	d.protect(c.Addr, c.StateDeps)
	return again
}
