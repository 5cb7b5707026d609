package eval

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/plan"
)

// Deps returns the managed and data instances that the instance depends on, through values, modules, data
// sources, ephemeral resources and its provider's configuration, without duplicates, in address order.
func (in *Instance) Deps(t *future.Task) []plan.Dep {
	f := newFlattener(t, in)
	f.instance(in)
	return f.list()
}

// Deps returns the dependencies of an output or a variable, and of its conditions.
func (v *Value) Deps(t *future.Task) []plan.Dep {
	f := newFlattener(t, nil)
	f.reads(v.readSet(t))
	f.reads(v.guardReads(t))
	return f.list()
}

// Deps returns the dependencies of the existence of the called module's instances.
func (c *Call) Deps(t *future.Task) []plan.Dep {
	return (&reads{calls: []*Call{c}}).deps(t, nil)
}

// deps returns the dependencies in a read-set, excluding self.
func (r *reads) deps(t *future.Task, self *Instance) []plan.Dep {
	f := newFlattener(t, self)
	f.reads(r)
	return f.list()
}

// flattener follows read-sets to the managed and data instances at their ends. It visits each value, call
// and provider configuration once, so that its cost is the size of the graph and not the number of paths
// through it.
type flattener struct {
	visitor
	deps map[plan.Dep]struct{}
	self *Instance // the dependent instance, which does not depend on itself; nil for other dependents
	// waits is set for the dependencies that a data source waits for, without those for its repetition.
	waits bool
	// behind gets the dependencies that ephemeral resources lead to, except through provider configurations.
	// Nil if they are like all others.
	behind *flattener
}

func newFlattener(t *future.Task, self *Instance) flattener {
	return flattener{visitor: newVisitor(t), deps: map[plan.Dep]struct{}{}, self: self}
}

func (f flattener) instance(in *Instance) {
	if f.first(in) {
		f.reads(in.readSet(f.t))
		f.object(in.Resource)
	}
}

func (f flattener) object(r *Resource) {
	if f.first(r) {
		f.reads(r.objectReads(f.t))
	}
}

func (f flattener) repetition(r *Resource) {
	if f.first(&r.expander) {
		sub := &reads{}
		sub.addExprs(r.Module.scope(f.t), r.repeat.Expr())
		f.reads(sub)
	}
}

// reads follows a read-set. Where a value has a flat read-set, it takes that instead of walking the values
// behind it.
func (f flattener) reads(r *reads) {
	for _, v := range r.values {
		if !f.first(v.Value) {
			continue
		}
		if all := v.flatReads(f.t); all == nil {
			f.reads(v.readSet(f.t))
			f.reads(v.guardReads(f.t))
		} else if f.first(all) {
			f.reads(all)
		}
	}
	for _, c := range r.calls {
		if f.first(c) {
			sub := &reads{}
			c.block.Exprs(sub.adder(c.module.scope(f.t), blocks.Reading))
			f.reads(sub)
			if c.leftOut(f.t) || c.Undecided(f.t) { // dependents of anything in it are left out too
				f.deps[plan.Dep{Resource: addr.AbsResource{Module: c.Addr()}}] = struct{}{}
			}
		}
	}
	for _, p := range r.providers {
		if f.first(p) {
			all := f
			all.behind = nil
			all.reads(p.readSet(f.t))
		}
	}
	for _, rr := range r.resources {
		f.resource(rr)
	}
	for _, mr := range r.modules {
		if f.first(mr) {
			mr.sel.waits = f.waits
			for _, d := range mr.call.allDeps(f.t, mr.sel) {
				f.deps[d] = struct{}{}
			}
		}
	}
}

// resource adds a read of a resource. A managed resource ends the walk, unless it has none of the instances,
// which its repetition says alone; behind a data source or an ephemeral resource it goes on, because their
// values come from the objects they refer to.
func (f flattener) resource(rr resourceRead) {
	mode := rr.res.Block.Config.Addr.Mode
	if mode == addr.Ephemeral && f.behind != nil {
		f.behind.fleeting(rr)
		return
	}
	if mode != addr.Ephemeral && !(f.self != nil && rr.isOnly(f.self)) {
		f.deps[plan.Dep{Resource: rr.res.Addr(), Key: rr.key, All: rr.all}] = struct{}{}
	}
	if mode == addr.Managed {
		if !f.waits && rr.none(f.t) {
			f.repetition(rr.res)
		}
		return
	}
	if !rr.all {
		f.instance(rr.res.Instance(rr.key))
		return
	}
	for _, d := range rr.res.allDeps(f.t) {
		f.deps[d] = struct{}{}
	}
}

