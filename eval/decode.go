package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// decode evaluates a body with the given expressions, in scope of what they refer to. No diagnostic tells a part of a sensitive or ephemeral value, not
// even a key.
func (r *Run) decode(sc *scope, b *schema.Block, body hcl.Body, exprs []*lang.Expr) (cty.Value, diag.List) {
	r.Stats.Evaluations.Add(1)
	v, diags := b.Decode(body, r.context(sc, exprs...))
	if diags.HasErrors() {
		whole := make(map[hcl.Range]struct{}, len(exprs))
		for _, x := range exprs {
			whole[x.Range()] = struct{}{}
		}
		for i := range diags {
			withholdKeys(&diags[i], whole)
		}
	} else {
		r.warnDeprecated(sc.m.block, v, exprs, inBody(body))
	}
	return v, sc.forget(lang.WithholdKeys(diags))
}

// withholdKeys takes the detail out of an error about the value of an argument, one of those in whole, if that is secret and has keys, since the error
// names those that lead to what does not fit. Other errors about an argument come from evaluating it, which fails again.
func withholdKeys(d *diag.Diagnostic, whole map[hcl.Range]struct{}) {
	if d.Severity != diag.Error || d.Expression == nil || d.EvalContext == nil {
		return
	}
	if _, ok := whole[d.Expression.Range()]; !ok {
		return
	}
	v, hd := d.Expression.Value(d.EvalContext)
	if hd.HasErrors() {
		return
	}
	if word, secret := value.RedactedDeep(v); secret && value.HasKeys(v.Type()) {
		d.Detail = "The value does not have the type of the argument, in itself or in one of its elements. The details are withheld because they could reveal a part of a value: " + word + "."
	}
}
