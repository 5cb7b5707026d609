package marked

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/language/lang/typearg"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// conditional is a conditional expression whose result is ephemeral if either branch is: whether a value may
// be stored must not depend on the condition.
type conditional struct {
	*hclsyntax.ConditionalExpr
	choice bool // see Choice
}

// UnwrapExpression returns the expression of the source text.
func (c conditional) UnwrapExpression() hcl.Expression { return c.ConditionalExpr }

// Value implements hcl.Expression.
func (c conditional) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	cond := evaluated(c.Condition, ctx)
	ctxTrue, ctxFalse := branch(ctx, c.SrcRange, cond.v)
	onTrue, onFalse := evaluated(c.TrueResult, ctxTrue), evaluated(c.FalseResult, ctxFalse)
	whenTrue, whenFalse := *onTrue, *onFalse
	fitBranches(cond.v, &whenTrue, &whenFalse)
	whole := *c.ConditionalExpr
	whole.Condition, whole.TrueResult, whole.FalseResult = cond, &whenTrue, &whenFalse
	v, diags := whole.Value(ctx)
	if diags.HasErrors() {
		return v, diags
	}
	if c.typeless(ctx, cond, onTrue, onFalse) {
		v = typeless(v)
	}
	if !c.choice || !cond.v.IsKnown() {
		v = ephemeralIf(v, onTrue.v, onFalse.v)
	}
	return markKnown(ctx, v, cond, onTrue, onFalse), diags
}

// Choice returns e, a result of Expression, for an argument of which nothing is stored but keys. If e is a
// conditional expression whose condition is known and not ephemeral, ephemeral elements of a branch do not
// make the result ephemeral as a whole: it has the elements that the chosen branch has.
func Choice(e hcl.Expression) hcl.Expression {
	if native, ok := e.(hclsyntax.Expression); ok {
		return choice(native)
	}
	return e
}

func choice(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case conditional:
		c := *e.ConditionalExpr
		c.TrueResult, c.FalseResult = choice(c.TrueResult), choice(c.FalseResult)
		return conditional{&c, true}
	case *hclsyntax.ParenthesesExpr:
		c := *e
		c.Expression = choice(c.Expression)
		return &c
	case *hclsyntax.TemplateWrapExpr:
		c := *e
		c.Wrapped = choice(c.Wrapped)
		return &c
	}
	return e
}

// typeless reports whether the type of the result depends on an ephemeral value: one that a branch has failed
// with, which has no type then, one of whose branches has such a type, or a condition between such types.
func (c conditional) typeless(ctx *hcl.EvalContext, cond, onTrue, onFalse *evaluatedExpr) bool {
	if value.OpenType(onTrue.v) || value.OpenType(onFalse.v) || onTrue.mayFail(ctx) || onFalse.mayFail(ctx) {
		return true
	}
	if !value.Has(cond.v, value.Ephemeral) {
		return false
	}
	return !settled(onTrue.v, onFalse.v) || !settled(onFalse.v, onTrue.v)
}

// settled reports whether the type and the inner marks of a conditional expression do not depend on the
// condition if this branch is chosen: the type has no open parts, which null takes from the other branch, and
// no value within has marks.
func settled(v, other cty.Value) bool {
	if v.RawEquals(cty.NullVal(cty.DynamicPseudoType)) {
		return !other.Type().HasDynamicTypes()
	}
	bare, _ := v.Unmark()
	return !v.Type().HasDynamicTypes() && !value.IsMarked(bare)
}

// indexed is an index expression whose result has the marks of its key as well, since the element reveals the
// key.
type indexed struct{ *hclsyntax.IndexExpr }

// UnwrapExpression returns the expression of the source text.
func (x indexed) UnwrapExpression() hcl.Expression { return x.IndexExpr }

// Value implements hcl.Expression.
func (x indexed) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	coll, key := evaluated(x.Collection, ctx), evaluated(x.Key, ctx)
	whole := *x.IndexExpr
	whole.Collection, whole.Key = coll, key
	v, diags := whole.Value(ctx)
	if !key.v.IsKnown() && !diags.HasErrors() { // it may become any element
		v = ephemeralIf(v, coll.v)
	}
	if !key.v.IsMarked() {
		return v, diags
	}
	_, marks := key.v.Unmark()
	v = v.WithMarks(marks)
	if bare, _ := coll.v.Unmark(); value.Has(key.v, value.Ephemeral) && !uniform(bare) {
		v = typeless(v)
	}
	return markKnown(ctx, v, coll, key), diags
}

// evaluatedExpr is an expression that has been evaluated. The expressions of this package evaluate their
// operands once, look at the results, and then let HCL evaluate the whole with the operands in this form.
type evaluatedExpr struct {
	hclsyntax.Expression
	v     cty.Value
	diags hcl.Diagnostics
}

// evaluated evaluates e in ctx, once and for all.
func evaluated(e hclsyntax.Expression, ctx *hcl.EvalContext) *evaluatedExpr {
	v, diags := e.Value(ctx)
	return &evaluatedExpr{Expression: e, v: v, diags: diags}
}

// UnwrapExpression returns the expression of the source text.
func (e *evaluatedExpr) UnwrapExpression() hcl.Expression { return e.Expression }

// Value implements hcl.Expression.
func (e *evaluatedExpr) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) { return e.v, e.diags }

