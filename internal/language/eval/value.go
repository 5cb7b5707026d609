package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Get returns the value. A value that comes from ephemeral resources is evaluated with o, once in it; without
// one it is unknown and marked ephemeral.
func (v *Value) Get(t *future.Task, o *Opened, via *hcl.Range) cty.Value {
	if !v.Opens() {
		got, cycle := v.cell.Get(t, v, via, func() cty.Value {
			v.await(t)
			got := v.compute(t, nil)
			v.forget(got)
			return got
		})
		if cycle != nil {
			v.module.run.ReportCycle(cycle)
			return cty.DynamicVal
		}
		if o == nil || v.kept.with(o) == nil && !v.lacks(o, got) {
			return got
		}
	}
	if o == nil {
		if v.refuses() { // an ephemeral input, which is reported; errors that follow are not
			return cty.DynamicVal
		}
		return cty.DynamicVal.Mark(value.Ephemeral)
	}
	return v.with(t, o, via)
}

// underWay is the result of a value while it is evaluated, which is seen by a cycle. The durable walk reports
// that.
var underWay = &result[cty.Value]{got: cty.DynamicVal.Mark(value.Ephemeral), notes: notes{lacks: true}}

// with returns the value as it is evaluated with o. It is kept in o, and if ephemeral resources have nothing
// to do with it, for other operations too.
func (v *Value) with(t *future.Task, o *Opened, via *hcl.Range) cty.Value {
	if r := o.values[v]; r != nil {
		o.note(r.notes)
		return r.got
	}
	o.values[v] = underWay
	defer t.Enter(v, via)()
	evaluate := func() cty.Value { return v.compute(t, o) }
	var r *result[cty.Value]
	if v.Opens() {
		r = resultOf(o, evaluate)
		o.note(r.notes)
	} else {
		r = v.kept.of(v.module.run, o, o.form(), evaluate)
	}
	o.values[v] = r
	return r.got
}

// forget drops the objects of resources that nothing but v refers to, once its value is got. A value that is
// made of computed ones may be evaluated again with others in their place.
func (v *Value) forget(got cty.Value) {
	if !v.module.run.opt.Forgetful || len(value.MadeOf(got)) > 0 || v.borrows(got) {
		return
	}
	for _, b := range v.module.run.cfg.SoleReads(v.block) {
		v.module.resources[b.Config.Addr].forget()
	}
}

// await demands the objects that must exist before the value is used.
func (v *Value) await(t *future.Task) {
	if v.module.run.opt.Phase != Validating {
		awaited := &reads{}
		awaited.addAwaitedBy(t, v)
		prepare(t, awaited, v)
	}
}

// Durable returns the value without opening or borrowing anything. ok is false if the value needs that.
func (v *Value) Durable(t *future.Task) (got cty.Value, ok bool) {
	if !v.Opens() {
		got = v.Get(t, nil, nil)
		return got, !v.borrows(got)
	}
	found := evaluated{value: v.Get(t, NewOpened(nil), nil)}
	return found.value, independent(v.module.run, found)
}

// Final returns the value after opening the instances it needs, all at once.
func (v *Value) Final(t *future.Task, o *Opened) cty.Value {
	got, _ := settle(t, o, func() (cty.Value, diag.List) { return v.Get(t, o, nil), nil }, nil)
	return got
}

// refuses reports whether the declaration of v forbids ephemeral values.
func (v *Value) refuses() bool {
	return v.block.Variable != nil && !v.block.Variable.Ephemeral || v.block.Output != nil && !v.block.Output.Ephemeral
}

