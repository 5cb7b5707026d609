package eval

import (
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Instances returns the instances, ordered by key. ok is false if they are not known, for a reason that was
// reported.
func (r *Resource) Instances(t *future.Task) (instances []*Instance, ok bool) {
	e := r.expand(t, nil)
	out := make([]*Instance, len(e.keys))
	for i, k := range e.keys {
		out[i] = r.Instance(k)
	}
	return out, !e.failed
}

// Has reports whether the arguments of the resource give the instance. It returns false if they are not
// known.
func (r *Resource) Has(t *future.Task, k addr.Key) bool { return r.expand(t, nil).has(k) }

// Value returns the result of a managed or data instance, or of a list, asking the host on first demand.
func (in *Instance) Value(t *future.Task, via *hcl.Range) cty.Value {
	_, cycle := in.cell.Get(t, in, via, func() bool {
		if in.Run().opt.Phase == Planning {
			in.Run().cover(coverage.Resource, in.Config().Range, coverage.Planned)
		}
		if v := in.Resource.Kept(in.Run().opt.Result(t, in)); v != cty.DynamicVal {
			in.object.Store(&v)
		}
		return true
	})
	if cycle != nil {
		in.Run().ReportCycle(cycle)
		return cty.DynamicVal
	}
	return orDynamic(&in.object) // which it is if the host panicked
}

// orDynamic returns the value, unknown if there is none.
func orDynamic(p *atomic.Pointer[cty.Value]) cty.Value {
	if v := p.Load(); v != nil {
		return *v
	}
	return cty.DynamicVal
}

// Kept returns the object of an instance in the form in which a run keeps it for references: with a type
// that it shares with other instances, or a placeholder if there are no references.
func (r *Resource) Kept(v cty.Value) cty.Value {
	if r.forgets.Load() {
		return cty.DynamicVal
	}
	ty := v.Type()
	if shared := r.objectType.Load(); shared != nil && shared.Equals(ty) {
		return value.WithType(v, *shared)
	}
	r.objectType.Store(&ty)
	return v
}

// get returns the value of an instance of any mode.
func (in *Instance) get(t *future.Task, o *Opened, via *hcl.Range) cty.Value {
	if in.Resource.Block.Config.Addr.Mode != addr.Ephemeral {
		return borrow(in, o, in.Value(t, via), via)
	}
	if o == nil {
		return Unopened(in)
	}
	if got, ok := o.objects[in]; ok {
		return got
	}
	o.lack(in, via)
	return Unopened(in)
}

// whole returns the value of the resource object as a reference without an index sees it: an object, a tuple
// of all instances, or an object by key.
func (r *Resource) whole(t *future.Task, o *Opened, via *hcl.Range) cty.Value {
	if r.Block.Config.Addr.Mode == addr.Ephemeral {
		return r.buildWhole(t, o, via)
	}
	if !r.repeat.Repeated() {
		return r.Instance(addr.NoKey).get(t, o, via)
	}
	_, cycle := r.joined.Get(t, r, via, func() bool {
		v := r.buildWhole(t, nil, via)
		r.all.Store(&v)
		return true
	})
	if cycle != nil {
		r.Module.run.ReportCycle(cycle)
		return cty.DynamicVal
	}
	return borrowAll(r, t, o, orDynamic(&r.all), via)
}

// forget drops the objects of the instances, for good. Tasks that wait for them may still demand them.
func (r *Resource) forget() {
	r.forgets.Store(true)
	r.all.Store(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.instances {
		in.object.Store(nil)
	}
}

// buildWhole builds the value that whole returns. An unknown value of an ephemeral resource keeps the
// ephemeral mark: otherwise it could be stored once it is known.
func (r *Resource) buildWhole(t *future.Task, o *Opened, via *hcl.Range) cty.Value {
	e := r.expand(t, via)
	ephemeral := r.Block.Config.Addr.Mode == addr.Ephemeral
	if e.failed || e.generic {
		if ephemeral {
			return cty.DynamicVal.Mark(value.Ephemeral)
		}
		return cty.DynamicVal
	}
	if r.repeat.Repeated() {
		r.Module.run.Stats.Evaluations.Add(int64(len(e.keys)))
	}
	switch e.form {
	case blocks.Counted:
		elems := make([]cty.Value, len(e.keys))
		for i, k := range e.keys {
			elems[i] = r.Instance(k).get(t, o, via)
		}
		return cty.TupleVal(elems)
	case blocks.ForEach:
		attrs := make(map[string]cty.Value, len(e.keys))
		for _, k := range e.keys {
			attrs[k.Str()] = r.Instance(k).get(t, o, via)
		}
		return cty.ObjectVal(attrs)
	default:
		if len(e.keys) == 0 {
			return cty.NullVal(r.Block.Schema.Block.Type())
		}
		return r.Instance(addr.NoKey).get(t, o, via)
	}
}

// scope returns the scope of the instance's own expressions.
func (in *Instance) scope(t *future.Task, o *Opened) *scope {
	return &scope{m: in.Resource.Module, each: in.Resource.eachData(in.Key), t: t, opened: o, of: in}
}

// EvalBody evaluates the instance's configuration, which may carry marks. With a nil Opened, values from
// ephemeral resources are unknown.
func (in *Instance) EvalBody(t *future.Task, o *Opened) (cty.Value, diag.List) {
	return settle(t, o, func() (cty.Value, diag.List) { return in.evalBody(t, o) }, func(e evaluated) bool { return bodySettled(in, e) })
}

// bodySettled reports whether opening the instances that a configuration lacks would not change it. An
// ephemeral instance's configuration needs all that it refers to.
func bodySettled(in *Instance, e evaluated) bool {
	return !in.Resource.ephemeral && independent(in.Run(), e)
}

func (in *Instance) evalBody(t *future.Task, o *Opened) (cty.Value, diag.List) {
	b := in.Resource.Block
	sc := in.scope(t, o)
	v, diags := in.Run().decode(sc, b.View, b.Body)
	if !diags.HasErrors() && !b.Config.Addr.Mode.Fleeting() { // of which nothing is stored
		diags = append(diags, checkEphemeralUse(v, b)...)
	}
	return v, sc.located(diags)
}

// Lacks reports whether the call has no instance with the key. It returns false if its instances are unknown.
func (c *Call) Lacks(t *future.Task, k addr.Key) bool {
	e := c.expand(t, nil)
	return !e.failed && !e.has(k)
}

// Children returns the module instances of the call, ordered by key.
func (c *Call) Children(t *future.Task, via *hcl.Range) []*Module {
	e := c.expand(t, via)
	out := make([]*Module, len(e.keys))
	for i, k := range e.keys {
		out[i] = c.Child(k)
	}
	return out
}
