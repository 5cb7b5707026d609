package eval

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/value"
)

// argumentError returns the error about the value of a repetition argument, with the values in play.
func (r *expander) argumentError(t *future.Task, x *lang.Expr, format string, args ...any) diag.List {
	d := diag.Diagnostic{Summary: "Invalid " + r.repeat.Argument() + " argument", Detail: fmt.Sprintf(format, args...)}
	return r.module.run.about(r.module.scope(t), x, d)
}

// value evaluates a repetition argument and refuses what suits none of them. Whether apply is under way may
// decide about ephemeral blocks, whose keys are kept nowhere, but no other ephemeral value may. secret says
// that the value is sensitive.
func (r *expander) value(t *future.Task, x *lang.Expr) (v cty.Value, secret bool, diags diag.List) {
	v, diags = r.module.run.eval(r.module.scope(t), x)
	if diags.HasErrors() {
		return v, false, diags
	}
	form := r.Form()
	if value.Contains(v, value.Ephemeral) && (!r.ephemeral || form == blocks.ForEach || !r.module.block.OnlyApplying(x)) {
		return v, true, append(diags, r.argumentError(t, x, "An ephemeral value cannot decide which instances exist: %s Use a value that isn't ephemeral.%s", r.keysReason(), r.module.block.BecauseOf(x))...)
	}
	if form == blocks.ForEach && value.Has(v, value.Sensitive) { // elements may be: they are no keys
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

// keysReason says why keys must not be secret.
func (r *expander) keysReason() string {
	if r.ephemeral {
		return "their keys are part of addresses, which are shown. Of ephemeral values, only tofu.applying and terraform.applying can be used in count and enabled of an ephemeral block."
	}
	return "their keys are kept in the state, which must not hold ephemeral values."
}

// undecidedError returns the error about instances that cannot be told before apply.
func (r *expander) undecidedError(t *future.Task, x *lang.Expr) diag.List {
	why := "The value of " + r.repeat.Argument() + " is known only after apply, so the instances cannot be planned. Use a value that is known in advance."
	if r.Form() == blocks.ForEach {
		why = "The keys of for_each are known only after apply, so the instances cannot be planned. Use a map whose keys are written in the configuration, with what is known only after apply in its values."
	}
	if r.target != nil {
		why += "\n\nTo create everything else first, then this, run:\n  mayfly apply -exclude=" + diag.Argument(r.name) + "\n  mayfly apply"
	}
	diags := r.argumentError(t, x, "%s", why)
	diags[0].Extra = diag.Unknown{}
	return diags
}

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

func (r *expander) expandForEach(t *future.Task) (*expansion, diag.List) {
	x, e := r.repeat.ForEach, &expansion{form: blocks.ForEach}
	v, _, diags := r.value(t, x)
	if diags.HasErrors() || !v.IsKnown() {
		return e, diags
	}
	ty := v.Type()
	sequence := r.sequences && (ty.IsTupleType() || ty.IsListType())
	if !sequence && !ty.IsMapType() && !ty.IsObjectType() && !(ty.IsSetType() && (ty.ElementType() == cty.String || ty.ElementType() == cty.DynamicPseudoType)) {
		return e, append(diags, r.argumentError(t, x, "%s", r.wantsKeys(v, x))...)
	}
	e.values = make(map[addr.Key]cty.Value, v.LengthInt())
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
		e.values[key] = elem
		e.keys = append(e.keys, key)
	}
	slices.SortFunc(e.keys, addr.Key.Compare)
	return e, diags
}

// wantsKeys says what for_each takes in place of v, and how to make that of it.
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
