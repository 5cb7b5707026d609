package object

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// HiddenReplacement returns the withheld attributes whose change, which was planned as an update, requires
// the replacement of the object if the provider sees a value in the prior one. Null hides that from providers
// of keys and certificates, for instance, which take a change from null for none and would leave the object
// as it is. Nothing else in the provider's answer counts.
func HiddenReplacement(op *Op, req PlanRequest) []cty.Path {
	prior, paths := op.Withheld.StandIn(req.Prior.Value, req.Prior.Object, req.Config)
	if len(paths) == 0 {
		return nil
	}
	resp, diags := op.Provider.PlanResource(op.Ctx, provider.PlanRequest{
		Type: op.TypeName(), Prior: prior, Proposed: schema.ProposedNew(op.Block(), prior, req.Config), Config: req.Config,
		PriorPrivate: req.Prior.Private, Identity: req.Prior.Identity, ProviderMeta: req.Meta,
	})
	if diags.HasErrors() || resp.Planned == cty.NilVal || resp.Planned.IsNull() {
		return nil
	}
	required := contract.ReplacePaths(op.Block(), prior, resp.Planned, op.Answers.AcceptPaths(resp.RequiresReplace))
	return slices.DeleteFunc(required, func(p cty.Path) bool {
		return !slices.ContainsFunc(paths, func(at cty.Path) bool { return p.HasPrefix(at) || at.HasPrefix(p) })
	})
}

// Stays reports whether the provider leaves an object as it is that is as before, under a configuration that
// is as before: a certificate may be due, for instance. Both lack the withheld values, so nothing that the
// provider says about those counts. If it cannot plan without them, that is not known, and Stays returns
// false.
func Stays(op *Op, prior Prior, cfg, meta cty.Value) bool {
	before, resp, ok := planWithout(op, prior, cfg, meta)
	return ok && len(requiredBeside(op, before, resp)) == 0 && op.Withheld.Hide(op.Block().NullWriteOnly(resp.Planned)).RawEquals(before)
}

// DueReplacement returns the attributes for which the provider requires the replacement of an object that is
// as before, under a configuration that is as before. Both lack values that do not exist any more, so nothing
// else in the provider's answer counts, and nothing that it says about the attributes with those values.
func DueReplacement(op *Op, prior Prior, cfg, meta cty.Value) []cty.Path {
	before, resp, ok := planWithout(op, prior, cfg, meta)
	if !ok {
		return nil
	}
	return requiredBeside(op, before, resp)
}

// planWithout has the provider plan an object and a configuration without the withheld values. It returns the
// object that was sent, and false if there is no answer.
func planWithout(op *Op, prior Prior, cfg, meta cty.Value) (before cty.Value, resp provider.PlanResponse, ok bool) {
	before, cfg = op.Withheld.Hide(prior.Value), op.Block().NullWriteOnly(op.Withheld.Hide(cfg))
	if !cfg.IsWhollyKnown() {
		return before, resp, false
	}
	resp, diags := op.Provider.PlanResource(op.Ctx, provider.PlanRequest{
		Type: op.TypeName(), Prior: before, Proposed: schema.ProposedNew(op.Block(), before, cfg), Config: cfg,
		PriorPrivate: prior.Private, Identity: prior.Identity, ProviderMeta: meta,
	})
	return before, resp, !diags.HasErrors() && resp.Deferred == "" && resp.Planned != cty.NilVal && !resp.Planned.IsNull()
}

// requiredBeside returns the attributes, beside the withheld ones, for which a plan requires a replacement.
func requiredBeside(op *Op, before cty.Value, resp provider.PlanResponse) []cty.Path {
	return op.Withheld.Outside(contract.ReplacePaths(op.Block(), before, resp.Planned, op.Answers.AcceptPaths(resp.RequiresReplace)))
}
