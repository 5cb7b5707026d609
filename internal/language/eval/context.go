package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// eval evaluates one expression. If there are errors, the value is unknown but valid.
func (r *Run) eval(sc *scope, x *lang.Expr) (cty.Value, diag.List) {
	r.Stats.Evaluations.Add(1)
	ctx, exprs := r.context(sc, x), []*lang.Expr{x}
	got, ok := computed(sc, exprs, func() evaluated {
		v, hd := x.Value(ctx)
		bounds.BudgetOf(ctx).CheckWhole(v, x)
		return evaluated{v, diag.FromHCL(hd)}
	})
	if !ok {
		return cty.DynamicVal, leftBehind(sc, exprs)
	}
	v := got.value
	if diags := exceeded(ctx, sc); diags != nil {
		return cty.DynamicVal, diags
	}
	diags := lang.Redact(sc.explain(exprs, got.diags), ctx, func(ctx *hcl.EvalContext) diag.List {
		return sc.explain(exprs, again(sc, exprs, func() diag.List {
			_, hd := x.Value(ctx)
			return diag.FromHCL(hd)
		}))
	})
	diags = sc.located(sc.forget(diags))
	if diags.HasErrors() || v == cty.NilVal {
		return cty.DynamicVal, diags
	}
	r.warnDeprecated(sc.m.block, v, []*lang.Expr{x}, func(cty.Path) *hcl.Range { return x.Range().Ptr() })
	return v, diags
}

// context returns a scope with exactly the objects that the expressions refer to: an index that names one
// instance brings only that instance. A context serves one evaluation, since it carries the evaluation's
// budget.
func (r *Run) context(sc *scope, exprs ...*lang.Expr) *hcl.EvalContext {
	b := builder{run: r, sc: sc}
	functions := r.opt.Functions
	if sc.functions != nil {
		functions = sc.functions
	}
	renders := false
	sc.caller = nil // one of an earlier context may be in use by an evaluation that was left behind
	for _, x := range exprs {
		renders = renders || x.Renders
		for i := range x.Refs {
			b.add(&x.Refs[i])
		}
		functions = sc.providerFunctions(x.Functions, functions)
	}
	vars := b.variables()
	if r.opt.Coverage != nil && r.opt.Phase != Validating {
		marked.Branches(r.opt.Coverage.Branch).Within(vars)
	}
	return marked.Context(vars, functions, bounds.NewBudget(r.opt.Interrupted), renders, r.opt.WorkDir)
}

// builder builds the variables of one evaluation. It collects all references first, since several references
// to one resource or module must share one value, and only together show how much of it is needed.
type builder struct {
	run       *Run
	sc        *scope
	roots     []root    // var, local, each, count, path, terraform, tofu
	count     cty.Value // the root count, if the index is known
	resources map[*Resource]*resourcePart
	modules   map[*Call]*modulePart
	self      cty.Value
	missing   []*lang.Ref // to resources and modules that are not there
	unclear   []string    // first words of references that name nothing
}

// root is a variable with the attributes that references name. Few expressions have more than one or two, and
// each evaluation builds its own, so a list of them is searched rather than a map made.
type root struct {
	name  string
	attrs map[string]cty.Value
}

// resourcePart names the instances of a resource object that an evaluation needs.
type resourcePart struct {
	whole     bool
	unindexed bool // referred to without an index
	keys      map[addr.Key]*hcl.Range
	bare      bool // referred to as TYPE.NAME
	long      bool // referred to as resource.TYPE.NAME
	computed  bool // some reference may lead to a computed value that is not stored
	via       *hcl.Range
}

// modulePart names the outputs of the instances of a module call that an evaluation needs.
type modulePart struct {
	all  map[string]*hcl.Range // outputs needed of every instance; "" for all outputs
	keys map[addr.Key]map[string]*hcl.Range
}

func (b *builder) set(root, name string, v cty.Value) {
	b.roots = setIn(b.roots, root, name, v)
}

// setIn sets an attribute of a root, adding the root if it is new.
func setIn(roots []root, name, attr string, v cty.Value) []root {
	at := slices.IndexFunc(roots, func(r root) bool { return r.name == name })
	if at < 0 {
		at, roots = len(roots), append(roots, root{name: name, attrs: map[string]cty.Value{}})
	}
	roots[at].attrs[attr] = v
	return roots
}

