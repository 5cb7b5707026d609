package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
)

// reads is the read-set of an object: what its expressions refer to, resolved to objects at the precision of
// the references.
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

// collectPart adds a part of all instances of a call: as one read, unless there is but one instance in all or
// the parts must be looked at one by one.
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

// collectAll adds everything in the module object and those below it, but for what only a check knows:
// resources, outputs, variables with conditions, and what the call has to wait for.
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

// objectReads returns what holds for every instance of the resource object: repetition and depends_on, its
// own and those of the modules around it.
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

// collectAwaited adds what has to be there before an output is used, whether or not its value comes from it:
// what its depends_on argument names, and those of the calls around.
func (v *Value) collectAwaited(into *reads, t *future.Task) {
	if v.block.Kind != blocks.OutputValue {
		return
	}
	(&scope{m: v.module, t: t}).collectDependsOn(into, v.block.DependsOn)
	for m := v.module; m.call != nil; m = m.call.module {
		m.collectAwaited(into, t)
	}
}
