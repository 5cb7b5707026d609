package marked

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// loop is a for expression. HCL removes the marks of the collection before it evaluates the elements and adds
// them to the result, but loses them if the result is unknown. Its elements are charged to the budget of the
// evaluation.
type loop struct {
	*hclsyntax.ForExpr
	weight int // the elements that each round makes
}

// UnwrapExpression returns the expression of the source text.
func (l loop) UnwrapExpression() hcl.Expression { return l.ForExpr }

// Value implements hcl.Expression.
func (l loop) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	budget := bounds.BudgetOf(ctx)
	if budget.Excess() != nil {
		return cty.DynamicVal, nil
	}
	coll := evaluated(l.CollExpr, ctx)
	if value.IsMarked(coll.v) {
		funcs.Remember(ctx, l.CollExpr, coll.v)
	}
	seen := &skipped{}
	whole := *l.ForExpr
	whole.CollExpr = coll
	if l.CondExpr != nil {
		rest := []hclsyntax.Expression{l.KeyExpr, l.ValExpr}
		whole.CondExpr = &guarding{Expression: l.CondExpr, of: l.ForExpr, rest: rest, seen: seen, budget: budget, tryOut: true, elements: hasElements(coll.v)}
	}
	if l.KeyExpr != nil {
		whole.KeyExpr = &guarding{Expression: l.KeyExpr, of: l.ForExpr, rest: []hclsyntax.Expression{l.ValExpr}, seen: seen, budget: budget}
	}
	if budget != nil {
		whole.ValExpr = spending{Expression: l.ValExpr, budget: budget, weight: l.weight, of: l.ForExpr}
	}
	v, diags := whole.Value(ctx)
	if diags.HasErrors() {
		return v, diags
	}
	if v.IsKnown() {
		v = shapeless(v)
		if value.MayBeUnknown(v) && funcs.ReadsUnknown(l.ForExpr, ctx) {
			v = v.Mark(value.EphemeralKnown)
		}
		return v, diags
	}
	if !coll.v.IsKnown() { // the condition has been tried out
		child := l.child(ctx, cty.DynamicVal, cty.DynamicVal)
		seen.look(child, l.KeyExpr, l.ValExpr)
	}
	v = v.WithSameMarks(coll.v)
	if seen.ephemeral {
		v = v.Mark(value.Ephemeral)
	}
	return v, diags
}

// hasElements reports whether a loop over a value has rounds.
func hasElements(coll cty.Value) bool {
	coll, _ = coll.Unmark()
	return coll.IsKnown() && !coll.IsNull() && coll.CanIterateElements() && coll.LengthInt() > 0
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

// skipped collects properties of elements that HCL did not evaluate, because their condition or key is
// unknown.
type skipped struct {
	ephemeral bool // an element may be ephemeral
}

// look evaluates parts of the loop for an element that HCL skips, if there are such parts.
func (s *skipped) look(ctx *hcl.EvalContext, parts ...hclsyntax.Expression) {
	for _, x := range parts {
		if x == nil || s.ephemeral {
			continue
		}
		v, diags := x.Value(ctx)
		s.found(x, ctx, v, diags)
	}
}

// found notes the value of a part of the loop, which has failed if there are errors.
func (s *skipped) found(x hclsyntax.Expression, ctx *hcl.EvalContext, v cty.Value, diags hcl.Diagnostics) {
	s.ephemeral = s.ephemeral || value.Contains(v, value.Ephemeral) || diags.HasErrors() && funcs.EphemeralOutcome(x, ctx)
}

// guarding is the condition or the key of a loop. If it is unknown for an element, the expressions that HCL
// then skips are evaluated here. Each part is evaluated once for each element: loops in conditions of loops
// would otherwise take time exponential in their depth.
type guarding struct {
	hclsyntax.Expression
	of       *hclsyntax.ForExpr
	rest     []hclsyntax.Expression // expressions that HCL skips
	seen     *skipped
	budget   *bounds.Budget
	tryOut   bool // HCL is about to evaluate it for an unknown element, before it comes to the real ones
	elements bool // there are real ones
	reported map[string]bool
}

// Value implements hcl.Expression.
func (g *guarding) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !g.budget.Round(0, g.of) {
		return cty.DynamicVal, nil
	}
	tryOut := g.tryOut
	g.tryOut = false
	if tryOut && g.elements { // whose errors are the same
		return cty.UnknownVal(cty.Bool), nil
	}
	left := g.budget.Left()
	v, diags := g.Expression.Value(ctx)
	g.budget.Discard(left, v)
	switch {
	case diags.HasErrors():
		diags = g.once(diags)
	case tryOut || v.IsKnown(): // it has marks that HCL loses if it is null and an element before it is unknown
		g.seen.found(g.Expression, ctx, v, diags)
	default:
		g.seen.found(g.Expression, ctx, v, diags)
		g.seen.look(ctx, g.rest...)
	}
	return v, diags
}

// once returns the diagnostics that no other element has had.
func (g *guarding) once(diags hcl.Diagnostics) hcl.Diagnostics {
	if g.reported == nil {
		g.reported = map[string]bool{}
	}
	var out hcl.Diagnostics
	for _, d := range diags {
		key := d.Error()
		if !g.reported[key] {
			g.reported[key] = true
			out = append(out, d)
		}
	}
	return out
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
// element that is written out in it. Elements of loops in it are counted there.
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
