package eval

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// expander determines the instances of a resource, module call, provider block or import block. All of them
// use it, so that count, for_each and enabled mean the same everywhere and are evaluated once in a run.
type expander struct {
	module *Module
	repeat blocks.Repetition
	name   string       // for messages
	target *addr.Target // its name for -exclude, nil if that cannot name it
	// users returns the names for -exclude of the blocks that need the instances, nil if target is all.
	users func() []string
	block any // the repeated *blocks.Resource or *blocks.Call, nil for other blocks
	// ephemeral is set for an ephemeral block.
	ephemeral bool
	// sequences is set if for_each may also be a tuple or list, with indexes as keys. It is set for import
	// blocks, whose keys may change with the order of elements because no address contains them.
	sequences bool
	// recorded, if not nil, returns the keys; the arguments are not evaluated then.
	recorded func() []addr.Key
	keys     future.Cell[*expansion]
	elements kept[map[addr.Key]cty.Value] // of for_each, with computed values
}

// Form returns the form of repetition.
func (r *expander) Form() blocks.Form { return blocks.FormOf(r.repeat) }

// expansion is the outcome of a count, for_each or enabled argument.
type expansion struct {
	form blocks.Form
	keys []addr.Key // in order
	// values has each.value by the index of the key. It is empty for a set, whose elements are the keys, and
	// if the values are not known.
	values []cty.Value
	set    bool
	// failed is set if the instances are unknown, for a reason that was reported. There are no keys then.
	failed bool
	// undecided is set if the instances will be known only after apply. The expansion has failed then too,
	// without a report if the block is deferred.
	undecided bool
	// leftOut is set if the instances are unknown and the block is left out.
	leftOut bool
	// why has the errors of an expansion that failed.
	why diag.List
	// phased is set if tofu.applying decides, so that an apply has other instances than its plan.
	phased bool
	// generic is set while validating, when one instance without a key represents all of them.
	generic bool
}

func (e *expansion) has(k addr.Key) bool {
	switch e.form {
	case blocks.Counted:
		return k.Kind() == addr.KeyInt && k.Int() >= 0 && k.Int() < len(e.keys)
	case blocks.ForEach:
		_, ok := e.index(k)
		return ok
	default:
		return k == addr.NoKey && len(e.keys) == 1
	}
}

// index returns the index of a key of for_each.
func (e *expansion) index(k addr.Key) (int, bool) {
	return slices.BinarySearchFunc(e.keys, k, addr.Key.Compare)
}

var singleExpansion = &expansion{form: blocks.Single, keys: []addr.Key{addr.NoKey}}

// expand returns the instances, evaluating the arguments on first demand.
func (r *expander) expand(t *future.Task, via *hcl.Range) *expansion {
	if e, ok := r.keys.Peek(); ok {
		return e
	}
	e, cycle := r.keys.Get(t, r.repeat.Argument()+" of "+r.name, via, func() *expansion { return r.evaluate(t) })
	if cycle != nil {
		r.module.run.ReportCycle(cycle)
		return failedExpansion
	}
	if e == nil { // the computation panicked
		return failedExpansion
	}
	return e
}

// expanded reports whether expand evaluates nothing any more.
func (r *expander) expanded() bool { return r.keys.Done() || !r.repeat.Repeated() }

var failedExpansion = &expansion{failed: true}

// evaluate evaluates the repetition arguments. An expansion that failed keeps its form, because references
// still have to know whether the block is indexed by numbers or strings.
func (r *expander) evaluate(t *future.Task) *expansion {
	run := r.module.run
	if r.recorded != nil && r.repeat.Repeated() {
		return recordedExpansion(r.Form(), r.recorded())
	}
	var e *expansion
	var diags diag.List
	switch {
	case r.repeat.Count != nil:
		e, diags = r.expandCount(t)
	case r.repeat.ForEach != nil:
		e, diags = r.expandForEach(t)
	case r.repeat.Enabled != nil:
		e, diags = r.expandEnabled(t)
	default:
		return singleExpansion
	}
	undecided := slices.ContainsFunc(diags, diag.Diagnostic.AboutUnknown)
	leftOut := undecided && r.isExcluded(t)
	switch {
	case leftOut:
		run.undecided.add(r.block)
	case undecided:
		r.noteUndecided()
		r.reportUndecided(diags)
		run.undecided.add(r.block)
	default:
		run.Report(diags.WithAddress(r.name))
	}
	if run.opt.Phase == Validating { // despite errors, so that errors in the block itself are reported too
		return &expansion{form: e.form, keys: []addr.Key{addr.NoKey}, generic: true}
	}
	if diags.HasErrors() {
		return &expansion{form: e.form, failed: true, undecided: undecided && !leftOut, leftOut: leftOut, why: diags.WithAddress(r.name)}
	}
	e.phased = r.ephemeral && r.module.block.OnlyApplying(r.repeat.Expr())
	run.cover(coverage.Repetition, r.repeat.Expr().Range(), coverage.If(len(e.keys) > 0))
	return e
}