// Expression returns e with every part that would lose marks, exceed a bound or take superlinear time
// replaced by one that does not. It returns e itself if there is no such part. The parts of e are shared or
// copied, never changed, and the result has the ranges, variables and functions of e. An expression of JSON
// syntax is rewritten in native syntax; one with a syntax error is returned as it is, so that its evaluation
// reports the error.
func Expression(e hcl.Expression) hcl.Expression {
	native, ok := e.(hclsyntax.Expression)
	if !ok {
		native, ok = fromJSON(e)
	}
	if !ok || !losesMarks(native) {
		return e
	}
	return rewrite(native)
}

// losesMarks reports whether any part of e has to be replaced. It saves copying expressions that need no
// change, which most are.
func losesMarks(e hclsyntax.Expression) bool {
	found := false
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ConditionalExpr, *hclsyntax.IndexExpr, *hclsyntax.UnaryOpExpr, *hclsyntax.BinaryOpExpr, *hclsyntax.ForExpr,
			*hclsyntax.SplatExpr, *hclsyntax.TemplateJoinExpr, duplicateKey:
			found = true
		case *hclsyntax.TemplateExpr:
			found = found || interpolates(n)
		case *hclsyntax.ObjectConsExpr:
			found = found || computedKeys(n)
		case *hclsyntax.FunctionCallExpr:
			found = found || n.ExpandFinal || shortcut(n) != nil || funcs.TakesCollections(n.Name) || funcs.Makes(n.Name) > 0
		}
		return nil
	})
	return found
}

// rewriteAll returns a copy of a list of expressions, each rewritten.
func rewriteAll(in []hclsyntax.Expression) []hclsyntax.Expression {
	out := slices.Clone(in)
	for i := range out {
		out[i] = rewrite(out[i])
	}
	return out
}

// rewrite returns a copy of e in which every part that loses marks is replaced. An expression of a kind that
// it does not know has no parts to replace.
func rewrite(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.ConditionalExpr:
		c := *e
		c.Condition, c.TrueResult, c.FalseResult = rewrite(c.Condition), rewrite(c.TrueResult), rewrite(c.FalseResult)
		return conditional{ConditionalExpr: &c}
	case *hclsyntax.TemplateExpr:
		c := *e
		c.Parts = rewriteAll(c.Parts)
		if interpolates(&c) {
			return template{&c}
		}
		return &c
	case *hclsyntax.TemplateWrapExpr:
		c := *e
		c.Wrapped = rewrite(c.Wrapped)
		return &c
	case *hclsyntax.TemplateJoinExpr:
		c := *e
		c.Tuple = rewrite(c.Tuple)
		return joined{&c}
	case *hclsyntax.ParenthesesExpr:
		c := *e
		c.Expression = rewrite(c.Expression)
		return &c
	case *hclsyntax.TupleConsExpr:
		c := *e
		c.Exprs = rewriteAll(c.Exprs)
		return &c
	case *hclsyntax.ObjectConsExpr:
		c := *e
		c.Items = slices.Clone(c.Items)
		for i := range c.Items {
			c.Items[i].KeyExpr, c.Items[i].ValueExpr = rewrite(c.Items[i].KeyExpr), rewrite(c.Items[i].ValueExpr)
		}
		if computedKeys(&c) {
			return object{&c}
		}
		return &c
	case *hclsyntax.ObjectConsKeyExpr:
		c := *e
		c.Wrapped = rewrite(c.Wrapped)
		return &c
	default:
		return rewriteOperation(e)
	}
}

// call returns the expression that replaces a call whose arguments have been rewritten.
func call(c *hclsyntax.FunctionCallExpr) hclsyntax.Expression {
	switch {
	case shortcut(c) != nil || funcs.TakesCollections(c.Name) || strings.TrimPrefix(c.Name, "core::") == "concat":
		return called{c}
	case funcs.Makes(c.Name) > 0:
		return making{c}
	default:
		return c
	}
}

// rewriteOperation is rewrite for operators, calls and traversals.
func rewriteOperation(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.FunctionCallExpr:
		c := *e
		c.Args = rewriteAll(c.Args)
		if typearg.Argument(e) != nil { // which is not evaluated
			c.Args[1] = e.Args[1]
		}
		if c.ExpandFinal {
			return expanded{&c}
		}
		return call(&c)
	case *hclsyntax.BinaryOpExpr:
		c := *e
		c.LHS, c.RHS = rewrite(c.LHS), rewrite(c.RHS)
		switch {
		case c.Op.Type == cty.Number:
			return arithmetic{&c}
		case c.Op.ShortCircuit != nil:
			return logical{&c}
		default:
			return comparison{&c}
		}
	case *hclsyntax.UnaryOpExpr:
		c := *e
		c.Val = rewrite(c.Val)
		return unary{&c}
	case *hclsyntax.IndexExpr:
		c := *e
		c.Collection, c.Key = rewrite(c.Collection), rewrite(c.Key)
		return indexed{&c}
	case *hclsyntax.RelativeTraversalExpr:
		c := *e
		c.Source = rewrite(c.Source)
		return &c
	case *hclsyntax.SplatExpr:
		c := *e
		c.Source = splatted{Expression: rewrite(c.Source), of: e}
		c.Each = rewrite(c.Each) // keeps referring to Item, which is never copied
		return splat{&c}
	case *hclsyntax.ForExpr:
		c := *e
		c.CollExpr, c.ValExpr = rewrite(c.CollExpr), rewrite(c.ValExpr)
		if c.KeyExpr != nil {
			c.KeyExpr = rewrite(c.KeyExpr)
		}
		if c.CondExpr != nil {
			c.CondExpr = rewrite(c.CondExpr)
		}
		return loop{ForExpr: &c, weight: weight(e.ValExpr)}
	default:
		return e
	}
}
