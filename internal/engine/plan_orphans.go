package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// orphan is an object of the state that the configuration doesn't declare, or a deposed one.
type orphan struct {
	obj      addr.Object
	stored   *state.Object
	provider addr.ProviderConfig
	reason   plan.Reason
}

// stored lists the objects of the state. Whether the configuration still declares it is decided step by step,
// as the instances of calls and resources become known.
type stored struct {
	resources map[addr.ModuleInstance][]addr.AbsResource    // by the module instance that they are in
	inner     map[addr.ModuleInstance][]addr.ModuleInstance // module instances with resources, by the one around them
	uses      map[addr.AbsResource][]eval.Use               // claims until it is decided: objects may have to be destroyed
}

// listStored lists the objects of the state and claims the providers of its objects.
func (p *planner) listStored() {
	s := stored{map[addr.ModuleInstance][]addr.AbsResource{}, map[addr.ModuleInstance][]addr.ModuleInstance{}, map[addr.AbsResource][]eval.Use{}}
	var list func(m addr.ModuleInstance)
	list = func(m addr.ModuleInstance) {
		if _, known := s.resources[m]; known {
			return
		}
		s.resources[m] = nil
		if !m.IsRoot() {
			outer, _, _ := m.Parent()
			s.inner[outer] = append(s.inner[outer], m)
			list(outer)
		}
	}
	for r := range p.prior.AllResources() {
		list(r.Addr.Module)
		s.resources[r.Addr.Module] = append(s.resources[r.Addr.Module], r.Addr)
	}
	p.stored = s
	p.claimStored()
}

// claimStored claims the providers of the objects in the state, as far as configuring them opens something.
func (p *planner) claimStored() {
	known := map[addr.ProviderConfig][]eval.Use{}
	for a, r := range p.prior.Resources {
		for _, in := range r.Instances {
			use, ok := known[in.Provider]
			if !ok {
				if u, opens := p.run.ProviderUse(&future.Task{}, in.Provider); opens {
					use = []eval.Use{u}
				}
				known[in.Provider] = use
			}
			if len(use) > 0 && !slices.Contains(p.stored.uses[a], use[0]) {
				p.stored.uses[a] = append(p.stored.uses[a], use...)
			}
		}
		p.pool.Claim(p.stored.uses[a]...)
	}
}

// below appends the resources in a module instance and in those within it.
func (s *stored) below(m addr.ModuleInstance, to []addr.AbsResource) []addr.AbsResource {
	to = append(to, s.resources[m]...)
	for _, inner := range s.inner[m] {
		to = s.below(inner, to)
	}
	return to
}

// goneBlocks returns the resources of the state, in a module object or below it, for which it has no block.
func (p *planner) goneBlocks(m *eval.Module) []addr.AbsResource {
	stored := slices.Clone(p.stored.resources[m.Addr])
	gone := slices.DeleteFunc(stored, func(r addr.AbsResource) bool { return m.Resource(r.Resource) != nil })
	for _, inner := range p.stored.inner[m.Addr] {
		if _, name, _ := inner.Parent(); !m.HasCall(name) {
			gone = p.stored.below(inner, gone)
		}
	}
	return gone
}

// goneModules returns the resources of the state in instances of a called module that the call does not have.
func (p *planner) goneModules(t *future.Task, c *eval.Call) []addr.AbsResource {
	var gone []addr.AbsResource
	outer, name, _ := c.Addr().Parent()
	for _, inner := range p.stored.inner[outer] {
		if _, of, key := inner.Parent(); of == name && c.Lacks(t, key) {
			gone = p.stored.below(inner, gone)
		}
	}
	return gone
}

// decided queues the orphans of resources whose declared instances are known. Which orphans a restricted plan
// destroys depends on all of them, so there they wait for the last expansion.
func (p *planner) decided(pool *future.Pool, t *future.Task, resources ...addr.AbsResource) {
	if !p.selection.Restricted() {
		p.queueOrphans(pool, t, resources)
	}
}

