package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/plan"
)

// reads is the read-set of an object: what its expressions refer to, resolved to objects at the precision of the references.
type reads struct {
	values    []valueRead
	resources []resourceRead
	calls     []*Call // repetition of these is read
	providers []*ProviderObject
	modules   []moduleRead
}

type valueRead struct {
	*Value
	via *hcl.Range
}

type resourceRead struct {
	via *hcl.Range
	res *Resource
	key addr.Key
	all bool
}

// collectReads resolves references without evaluating what they refer to; only instance keys are evaluated.
func (sc *scope) collectReads(into *reads, exprs ...*lang.Expr) {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		sc.collectRefs(into, x.Refs)
		sc.collectFunctions(into, x.Functions)
	}
}

func (sc *scope) collectRefs(into *reads, refs []lang.Ref) {
	for i := range refs {
		ref := &refs[i]
		switch ref.Kind {
		case lang.Variable:
			into.addValue(sc.m.variables[ref.Name], &ref.Range)
		case lang.Local:
			into.addValue(sc.m.locals[ref.Name], &ref.Range)
		case lang.Resource:
			sc.collectResource(into, ref)
		case lang.Module:
			sc.collectModule(into, ref)
		case lang.Each:
			if ref.Name == "value" && sc.rep != nil {
				sc.collectReads(into, sc.rep.of.repeat.ForEach)
			}
		}
	}
}

func (r *reads) add(o *reads) {
	r.values = append(r.values, o.values...)
	r.resources = append(r.resources, o.resources...)
	r.calls = append(r.calls, o.calls...)
	r.providers = append(r.providers, o.providers...)
	r.modules = append(r.modules, o.modules...)
}

func (r *reads) addValue(v *Value, via *hcl.Range) {
	if v != nil {
		r.values = append(r.values, valueRead{Value: v, via: via})
	}
}

func (sc *scope) collectResource(into *reads, ref *lang.Ref) {
	res := sc.m.resources[ref.Resource]
	if res == nil {
		return
	}
	if !res.repeat.Repeated() {
		into.resources = append(into.resources, resourceRead{res: res, via: &ref.Range})
		return
	}
	key, ok := sc.key(ref.Index, res.Form())
	if key != nowhere {
		into.resources = append(into.resources, resourceRead{res: res, key: key, all: !ok, via: &ref.Range})
	}
}

func (sc *scope) collectModule(into *reads, ref *lang.Ref) {
	call := sc.m.calls[ref.Name]
	if call == nil || call.block.Child == nil {
		return
	}
	into.calls = append(into.calls, call)
	form := blocks.FormOf(call.repeat)
	key, one := sc.key(ref.Index, form)
	e := call.expand(sc.t, &ref.Range)
	if one && form.Keyed() {
		if e.has(key) {
			call.Child(key).collectOutputs(into, ref.Output, &ref.Range)
		}
		return
	}
	name := ref.Output
	if form.Keyed() {
		name = "" // a splat, or an error that HCL explains
	}
	sc.collectPart(into, call, part{output: name}, call.mayOpen(name))
}

// collectPart adds a part of all instances of a call: as one read, unless there is but one instance in all or the parts must be looked at one by one.
func (sc *scope) collectPart(into *reads, call *Call, p part, singly bool) {
	if n := len(call.expand(sc.t, nil).keys); !singly && (n > 1 || n == 1 && call.repeat.Repeated() && call.module.repeated()) {
		into.modules = append(into.modules, moduleRead{call: call, part: p})
		return
	}
	call.collectPart(into, sc.t, p)
}

// repeated reports whether the module object is one of several instances, or within one of them.
func (m *Module) repeated() bool {
	for ; m.call != nil; m = m.call.module {
		if m.call.repeat.Repeated() {
			return true
		}
	}
	return false
}

// collectDependsOn resolves depends_on, where a module stands for everything in it.
func (sc *scope) collectDependsOn(into *reads, refs []lang.Ref) {
	for i := range refs {
		ref := &refs[i]
		if ref.Kind != lang.Module {
			sc.collectRefs(into, refs[i:i+1])
			continue
		}
		call := sc.m.calls[ref.Name]
		if call == nil || call.block.Child == nil {
			continue
		}
		into.calls = append(into.calls, call)
		sc.collectPart(into, call, part{all: true}, call.holdsEphemeral())
	}
}

