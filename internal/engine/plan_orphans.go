package engine

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/gone"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// orphanPlanner plans the destruction of objects in the state that the configuration does not declare.
type orphanPlanner struct {
	*walk
	planner *planner
	blocks  gone.Blocks
	stored  gone.Stored                     // set before any task starts, as is the next one
	uses    map[addr.AbsResource][]eval.Use // claims until it is decided: objects may have to be destroyed
}

// orphan is an object of the state that the configuration doesn't declare, or a deposed one.
type orphan struct {
	obj      addr.Object
	stored   *state.Object
	provider addr.ProviderConfig
	reason   plan.Reason
	kept     bool // is only refreshed: the instances of its block are not known
	leftOut  bool // by -target, with its block: whether the configuration declares it is to be found out
	due      bool // was left to this plan by an earlier round
}

// list lists the objects of the state and claims the providers of its objects.
func (or *orphanPlanner) list() {
	or.uses = map[addr.AbsResource][]eval.Use{}
	or.stored = gone.NewStored(slices.SortedFunc(maps.Keys(or.planner.prior.Resources), addr.AbsResource.Compare))
	or.claim()
}

// claim claims the providers of the objects in the state, as far as configuring them opens something.
func (or *orphanPlanner) claim() {
	known := map[addr.ProviderConfig][]eval.Use{}
	for a, r := range or.planner.prior.Resources {
		for _, in := range r.Instances {
			use, ok := known[in.Provider]
			if !ok {
				if u, opens := or.run.Providers.Use(&future.Task{}, in.Provider); opens {
					use = []eval.Use{u}
				}
				known[in.Provider] = use
			}
			if len(use) > 0 && !slices.Contains(or.uses[a], use[0]) {
				or.uses[a] = append(or.uses[a], use...)
			}
		}
		or.pool.Claim(or.uses[a]...)
	}
}

// keepLeftOut notes that the objects in a called module are none of this plan if -exclude leaves out all of
// its instances, which are unknown.
func (or *orphanPlanner) keepLeftOut(t *future.Task, c *eval.Call) {
	for inner := range or.stored.Called(c) {
		if c.LeftOut(t) {
			or.planner.mu.Lock()
			for _, r := range or.stored.Below(inner, nil) {
				or.planner.unknown[r] = struct{}{}
			}
			or.planner.mu.Unlock()
		}
	}
}

// decided queues the orphans of resources whose declared instances are known. Which orphans a restricted plan
// destroys depends on all of them, so there they wait for the last expansion.
func (or *orphanPlanner) decided(pool *future.Pool, t *future.Task, resources ...addr.AbsResource) {
	if !partial(or.planner) {
		or.queue(pool, t, resources)
	}
}

// expansionDone counts an expansion as done. After the last one, the orphans of a restricted plan are queued.
func (or *orphanPlanner) expansionDone(pool *future.Pool, t *future.Task) {
	or.planner.mu.Lock()
	or.planner.expands--
	last := or.planner.expands == 0
	or.planner.mu.Unlock()
	if !last || !partial(or.planner) {
		return
	}
	if or.run.Diags.HasErrors() && len(or.planner.unknown) > 0 {
		return // any object may belong to an instance that is not known
	}
	or.queue(pool, t, or.stored.Below(addr.RootInstance, nil))
}

// queue queues the orphans of resources, claims the uses of planning them, and ends the claims made
// before they were known.
func (or *orphanPlanner) queue(pool *future.Pool, t *future.Task, resources []addr.AbsResource) {
	for _, o := range or.choose(t, or.find(resources)) {
		uses := slices.Clip(ephemeral.HeldUses(t, or.run, o.obj.Instance))
		if u, ok := or.run.Providers.Use(t, o.provider); ok {
			uses = append(uses, u)
		}
		or.pool.Claim(uses...)
		if o.obj.Deposed == addr.Current && or.planner.req.Mode != plan.Destroy && !o.kept && !o.leftOut {
			o.reason = or.run.WhyGone(o.obj.Instance)
		}
		pool.GoRanked(or.expected(o.obj.Instance, event.OpPlan), func(t *future.Task) {
			defer or.pool.Waive(uses...)
			or.run.Guard(o.obj, func() { or.plan(t, o) })
		})
	}
	for _, r := range resources {
		or.pool.Waive(or.uses[r]...)
	}
}

