package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/value"
)

// loop is a for expression. HCL takes the marks off a collection before it looks at the elements, and puts them on the
// result. That loses them if the result is unknown.
type loop struct{ *hclsyntax.ForExpr }

// Value implements hcl.Expression.
func (l loop) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	coll := evaluated(l.CollExpr, ctx)
	seen := &skipped{}
	whole := *l.ForExpr
	whole.CollExpr = coll
	if l.CondExpr != nil {
		whole.CondExpr = guarding{Expression: l.CondExpr, of: l.ForExpr, seen: seen}
	}
	if l.KeyExpr != nil {
		whole.KeyExpr = guarding{Expression: l.KeyExpr, of: l.ForExpr, seen: seen}
	}
	v, diags := whole.Value(ctx)
	if diags.HasErrors() || v.IsKnown() {
		return v, diags
	}
	if !coll.v.IsKnown() {
		seen.look(l.ForExpr, l.child(ctx, cty.DynamicVal, cty.DynamicVal))
	}
	v = v.WithSameMarks(coll.v)
	if seen.ephemeral {
		v = v.Mark(value.Ephemeral)
	}
	return v, diags
}

func (l loop) child(ctx *hcl.EvalContext, key, val cty.Value) *hcl.EvalContext {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{l.ValVar: val}
	if l.KeyVar != "" {
		child.Variables[l.KeyVar] = key
	}
	return child
}

// skipped tells about the elements that an evaluation did not look at because it is unknown whether, or under what key, they will be there.
type skipped struct {
	ephemeral bool // one of them may be ephemeral
}

// look evaluates what the loop would make of an element.
func (s *skipped) look(e *hclsyntax.ForExpr, ctx *hcl.EvalContext) {
	for _, x := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if x == nil || s.ephemeral {
			continue
		}
		v, diags := x.Value(ctx)
		s.ephemeral = !diags.HasErrors() && value.Contains(v, value.Ephemeral)
	}
}

// guarding is the condition or the key of a loop.
type guarding struct {
	hclsyntax.Expression
	of   *hclsyntax.ForExpr
	seen *skipped
}

// Value implements hcl.Expression.
func (g guarding) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := g.Expression.Value(ctx)
	if !diags.HasErrors() && !v.IsKnown() && !unknownElement(ctx, g.of) {
		g.seen.look(g.of, ctx)
	}
	return v, diags
}

// unknownElement reports whether the context is that of HCL's trial of the condition, before there are elements.
func unknownElement(ctx *hcl.EvalContext, e *hclsyntax.ForExpr) bool {
	return ctx.Variables[e.ValVar].RawEquals(cty.DynamicVal)
}
