package engine

import (
	"errors"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// evaluated is the configuration of an object in the form its provider receives.
type evaluated struct {
	value     cty.Value  // without marks
	sensitive []cty.Path // outside of write-only attributes, which are not stored
	ephemeral bool       // it has ephemeral values, which may differ each time that it is evaluated
}

// evaluate evaluates the configuration of an instance. It returns false if that failed, which was reported.
func (op *objectOp) evaluate(t *future.Task, s *eval.Session, in *eval.Instance) (evaluated, bool) {
	cfg, diags := in.EvalBody(t, s)
	op.run.Report(diags)
	if diags.HasErrors() || s.Failed() {
		return evaluated{}, false
	}
	if !value.IsMarked(cfg) {
		return evaluated{value: cfg}, true
	}
	e := evaluated{
		sensitive: op.block().OutsideWriteOnly(value.PathsWith(cfg, value.Sensitive)),
		ephemeral: value.Contains(cfg, value.Ephemeral),
	}
	e.value, _ = cfg.UnmarkDeep()
	return e, true
}

// ignoreChanges returns the configuration with ignore_changes applied, if there is a prior object.
func (op *objectOp) ignoreChanges(e evaluated, lc *config.Lifecycle, pr prior) evaluated {
	stored := op.dropMirrored(op.block().OutsideWriteOnly(pr.sensitive()))
	e.value, e.sensitive = contract.IgnoreChanges(op.block(), lc, pr.value, e.value, e.sensitive, stored)
	return e
}

// planRequest has the inputs of a plan of one object. An object is planned twice: while planning, and again
// while applying, when all values are known.
type planRequest struct {
	prior  prior
	config cty.Value // without marks; null to destroy the object
	meta   cty.Value // provider_meta; cty.NilVal if there is none
	// first and private are the planned object and the private data of the first plan; for the first plan
	// itself, cty.NilVal and nil.
	first   cty.Value
	private []byte
}

func (r *planRequest) destroys() bool { return r.config.IsNull() }

// plan has the provider plan a change and checks the answer against the contract. It returns false if the
// plan cannot be used, which was reported.
func (op *objectOp) plan(req planRequest) (provider.PlanResponse, bool) {
	proposed, doing := req.config, "planning to destroy"
	if !req.destroys() {
		proposed, doing = schema.ProposedNew(op.block(), req.prior.value, req.config), "planning"
	}
	resp, diags := op.p.PlanResource(op.ctx, provider.PlanRequest{
		Type: op.typeName(), Prior: req.prior.value, Proposed: proposed, Config: req.config, PriorPrivate: req.prior.private,
		PlannedPrivate: req.private, Identity: req.prior.identity, ProviderMeta: req.meta,
	})
	if !diags.HasErrors() && resp.Deferred != "" {
		diags = append(diags, op.answers.Deferred(doing, resp.Deferred)...)
	}
	switch {
	case diags.HasErrors():
	case !req.destroys():
		resp.Planned, diags = op.checkPlan(&req, resp, diags)
		op.noteIdentity("planning", req.prior.identity, resp.Identity)
	case !resp.Planned.IsNull():
		diags = append(diags, op.answers.Violations(contract.Plan, contract.ErrNotNull)...)
	}
	op.report(diags)
	return resp, !diags.HasErrors()
}

var errPlannedNull = errors.New("the planned object is null although the configuration asks for one")

// checkPlan checks the plan of an object that is to exist against its configuration, and a second plan
// against the first. It returns the planned object without what must not be stored, and diags with any
// violations appended.
func (op *objectOp) checkPlan(req *planRequest, resp provider.PlanResponse, diags diag.List) (cty.Value, diag.List) {
	planned, diags := op.answers.Accept(resp.Planned, diags, contract.Plan)
	planned, diags = op.answers.DropCopiedSecrets(req.config, planned, diags, contract.Plan)
	if diags.HasErrors() {
		return planned, diags
	}
	diags = append(diags, op.violations(contract.Plan, resp.LegacyTypes, func() []error {
		return schema.AssertPlanValid(op.block(), req.prior.value, req.config, planned)
	})...)
	if req.first != cty.NilVal {
		diags = append(diags, op.violations(contract.FinalPlan, resp.LegacyTypes, func() []error {
			return schema.AssertSecondPlan(op.block(), req.first, planned)
		})...)
	}
	if !diags.HasErrors() && planned.IsNull() {
		diags = append(diags, op.answers.Violations(contract.Plan, errPlannedNull)...)
	}
	return planned, diags
}

// violations returns an error for each rule that check finds broken. For a provider of the legacy type
// system they are only logged, and violations returns nil.
func (op *objectOp) violations(a contract.Answer, legacy bool, check func() []error) diag.List {
	if legacy {
		op.logTolerated(a, check)
		return nil
	}
	return op.answers.Violations(a, check()...)
}
