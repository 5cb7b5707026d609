package object

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
)

// Refresh reads the real object. The result has a null value if the object is gone. meta is the provider_meta
// of its module, cty.NilVal if there is none. Refresh returns false if that failed, which was reported.
func (op *Op) Refresh(pr Prior, meta cty.Value) (Prior, bool) {
	idKey, id := Identifying(pr.Value, op.Schema.Block, pr.Sensitive())
	done := op.Events.Begin(event.OpRefresh, op.Obj, plan.NoOp, idKey, id)
	resp, diags := op.Provider.ReadResource(op.Ctx, provider.ReadRequest{
		Type: op.TypeName(), Prior: pr.Value, Private: pr.Private, Identity: pr.Identity, ProviderMeta: meta,
	})
	if !diags.HasErrors() && resp.Deferred != "" {
		diags = append(diags, op.Answers.Deferred("reading", resp.Deferred)...)
	}
	v := resp.New
	if !diags.HasErrors() && !v.IsNull() {
		v, diags = op.Answers.AcceptKnown(v, diags, contract.Read)
		var wrong, leaks diag.List
		resp.Identity, wrong = op.Answers.AcceptIdentity(resp.Identity, contract.Read)
		resp.Private, leaks = op.Answers.AcceptPrivate(resp.Private, pr.Private, contract.Read)
		diags = slices.Concat(diags, wrong, leaks)
	}
	op.Report(diags)
	if !diags.HasErrors() && v.IsNull() {
		idKey, id = "", "" // nothing has it any more
	}
	done(diags, idKey, id)
	if diags.HasErrors() && v.IsNull() {
		return pr, false
	}
	if v.IsNull() {
		return NoPrior(op.Schema.Block), true
	}
	pr.Value, pr.Private = v, resp.Private
	if !resp.Identity.IsNull() {
		op.LogIdentity("reading", pr.Identity, resp.Identity)
		pr.Identity = resp.Identity
	}
	return pr, !diags.HasErrors()
}