// recordedExpansion returns an expansion to the recorded keys that fit the form. It is failed if there are
// none. each.value is unknown.
func recordedExpansion(form blocks.Form, recorded []addr.Key) *expansion {
	e := &expansion{form: form}
	switch form {
	case blocks.Counted:
		n := 0
		for _, k := range recorded {
			if k.Kind() == addr.KeyInt {
				n = max(n, k.Int()+1)
			}
		}
		for i := range n {
			e.keys = append(e.keys, addr.IntKey(i))
		}
	case blocks.ForEach:
		for _, k := range recorded {
			if k.Kind() == addr.KeyString {
				e.keys = append(e.keys, k)
			}
		}
		slices.SortFunc(e.keys, addr.Key.Compare)
	default:
		if slices.Contains(recorded, addr.NoKey) {
			e.keys = []addr.Key{addr.NoKey}
		}
	}
	e.failed = len(e.keys) == 0
	return e
}

// argumentError returns an error about the value of a repetition argument, with the values that it was
// computed from.
func (r *expander) argumentError(t *future.Task, x *lang.Expr, format string, args ...any) diag.List {
	d := diag.Diagnostic{Summary: "Invalid " + r.repeat.Argument() + " argument", Detail: fmt.Sprintf(format, args...)}
	return r.module.run.about(r.module.scope(t), x, d)
}

// value evaluates a repetition argument and rejects values that no argument accepts. The only ephemeral
// values accepted are terraform.applying, in ephemeral blocks alone, whose keys are not stored, and computed
// values in the elements of for_each, which are not keys. secret reports whether the value is sensitive.
func (r *expander) value(t *future.Task, x *lang.Expr) (v cty.Value, secret bool, diags diag.List) {
	v, diags = r.module.run.eval(r.module.scope(t), x)
	if diags.HasErrors() {
		return v, false, diags
	}
	form := r.Form()
	if value.Contains(v, value.Ephemeral) && (!r.ephemeral || form == blocks.ForEach || !r.module.block.OnlyApplying(x)) {
		if form != blocks.ForEach || value.Has(v, value.Ephemeral) || !keyed(v.Type()) {
			return v, true, append(diags, r.argumentError(t, x, "An ephemeral value cannot decide which instances exist: %s Use a value that isn't ephemeral.%s%s", r.keysReason(), choiceOfKeys(form, x), r.module.block.BecauseOf(x))...)
		}
		if !onlyComputedParts(v) {
			return v, true, append(diags, r.argumentError(t, x, "The elements of for_each must not be ephemeral: they would be kept longer than the values are open. %s%s", onlyKeys(x), r.module.block.BecauseOf(x))...)
		}
	}
	if form == blocks.ForEach && value.Has(v, value.Sensitive) { // elements may be: they are not keys
		return v, true, append(diags, r.argumentError(t, x, "Sensitive values, or values derived from them, cannot be used as for_each arguments, because the keys are shown in addresses. If the keys are not secret, use nonsensitive().")...)
	}
	_, secret = value.Redacted(v.Marks())
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		none := map[blocks.Form]string{blocks.Counted: "0", blocks.ForEach: "{}", blocks.Enabled: "false"}[form]
		diags = append(diags, r.argumentError(t, x, "The %s argument must not be null. For no instances, use %s.", r.repeat.Argument(), none)...)
	case !v.IsKnown() && r.module.run.opt.Phase != Validating:
		diags = append(diags, r.undecidedError(t, x)...)
	}
	return v, secret, diags
}

// onlyKeys returns the sentence that says how for_each goes over the keys of a value alone.
func onlyKeys(x *lang.Expr) string {
	if t, diags := hcl.AbsTraversalForExpr(x.Source); !diags.HasErrors() {
		this := diag.Reference(t)
		return fmt.Sprintf("The keys are not ephemeral, so write for_each = toset(keys(%s)), and %s[each.key] in place of each.value.", this, this)
	}
	return "The keys are not ephemeral, so put the argument into toset(keys(...)), and look the elements up by each.key."
}

