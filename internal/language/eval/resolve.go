package eval

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/detach"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// scope is where an expression is evaluated: its module object, its repetition, self, and the values opened
// for it.
type scope struct {
	m      *Module
	each   *eachData
	self   func() cty.Value
	own    *Instance // whose object self is; a reference to it by address gives self too
	t      *future.Task
	opened *Opened
	of     fmt.Stringer // the object, for diagnostics; nil for none
	tested *Value       // while validating, the variable whose value is given to its own validation conditions

	// early is set before anything may be demanded: references are resolved as far as the configuration and
	// the key of the own instance allow.
	early bool

	functions map[string]function.Function // callable here, nil for the run's functions
	caller    *detach.Caller               // of provider-defined functions in the context that was made last; nil for none
}

// scope returns a scope in the module, outside of any block that is repeated.
func (m *Module) scope(t *future.Task) *scope { return &scope{m: m, t: t} }

// callScope is the scope of the arguments of the call that made m.
func (m *Module) callScope(t *future.Task) *scope {
	return &scope{m: m.call.module, each: m.call.eachData(m.key), t: t}
}

// address returns the address of the object that the scope belongs to, "" for none. It is not kept, since
// most evaluations need no address.
func (sc *scope) address() string {
	if sc.of == nil {
		return ""
	}
	return sc.of.String()
}

// located returns the diagnostics with the address of the object.
func (sc *scope) located(diags diag.List) diag.List {
	if len(diags) == 0 {
		return diags
	}
	return diags.WithAddress(sc.address())
}

func (sc *scope) with(o *Opened) *scope {
	sc.opened = o
	return sc
}

// setEarly returns the scope with early set.
func (sc *scope) setEarly() *scope {
	sc.early = true
	return sc
}

// target is the object that a reference resolves to. At most one of value, resource and call is set, and none
// if the reference is to something else or to nothing declared.
type target struct {
	value    *Value
	resource *Resource
	call     *Call
	selection
}

// selection is the set of instances of a resource or call that a reference selects: the one with the key, or
// all.
type selection struct {
	key addr.Key
	all bool // there is no key, or it is not known
}

// nowhere is the key of references whose index cannot be an instance key. No instance has it.
var nowhere = addr.IntKey(-1)

// resolve follows a reference from the scope. It evaluates only the key of an instance. Evaluating,
// preparing, claiming and ordering all find objects here: no other function of this package looks up
// references, so that they cannot disagree.
func (sc *scope) resolve(ref *lang.Ref) target {
	to := sc.find(ref)
	switch {
	case to.resource != nil:
		to.selection = sc.selects(ref.Index, to.resource.Form())
	case to.call != nil:
		to.selection = sc.selects(ref.Index, to.call.Form())
	}
	return to
}

// find is resolve without a selection of instances.
func (sc *scope) find(ref *lang.Ref) target {
	switch ref.Kind {
	case lang.Variable:
		return target{value: sc.m.variables[ref.Name]}
	case lang.Local:
		return target{value: sc.m.locals[ref.Name]}
	case lang.Output:
		return target{value: sc.m.outputs[ref.Name]}
	case lang.Earlier:
		return target{value: sc.m.variables[config.EarlierRun(ref.Name)]}
	case lang.Resource:
		return target{resource: sc.m.resources[ref.Resource]}
	case lang.Module:
		if call := sc.m.calls[ref.Name]; call != nil && call.block.Child != nil {
			return target{call: call}
		}
	}
	return target{}
}

// outputs returns the names of the outputs that a reference to a module reads, nil for all. A reference to
// all instances reads a subset only if that may avoid opening something; otherwise all references to the
// call share one value.
func (to target) outputs(ref *lang.Ref) []string {
	if !to.all || !to.call.Form().Keyed() {
		return ref.Outputs()
	}
	byAttribute := ref.Index == nil && ref.Output != "" // it names an instance, or is an error that HCL explains
	if byAttribute || !to.call.mayOpen(outputSel{}) {
		return nil
	}
	return ref.Outputs()
}

// selects returns the instances of a block with the given form of repetition that the index selects.
func (sc *scope) selects(idx *lang.Index, form blocks.Form) selection {
	if !form.Keyed() {
		return selection{all: form == blocks.Enabled}
	}
	key, ok := sc.key(idx, form)
	return selection{key: key, all: !ok}
}

// key evaluates the index of a reference. It returns false if there is none or it is unknown. As in indexing
// a tuple or an object, numbers and strings are converted to each other.
func (sc *scope) key(idx *lang.Index, form blocks.Form) (addr.Key, bool) {
	if idx == nil {
		return addr.NoKey, false
	}
	if idx.Expr == nil {
		return keyFor(form, idx.Key), true
	}
	if key, ok := sc.ownKey(idx.Expr); ok {
		return keyFor(form, key), true
	}
	if sc.early && !ownKeysAlone(idx.Expr) {
		return addr.NoKey, false
	}
	v, diags := sc.m.run.eval(sc, idx.Expr)
	if diags.HasErrors() || v.IsMarked() || !v.IsKnown() { // errors appear again when the whole expression is evaluated
		return addr.NoKey, false
	}
	key, err := addr.KeyFromValue(v)
	if err != nil {
		return nowhere, true
	}
	return keyFor(form, key), true
}

// ownKeysAlone reports whether an expression depends only on the key of the block's own instance.
func ownKeysAlone(x *lang.Expr) bool {
	return !slices.ContainsFunc(x.Refs, func(ref lang.Ref) bool { return ref.Kind != lang.Count && (ref.Kind != lang.Each || ref.Name != "key") })
}

// ownKey returns the key of the block's own instance if the expression is just each.key or count.index. This
// common case needs no evaluation.
func (sc *scope) ownKey(x *lang.Expr) (addr.Key, bool) {
	if sc.each == nil || sc.each.generic() || len(x.Refs) != 1 {
		return addr.NoKey, false
	}
	ref := &x.Refs[0]
	plain := ref.Kind == lang.Each && ref.Name == "key" && sc.each.of.repeat.ForEach != nil || ref.Kind == lang.Count && sc.each.of.repeat.Count != nil
	return sc.each.key, plain && len(ref.Rest) == 0 && ref.Range == x.Range()
}

// keyFor converts the key to the kind that instances of the form have.
func keyFor(form blocks.Form, k addr.Key) addr.Key {
	switch {
	case form == blocks.ForEach && k.Kind() == addr.KeyInt:
		return addr.StringKey(keyText(k))
	case form == blocks.Counted && k.Kind() == addr.KeyString:
		if v, err := convert.Convert(k.Value(), cty.Number); err == nil {
			if n, err := addr.KeyFromValue(v); err == nil {
				return n
			}
		}
		return nowhere
	}
	return k
}

// constant returns the value of a reference that the scope answers by itself.
func (sc *scope) constant(ref *lang.Ref) cty.Value {
	switch {
	case ref.Invalid:
	case (ref.Kind == lang.Each || ref.Kind == lang.Count) && sc.each != nil:
		return sc.each.value(sc.t, sc.opened, ref.Kind, ref.Name, &ref.Range)
	case ref.Kind == lang.Path:
		return sc.m.pathValue(ref.Name)
	case ref.Kind == lang.Terraform:
		return sc.m.run.terraformValue(ref.Name)
	}
	return cty.DynamicVal
}

// keyText returns the key as the name of an attribute.
func keyText(k addr.Key) string {
	if k.Kind() == addr.KeyInt {
		return k.Value().AsBigFloat().Text('f', 0)
	}
	return k.Str()
}
