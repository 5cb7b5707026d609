package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/lang/marked"
	"github.com/mayfly-iac/mayfly/schema"
)

// decode evaluates a body with the given expressions, in scope of what they refer to.
func (r *Run) decode(sc *scope, b *schema.Block, body hcl.Body, exprs []*lang.Expr) (cty.Value, diag.List) {
	r.Stats.Evaluations.Add(1)
	ctx := r.context(sc, exprs...)
	v, diags := b.Decode(body, ctx)
	if exceeded := marked.Exceeded(ctx); exceeded != nil {
		return cty.UnknownVal(b.Type()), diag.FromHCL(exceeded).WithAddress(sc.address)
	}
	if !diags.HasErrors() {
		r.warnDeprecated(sc.m.block, v, exprs, rangeInBody(body))
		return v, sc.forget(diags)
	}
	diags = lang.Redact(sc.explain(exprs, diags), ctx, func(ctx *hcl.EvalContext) diag.List {
		_, diags := b.Decode(body, ctx)
		return sc.explain(exprs, diags)
	})
	return v, sc.forget(diags)
}