// choiceOfKeys returns the sentences that say how for_each goes over the keys of a value that a condition
// chooses, "" if there is no condition.
func choiceOfKeys(form blocks.Form, x *lang.Expr) string {
	if form != blocks.ForEach || len(marked.Conditionals(x.Source)) == 0 {
		return ""
	}
	return " A conditional expression is ephemeral as a whole if part of a branch is. If the keys are not ephemeral, let it choose among them, as in toset(CONDITION ? keys(MAP) : [])."
}

// keyed reports whether a type has elements with keys.
func keyed(ty cty.Type) bool { return ty.IsMapType() || ty.IsObjectType() }

// keysReason returns the sentence that explains why keys must not be secret.
func (r *expander) keysReason() string {
	if r.ephemeral {
		return "their keys are part of addresses, which are shown. Of ephemeral values, only tofu.applying and terraform.applying can be used in count and enabled of an ephemeral block."
	}
	if b, ok := r.block.(*blocks.Resource); ok && b.Config.Addr.Mode.Fleeting() {
		return "their keys are part of addresses, which are shown."
	}
	return "their keys are kept in the state, which must not hold ephemeral values."
}

// undecidedError returns the error about instances that will be known only after apply.
func (r *expander) undecidedError(t *future.Task, x *lang.Expr) diag.List {
	why := "The value of " + r.repeat.Argument() + " is known only after apply, so the instances cannot be planned. Use a value that is known in advance."
	if r.Form() == blocks.ForEach {
		why = "The keys of for_each are known only after apply, so the instances cannot be planned. Use a map whose keys are written in the configuration, with what is known only after apply in its values."
	}
	diags := r.argumentError(t, x, "%s", why)
	diags[0].Extra = diag.Unknown{Exclude: r.excludes()}
	return diags
}

// expandCount evaluates count. The error shows the number unless it is sensitive.
func (r *expander) expandCount(t *future.Task) (*expansion, diag.List) {
	x, e := r.repeat.Count, &expansion{form: blocks.Counted}
	given, secret, diags := r.value(t, x)
	if diags.HasErrors() {
		return e, diags
	}
	v, err := convert.Convert(given, cty.Number)
	if err != nil {
		return e, append(diags, r.argumentError(t, x, "The count argument must be a whole number, but this is %s.", value.Kind(given))...)
	}
	if !v.IsKnown() {
		return e, diags
	}
	n, acc := v.AsBigFloat().Int64()
	if acc != big.Exact || n < 0 || n > maxCount {
		but := "."
		if !secret {
			but = ", but this is " + v.AsBigFloat().Text('g', 10) + "."
		}
		return e, append(diags, r.argumentError(t, x, "The count argument must be a whole number from 0 to %d%s", maxCount, but)...)
	}
	for i := range int(n) {
		e.keys = append(e.keys, addr.IntKey(i))
	}
	return e, diags
}

const maxCount = 10_000_000

// expandForEach evaluates for_each. One unknown key makes all instances unknown: without it, the set of
// addresses is incomplete, and objects in the state would be taken for orphans.
func (r *expander) expandForEach(t *future.Task) (*expansion, diag.List) {
	x, e := r.repeat.ForEach, &expansion{form: blocks.ForEach}
	if keys, ok := r.listed(t, x); ok {
		e.keys, e.set = keys, true
		return e, nil
	}
	v, _, diags := r.value(t, x)
	if diags.HasErrors() || !v.IsKnown() {
		return e, diags
	}
	v = copied(x, v)
	ty := v.Type()
	sequence := r.sequences && (ty.IsTupleType() || ty.IsListType())
	if !sequence && !keyed(ty) && !(ty.IsSetType() && (ty.ElementType() == cty.String || ty.ElementType() == cty.DynamicPseudoType)) {
		return e, append(diags, r.argumentError(t, x, "%s", r.wantsKeys(v, x))...)
	}
	elements := make([]element, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		k, elem := it.Element()
		if ty.IsSetType() {
			k = elem
		}
		if !k.IsKnown() {
			if r.module.run.opt.Phase != Validating {
				diags = append(diags, r.undecidedError(t, x)...)
			}
			return &expansion{form: blocks.ForEach}, diags
		}
		key, err := addr.KeyFromValue(k)
		if err != nil || !sequence && key.Kind() != addr.KeyString {
			return e, append(diags, r.argumentError(t, x, "An element of this set is null. Every element must be a string.")...)
		}
		elements = append(elements, element{key, elem})
	}
	slices.SortFunc(elements, func(a, b element) int { return a.key.Compare(b.key) })
	e.keep(elements, ty.IsSetType())
	return e, diags
}

