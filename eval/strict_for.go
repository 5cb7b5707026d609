package eval

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// iterated is a for expression within which the elements of a marked collection are marked too. Evaluated as it is, they would lose the marks
// until the result has them again: what fails in between would show them, and functions would put them into their messages.
type iterated struct{ *hclsyntax.ForExpr }

// Value implements hcl.Expression.
func (f iterated) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	coll := evaluated(f.CollExpr, ctx)
	_, marks := coll.v.Unmark()
	whole := *f.ForExpr
	whole.CollExpr = coll
	if len(marks) > 0 {
		whole.ValExpr = f.within(f.ValExpr, marks)
		if f.KeyExpr != nil {
			whole.KeyExpr = f.within(f.KeyExpr, marks)
		}
		if f.CondExpr != nil {
			whole.CondExpr = f.within(f.CondExpr, marks)
		}
	}
	v, diags := whole.Value(ctx)
	for i, d := range diags {
		diags[i] = f.hidden(d, ctx, marks)
	}
	return lifted(v, marks), diags
}

func (f iterated) within(e hclsyntax.Expression, marks cty.ValueMarks) hclsyntax.Expression {
	return &markedWithin{Expression: e, names: []string{f.KeyVar, f.ValVar}, marks: marks}
}

// hidden returns the diagnostic without the values that the for expression itself puts there.
func (f iterated) hidden(d *hcl.Diagnostic, ctx *hcl.EvalContext, marks cty.ValueMarks) *hcl.Diagnostic {
	if d == nil || d.EvalContext == nil || d.EvalContext.Parent() != ctx {
		return d
	}
	out := *d
	if f.KeyExpr != nil && d.Summary == "Duplicate object key" {
		if key, _ := f.KeyExpr.Value(d.EvalContext); key.IsMarked() || len(marks) > 0 {
			out.Detail = "Two different items produced the same key in this 'for' expression. It is not shown, because it comes from a sensitive or ephemeral value. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key."
		}
	}
	if len(marks) > 0 {
		out.EvalContext = marked(d.EvalContext, []string{f.KeyVar, f.ValVar}, marks)
	}
	return &out
}

// markedWithin is an expression that is evaluated with marks on some variables.
type markedWithin struct {
	hclsyntax.Expression
	names []string
	marks cty.ValueMarks
}

// Value implements hcl.Expression.
func (w *markedWithin) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	return w.Expression.Value(marked(ctx, w.names, w.marks))
}

// marked returns a scope in which the named variables of ctx have the marks.
func marked(ctx *hcl.EvalContext, names []string, marks cty.ValueMarks) *hcl.EvalContext {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{}
	for _, name := range names {
		if v, ok := ctx.Variables[name]; ok {
			child.Variables[name] = v.WithMarks(marks)
		}
	}
	return child
}

// lifted returns v without those of the marks below its top that the top has too.
func lifted(v cty.Value, marks cty.ValueMarks) cty.Value {
	if len(marks) == 0 || !v.IsMarked() {
		return v
	}
	bare, all := v.UnmarkDeepWithPaths()
	kept := all[:0]
	for _, at := range all {
		if len(at.Path) > 0 {
			at.Marks = maps.Clone(at.Marks)
			for m := range marks {
				delete(at.Marks, m)
			}
		}
		if len(at.Marks) > 0 {
			kept = append(kept, at)
		}
	}
	return bare.MarkWithPaths(kept)
}

// guarded is an expression of the JSON syntax, whose parts cannot be replaced. Where it has scopes of its own, its diagnostics tell no more than
// where they are, if secrets are in play.
type guarded struct{ hcl.Expression }

// UnwrapExpression lets HCL look at the syntax.
func (g guarded) UnwrapExpression() hcl.Expression { return g.Expression }

// Value implements hcl.Expression.
func (g guarded) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := g.Expression.Value(ctx)
	if len(diags) == 0 || !g.secrets(ctx) {
		return v, diags
	}
	for i, d := range diags {
		if d == nil || d.EvalContext == nil || d.EvalContext == ctx || d.EvalContext.Parent() == nil {
			continue
		}
		out := *d
		out.EvalContext, out.Expression, out.Extra = nil, nil, nil
		out.Detail = "The details are withheld, because sensitive or ephemeral values are involved."
		diags[i] = &out
	}
	return v, diags
}

func (g guarded) secrets(ctx *hcl.EvalContext) bool {
	for _, traversal := range g.Variables() {
		if v, diags := traversal.TraverseAbs(ctx); !diags.HasErrors() && v.ContainsMarked() {
			return true
		}
	}
	return false
}
