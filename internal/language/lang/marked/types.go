package marked

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// The expressions of this file mark results whose type depends on an ephemeral value, so that code that takes
// away the ephemeral mark takes away the type as well.

// typeless marks a value as ephemeral, and its type too.
func typeless(v cty.Value) cty.Value { return v.Mark(value.Ephemeral).Mark(value.EphemeralType) }

// shapeless marks the type of a value that is ephemeral as a whole, as the results of loops and of
// constructors are whose keys, or whose number of elements, an ephemeral value has decided.
func shapeless(v cty.Value) cty.Value {
	if value.Has(v, value.Ephemeral) {
		return v.Mark(value.EphemeralType)
	}
	return v
}

// markKnown marks v, the result of an expression with these operands, if it is ephemeral and may be unknown
// with other ephemeral values. A failed operand is unknown.
func markKnown(ctx *hcl.EvalContext, v cty.Value, operands ...*evaluatedExpr) cty.Value {
	if !value.MayBeUnknown(v) {
		return v
	}
	for _, e := range operands {
		if e.mayBeUnknown(ctx) {
			return v.Mark(value.EphemeralKnown)
		}
	}
	return v
}

// mayBeUnknown reports whether the operand is unknown, or may be with other ephemeral values. One that fails
// with some of them has no value then to tell by.
func (e *evaluatedExpr) mayBeUnknown(ctx *hcl.EvalContext) bool {
	if e.diags.HasErrors() || e.mayFail(ctx) {
		return funcs.ReadsUnknown(e.Expression, ctx)
	}
	return !value.Settled(e.v)
}

// mayFail reports whether it depends on an ephemeral value that the operand has failed, or has not.
func (e *evaluatedExpr) mayFail(ctx *hcl.EvalContext) bool {
	return funcs.EphemeralOutcome(e.Expression, ctx)
}

// uniform reports whether all parts of a value that an index may choose have the same type, and no marks.
func uniform(coll cty.Value) bool {
	ty := coll.Type()
	if value.IsMarked(coll) {
		return false
	}
	first := cty.NilType
	same := func(t cty.Type) bool {
		if first == cty.NilType {
			first = t
		}
		return t.Equals(first) && !t.HasDynamicTypes()
	}
	switch {
	case ty.IsTupleType():
		for _, t := range ty.TupleElementTypes() {
			if !same(t) {
				return false
			}
		}
	case ty.IsObjectType():
		for _, t := range ty.AttributeTypes() {
			if !same(t) {
				return false
			}
		}
	}
	return true
}

// splat is a splat expression. Applied to a list it gives a list, to anything else as many elements as that
// has, or one or none.
type splat struct{ *hclsyntax.SplatExpr }

// UnwrapExpression returns the expression of the source text.
func (s splat) UnwrapExpression() hcl.Expression { return s.SplatExpr }

// Value implements hcl.Expression.
func (s splat) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := s.SplatExpr.Value(ctx)
	if diags.HasErrors() {
		return v, diags
	}
	bare, _ := v.Unmark()
	isList := bare.Type().IsListType()
	switch {
	case isList && value.Contains(bare, value.EphemeralType):
		v = typeless(v)
	case !isList || splatsWithin(s.Each):
		v = shapeless(v)
	}
	return value.MarkKnown(v), diags // an unknown value may be null, which has no elements
}

// splatsWithin reports whether a splat has another one for each of its elements, as in a[*].b[*]: that
// depends on whether an element is null.
func splatsWithin(each hclsyntax.Expression) bool {
	found := false
	_ = hclsyntax.VisitAll(each, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n.(type) {
		case *hclsyntax.SplatExpr, splat:
			found = true
		}
		return nil
	})
	return found
}

// asSplat returns the splat that an expression is.
func asSplat(e hclsyntax.Expression) (*hclsyntax.SplatExpr, bool) {
	switch e := e.(type) {
	case splat:
		return e.SplatExpr, true
	case *hclsyntax.SplatExpr:
		return e, true
	default:
		return nil, false
	}
}

// logical is an operation that may have a result although one of its operands has failed.
type logical struct{ *hclsyntax.BinaryOpExpr }

// UnwrapExpression returns the expression of the source text.
func (l logical) UnwrapExpression() hcl.Expression { return l.BinaryOpExpr }

// Value implements hcl.Expression.
func (l logical) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	lhs, rhs := evaluated(l.LHS, ctx), evaluated(l.RHS, ctx)
	whole := *l.BinaryOpExpr
	whole.LHS, whole.RHS = lhs, rhs
	v, diags := whole.Value(ctx)
	if !diags.HasErrors() && (lhs.mayFail(ctx) || rhs.mayFail(ctx)) {
		v = v.Mark(value.Ephemeral)
	}
	return markKnown(ctx, value.MarkTypes(v, cty.Bool), lhs, rhs), diags
}

// comparison is an operation that compares values of any type.
type comparison struct{ *hclsyntax.BinaryOpExpr }

// UnwrapExpression returns the expression of the source text.
func (c comparison) UnwrapExpression() hcl.Expression { return c.BinaryOpExpr }

// Value implements hcl.Expression.
func (c comparison) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	lhs, rhs := evaluated(c.LHS, ctx), evaluated(c.RHS, ctx)
	whole := *c.BinaryOpExpr
	whole.LHS, whole.RHS = lhs, rhs
	v, diags := whole.Value(ctx)
	return markKnown(ctx, value.MarkTypes(v, cty.Bool), lhs, rhs), diags
}

// expanded is a call whose last argument is expanded. If there is nothing in it, no argument has its marks.
type expanded struct{ *hclsyntax.FunctionCallExpr }

// UnwrapExpression returns the expression of the source text.
func (x expanded) UnwrapExpression() hcl.Expression { return x.FunctionCallExpr }

// Value implements hcl.Expression.
func (x expanded) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	whole := *x.FunctionCallExpr
	last := len(whole.Args) - 1
	list := evaluated(whole.Args[last], ctx)
	whole.Args = append(append([]hclsyntax.Expression(nil), whole.Args[:last]...), list)
	v, diags := call(&whole).Value(ctx)
	if value.Has(list.v, value.Ephemeral) && !diags.HasErrors() {
		v = typeless(v)
	}
	return value.MarkKnown(v, list.v), diags
}
