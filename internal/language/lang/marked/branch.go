package marked

import (
	"reflect"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Branches is called when a conditional expression chooses a branch, with the position of the expression. It
// is not called while the condition is unknown, nor for expressions in a branch that was not chosen.
type Branches func(at hcl.Range, onTrue bool)

// branchesName is the variable with the Branches of an evaluation. It is not an identifier, so no source text
// can refer to it.
const branchesName = "(branches)"

var branchesType = cty.Capsule("branches", reflect.TypeFor[Branches]())

// Within makes b see the conditional expressions of evaluations with these variables.
func (b Branches) Within(variables map[string]cty.Value) {
	variables[branchesName] = cty.CapsuleVal(branchesType, &b)
}

// branchesOf returns the observer of conditional expressions in ctx, or nil.
func branchesOf(ctx *hcl.EvalContext) Branches {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[branchesName]; ok && !v.IsNull() {
			return *v.EncapsulatedValue().(*Branches)
		} else if ok {
			return nil
		}
	}
	return nil
}

// branch reports which branch a condition chooses, and returns the contexts in which the branches are
// evaluated. Both branches are evaluated always, but the one that is not chosen must not be seen.
func branch(ctx *hcl.EvalContext, at hcl.Range, condition cty.Value) (onTrue, onFalse *hcl.EvalContext) {
	see := branchesOf(ctx)
	if see == nil {
		return ctx, ctx
	}
	unseen := ctx.NewChild()
	unseen.Variables = map[string]cty.Value{branchesName: cty.NullVal(branchesType)}
	condition, _ = condition.Unmark()
	v, err := convert.Convert(condition, cty.Bool)
	if err != nil || !v.IsKnown() || v.IsNull() {
		return unseen, unseen
	}
	see(at, v.True())
	if v.True() {
		return ctx, unseen
	}
	return unseen, ctx
}

// Conditionals returns the positions of the conditional expressions in e. Those whose condition refers to
// nothing, and so chooses the same branch always, are left out.
func Conditionals(e hcl.Expression) []hcl.Range {
	native, ok := e.(hclsyntax.Expression)
	if !ok {
		native, ok = fromJSON(e)
	}
	if !ok {
		return nil
	}
	var out []hcl.Range
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		if c, is := n.(*hclsyntax.ConditionalExpr); is && len(c.Condition.Variables()) > 0 {
			out = append(out, c.SrcRange)
		}
		return nil
	})
	return out
}