// compute evaluates v and reports errors. For a value in a cycle, only the cycle is reported and the value
// is unknown: further errors would depend on where the cycle was found.
func (v *Value) compute(t *future.Task, o *Opened) cty.Value {
	var got cty.Value
	var diags diag.List
	switch v.block.Kind {
	case blocks.VariableValue:
		got, diags = v.evalVariable(t, o)
	case blocks.OutputValue:
		got, diags = v.evalOutput(t, o)
	default:
		got, diags = v.module.run.eval(v.module.scope(t).with(o), v.block.Expr)
	}
	if v.circular.Load() {
		return cty.DynamicVal
	}
	if o.hasStandIns() {
		return got // an error that a stand-in leads to is not a mistake
	}
	v.module.run.Report(diags)
	if v.block.Expr == nil {
		return got
	}
	return copied(v.block.Expr, got)
}

func (v *Value) evalVariable(t *future.Task, o *Opened) (cty.Value, diag.List) {
	got, diags := v.typedValue(t, o)
	if v.module.run.opt.Phase == Validating { // valid means valid for all values, also where this one leads to no instance at all
		got = cty.UnknownVal(v.block.Variable.Type).WithMarks(got.Marks())
	}
	return v.declaredMarks(got), diags
}

// argument returns the argument of the call for the variable, or its default, for evaluating validation
// conditions while validating. Its errors are reported elsewhere; here they make the value unknown.
func (v *Value) argument(t *future.Task) cty.Value {
	got, _ := v.typedValue(t, nil)
	return v.declaredMarks(got)
}

// typedValue returns the given value or the default, converted to the variable's type, unknown if there are
// errors.
func (v *Value) typedValue(t *future.Task, o *Opened) (cty.Value, diag.List) {
	got, diags := v.givenValue(t, o)
	if !diags.HasErrors() {
		var more diag.List
		got, more = v.convert(got)
		diags = append(diags, more...)
	}
	if diags.HasErrors() {
		got = cty.UnknownVal(v.block.Variable.Type)
	}
	return got, diags
}

func (v *Value) declaredMarks(got cty.Value) cty.Value {
	if v.block.Variable.Sensitive {
		got = got.Mark(value.Sensitive)
	}
	if v.block.Variable.Ephemeral {
		got = value.Ephemerally(got, v.block.Variable.Type)
	}
	return got
}

// givenValue returns the given value or the default, before conversion.
func (v *Value) givenValue(t *future.Task, o *Opened) (cty.Value, diag.List) {
	b, run, m := v.block.Variable, v.module.run, v.module
	if m.call == nil {
		if got, ok := run.opt.Variables[b.Name]; ok {
			v.warnRootVariable()
			return got, nil
		}
		if run.opt.Phase == Validating || run.opt.UnsetUnknown && b.Required() {
			return cty.UnknownVal(b.Type), nil
		}
		if b.Required() {
			return cty.UnknownVal(b.Type), diag.At(b.Range, "No value for required variable",
				"The root module's input variable %q is not set and has no default. Give it with -var, -var-file, or the environment variable TF_VAR_%s.", b.Name, b.Name)
		}
		return b.Default, nil
	}
	if v.block.Expr == nil {
		if b.Required() {
			return cty.UnknownVal(b.Type), nil // reported when the configuration was loaded
		}
		return b.Default, nil
	}
	got, diags := run.eval(m.callScope(t).with(o), v.block.Expr)
	if diags.HasErrors() {
		return got, diags
	}
	if value.Contains(got, value.Ephemeral) && !b.Ephemeral && !o.hasStandIns() && !onlyByPolicy(got) {
		return got, append(diags, diag.Diagnostic{
			Summary: "Invalid usage of ephemeral value",
			Detail: "Variable `" + b.Name + "` is not marked as ephemeral. Therefore, it cannot reference an ephemeral value. " +
				"In case this is actually wanted, you can add the following attribute to its declaration:\n  ephemeral = true" + m.block.Parent.BecauseOf(v.block.Expr) + computedText(value.MadeOf(got)),
			Subject: v.block.Expr.Range().Ptr(), Expression: v.block.Expr.Expression,
		})
	}
	return got, diags
}

