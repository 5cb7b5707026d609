package eval

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// reads is the read-set of an object: the references of its expressions, resolved to objects as precisely as
// the references allow. Preparing, ordering, checking conditions and claiming are all walks over read-sets,
// so that they see the same references.
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
	selection
}

// instances returns the instances that are read.
func (rr resourceRead) instances(t *future.Task) []*Instance {
	if rr.all {
		instances, _ := rr.res.Instances(t)
		return instances
	}
	if !rr.res.expand(t, rr.via).has(rr.key) {
		return nil
	}
	return []*Instance{rr.res.Instance(rr.key)}
}

// isOnly reports whether the instance is read and no other.
func (rr resourceRead) isOnly(in *Instance) bool {
	return rr.res == in.Resource && rr.key == in.Key && !(rr.all && in.Resource.Form().Keyed())
}

// none reports whether the resource has no instance that is read.
func (rr resourceRead) none(t *future.Task) bool {
	if !rr.res.repeat.Repeated() {
		return false
	}
	e := rr.res.expand(t, rr.via)
	return rr.all && len(e.keys) == 0 || !rr.all && !e.has(rr.key)
}

// moduleRead is a read of the same outputs of every instance of a module call. It is comparable, for use as
// a key.
type moduleRead struct {
	call *Call
	sel  outputSel
}

// outputSel selects outputs of a module, or everything in it, to be read. It is comparable, so that the
// findings about a selection from all instances of a call can be cached.
type outputSel struct {
	names  string // of outputs, joined by commas; all outputs if it is empty
	inside bool   // not the outputs alone, but everything in the module
	waits  bool   // the dependencies are the ones that a data source waits for
}

