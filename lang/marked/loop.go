package marked

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/bounds"
	"github.com/mayfly-iac/mayfly/value"
)

// loop is a for expression. HCL removes the marks of the collection before it evaluates the elements and adds
// them to the result, but loses them if the result is unknown. What it makes is taken from the budget of the
// evaluation.
type loop struct {
	*hclsyntax.ForExpr
	weight int // the elements that each round makes
}

// Value implements hcl.Expression.
func (l loop) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	budget := bounds.BudgetOf(ctx)
	if budget.Excess() != nil {
		return cty.DynamicVal, nil
	}
	coll := evaluated(l.CollExpr, ctx)
	seen := &skipped{}
	whole := *l.ForExpr
	whole.CollExpr = coll
	if l.CondExpr != nil {
		whole.CondExpr = guarding{Expression: l.CondExpr, of: l.ForExpr, seen: seen, budget: budget}
	}
	if l.KeyExpr != nil {
		whole.KeyExpr = guarding{Expression: l.KeyExpr, of: l.ForExpr, seen: seen, budget: budget}
	}
	if budget != nil {
		whole.ValExpr = spending{Expression: l.ValExpr, budget: budget, weight: l.weight, of: l.ForExpr}
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

// child returns the context of one round.
func (l loop) child(ctx *hcl.EvalContext, key, val cty.Value) *hcl.EvalContext {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{l.ValVar: val}
	if l.KeyVar != "" {
		child.Variables[l.KeyVar] = key
	}
	return child
}

// skipped collects what is known of elements that HCL did not evaluate, because their condition or key is
// unknown.
type skipped struct {
	ephemeral bool // an element may be ephemeral
}

// look evaluates the parts of the loop for an element that HCL skips.
func (s *skipped) look(e *hclsyntax.ForExpr, ctx *hcl.EvalContext) {
	for _, x := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if x == nil || s.ephemeral {
			continue
		}
		v, diags := x.Value(ctx)
		s.ephemeral = !diags.HasErrors() && value.Contains(v, value.Ephemeral)
	}
}

// guarding is the condition or the key of a loop. If it is unknown for an element, the element is evaluated
// here.
type guarding struct {
	hclsyntax.Expression
	of     *hclsyntax.ForExpr
	seen   *skipped
	budget *bounds.Budget
}

// Value implements hcl.Expression.
func (g guarding) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !g.budget.Round(0, g.of) {
		return cty.DynamicVal, nil
	}
	left := g.budget.Left()
	v, diags := g.Expression.Value(ctx)
	g.budget.Discard(left, v)
	if !diags.HasErrors() && !v.IsKnown() && !unknownElement(ctx, g.of) {
		g.seen.look(g.of, ctx)
	}
	return v, diags
}

// unknownElement reports whether HCL is trying out the condition with an unknown element, before it comes to
// the real ones.
func unknownElement(ctx *hcl.EvalContext, e *hclsyntax.ForExpr) bool {
	return ctx.Variables[e.ValVar].RawEquals(cty.DynamicVal)
}

// spending is the value of a loop, each of whose rounds is taken from the budget. Without budget it is
// unknown, and the rounds that are left cost next to nothing.
type spending struct {
	hclsyntax.Expression
	budget *bounds.Budget
	weight int
	of     *hclsyntax.ForExpr
}

// Value implements hcl.Expression.
func (s spending) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !s.budget.Round(s.weight, s.of) {
		return cty.DynamicVal, nil
	}
	left := s.budget.Left()
	v, diags := s.Expression.Value(ctx)
	s.budget.Discard(left, v)
	return v, diags
}

// weight returns how many elements one evaluation of e makes by itself: one for its result, and one for each
// element that is written out in it. What loops in it make is counted there.
func weight(e hclsyntax.Expression) int {
	w := &weigher{sum: 1}
	_ = hclsyntax.Walk(e, w)
	return w.sum
}

// weigher adds up the elements that are written out in an expression.
type weigher struct{ sum, inLoops int }

// Enter implements hclsyntax.Walker.
func (w *weigher) Enter(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case *hclsyntax.ForExpr:
		w.inLoops++
	case *hclsyntax.TupleConsExpr:
		w.add(len(n.Exprs))
	case *hclsyntax.ObjectConsExpr:
		w.add(len(n.Items))
	}
	return nil
}

// add counts elements that are not within a loop.
func (w *weigher) add(n int) {
	if w.inLoops == 0 {
		w.sum += n
	}
}

// Exit implements hclsyntax.Walker.
func (w *weigher) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if _, ok := n.(*hclsyntax.ForExpr); ok {
		w.inLoops--
	}
	return nil
}