// convert converts a given value to the variable's type. Its messages never show the value, which may be
// secret.
func (v *Value) convert(got cty.Value) (cty.Value, diag.List) {
	b := v.block.Variable
	if got.IsNull() && !b.Nullable {
		if b.Required() {
			return got, diag.At(v.block.Range, "Required variable not set", "The variable %q must not be null: it is declared with nullable = false. What sets it to null (an option, a file, the environment or the call of its module) must give it a value.", b.Name)
		}
		got = b.Default
	}
	out, err := b.Convert(got)
	if err != nil {
		if value.Contains(got, value.Sensitive) || value.Contains(got, value.Ephemeral) { // the error may contain keys
			err = fmt.Errorf("%s required", b.Type.FriendlyNameForConstraint())
		}
		return got, diag.At(v.block.Range, "Invalid value for input variable", "The value given for %s is not suitable: %s.%s", v.Addr(), err, b.DeclaredAt(v.block.Range))
	}
	return out, nil
}

// convertOutput converts a value to the output's declared type. The message never shows the value.
func (v *Value) convertOutput(got cty.Value) (cty.Value, diag.List) {
	out, err := v.block.Output.Convert(got)
	if err == nil {
		return value.TypedBy(out, v.block.Output.Constraint), nil
	}
	if value.Contains(got, value.Sensitive) || value.Contains(got, value.Ephemeral) { // the error may contain keys
		err = fmt.Errorf("%s required", v.block.Output.Constraint.FriendlyNameForConstraint())
	}
	return got, diag.At(v.block.Expr.Range(), "Invalid output value", "The value of %s does not have the declared type: %s.", v.Addr(), err)
}

// evalOutput evaluates an output, checks the result, and adds the marks that the declaration asks for.
func (v *Value) evalOutput(t *future.Task, o *Opened) (cty.Value, diag.List) {
	b, run := v.block.Output, v.module.run
	got, overridden := b.Overridden(v.module.Addr)
	var diags diag.List
	if !overridden {
		got, diags = run.eval(v.module.scope(t).with(o), v.block.Expr)
	}
	if !diags.HasErrors() && !overridden {
		var more diag.List
		got, more = v.convertOutput(got)
		if diags = append(diags, more...); !o.hasStandIns() {
			diags = append(diags, v.checkOutput(got)...)
		}
	}
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if b.Sensitive {
		got = got.Mark(value.Sensitive)
	}
	if b.Ephemeral {
		got = got.Mark(value.Ephemeral)
	}
	if b.Deprecated != "" && v.module.call != nil {
		got = got.Mark(value.Deprecated{By: v.module.block.OutputAddr(b.Name), Message: b.Deprecated})
	}
	return got, diags
}

// checkOutput returns an error if the value has marks that the output must declare and does not. An output
// of the root module can never be ephemeral, since it is stored in the state.
func (v *Value) checkOutput(got cty.Value) diag.List {
	b := v.block.Output
	rng := b.Expr.Range()
	if value.Contains(got, value.Ephemeral) && !b.Ephemeral && (v.module.call == nil || !onlyByPolicy(got)) {
		d := diag.Diagnostic{
			Summary: "Output not marked as ephemeral",
			Detail:  "In order to allow this output to store ephemeral values add `ephemeral = true` attribute to it.",
			Subject: rng.Ptr(), Expression: b.Expr,
		}
		if v.module.call == nil {
			d.Summary = "Ephemeral value in a root module output"
			d.Detail = "An output of the root module is stored in the state, so it can neither hold an ephemeral value nor be marked as ephemeral. " +
				"To output the rest of the value, pass it through ephemeralasnull, which puts null in place of the ephemeral parts."
		}
		d.Detail += v.module.block.BecauseOf(v.block.Expr) + computedText(value.MadeOf(got))
		return diag.List{d}
	}
	if v.module.call == nil && !b.Sensitive && value.Contains(got, value.Sensitive) {
		return diag.At(rng, "Output refers to sensitive values",
			"To reduce the risk of showing a secret by accident, an output of the root module whose value is sensitive must say so: add the argument\n    sensitive = true")
	}
	return nil
}