// expansionDone counts an expansion as done. After the last one, the orphans of a restricted plan are queued.
func (p *planner) expansionDone(pool *future.Pool, t *future.Task) {
	p.mu.Lock()
	p.expands--
	last := p.expands == 0
	p.mu.Unlock()
	if !last || !p.selection.Restricted() {
		return
	}
	if p.run.Diags.HasErrors() && len(p.unknown) > 0 {
		return // any object may belong to an instance that is not known
	}
	p.queueOrphans(pool, t, p.stored.below(addr.RootInstance, nil))
}

// queueOrphans queues the orphans of resources, claims the uses of planning them, and ends the claims made
// before they were known.
func (p *planner) queueOrphans(pool *future.Pool, t *future.Task, resources []addr.AbsResource) {
	for _, o := range p.selectOrphans(t, p.findOrphans(resources)) {
		uses := slices.Clip(heldUses(t, p.run, o.obj.Instance))
		if u, ok := p.run.ProviderUse(t, o.provider); ok {
			uses = append(uses, u)
		}
		p.pool.Claim(uses...)
		if o.obj.Deposed == addr.Current && p.req.Mode != plan.Destroy {
			o.reason = p.run.WhyGone(o.obj.Instance)
		}
		pool.GoRanked(p.expected(o.obj.Instance, event.OpPlan), func(t *future.Task) {
			defer p.pool.Waive(uses...)
			p.run.Guard(o.obj, func() { p.planOrphan(t, o) })
		})
	}
	for _, r := range resources {
		p.pool.Waive(p.stored.uses[r]...)
	}
}

// findOrphans returns the orphans of resources, and drops the state's records of data sources that are no
// longer declared: that needs no provider.
func (p *planner) findOrphans(resources []addr.AbsResource) (found []*orphan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, abs := range resources {
		r := p.prior.Resources[abs]
		if r == nil {
			continue // dropped by planning
		}
		_, unknown := p.unknown[abs]
		for _, key := range r.Keys() {
			a, in := abs.Instance(key), r.Instances[key]
			_, wanted := p.desired[a]
			gone := !wanted && !unknown
			if abs.Resource.Mode != addr.Managed {
				if (gone || p.req.Mode == plan.Destroy) && p.selection.Selects(a) {
					p.prior.RemoveInstance(a)
				}
				continue
			}
			if gone && in.Current != nil {
				found = append(found, &orphan{addr.Object{Instance: a}, in.Current, in.Provider, plan.NoReason})
			}
			for _, key := range in.DeposedKeys() {
				found = append(found, &orphan{addr.Object{Instance: a, Deposed: key}, in.Deposed[key], in.Provider, plan.NoReason})
			}
		}
	}
	return found
}

// unresolved reports whether the instances of the resource are unknown.
func (p *planner) unresolved(a addr.Instance) bool {
	_, bad := p.unknown[a.Abs()]
	return bad
}

// selectOrphans returns the objects to be destroyed that -target and -exclude select.
func (p *planner) selectOrphans(t *future.Task, found []*orphan) []*orphan {
	if !p.selection.Restricted() {
		return found
	}
	objects := make([]selection.Object, len(found))
	for i, o := range found {
		objects[i] = selection.Object{
			Addr: o.obj.Instance, Declared: p.declaredDeps(t, o), Recorded: o.stored.Dependencies, Kept: p.departsWithExcluded(t, o),
		}
	}
	var out []*orphan
	for i, destroy := range p.selection.Destroys(objects) {
		if destroy {
			out = append(out, found[i])
		}
	}
	return out
}

// declaredDeps returns the dependencies that the configuration declares for the object, nil if it no longer
// declares the object.
func (p *planner) declaredDeps(t *future.Task, o *orphan) []plan.Dep {
	if !p.run.Declared(o.obj.Instance) {
		return nil
	}
	return p.run.Module(o.obj.Module).Resource(o.obj.Resource).Instance(o.obj.Key).Deps(t)
}

// departsWithExcluded reports whether the destroy-time provisioners of the object may use an ephemeral
// instance that -exclude names.
func (p *planner) departsWithExcluded(t *future.Task, o *orphan) bool {
	if !p.selection.Excluding() {
		return false
	}
	d := p.run.DestroyProvisioners(o.obj.Instance)
	return d != nil && p.leadsToExcluded(t, d.Uses(t))
}