// collectAll adds everything in the module object and those below it, but for what only a check knows: resources, outputs, variables with conditions, and
// what the call has to wait for.
func (m *Module) collectAll(into *reads, t *future.Task) {
	m.collectOutputs(into, "", nil)
	for _, v := range m.variables {
		if v.guard != nil {
			into.addValue(v, nil)
		}
	}
	m.collectAwaited(into, t)
	for _, res := range m.resources {
		if res.Block.Config.Check != nil {
			continue
		}
		into.resources = append(into.resources, resourceRead{res: res, all: true})
	}
	for _, call := range m.calls {
		if call.block.Child == nil {
			continue
		}
		sc := &scope{m: m, t: t}
		sc.collectPart(into, call, part{all: true}, call.holdsEphemeral())
	}
}

// readSet returns what the instance refers to itself.
func (in *Instance) readSet(t *future.Task) *reads {
	got, cycle := in.reads.Get(t, in, nil, func() *reads {
		b, out, sc := in.Resource.Block, &reads{}, in.scope(t, nil)
		sc.collectReads(out, b.Body...)
		for _, c := range b.Preconditions {
			sc.collectReads(out, c.Expr, c.Message)
		}
		sc.collectReads(out, b.Triggers...)
		after := &reads{} // evaluated once the object exists, so that it may be referred to by its own address
		for _, c := range b.Postconditions {
			sc.collectReads(after, c.Expr, c.Message)
		}
		for _, p := range slices.Concat(b.Provisioners, b.DestroyProvisioners) {
			sc.collectReads(after, p.Exprs...)
		}
		sc.collectReads(after, b.IdleConnections...)
		after.resources = slices.DeleteFunc(after.resources, func(r resourceRead) bool { return r.res == in.Resource && !r.all && r.key == in.Key })
		out.add(after)
		sc.collectReads(out, b.ProviderKey)
		if p := in.Provider(t); p != nil {
			out.providers = append(out.providers, p)
		}
		return out
	})
	if cycle != nil || got == nil {
		return &reads{}
	}
	return got
}

// objectReads returns what holds for every instance of the resource object: repetition and depends_on, its own and those of the modules around it.
func (r *Resource) objectReads(t *future.Task) *reads {
	got, cycle := r.reads.Get(t, r, nil, func() *reads {
		out := &reads{}
		sc := &scope{m: r.Module, t: t}
		sc.collectReads(out, r.repeat.Count, r.repeat.ForEach, r.repeat.Enabled)
		sc.collectDependsOn(out, r.Block.DependsOn)
		r.Module.collectSurroundings(out, t)
		return out
	})
	if cycle != nil || got == nil {
		return &reads{}
	}
	return got
}

// collectSurroundings adds the repetition of the calls around, and what they have to wait for.
func (m *Module) collectSurroundings(into *reads, t *future.Task) {
	for ; m.call != nil; m = m.call.module {
		into.calls = append(into.calls, m.call)
		m.collectAwaited(into, t)
	}
}

// collectAwaited adds what the depends_on argument of the module's call names.
func (m *Module) collectAwaited(into *reads, t *future.Task) {
	if m.call != nil {
		sc := &scope{m: m.call.module, t: t}
		sc.collectDependsOn(into, m.call.block.DependsOn)
	}
}

func (v *Value) readSet(t *future.Task) *reads {
	got, cycle := v.reads.Get(t, v, nil, func() *reads {
		out := &reads{}
		sc := &scope{m: v.module, t: t}
		if v.block.Kind == blocks.VariableValue {
			if v.module.call == nil {
				return out
			}
			sc = &scope{m: v.module.call.module, rep: v.module.call.rep(v.module.key), t: t}
		}
		sc.collectReads(out, v.block.Expr)
		v.collectAwaited(out, t)
		return out
	})
	if cycle != nil || got == nil {
		return &reads{}
	}
	return got
}

