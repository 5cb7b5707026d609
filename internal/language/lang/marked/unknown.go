package marked

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// The expressions of this file keep the ephemeral mark of an unknown result where HCL drops it, so that
// storing it is refused while planning, before the value is known.

// ephemeralIf marks v as ephemeral if any part of the other values is.
func ephemeralIf(v cty.Value, from ...cty.Value) cty.Value {
	for _, f := range from {
		if value.Contains(f, value.Ephemeral) {
			return v.Mark(value.Ephemeral)
		}
	}
	return v
}

// unary is a negation of a number or of a truth value.
type unary struct{ *hclsyntax.UnaryOpExpr }

// UnwrapExpression returns the expression of the source text.
func (u unary) UnwrapExpression() hcl.Expression { return u.UnaryOpExpr }

// Value implements hcl.Expression.
func (u unary) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	operand := evaluated(u.Val, ctx)
	if u.Op.Type == cty.Number && unprintable(operand.v) {
		return cty.UnknownVal(cty.Number), outOfBounds(u, bounds.ErrNumber)
	}
	whole := *u.UnaryOpExpr
	whole.Val = operand
	v, diags := whole.Value(ctx)
	if v.IsKnown() || diags.HasErrors() {
		return v, diags
	}
	return v.WithSameMarks(operand.v), diags
}

// joined is the for directive of a template.
type joined struct{ *hclsyntax.TemplateJoinExpr }

// UnwrapExpression returns the expression of the source text.
func (j joined) UnwrapExpression() hcl.Expression { return j.TemplateJoinExpr }

// Value implements hcl.Expression.
func (j joined) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	parts := evaluated(j.Tuple, ctx)
	whole := *j.TemplateJoinExpr
	whole.Tuple = parts
	if tuple, _ := parts.v.Unmark(); tuple.IsKnown() && tuple.CanIterateElements() && !fitsText(tuple.Elements()) {
		return cty.DynamicVal, outOfBounds(j, bounds.ErrText)
	}
	v, diags := whole.Value(ctx)
	if !v.IsKnown() && !diags.HasErrors() {
		v = ephemeralIf(v, parts.v)
	}
	return spend(ctx, j.TemplateJoinExpr, v, diags, 1)
}

// object is an object constructor with keys that are computed.
type object struct{ *hclsyntax.ObjectConsExpr }

// UnwrapExpression returns the expression of the source text.
func (o object) UnwrapExpression() hcl.Expression { return o.ObjectConsExpr }

// Value implements hcl.Expression.
func (o object) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	whole := *o.ObjectConsExpr
	whole.Items = make([]hclsyntax.ObjectConsItem, len(o.Items))
	parts := make([]cty.Value, 0, 2*len(o.Items))
	for i, item := range o.Items {
		key, val := evaluated(item.KeyExpr, ctx), evaluated(item.ValueExpr, ctx)
		whole.Items[i] = hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: val}
		parts = append(parts, key.v, val.v)
	}
	v, diags := whole.Value(ctx)
	if !v.IsKnown() && !diags.HasErrors() {
		v = ephemeralIf(v, parts...)
	}
	return shapeless(v), diags
}

// computedKeys reports whether a key of the constructor is an expression.
func computedKeys(e *hclsyntax.ObjectConsExpr) bool {
	return slices.ContainsFunc(e.Items, func(item hclsyntax.ObjectConsItem) bool { return len(item.KeyExpr.Variables()) > 0 })
}
