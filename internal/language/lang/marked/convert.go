package marked

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/unify"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// fitArguments converts arguments of a call to the collection types of the function's parameters, in linear
// time. It leaves out an argument that does not fit, which is the function's error, and a final one that is
// expanded.
func fitArguments(ctx *hcl.EvalContext, call *hclsyntax.FunctionCallExpr, args []*evaluatedExpr) {
	f, ok := lang.FunctionIn(ctx, call.Name)
	if !ok {
		return
	}
	if call.ExpandFinal {
		args = args[:len(args)-1]
	}
	for i, arg := range args {
		if ty := parameterType(f, i); ty != cty.NilType && ty.IsCollectionType() && !arg.diags.HasErrors() {
			arg.v = fitted(arg.v, ty)
		}
	}
}

// parameterType returns the type of the parameter for an argument, or cty.NilType if there is none.
func parameterType(f function.Function, i int) cty.Type {
	if params := f.Params(); i < len(params) {
		return params[i].Type
	}
	if rest := f.VarParam(); rest != nil {
		return rest.Type
	}
	return cty.NilType
}

// fitted returns a value converted to a type, or as it is if it does not convert.
func fitted(v cty.Value, ty cty.Type) cty.Value {
	if out, ok := unify.Converted(v, ty); ok {
		return out
	}
	return v
}

// callFitting converts the arguments of a call as fitArguments does. If HCL would lose marks of theirs, it
// calls the function, too.
func (c called) callFitting(ctx *hcl.EvalContext, args []*evaluatedExpr) (cty.Value, bool) {
	fitArguments(ctx, c.FunctionCallExpr, args)
	if c.ExpandFinal {
		return cty.NilVal, false
	}
	values, loses := make([]cty.Value, len(args)), false
	for i, arg := range args {
		if arg.diags.HasErrors() {
			return cty.NilVal, false
		}
		values[i], loses = arg.v, loses || marksNull(arg.v)
	}
	f, ok := lang.FunctionIn(ctx, c.Name)
	if !ok || !loses {
		return cty.NilVal, false
	}
	for i, v := range values {
		if ty := parameterType(f, i); ty != cty.NilType {
			values[i] = fitted(v, ty)
		}
	}
	v, err := f.Call(values)
	return v, err == nil
}

// marksNull reports whether a part of a value is null and has marks, which conversions of the library lose.
func marksNull(v cty.Value) (found bool) {
	if v.Type().IsPrimitiveType() || !value.IsMarked(v) {
		return false
	}
	_ = cty.Walk(v, func(path cty.Path, part cty.Value) (bool, error) { // the callback returns no error
		found = found || part.IsMarked() && part.IsNull() && len(path) > 0
		return !found, nil
	})
	return found
}

// fitBranches converts the branches of a conditional expression to their common type if they are tuples or
// objects of different shapes and the condition is known: HCL would compare the types of all pairs of
// elements.
func fitBranches(cond cty.Value, onTrue, onFalse *evaluatedExpr) {
	if bare, _ := cond.Unmark(); !bare.IsKnown() || bare.IsNull() || onTrue.diags.HasErrors() || onFalse.diags.HasErrors() {
		return
	}
	ty, ok := unify.Alternatives(onTrue.v.Type(), onFalse.v.Type())
	if !ok {
		return
	}
	a, okA := unify.Converted(onTrue.v, ty)
	b, okB := unify.Converted(onFalse.v, ty)
	if okA && okB {
		onTrue.v, onFalse.v = a, b
	}
}
