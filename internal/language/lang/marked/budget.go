package marked

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Context returns the context of one evaluation, with its budget. Templates that renders says it may
// render, with paths relative to baseDir, are a part of it. The maps are not changed but for the budget, a
// variable that no source text can name. budget may be nil for no limit.
func Context(vars map[string]cty.Value, table map[string]function.Function, budget *bounds.Budget, renders bool, baseDir string) *hcl.EvalContext {
	budget.Within(vars)
	if !renders {
		return &hcl.EvalContext{Variables: vars, Functions: table}
	}
	ctx := (&hcl.EvalContext{Functions: table}).NewChild()
	ctx.Variables = vars
	ctx.Functions = funcs.Rendering{BaseDir: baseDir, Functions: table, Rewrite: Expression, Budget: budget}.Table()
	return ctx
}

// Exceeded returns the error of an evaluation in ctx that had to end, because its budget was used up or it
// was interrupted; nil for others. It stands for the value and all diagnostics of the evaluation.
func Exceeded(ctx *hcl.EvalContext) hcl.Diagnostics {
	excess := bounds.BudgetOf(ctx).Excess()
	if excess == nil {
		return nil
	}
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: &excess.Range, Summary: "Evaluation interrupted", Detail: "The interrupt came while this was being evaluated."}
	if errors.Is(excess.Err, bounds.ErrMade) {
		d.Summary = "Result too large"
		d.Detail = fmt.Sprintf("One expression may make up to %d elements of lists, maps and objects, where %d bytes of text count like one. "+
			"Loops within loops multiply what they make: filter the collections before the inner loop, or look elements up in a map instead of searching them.",
			bounds.MaxMade, bounds.TextPerElement)
	}
	return hcl.Diagnostics{d}
}

// The expressions below charge results of splats, templates and functions to the budget of the evaluation.

// splatted is the source of a splat expression, which makes as many elements as the source has.
type splatted struct {
	hclsyntax.Expression
	of *hclsyntax.SplatExpr
}

// UnwrapExpression returns the expression of the source text.
func (s splatted) UnwrapExpression() hcl.Expression { return s.Expression }

// Value implements hcl.Expression.
func (s splatted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := s.Expression.Value(ctx)
	if !diags.HasErrors() && value.IsMarked(v) {
		funcs.Remember(ctx, s.Expression, v)
	}
	return spend(ctx, s.of, v, diags, 1)
}

// unsplatted returns the source of a splat without taking anything from a budget.
func unsplatted(splat *hclsyntax.SplatExpr) hclsyntax.Expression {
	if s, ok := splat.Source.(splatted); ok {
		return s.Expression
	}
	return splat.Source
}

// making is a call of a function that makes texts or collections, or may discard those that its arguments
// make.
type making struct{ *hclsyntax.FunctionCallExpr }

// UnwrapExpression returns the expression of the source text.
func (m making) UnwrapExpression() hcl.Expression { return m.FunctionCallExpr }

// Value implements hcl.Expression.
func (m making) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	budget := bounds.BudgetOf(ctx)
	left := budget.Left()
	v, diags := m.FunctionCallExpr.Value(ctx)
	if !budget.Spend(bounds.Size(v, funcs.Makes(m.Name)), m.FunctionCallExpr) {
		return cty.DynamicVal, nil
	}
	budget.Discard(left, v)
	return v, diags
}

// spend takes a value that e has made, of whose levels that many are new, from the budget. It returns the
// outcome of the evaluation: the value and the diagnostics, or an unknown value.
func spend(ctx *hcl.EvalContext, e hclsyntax.Expression, v cty.Value, diags hcl.Diagnostics, levels int) (cty.Value, hcl.Diagnostics) {
	if n := bounds.Size(v, levels); n > 0 && !bounds.BudgetOf(ctx).Spend(n, e) {
		return cty.DynamicVal, nil
	}
	return v, diags
}