// listed returns the keys of for_each = toset(x) from x, without a set: its elements would be hashed to make
// it and compared with each other to read it, which takes longer than all else. It returns false unless x is
// a list or tuple of known texts without marks.
func (r *expander) listed(t *future.Task, x *lang.Expr) ([]addr.Key, bool) {
	run := r.module.run
	call, ok := hcl.UnwrapExpressionUntil(x.Expression, func(e hcl.Expression) bool {
		_, ok := e.(*hclsyntax.FunctionCallExpr)
		return ok
	}).(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "toset" || len(call.Args) != 1 || call.ExpandFinal {
		return nil, false
	}
	if len(x.Functions) > 0 || run.cfg.Deprecates || run.opt.Coverage != nil { // evaluating twice would be noticed
		return nil, false
	}
	list := *x
	list.Expression, list.Source = call.Args[0], call.Args[0]
	v, diags := run.eval(r.module.scope(t), &list)
	if len(diags) > 0 || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.Type().IsTupleType() && !v.Type().IsListType() {
		return nil, false
	}
	keys := make([]addr.Key, 0, v.LengthInt())
	for _, elem := range v.Elements() {
		if elem.IsMarked() || elem.Type() != cty.String || !elem.IsKnown() || elem.IsNull() {
			return nil, false
		}
		keys = append(keys, addr.StringKey(elem.AsString()))
	}
	slices.SortFunc(keys, addr.Key.Compare)
	return slices.Compact(keys), true
}

// element is an element of the value of for_each.
type element struct {
	key   addr.Key
	value cty.Value
}

// keep keeps the elements, which are in order, without the values of a set.
func (e *expansion) keep(elements []element, set bool) {
	e.keys, e.set = make([]addr.Key, len(elements)), set
	if !set {
		e.values = make([]cty.Value, len(elements))
	}
	for i, el := range elements {
		if e.keys[i] = el.key; !set {
			e.values[i] = el.value
		}
	}
}

// wantsKeys returns sentences that explain which types for_each accepts in place of v and how to convert v to
// it.
func (r *expander) wantsKeys(v cty.Value, x *lang.Expr) string {
	takes := "a map, an object, or a set of strings"
	if r.sequences {
		takes = "a map, an object, a set of strings, a tuple, or a list"
	}
	text := "The for_each argument must be " + takes + ", but this is " + value.Kind(v) + "."
	this := "VALUE"
	if t, diags := hcl.AbsTraversalForExpr(x.Source); !diags.HasErrors() {
		this = diag.Reference(t)
	}
	ty := v.Type()
	switch {
	case ty == cty.Number:
		text += " For a number of instances, use count."
	case ty.IsPrimitiveType():
	case value.AllElements(ty, func(elem cty.Type) bool { return elem == cty.String }):
		text += " To make a set of strings: toset(" + this + ")."
	case value.AllElements(ty, cty.Type.IsPrimitiveType):
		text += " To make a set of strings: toset([for x in " + this + " : tostring(x)])."
	default:
		text += " To make a map: { for x in " + this + " : KEY => x }, where KEY tells the elements apart, such as x.name."
	}
	return text
}

func (r *expander) expandEnabled(t *future.Task) (*expansion, diag.List) {
	x, e := r.repeat.Enabled, &expansion{form: blocks.Enabled}
	given, _, diags := r.value(t, x)
	if diags.HasErrors() {
		return e, diags
	}
	v, err := convert.Convert(given, cty.Bool)
	if err != nil {
		return e, append(diags, r.argumentError(t, x, "The enabled argument must be true or false, but this is %s.", value.Kind(given))...)
	}
	if v.IsKnown() && v.True() {
		e.keys = []addr.Key{addr.NoKey}
	}
	return e, diags
}

// reportUndecided reports that the instances of a block are not known yet. It reports nothing if the block
// is deferred, or if the cause was reported: an error, or another block with unknown instances.
func (r *expander) reportUndecided(diags diag.List) {
	run := r.module.run
	if run.opt.Deferring || run.Diags.HasCertainErrors() {
		return
	}
	if !r.module.block.RepetitionNeeds(r.repeat, func(n blocks.Node) bool { return run.undecided.has(n) }) {
		run.Report(diags.WithAddress(r.name))
	}
}

// isExcluded reports whether the block is left out as a whole, by itself or because its instances depend on
// something that is.
func (r *expander) isExcluded(t *future.Task) bool {
	of := r.module.run.opt.Excluded
	if of == nil || r.target == nil {
		return false
	}
	needs := &reads{}
	if r.block != nil { // else the objects of an import block are created in place of it
		needs.addExprs(r.module.scope(t), r.repeat.Expr())
		prepare(t, needs) // so that it is known which are left out
	}
	return of(*r.target, needs.deps(t, nil))
}