// add brings the target of a reference into scope. A target that is undeclared or invalid becomes unknown,
// so that evaluating it adds no further error to the one that was reported.
func (b *builder) add(ref *lang.Ref) {
	if b.sc.opened.hasStandIns() {
		b.sc.opened.standIn.see(ref.Rest)
	}
	var to target
	if !ref.Invalid {
		to = b.sc.resolve(ref)
		b.run.coverOutputs(to, ref)
	}
	switch {
	case to.value != nil && to.value == b.sc.tested:
		b.set(ref.Root, ref.Name, to.value.argument(b.sc.t))
	case to.value != nil:
		b.set(ref.Root, ref.Name, to.value.Get(b.sc.t, b.sc.opened, &ref.Range))
	case to.resource != nil:
		b.addResource(to, ref)
	case to.call != nil:
		b.addCall(to, ref)
	case ref.Kind == lang.Resource || ref.Kind == lang.Module:
		b.missing = append(b.missing, ref)
	case ref.Kind == lang.Unclear:
		b.unclear = append(b.unclear, ref.Root)
	case ref.Kind == lang.Self:
		if b.self = cty.DynamicVal; b.sc.self != nil && !ref.Invalid {
			b.self = b.sc.self()
		}
	default:
		if i, ok := b.sc.countIndex(ref); ok {
			b.count = b.run.counts.of(i)
			return
		}
		b.set(ref.Root, ref.Name, b.sc.constant(ref))
	}
}

// addResource notes how much of a resource a reference needs: single instances, or all of them if the index
// is missing or unknown.
func (b *builder) addResource(to target, ref *lang.Ref) {
	res := to.resource
	if b.resources == nil {
		b.resources = map[*Resource]*resourcePart{}
	}
	p := b.resources[res]
	if p == nil {
		p = &resourcePart{via: &ref.Range}
		b.resources[res] = p
	}
	if ref.Root == "resource" {
		p.long = true
	} else {
		p.bare = true
	}
	p.unindexed = p.unindexed || ref.Index == nil
	p.computed = p.computed || blocks.MayReachComputed(res.Block, ref)
	if to.all || !res.repeat.Repeated() {
		p.whole = true
		return
	}
	if p.keys == nil {
		p.keys = map[addr.Key]*hcl.Range{}
	}
	p.keys[to.key] = &ref.Range
}

// addCall notes which outputs of which instances of a call a reference needs. While validating, the
// instances are unknown: an index that may select any one of them is noted under a key that no instance has,
// so that the reference counts as one to a single instance.
func (b *builder) addCall(to target, ref *lang.Ref) {
	if b.modules == nil {
		b.modules = map[*Call]*modulePart{}
	}
	p := b.modules[to.call]
	if p == nil {
		p = &modulePart{all: map[string]*hcl.Range{}, keys: map[addr.Key]map[string]*hcl.Range{}}
		b.modules[to.call] = p
	}
	keyed, names := to.call.Form().Keyed(), to.outputs(ref)
	if keyed && to.all && ref.Index != nil && b.run.opt.Phase == Validating { // of one instance, whichever it is
		to.selection, names = selection{key: nowhere}, ref.Outputs()
	}
	outputs := p.all
	if keyed && !to.all {
		if outputs = p.keys[to.key]; outputs == nil {
			outputs = map[string]*hcl.Range{}
			p.keys[to.key] = outputs
		}
	}
	if len(names) == 0 {
		outputs[""] = &ref.Range
	}
	for _, name := range names {
		outputs[name] = &ref.Range
	}
}

// variables builds the values from the roots that add has collected. Missing resources and modules are
// unknown.
func (b *builder) variables() map[string]cty.Value {
	vars := make(map[string]cty.Value, len(b.roots)+2)
	for _, r := range b.roots {
		vars[r.name] = cty.ObjectVal(r.attrs)
	}
	if b.count != cty.NilVal {
		vars["count"] = b.count
	}
	if b.self != cty.NilVal {
		vars["self"] = b.self
	}
	b.resourceVariables(vars)
	var modules []root
	for call, p := range b.modules {
		modules = setIn(modules, "module", call.block.Config.Name, b.moduleValue(call, p))
	}
	for _, ref := range b.missing {
		if ref.Kind == lang.Module {
			modules = setIn(modules, "module", ref.Name, cty.DynamicVal)
		}
	}
	for _, m := range modules {
		vars[m.name] = cty.ObjectVal(m.attrs)
	}
	for _, root := range b.unclear {
		vars[root] = cty.DynamicVal
	}
	return vars
}

