package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/unify"
)

// The kinds of expressions that stand for those of the source text let others find these.

func (c conditional) UnwrapExpression() hcl.Expression { return c.ConditionalExpr }
func (x indexed) UnwrapExpression() hcl.Expression     { return x.IndexExpr }
func (c called) UnwrapExpression() hcl.Expression      { return c.FunctionCallExpr }
func (t template) UnwrapExpression() hcl.Expression    { return t.TemplateExpr }

// fitArguments converts the arguments of a call to the types that the function's parameters have, where they fit them, in linear time. A last argument that is to be
// expanded stays as it is.
func fitArguments(ctx *hcl.EvalContext, call *hclsyntax.FunctionCallExpr, args []*evaluatedExpr) {
	f, ok := calledFunction(ctx, call.Name)
	if !ok {
		return
	}
	if call.ExpandFinal {
		args = args[:len(args)-1]
	}
	params, rest := f.Params(), f.VarParam()
	for i, arg := range args {
		var ty cty.Type
		switch {
		case i < len(params):
			ty = params[i].Type
		case rest != nil:
			ty = rest.Type
		}
		if ty == cty.NilType || !ty.IsCollectionType() || arg.diags.HasErrors() {
			continue
		}
		if v, ok := unify.Converted(arg.v, ty); ok {
			arg.v = v
		}
	}
}

func calledFunction(ctx *hcl.EvalContext, name string) (function.Function, bool) {
	for ; ctx != nil; ctx = ctx.Parent() {
		if f, ok := ctx.Functions[name]; ok {
			return f, true
		}
	}
	return function.Function{}, false
}

// fitBranches gives the branches of a conditional expression the type that they have in common, if they are tuples or objects of different shapes and the condition
// is known: HCL would compare the types of all their elements.
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