// allDeps returns the dependencies of all instances of a data or ephemeral resource together, collected once.
func (r *Resource) allDeps(t *future.Task) []plan.Dep {
	got, cycle := r.deps.Get(t, r, nil, func() []plan.Dep {
		f := newFlattener(t, nil)
		for _, in := range (resourceRead{res: r, selection: selection{all: true}}).inAnyPhase(t) {
			f.instance(in)
		}
		f.object(r)
		return r.Module.run.collapse(t, f.list())
	})
	if cycle != nil {
		return nil
	}
	return got
}

// collapse returns deps, which are sorted, with the dependencies on all instances of a resource replaced by
// one on the whole resource. Otherwise each of many dependent objects would have a list as long as the
// resource has instances.
func (r *Run) collapse(t *future.Task, deps []plan.Dep) []plan.Dep {
	out := deps[:0]
	for from := 0; from < len(deps); {
		to := from + 1
		for to < len(deps) && deps[to].Resource == deps[from].Resource && deps[to].Modules == deps[from].Modules {
			to++
		}
		if n := to - from; n > 1 && !deps[from].Modules && r.instanceCount(t, deps[from].Resource) == n {
			out = append(out, plan.Dep{Resource: deps[from].Resource, All: true})
		} else {
			out = append(out, deps[from:to]...)
		}
		from = to
	}
	return out
}

// instanceCount returns the number of instances of a resource, 0 if it is not known.
func (r *Run) instanceCount(t *future.Task, a addr.AbsResource) int {
	if m := r.Module(a.Module); m != nil && m.resources[a.Resource] != nil {
		return len(m.resources[a.Resource].expand(t, nil).keys)
	}
	return 0
}

func (f flattener) list() []plan.Dep {
	out := make([]plan.Dep, 0, len(f.deps))
	for d := range f.deps {
		if !d.All {
			if _, covered := f.deps[plan.Dep{Resource: d.Resource, All: true}]; covered {
				continue
			}
		}
		out = append(out, d)
	}
	slices.SortFunc(out, compareDeps)
	return out
}

// WaitDeps returns the managed instances whose changes a data source must wait for: those that its block
// refers to directly or names in depends_on, also through data sources. If it has conditions, it waits for
// everything it refers to in any way.
func (in *Instance) WaitDeps(t *future.Task) []plan.Dep {
	b, awaited, direct := in.Resource.Block, &reads{}, &reads{}
	sc := in.Resource.Module.scope(t)
	awaited.addDependsOn(sc, b.DependsOn)
	direct.add(in.readSet(t))
	b.Exprs(direct.adder(sc, blocks.InRepetition))
	if b.HasConditions() {
		awaited.values = append(awaited.values, direct.values...)
	}
	for _, rr := range direct.resources {
		if rr.res.Block.Config.Addr.Mode == addr.Managed {
			awaited.resources = append(awaited.resources, rr)
		}
	}
	return awaited.waitDeps(t, in)
}

// waitDeps is deps without repetition: a data source does not wait for the objects that this reads.
func (r *reads) waitDeps(t *future.Task, self *Instance) []plan.Dep {
	f := newFlattener(t, self)
	f.wait(r)
	return f.list()
}

func (f flattener) wait(r *reads) {
	r.calls, f.waits = nil, true
	f.reads(r)
}

// ModuleWaitDeps returns the managed instances that an instance waits for because of modules: those named in
// depends_on of the modules around it, and those in modules named in its own depends_on. The instance waits
// for the dependencies of these too.
func (in *Instance) ModuleWaitDeps(t *future.Task) []plan.Dep {
	return in.explicitDeps(t, func(ref lang.Ref) bool { return ref.Kind == lang.Module })
}