// resourceVariables adds the values of resources to vars. A managed resource may be referred to with and
// without the prefix "resource", and is built once for both.
func (b *builder) resourceVariables(vars map[string]cty.Value) {
	var bare []root                // by type
	var prefixed map[string][]root // by the word before the type
	put := func(word string, r addr.Resource, v cty.Value) {
		if prefixed == nil {
			prefixed = map[string][]root{}
		}
		prefixed[word] = setIn(prefixed[word], r.Type, r.Name, v)
	}
	for res, p := range b.resources {
		v, r := b.resourceValue(res, p), res.Block.Config.Addr
		if r.Mode != addr.Managed {
			put(r.Mode.String(), r, v)
			continue
		}
		if p.bare {
			bare = setIn(bare, r.Type, r.Name, v)
		}
		if p.long {
			put("resource", r, v)
		}
	}
	for _, ref := range b.missing {
		switch {
		case ref.Kind != lang.Resource:
		case ref.Root == "resource" || ref.Resource.Mode != addr.Managed:
			put(ref.Root, ref.Resource, cty.DynamicVal)
		default:
			bare = setIn(bare, ref.Resource.Type, ref.Resource.Name, cty.DynamicVal)
		}
	}
	for _, r := range bare {
		vars[r.name] = cty.ObjectVal(r.attrs)
	}
	for word, types := range prefixed {
		objects := make(map[string]cty.Value, len(types))
		for _, r := range types {
			objects[r.name] = cty.ObjectVal(r.attrs)
		}
		vars[word] = cty.ObjectVal(objects)
	}
}

// resourceValue returns the value of a resource object for one evaluation.
func (b *builder) resourceValue(res *Resource, p *resourcePart) cty.Value {
	v := b.resourceObject(res, p)
	if b.sc.opened.hasStandIns() {
		v = b.sc.opened.standIn.Replace(v)
	}
	return v
}

// resourceObject is resourceValue without stand-ins for computed values. If references name single
// instances only, the value is an object with just these, by key. Indexing it gives the same result as
// indexing the tuple or object of all instances, but demands no other instance.
func (b *builder) resourceObject(res *Resource, p *resourcePart) cty.Value {
	t, o := b.sc.t, b.sc.opened
	if res.Block.Config.Addr.Mode == addr.Managed && !p.computed {
		o = nil // nothing has claimed computed values for the sake of the others
	}
	if !res.Form().Keyed() && b.sc.isOwn(res.Instance(addr.NoKey)) {
		return b.sc.self()
	}
	if b.run.opt.Phase == Validating && res.Form().Keyed() && p.unindexed {
		v, _ := res.whole(t, o, p.via).Unmark() // how many ephemeral instances there are is not ephemeral
		return v
	}
	if p.whole || b.run.opt.Phase == Validating {
		return res.whole(t, o, p.via)
	}
	e := res.expand(t, p.via)
	if e.failed {
		return res.whole(t, o, p.via)
	}
	attrs := make(map[string]cty.Value, len(p.keys))
	for key, via := range p.keys {
		if e.has(key) {
			in := res.Instance(key)
			if b.sc.isOwn(in) {
				attrs[keyText(key)] = b.sc.self()
				continue
			}
			attrs[keyText(key)] = in.get(t, o, via)
		}
	}
	if len(attrs) == 0 && e.form == blocks.Counted {
		return cty.EmptyTupleVal
	}
	return cty.ObjectVal(attrs)
}

func (sc *scope) isOwn(in *Instance) bool { return sc.self != nil && sc.own == in }

// moduleValue returns the value of a module call for one evaluation. There are three forms: the shared value
// of a selection that opens nothing, all instances built for this evaluation, or only the instances that
// references name by key.
func (b *builder) moduleValue(call *Call, p *modulePart) cty.Value {
	if !call.repeat.Repeated() {
		return b.outputs(call.Child(addr.NoKey), p.all)
	}
	var via *hcl.Range
	for _, rng := range p.all {
		via = rng
	}
	e := call.expand(b.sc.t, via)
	if e.failed || e.generic {
		if onlyEphemeral(call, p) {
			return cty.DynamicVal.Mark(value.Ephemeral)
		}
		return cty.DynamicVal
	}
	if len(p.all) > 0 || e.form == blocks.Enabled {
		if sel := outputSelOf(p.all); len(p.all) > 0 && (sel.names == "" || len(p.keys) == 0) && !call.mayOpen(sel) {
			return call.sharedValue(b, e, p, sel, via)
		}
		return b.allChildren(call, e, p)
	}
	attrs := make(map[string]cty.Value, len(p.keys))
	for key, names := range p.keys {
		if e.has(key) {
			attrs[keyText(key)] = b.outputs(call.Child(key), names)
		}
	}
	if len(attrs) == 0 && e.form == blocks.Counted {
		return cty.EmptyTupleVal
	}
	return cty.ObjectVal(attrs)
}