// opens yields the ephemeral blocks that reading a selection of all instances may open. With inside set, it
// yields the ephemeral blocks within the module.
func (c *Call) opens(sel outputSel) iter.Seq[addr.ConfigResource] {
	return func(yield func(addr.ConfigResource) bool) {
		if sel.inside {
			maps.Keys(c.block.Child.Ephemerals().All)(yield)
			return
		}
		for name, o := range c.block.Child.Outputs {
			if sel.names != "" && !slices.Contains(strings.Split(sel.names, ","), name) || o.Opens.Empty() {
				continue
			}
			for r := range o.Opens.All {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// mayOpen reports whether reading a selection of all instances may open ephemeral resources.
func (c *Call) mayOpen(sel outputSel) bool {
	for range c.opens(sel) {
		return true
	}
	return false
}

var noReads = &reads{}

// readsOf returns the read-set in the cell, collecting it on first demand. If collecting leads back to the
// same cell, the set is empty; the cycle is reported where the values are demanded.
func readsOf(cell *future.Cell[*reads], t *future.Task, label any, collect func(*reads)) *reads {
	got, cycle := cell.Get(t, label, nil, func() *reads {
		out := &reads{}
		collect(out)
		return out.shared()
	})
	if cycle != nil || got == nil {
		return noReads
	}
	return got
}

// shared returns a read-set that is shared if r has no more than a provider configuration, as for most
// instances.
func (r *reads) shared() *reads {
	switch n := r.length() + len(r.values); {
	case n == 0:
		return noReads
	case n == 1 && len(r.providers) == 1:
		return r.providers[0].only
	}
	return r
}

func (r *reads) add(o *reads) {
	r.values = append(r.values, o.values...)
	r.resources = append(r.resources, o.resources...)
	r.calls = append(r.calls, o.calls...)
	r.providers = append(r.providers, o.providers...)
	r.modules = append(r.modules, o.modules...)
}

// addExprs adds the references and function calls of the expressions. It ignores nil expressions.
func (r *reads) addExprs(sc *scope, exprs ...*lang.Expr) {
	for _, x := range exprs {
		if x == nil {
			continue
		}
		for i := range x.Refs {
			r.addTarget(sc, sc.resolve(&x.Refs[i]), &x.Refs[i])
		}
		if !sc.early {
			r.addFunctions(sc, x.Functions)
		}
	}
}

// adder returns a function for the list of a block's expressions that adds those with one of the roles.
func (r *reads) adder(sc *scope, roles blocks.Role) func(blocks.Role, *lang.Expr) bool {
	return func(role blocks.Role, x *lang.Expr) bool {
		if role&roles != 0 {
			r.addExprs(sc, x)
		}
		return true
	}
}

// addTarget adds the target that a reference was resolved to.
func (r *reads) addTarget(sc *scope, to target, ref *lang.Ref) {
	switch {
	case to.value != nil:
		r.addValue(to.value, &ref.Range)
	case to.resource != nil && to.key != nowhere:
		r.resources = append(r.resources, resourceRead{res: to.resource, selection: to.selection, via: &ref.Range})
	case to.call != nil:
		r.addCall(sc, to, ref)
	case ref.Kind == lang.Each && ref.Name == "value" && sc.each != nil && !sc.early:
		r.addExprs(sc, sc.each.of.repeat.ForEach)
	}
}

func (r *reads) addValue(v *Value, via *hcl.Range) {
	if v != nil {
		r.values = append(r.values, valueRead{Value: v, via: via})
	}
}

// addCall adds the outputs that a reference selects, and the repetition of the call.
func (r *reads) addCall(sc *scope, to target, ref *lang.Ref) {
	call, keyed, names := to.call, to.call.Form().Keyed(), strings.Join(to.outputs(ref), ",")
	if sc.early {
		if to.all && keyed {
			r.modules = append(r.modules, moduleRead{call: call, sel: outputSel{names: names}})
		} else if to.key != nowhere {
			r.addOutputs(call.Child(to.key), names, &ref.Range)
		}
		return
	}
	r.calls = append(r.calls, call)
	e := call.expand(sc.t, &ref.Range)
	switch {
	case !keyed || to.all:
		r.addEvery(sc.t, call, outputSel{names: names})
	case e.has(to.key):
		r.addOutputs(call.Child(to.key), names, &ref.Range)
	}
}

// addOutputs adds outputs of a module object. names is joined by commas; if it is empty, all outputs are
// added.
func (r *reads) addOutputs(m *Module, names string, via *hcl.Range) {
	if names == "" {
		for _, o := range m.outputs {
			r.addValue(o, via)
		}
		return
	}
	for name := range strings.SplitSeq(names, ",") {
		r.addValue(m.outputs[name], via)
	}
}

// addEvery adds a selection of all instances of a call: as a single read, unless there is only one instance,
// or each instance must be examined because it may open something.
func (r *reads) addEvery(t *future.Task, call *Call, sel outputSel) {
	n := len(call.expand(t, nil).keys)
	several := n > 1 || n == 1 && call.repeat.Repeated() && call.module.isRepeated()
	if several && !call.mayOpen(sel) {
		r.modules = append(r.modules, moduleRead{call: call, sel: sel})
		return
	}
	r.addOneByOne(t, call, sel)
}

// addOneByOne adds a selection of each instance of a call.
func (r *reads) addOneByOne(t *future.Task, call *Call, sel outputSel) {
	for _, child := range call.Children(t, nil) {
		if sel.inside {
			r.addInside(t, child)
		} else {
			r.addOutputs(child, sel.names, nil)
		}
	}
}

// isRepeated reports whether the module object, or one around it, is one of several instances.
func (m *Module) isRepeated() bool {
	for ; m.call != nil; m = m.call.module {
		if m.call.repeat.Repeated() {
			return true
		}
	}
	return false
}

// addDependsOn adds the objects that depends_on names. A module represents everything in it.
func (r *reads) addDependsOn(sc *scope, refs []lang.Ref) {
	for i := range refs {
		to := sc.resolve(&refs[i])
		if to.call == nil {
			r.addTarget(sc, to, &refs[i])
			continue
		}
		r.calls = append(r.calls, to.call)
		r.addEvery(sc.t, to.call, outputSel{inside: true})
	}
}

// addInside adds everything in the module object and those below it, except blocks nested in checks:
// resources, outputs, variables with conditions, the repetition of calls, and the objects that the call waits
// for.
func (r *reads) addInside(t *future.Task, m *Module) {
	r.addOutputs(m, "", nil)
	for _, v := range m.variables {
		if v.guard != nil {
			r.addValue(v, nil)
		}
	}
	r.addAwaited(t, m)
	for _, res := range m.resources {
		if res.Block.Config.Check == nil && !res.Block.IsAction() {
			r.resources = append(r.resources, resourceRead{res: res, selection: selection{all: true}})
		}
	}
	for _, call := range m.calls {
		if call.block.Child != nil {
			r.calls = append(r.calls, call)
			r.addEvery(t, call, outputSel{inside: true})
		}
	}
}

// addAround adds the repetition of the calls around the module object, and the objects that these calls wait
// for.
func (r *reads) addAround(t *future.Task, m *Module) {
	for ; m.call != nil; m = m.call.module {
		r.calls = append(r.calls, m.call)
		r.addAwaited(t, m)
	}
}

// addAwaited adds the objects that the depends_on argument of the module's call names.
func (r *reads) addAwaited(t *future.Task, m *Module) {
	if m.call != nil {
		r.addDependsOn(m.call.module.scope(t), m.call.block.DependsOn)
	}
}

// readSet returns the references of the instance's own block.
func (in *Instance) readSet(t *future.Task) *reads {
	return readsOf(&in.reads, t, in, func(out *reads) {
		b, sc := in.Resource.Block, in.scope(t, nil)
		b.Exprs(out.adder(sc, blocks.Reading&^(blocks.InRepetition|blocks.Afterwards|blocks.InProviderKey)))
		after := &reads{} // evaluated once the object exists, so that it may be referred to by its own address
		b.Exprs(after.adder(sc, blocks.Afterwards&^blocks.InIdleConnection))
		b.Exprs(after.adder(sc, blocks.InIdleConnection)) // not evaluated, so it is reported last
		after.resources = slices.DeleteFunc(after.resources, func(r resourceRead) bool { return r.isOnly(in) })
		out.add(after)
		out.addProvider(t, in)
	})
}

// objectReads returns the reads that all instances of the resource object share: repetition and depends_on,
// of the resource and of the modules around it.
func (r *Resource) objectReads(t *future.Task) *reads {
	return readsOf(&r.reads, t, r, func(out *reads) {
		sc := r.Module.scope(t)
		r.Block.Exprs(out.adder(sc, blocks.InRepetition))
		out.addDependsOn(sc, r.Block.DependsOn)
		out.addAround(t, r.Module)
	})
}

func (v *Value) readSet(t *future.Task) *reads {
	return readsOf(&v.reads, t, v, func(out *reads) {
		if sc := v.writtenIn(t); sc != nil {
			v.block.Exprs(out.adder(sc, blocks.InBody))
		}
		out.addAwaitedBy(t, v)
	})
}

// writtenIn returns the scope of the value's expression, nil for a variable of the root module, which has no
// expression.
func (v *Value) writtenIn(t *future.Task) *scope {
	switch {
	case v.block.Kind != blocks.VariableValue:
		return v.module.scope(t)
	case v.module.call != nil:
		return v.module.callScope(t)
	}
	return nil
}

// addAwaitedBy adds the objects that must exist before an output is used even if its value does not come from
// them: those that depends_on names, in the output and in the calls around it.
func (r *reads) addAwaitedBy(t *future.Task, v *Value) {
	if v.block.Kind != blocks.OutputValue {
		return
	}
	r.addDependsOn(v.module.scope(t), v.block.DependsOn)
	for m := v.module; m.call != nil; m = m.call.module {
		r.addAwaited(t, m)
	}
}

// addFunctions adds the objects that must exist before provider-defined functions can be called.
func (r *reads) addFunctions(sc *scope, names []string) {
	for _, name := range names {
		if fn, ok := sc.functionName(name); ok && !fn.absent {
			if po, err := fn.provider(sc); err == nil && po != nil {
				r.providers = append(r.providers, po)
			}
		}
	}
}

func (p *ProviderObject) readSet(t *future.Task) *reads {
	return readsOf(&p.reads, t, p, func(out *reads) {
		if p.block != nil {
			p.block.Exprs(out.adder(p.scope(t, nil), blocks.Reading))
		}
	})
}

func (r *reads) addNested(c *Check) {
	if in := c.Nested(); in != nil {
		r.resources = append(r.resources, resourceRead{res: in.Resource, via: &in.Config().Range})
	}
}

// readSet returns the references of the assertions, and always the nested block.
func (c *Check) readSet(t *future.Task) *reads {
	return readsOf(&c.reads, t, c, func(out *reads) {
		out.addNested(c)
		c.block.Exprs(out.adder(c.Module.scope(t), blocks.Reading))
	})
}

// guardReads returns the references of the conditions, except to the value itself.
func (v *Value) guardReads(t *future.Task) *reads {
	if v.guard == nil {
		return noReads
	}
	return readsOf(&v.guard.reads, t, v, func(out *reads) {
		v.block.Exprs(out.adder(v.module.scope(t), blocks.Reading&^blocks.InBody))
		out.values = slices.DeleteFunc(out.values, func(r valueRead) bool { return r.Value == v })
	})
}
