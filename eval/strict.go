package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/value"
)

// conditional is a conditional expression whose result is ephemeral if either branch is, so that whether a value may be stored does not depend on
// what the condition happens to be.
type conditional struct{ *hclsyntax.ConditionalExpr }

// Value implements hcl.Expression.
func (c conditional) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	onTrue, onFalse := evaluated(c.TrueResult, ctx), evaluated(c.FalseResult, ctx)
	whole := *c.ConditionalExpr
	whole.TrueResult, whole.FalseResult = onTrue, onFalse
	v, diags := whole.Value(ctx)
	if value.Contains(onTrue.v, value.Ephemeral) || value.Contains(onFalse.v, value.Ephemeral) {
		v = v.Mark(value.Ephemeral)
	}
	return v, diags
}

// indexed is an index expression whose result carries the marks of its key: which element was chosen tells about the key.
type indexed struct{ *hclsyntax.IndexExpr }

// Value implements hcl.Expression.
func (x indexed) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	key := evaluated(x.Key, ctx)
	whole := *x.IndexExpr
	whole.Key = key
	v, diags := whole.Value(ctx)
	if !key.v.IsMarked() {
		return v, diags
	}
	_, marks := key.v.Unmark()
	return v.WithMarks(marks), diags
}

// keyed is an object expression that keeps the marks of its keys and values while a key is unknown, and with it the object.
type keyed struct{ *hclsyntax.ObjectConsExpr }

// UnwrapExpression lets others look at the syntax.
func (o keyed) UnwrapExpression() hcl.Expression { return o.ObjectConsExpr }

// Value implements hcl.Expression.
func (o keyed) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := o.ObjectConsExpr.Value(ctx)
	if v.IsKnown() || diags.HasErrors() {
		return v, diags
	}
	for _, item := range o.Items {
		for _, e := range []hclsyntax.Expression{item.KeyExpr, item.ValueExpr} {
			part, _ := e.Value(ctx) // without errors, as the object is
			_, marks := part.UnmarkDeep()
			v = v.WithMarks(marks)
		}
	}
	return v, diags
}

// evaluatedExpr is an expression with its value.
type evaluatedExpr struct {
	hclsyntax.Expression
	v     cty.Value
	diags hcl.Diagnostics
}

func evaluated(e hclsyntax.Expression, ctx *hcl.EvalContext) evaluatedExpr {
	v, diags := e.Value(ctx)
	return evaluatedExpr{Expression: e, v: v, diags: diags}
}

// Value implements hcl.Expression.
func (e evaluatedExpr) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) { return e.v, e.diags }

// strict returns e with every conditional, index, object and for expression in it replaced by a conditional, indexed, keyed or iterated. The parts
// of e are shared or copied, not changed.
func strict(e hcl.Expression) hcl.Expression {
	native, ok := e.(hclsyntax.Expression)
	if !ok {
		return guarded{e}
	}
	if !loose(native) {
		return e
	}
	return rewrite(native)
}

func loose(e hclsyntax.Expression) bool {
	found := false
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n.(type) {
		case *hclsyntax.ConditionalExpr, *hclsyntax.IndexExpr, *hclsyntax.ForExpr, *hclsyntax.ObjectConsExpr:
			found = true
		}
		return nil
	})
	return found
}

func rewriteAll(in []hclsyntax.Expression) []hclsyntax.Expression {
	out := slices.Clone(in)
	for i := range out {
		out[i] = rewrite(out[i])
	}
	return out
}

func rewrite(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.ConditionalExpr:
		c := *e
		c.Condition, c.TrueResult, c.FalseResult = rewrite(c.Condition), rewrite(c.TrueResult), rewrite(c.FalseResult)
		return conditional{&c}
	case *hclsyntax.TemplateExpr:
		c := *e
		c.Parts = rewriteAll(c.Parts)
		return &c
	case *hclsyntax.TemplateWrapExpr:
		c := *e
		c.Wrapped = rewrite(c.Wrapped)
		return &c
	case *hclsyntax.TemplateJoinExpr:
		c := *e
		c.Tuple = rewrite(c.Tuple)
		return &c
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
		return keyed{&c}
	case *hclsyntax.ObjectConsKeyExpr:
		c := *e
		c.Wrapped = rewrite(c.Wrapped)
		return &c
	default:
		return rewriteOperation(e)
	}
}

func rewriteOperation(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.FunctionCallExpr:
		c := *e
		c.Args = rewriteAll(c.Args)
		return &c
	case *hclsyntax.BinaryOpExpr:
		c := *e
		c.LHS, c.RHS = rewrite(c.LHS), rewrite(c.RHS)
		return &c
	case *hclsyntax.UnaryOpExpr:
		c := *e
		c.Val = rewrite(c.Val)
		return &c
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
		c.Source, c.Each = rewrite(c.Source), rewrite(c.Each) // Each keeps referring to Item, which is never copied
		return &c
	case *hclsyntax.ForExpr:
		c := *e
		c.CollExpr, c.ValExpr = rewrite(c.CollExpr), rewrite(c.ValExpr)
		if c.KeyExpr != nil {
			c.KeyExpr = rewrite(c.KeyExpr)
		}
		if c.CondExpr != nil {
			c.CondExpr = rewrite(c.CondExpr)
		}
		return iterated{&c}
	default:
		return e
	}
}