// collectAwaited adds what has to be there before an output is used, whether or not its value comes from it: what its depends_on argument names, and those
// of the calls around.
func (v *Value) collectAwaited(into *reads, t *future.Task) {
	if v.block.Kind != blocks.OutputValue {
		return
	}
	(&scope{m: v.module, t: t}).collectDependsOn(into, v.block.DependsOn)
	for m := v.module; m.call != nil; m = m.call.module {
		m.collectAwaited(into, t)
	}
}

// Deps returns the managed and data instances that the instance depends on, through values, modules, data sources, ephemeral resources and its
// provider's configuration, without duplicates, in address order.
func (in *Instance) Deps(t *future.Task) []plan.Dep {
	f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}, self: in}
	f.instance(in)
	return f.sorted()
}

// Deps returns what an output, or a variable, and its conditions depend on.
func (v *Value) Deps(t *future.Task) []plan.Dep {
	f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}}
	f.reads(v.readSet(t))
	f.reads(v.guardReads(t))
	return f.sorted()
}

// Deps returns what the instances of the called module depend on for being there.
func (c *Call) Deps(t *future.Task) []plan.Dep {
	f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}}
	f.reads(&reads{calls: []*Call{c}})
	return f.sorted()
}

type flattener struct {
	t    *future.Task
	seen map[any]struct{}
	deps map[plan.Dep]struct{}
	self *Instance
}

func (f *flattener) visit(key any) bool {
	if _, ok := f.seen[key]; ok {
		return false
	}
	f.seen[key] = struct{}{}
	return true
}

func (f *flattener) instance(in *Instance) {
	if !f.visit(in) {
		return
	}
	f.reads(in.readSet(f.t))
	f.object(in.Resource)
}

func (f *flattener) object(r *Resource) {
	if f.visit(r) {
		f.reads(r.objectReads(f.t))
	}
}

func (f *flattener) reads(r *reads) {
	for _, v := range r.values {
		if !f.visit(v.Value) {
			continue
		}
		if all := v.gathered(f.t); all == nil {
			f.reads(v.readSet(f.t))
			f.reads(v.guardReads(f.t))
		} else if f.visit(all) {
			f.reads(all)
		}
	}
	for _, c := range r.calls {
		if f.visit(c) {
			sub := &reads{}
			sc := &scope{m: c.module, t: f.t}
			sc.collectReads(sub, c.repeat.Count, c.repeat.ForEach, c.repeat.Enabled)
			f.reads(sub)
			if c.excluded() && c.expand(f.t, nil).failed { // what depends on anything in it is excluded too
				f.deps[plan.Dep{Resource: addr.AbsResource{Module: c.Addr()}}] = struct{}{}
			}
		}
	}
	for _, p := range r.providers {
		if f.visit(p) {
			f.reads(p.readSet(f.t))
		}
	}
	for _, rr := range r.resources {
		f.resource(rr)
	}
	for _, mr := range r.modules {
		if f.visit(mr) {
			for _, d := range mr.call.wholeDeps(f.t, mr.part) {
				f.deps[d] = struct{}{}
			}
		}
	}
}

func (f *flattener) resource(rr resourceRead) {
	mode := rr.res.Block.Config.Addr.Mode
	if mode != addr.Ephemeral && !(f.self != nil && rr.res == f.self.Resource && (rr.all || rr.key == f.self.Key)) {
		f.deps[plan.Dep{Resource: rr.res.Addr(), Key: rr.key, All: rr.all}] = struct{}{}
	}
	if mode == addr.Managed {
		return
	}
	if !rr.all {
		f.instance(rr.res.Instance(rr.key))
		return
	}
	for _, d := range rr.res.wholeDeps(f.t) {
		f.deps[d] = struct{}{}
	}
}

// wholeDeps returns what all instances of a data or ephemeral resource together depend on, collected once.
func (r *Resource) wholeDeps(t *future.Task) []plan.Dep {
	got, cycle := r.deps.Get(t, r, nil, func() []plan.Dep {
		f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}}
		instances, _ := r.Instances(t)
		for _, in := range instances {
			f.instance(in)
		}
		f.object(r)
		return r.Module.run.collapsed(t, f.sorted())
	})
	if cycle != nil {
		return nil
	}
	return got
}

