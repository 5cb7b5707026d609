package deferral

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Destructions finds the destructions that have to wait because a deferred object that exists depends on the
// object to be destroyed. All instances of the plan must have been planned.
type Destructions struct {
	Set     *Set
	Changes map[addr.Object]*plan.Change // without those that are deferred in the end
	Prior   *state.State
	Seeds   map[addr.Instance]*plan.Deferral // of earlier attempts; gets the seeds of the next one

	// Stuck gets the replacements that cannot be deferred, because the deferred object that depends on the
	// replaced one waits for the replacement. It is the first of WaitsFor. No later plan could make them
	// either.
	Stuck []*plan.Deferral

	replaced  []*plan.Deferral                      // replacements that have to wait
	protected map[addr.ConfigResource]addr.Instance // by a deferred object
	queue     []addr.ConfigResource
}

// Settle defers the destructions that have to wait. Of a replacement that creates first, only the destruction
// of the old object is deferred. It returns true if other replacements have to be deferred as a whole: the
// plan must then be made again, with the seeds deferred.
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
			d.wait(c, d.protected[r])
		}
	}
	return d.putOff()
}

// putOff defers the replacements that have to wait, unless they are stuck. It returns true if there are any.
func (d *Destructions) putOff() (again bool) {
	if len(d.replaced) == 0 {
		return false
	}
	w := findWaits(d.Set, d.Changes)
	stuck := make([]bool, len(d.replaced))
	for i, later := range d.replaced {
		stuck[i] = w.leadTo(later.WaitsFor[0], later.Change.Addr)
	}
	ends := w.ends(d.replaced)
	for i, later := range d.replaced {
		if stuck[i] && !slices.ContainsFunc(w.referred(later.WaitsFor[0]), func(n int32) bool { return ends[n] }) {
			d.Stuck = append(d.Stuck, later)
			continue
		}
		d.Seeds[later.Change.Addr], again = later, true
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

// wait defers a destruction until the given deferred object allows it.
func (d *Destructions) wait(c *plan.Change, on addr.Instance) {
	later := &plan.Deferral{Change: c, Reason: plan.DeferredPrereq, WaitsFor: []plan.Dep{{Resource: on.Abs(), Key: on.Key}}}
	switch c.Action {
	case plan.Delete:
		delete(d.Changes, c.Object())
		d.Set.Add(later)
	case plan.CreateThenDelete:
		c.KeepsReplaced = true
	default:
		d.replaced = append(d.replaced, later)
	}
	d.protect(c.Addr, c.StateDeps)
}