// ExplicitDeps returns the managed instances that depends_on names, of the instance and of the modules around
// it, through data sources.
func (in *Instance) ExplicitDeps(t *future.Task) []plan.Dep {
	return in.explicitDeps(t, func(lang.Ref) bool { return true })
}

// explicitDeps returns the dependencies named in depends_on: all in the calls of the modules around the
// instance and, in its own block, those that counts accepts.
func (in *Instance) explicitDeps(t *future.Task, counts func(lang.Ref) bool) []plan.Dep {
	awaited := &reads{}
	named := slices.DeleteFunc(slices.Clone(in.Resource.Block.DependsOn), func(ref lang.Ref) bool { return !counts(ref) })
	awaited.addDependsOn(in.Resource.Module.scope(t), named)
	awaited.addAround(t, in.Resource.Module)
	return awaited.waitDeps(t, in)
}

// Deps returns the dependencies of the provider configuration.
func (p *ProviderObject) Deps(t *future.Task) []plan.Dep {
	return p.readSet(t).deps(t, nil)
}

// allDeps returns the dependencies of a selection from all instances. Dependencies on the same resource in
// every instance are joined into one.
func (c *Call) allDeps(t *future.Task, sel outputSel) []plan.Dep {
	got, cycle := c.aggregate(sel).deps.Get(t, c.name, nil, func() []plan.Dep {
		all := &reads{}
		all.addOneByOne(t, c, sel)
		f := newFlattener(t, nil)
		if sel.waits {
			f.wait(all)
		} else {
			f.reads(all)
		}
		return c.collapse(c.module.run.collapse(t, f.list()), len(c.Children(t, nil)))
	})
	if cycle != nil {
		return nil
	}
	return got
}

// collapse joins dependencies that all n instances of the call have in common: on a whole resource, on its
// only instance, or on dependencies joined below. The joined dependency covers the module instance that
// contains the call.
func (c *Call) collapse(deps []plan.Dep, n int) []plan.Dep {
	alike := map[addr.ConfigResource][]int{}
	for i, d := range deps {
		if below, ok := c.keyless(d.Resource.Module); ok && (d.All || d.Key == addr.NoKey) && !(d.Modules && d.Within.Contains(c.module.Addr)) {
			key := addr.AbsResource{Module: below, Resource: d.Resource.Resource}.Config()
			alike[key] = append(alike[key], i)
		}
	}
	drop := map[int]struct{}{}
	var joined []plan.Dep
	for block, at := range alike {
		if len(at) != n {
			continue
		}
		for _, i := range at {
			drop[i] = struct{}{}
		}
		below, _ := c.keyless(deps[at[0]].Resource.Module)
		joined = append(joined, plan.Dep{Resource: addr.AbsResource{Module: below, Resource: block.Resource}, All: true, Modules: true, Within: c.module.Addr})
	}
	var out []plan.Dep
	for i, d := range deps {
		if _, gone := drop[i]; !gone {
			out = append(out, d)
		}
	}
	out = append(out, joined...)
	slices.SortFunc(out, compareDeps)
	return out
}

// keyless returns m without the key of c's step. It returns false unless m lies in an instance of c and no
// step below c has a key.
func (c *Call) keyless(m addr.ModuleInstance) (addr.ModuleInstance, bool) {
	own := c.Addr()
	steps, mine := m.Path(), own.Path()
	if len(steps) < len(mine) {
		return m, false
	}
	out, call := c.module.Addr, c.block.Config.Name
	if len(mine) > 1 && steps[len(mine)-2] != out {
		return m, false
	}
	for i, s := range steps[len(mine)-1:] {
		_, name, key := s.Parent()
		if i == 0 && name != call || i > 0 && key != addr.NoKey {
			return m, false
		}
		out = out.Child(name, addr.NoKey)
	}
	return out, true
}

func compareDeps(a, b plan.Dep) int {
	if c := a.Resource.Compare(b.Resource); c != 0 {
		return c
	}
	if a.Modules != b.Modules {
		if a.Modules {
			return -1
		}
		return 1
	}
	if c := a.Within.Compare(b.Within); c != 0 {
		return c
	}
	return a.Key.Compare(b.Key)
}