// collapsed returns deps, which are sorted, with one dependency on a whole resource in place of those on each of its instances: what many instances
// depend on must not cost each of them its length.
func (r *Run) collapsed(t *future.Task, deps []plan.Dep) []plan.Dep {
	out := deps[:0]
	for from := 0; from < len(deps); {
		to := from + 1
		for to < len(deps) && deps[to].Resource == deps[from].Resource {
			to++
		}
		if n := to - from; n > 1 && r.instanceCount(t, deps[from].Resource) == n {
			out = append(out, plan.Dep{Resource: deps[from].Resource, All: true})
		} else {
			out = append(out, deps[from:to]...)
		}
		from = to
	}
	return out
}

// instanceCount returns how many instances a resource has, 0 if that cannot be told.
func (r *Run) instanceCount(t *future.Task, a addr.AbsResource) int {
	if m := r.Module(a.Module); m != nil && m.resources[a.Resource] != nil {
		return len(m.resources[a.Resource].expand(t, nil).keys)
	}
	return 0
}

func (f *flattener) sorted() []plan.Dep {
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

// WaitDeps returns the managed instances before whose changes a data source must not be read: those that its block refers to directly or names in
// depends_on, through data sources, and, if it has conditions, those that it refers to in any way.
func (in *Instance) WaitDeps(t *future.Task) []plan.Dep {
	f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}, self: in}
	b, sub, direct := in.Resource.Block, &reads{}, &reads{}
	sc := &scope{m: in.Resource.Module, t: t}
	sc.collectDependsOn(sub, b.DependsOn)
	direct.add(in.readSet(t))
	sc.collectReads(direct, in.Resource.repeat.Count, in.Resource.repeat.ForEach, in.Resource.repeat.Enabled)
	if len(b.Preconditions)+len(b.Postconditions) > 0 {
		sub.values = append(sub.values, direct.values...)
	}
	for _, rr := range direct.resources {
		if rr.res.Block.Config.Addr.Mode == addr.Managed {
			sub.resources = append(sub.resources, rr)
		}
	}
	sub.calls = nil // what repetition of modules reads is no reason to wait
	f.reads(sub)
	return f.sorted()
}

// ModuleWaitDeps returns the managed instances that an instance waits for on account of a module: those that depends_on of a module around it names,
// and those in modules that its own names. What these depend on in turn counts too.
func (in *Instance) ModuleWaitDeps(t *future.Task) []plan.Dep {
	f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}, self: in}
	sub := &reads{}
	named := slices.DeleteFunc(slices.Clone(in.Resource.Block.DependsOn), func(ref lang.Ref) bool { return ref.Kind != lang.Module })
	(&scope{m: in.Resource.Module, t: t}).collectDependsOn(sub, named)
	in.Resource.Module.collectSurroundings(sub, t)
	sub.calls = nil
	f.reads(sub)
	return f.sorted()
}

// Deps returns what the provider configuration depends on.
func (p *ProviderObject) Deps(t *future.Task) []plan.Dep {
	f := flattener{t: t, seen: map[any]struct{}{p: {}}, deps: map[plan.Dep]struct{}{}}
	f.reads(p.readSet(t))
	return f.sorted()
}

// Opens reports whether evaluating the value may open ephemeral resources.
func (v *Value) Opens() bool { return v.opens() }

// ExplicitDeps returns the managed instances that depends_on names, of the instance and of the modules around it, through data sources.
func (in *Instance) ExplicitDeps(t *future.Task) []plan.Dep {
	f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}, self: in}
	f.reads(in.explicitReads(t))
	return f.sorted()
}

func (in *Instance) explicitReads(t *future.Task) *reads {
	out := &reads{}
	sc := &scope{m: in.Resource.Module, t: t}
	sc.collectDependsOn(out, in.Resource.Block.DependsOn)
	in.Resource.Module.collectSurroundings(out, t)
	out.calls = nil // what repetition of modules reads is no reason to wait
	return out
}