// onlyEphemeral reports whether an evaluation uses only ephemeral outputs of single instances of the call.
// If the instances are unknown, these outputs become one unknown value, which can only be ephemeral as a
// whole.
func onlyEphemeral(call *Call, p *modulePart) bool {
	names := slices.Collect(maps.Keys(p.all))
	for _, part := range p.keys {
		names = slices.AppendSeq(names, maps.Keys(part))
	}
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		o := call.block.Child.Outputs[name]
		return o == nil || o.Opens.Empty() && !o.Output.Ephemeral
	})
}

// of returns the outputs that are needed of the instance with the key.
func (p *modulePart) of(k addr.Key) map[string]*hcl.Range {
	if len(p.keys[k]) == 0 {
		return p.all
	}
	outputs := maps.Clone(p.all)
	maps.Copy(outputs, p.keys[k])
	return outputs
}

// allChildren builds the value of all instances of a call, in the shape of its repetition.
func (b *builder) allChildren(call *Call, e *expansion, p *modulePart) cty.Value {
	b.run.Stats.Evaluations.Add(int64(len(e.keys)))
	switch e.form {
	case blocks.Counted:
		elems := make([]cty.Value, len(e.keys))
		for i, k := range e.keys {
			elems[i] = b.outputs(call.Child(k), p.of(k))
		}
		return cty.TupleVal(elems)
	case blocks.ForEach:
		attrs := make(map[string]cty.Value, len(e.keys))
		for _, k := range e.keys {
			attrs[k.Str()] = b.outputs(call.Child(k), p.of(k))
		}
		return cty.ObjectVal(attrs)
	default:
		if len(e.keys) == 0 {
			return cty.NullVal(cty.DynamicPseudoType)
		}
		return b.outputs(call.Child(addr.NoKey), p.all)
	}
}

// outputs returns an object of the named outputs of a module object.
func (b *builder) outputs(m *Module, names map[string]*hcl.Range) cty.Value {
	attrs := map[string]cty.Value{}
	if via, every := names[""]; every {
		for name, o := range m.outputs {
			attrs[name] = o.Get(b.sc.t, b.sc.opened, via)
		}
		return cty.ObjectVal(attrs)
	}
	for name, via := range names {
		if o := m.outputs[name]; o != nil {
			attrs[name] = o.Get(b.sc.t, b.sc.opened, via)
		}
	}
	return cty.ObjectVal(attrs)
}

// decode evaluates a body whose expressions are exprs, with the objects that they refer to in scope.
func (r *Run) decode(sc *scope, body *schema.Body, exprs []*lang.Expr) (cty.Value, diag.List) {
	return r.decodeBy(sc, body, body.Type(), exprs, body.Decode)
}

// decodeBy is decode for a body of the type that has a decoder of its own.
func (r *Run) decodeBy(sc *scope, body hcl.Body, ty cty.Type, exprs []*lang.Expr, decode func(*hcl.EvalContext) (cty.Value, diag.List)) (cty.Value, diag.List) {
	r.Stats.Evaluations.Add(1)
	ctx := r.context(sc, exprs...)
	got, ok := computed(sc, exprs, func() evaluated {
		v, diags := decode(ctx)
		return evaluated{v, diags}
	})
	if !ok {
		return cty.UnknownVal(ty), leftBehind(sc, exprs)
	}
	v, diags := got.value, got.diags
	if diags := exceeded(ctx, sc); diags != nil {
		return cty.UnknownVal(ty), diags
	}
	if !diags.HasErrors() {
		r.warnDeprecated(sc.m.block, v, exprs, rangeInBody(body))
		return v, sc.forget(diags)
	}
	diags = lang.Redact(sc.explain(exprs, diags), ctx, func(ctx *hcl.EvalContext) diag.List {
		return sc.explain(exprs, again(sc, exprs, func() diag.List {
			_, diags := decode(ctx)
			return diags
		}))
	})
	return v, sc.forget(diags)
}
