package eval

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/detach"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
)

// evaluated is the outcome of evaluating an expression or a body.
type evaluated struct {
	value cty.Value
	diags diag.List
}

// computed returns the result of f, which evaluates expressions with a complete context. A function may take
// forever and look at nothing, so an evaluation that calls one runs detached: it returns false if the run was
// interrupted and f has not ended soon after. Everything that f uses is then left to it.
func computed[T any](sc *scope, exprs []*lang.Expr, f func() T) (T, bool) {
	interrupted := sc.m.run.opt.Interrupted
	if interrupted == nil || lang.Calling(exprs) == nil {
		return f(), true
	}
	return detach.Run(sc.caller, interrupted, f)
}

// again returns the diagnostics of a second evaluation of the same expressions.
func again(sc *scope, exprs []*lang.Expr, f func() diag.List) diag.List {
	diags, ok := computed(sc, exprs, f)
	if !ok {
		return leftBehind(sc, exprs)
	}
	return diags
}

// leftBehind returns the error of an evaluation that did not end after an interrupt.
func leftBehind(sc *scope, exprs []*lang.Expr) diag.List {
	diags := diag.At(lang.Calling(exprs).Range(), "Evaluation interrupted", "The interrupt came while this was being evaluated. A function that is called here takes long.")
	diags[0].Extra = context.Canceled
	return sc.located(diags)
}

// exceeded returns the error of an evaluation that had to end, nil for others. Its Extra is
// context.Canceled if it was interrupted.
func exceeded(ctx *hcl.EvalContext, sc *scope) diag.List {
	hd := marked.Exceeded(ctx)
	if hd == nil {
		return nil
	}
	diags := sc.located(diag.FromHCL(hd))
	if errors.Is(bounds.BudgetOf(ctx).Excess().Err, bounds.ErrInterrupted) {
		diags[0].Extra = context.Canceled
	}
	return diags
}
