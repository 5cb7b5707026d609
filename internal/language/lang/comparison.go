package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// comparison is a comparison that failed, with the values of its sides.
type comparison struct {
	Op                    *hclsyntax.Operation
	Left, Right           hcl.Expression
	LeftValue, RightValue cty.Value
}

// failedComparisons returns the comparisons because of which a condition is false, from left to right. Of a
// conjunction, only the first side that is false counts, since the other one may not make sense then; of a
// disjunction, both do.
//
//	a == 1 && b < 2  with a = 1, b = 3  →  b < 2
func failedComparisons(cond hcl.Expression, ctx *hcl.EvalContext) []comparison {
	switch e := cond.(type) {
	case *hclsyntax.ParenthesesExpr:
		return failedComparisons(e.Expression, ctx)
	case *hclsyntax.BinaryOpExpr:
		switch e.Op {
		case hclsyntax.OpLogicalAnd:
			if isFalse(e.LHS, ctx) {
				return failedComparisons(e.LHS, ctx)
			}
			return failedComparisons(e.RHS, ctx)
		case hclsyntax.OpLogicalOr:
			return append(failedComparisons(e.LHS, ctx), failedComparisons(e.RHS, ctx)...)
		case hclsyntax.OpEqual, hclsyntax.OpNotEqual, hclsyntax.OpLessThan, hclsyntax.OpLessThanOrEqual, hclsyntax.OpGreaterThan, hclsyntax.OpGreaterThanOrEqual:
			left, leftDiags := e.LHS.Value(ctx)
			right, rightDiags := e.RHS.Value(ctx)
			if leftDiags.HasErrors() || rightDiags.HasErrors() {
				return nil
			}
			return []comparison{{e.Op, e.LHS, e.RHS, left, right}}
		}
	}
	return nil
}

// Unequal returns the sides of a condition that compares for equality and is false, nil for any other
// condition, and if a side is secret or unknown.
func Unequal(cond hcl.Expression, ctx *hcl.EvalContext) *diag.Difference {
	found := failedComparisons(cond, ctx)
	if len(found) != 1 || found[0].Op != hclsyntax.OpEqual {
		return nil
	}
	c := found[0]
	if _, secret := value.RedactedDeep(c.LeftValue, c.RightValue); secret || !c.LeftValue.IsWhollyKnown() || !c.RightValue.IsWhollyKnown() {
		return nil
	}
	left, _ := c.LeftValue.UnmarkDeep()
	right, _ := c.RightValue.UnmarkDeep()
	return &diag.Difference{Left: left, Right: right}
}

// isFalse reports whether an expression is false, not unknown, null or an error.
func isFalse(e hcl.Expression, ctx *hcl.EvalContext) bool {
	v, diags := e.Value(ctx)
	v, _ = v.Unmark()
	return !diags.HasErrors() && v.Type() == cty.Bool && v.IsKnown() && !v.IsNull() && v.False()
}

// Difference returns the path where two values first differ, and their values there. The path is empty if
// they differ as a whole, or if more would reveal a sensitive or ephemeral value, or is not known yet.
func (c comparison) Difference() (path cty.Path, left, right cty.Value) {
	left, right = c.LeftValue, c.RightValue
	if left.ContainsMarked() || right.ContainsMarked() || !left.IsWhollyKnown() || !right.IsWhollyKnown() {
		return nil, left, right
	}
	for {
		step, l, r, ok := firstDifference(left, right)
		if !ok {
			return path, left, right
		}
		path, left, right = append(path, step), l, r
	}
}

// firstDifference finds the first element in which two collections with equal keys differ.
func firstDifference(a, b cty.Value) (step cty.PathStep, x, y cty.Value, ok bool) {
	if a.IsNull() || b.IsNull() || !a.CanIterateElements() || !b.CanIterateElements() || a.Type().IsSetType() || b.Type().IsSetType() || a.LengthInt() != b.LengthInt() {
		return nil, x, y, false
	}
	named := a.Type().IsObjectType()
	as, bs := a.ElementIterator(), b.ElementIterator()
	for as.Next() && bs.Next() {
		k, x := as.Element()
		other, y := bs.Element()
		switch {
		case !k.RawEquals(other):
			return nil, x, y, false
		case x.RawEquals(y):
		case named:
			return cty.GetAttrStep{Name: k.AsString()}, x, y, true
		default:
			return cty.IndexStep{Key: k}, x, y, true
		}
	}
	return nil, x, y, false
}

// ComparedParts returns the values compared in a condition that is false. It leaves out secrets, and values
// that the message shows anyway: literals and plain references.
func ComparedParts(cond hcl.Expression, ctx *hcl.EvalContext) []diag.Part {
	var parts []diag.Part
	for _, c := range failedComparisons(cond, ctx) {
		path, left, right := c.Difference()
		for _, side := range []struct {
			e hcl.Expression
			v cty.Value
		}{{c.Left, left}, {c.Right, right}} {
			_, reference := side.e.(*hclsyntax.ScopeTraversalExpr)
			_, secret := value.Redacted(side.v.Marks())
			if len(side.e.Variables()) == 0 || reference && len(path) == 0 || secret {
				continue
			}
			if statement := value.Statement(side.v, false); statement != "" {
				parts = append(parts, diag.Part{Range: side.e.Range(), Path: partPath(path), Statement: statement})
			}
		}
	}
	return parts
}

// partPath renders the path of an element so that it can follow the text of an expression.
func partPath(p cty.Path) string {
	if len(p) == 0 {
		return ""
	}
	if _, attr := p[0].(cty.GetAttrStep); attr {
		return "." + schema.PathString(p)
	}
	return schema.PathString(p)
}