// find returns the orphans of resources, with the objects that may be some, and drops the state's records of
// data sources that are no longer declared: that needs no provider.
func (or *orphanPlanner) find(resources []addr.AbsResource) (found []*orphan) {
	or.planner.mu.Lock()
	defer or.planner.mu.Unlock()
	for _, abs := range resources {
		r := or.planner.prior.Resources[abs]
		if r == nil {
			continue // dropped by planning
		}
		_, unknown := or.planner.unknown[abs]
		kept := or.planner.deferral.kept(abs)
		leftOut := or.planner.req.Mode != plan.Destroy && !or.planner.selection.Touches(abs)
		for _, key := range r.Keys() {
			a, in := abs.Instance(key), r.Instances[key]
			gone := leftOut || !unknown && !declares(or.planner, a) && (!kept || or.planner.req.Mode == plan.Destroy)
			if abs.Resource.Mode != addr.Managed {
				if (gone || or.planner.req.Mode == plan.Destroy) && or.planner.selection.Selects(a) {
					or.planner.prior.RemoveInstance(a)
				}
				continue
			}
			if gone && in.Current != nil {
				found = append(found, &orphan{obj: addr.Object{Instance: a}, stored: in.Current, provider: in.Provider, leftOut: leftOut})
			} else if kept && in.Current != nil && !or.planner.req.SkipRefresh && or.planner.selection.Selects(a) && !crosses(or.planner, a, in.Provider.Provider) {
				found = append(found, &orphan{obj: addr.Object{Instance: a}, stored: in.Current, provider: in.Provider, kept: true})
			}
			for _, key := range in.DeposedKeys() {
				found = append(found, &orphan{obj: addr.Object{Instance: a, Deposed: key}, stored: in.Deposed[key], provider: in.Provider, due: or.planner.req.Memory.Replaced(a)})
			}
		}
	}
	return found
}

// unresolved reports whether the instances of the resource are unknown.
func (or *orphanPlanner) unresolved(a addr.Instance) bool {
	_, bad := or.planner.unknown[a.Abs()]
	return bad
}

// choose returns the objects to be destroyed that -target and -exclude select.
func (or *orphanPlanner) choose(t *future.Task, found []*orphan) []*orphan {
	if !or.planner.selection.Restricted() {
		return found
	}
	found = or.withoutDeclared(t, found)
	objects := make([]selection.Object, len(found))
	for i, o := range found {
		objects[i] = selection.Object{
			Addr: o.obj.Instance, Declared: or.blocks.Deps(t, o.obj.Instance), Recorded: o.stored.Dependencies, Kept: or.departsWithExcluded(t, o) || or.isOfLeftOut(t, o), Stays: o.kept, Due: o.due,
		}
	}
	var out []*orphan
	var gone []addr.Object
	for i, destroy := range or.planner.selection.Destroys(objects) {
		if destroy || found[i].kept {
			out, gone = append(out, found[i]), append(gone, found[i].obj)
		}
	}
	if or.planner.rows.Gone(or.ctx, gone) {
		return nil // planning begins again
	}
	return out
}

// withoutDeclared drops the objects which the configuration declares in blocks that -target leaves out. It
// drops all objects of these blocks if nothing is destroyed that they could depend on.
func (or *orphanPlanner) withoutDeclared(t *future.Task, found []*orphan) []*orphan {
	destroys := slices.ContainsFunc(found, func(o *orphan) bool {
		return !o.kept && !o.leftOut && (o.due || or.planner.selection.Selects(o.obj.Instance))
	})
	return slices.DeleteFunc(found, func(o *orphan) bool {
		if !o.leftOut || !destroys {
			return o.leftOut
		}
		o.reason = or.blocks.Why(o.obj.Instance)
		declared, known := or.blocks.Declare(t, o.obj.Instance)
		return declared || !known
	})
}

// isOfLeftOut reports whether -exclude leaves out the instance of an object because of something that it
// depends on, although its block may no longer have the instance. An object that the last round of this run
// has deposed goes all the same.
func (or *orphanPlanner) isOfLeftOut(t *future.Task, o *orphan) bool {
	a := o.obj.Instance
	if o.due || or.planner.req.Mode == plan.Destroy || !or.planner.selection.Excluding() || !or.planner.selection.Selects(a) {
		return false
	}
	deps := append(slices.Clip(or.blocks.Deps(t, a)), plan.Dep{Resource: a.Abs(), Key: a.Key})
	for _, d := range or.blocks.Unseen(deps) {
		found, _ := or.run.InstancesOf(t, d)
		for _, i := range found {
			or.planner.mu.Lock()
			planned := or.planner.selection.Selects(i) && declares(or.planner, i)
			or.planner.mu.Unlock()
			if planned {
				or.run.DeclaredInstance(i).Value(t, nil) // so that it is known whether it is left out
			}
		}
	}
	return or.planner.restrict.excluded(a, deps)
}

// departsWithExcluded reports whether the destroy-time provisioners of the object may use an ephemeral
// instance that -exclude names.
func (or *orphanPlanner) departsWithExcluded(t *future.Task, o *orphan) bool {
	if !or.planner.selection.Excluding() {
		return false
	}
	d := or.run.DestroyProvisioners(o.obj.Instance)
	return d != nil && or.planner.restrict.leadsToExcluded(t, d.Uses(t))
}
