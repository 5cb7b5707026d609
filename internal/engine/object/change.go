package object

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Config is the configuration of an object in the form its provider receives.
type Config struct {
	Value     cty.Value  // without marks
	Sensitive []cty.Path // outside of write-only and withheld attributes, which are not stored
	Ephemeral bool       // it has ephemeral values, which may differ each time that it is evaluated
	// Computed are the parts of it that are made of computed values, which are not stored.
	Computed []value.ComputedPart
}

// IgnoreChanges returns the configuration with ignore_changes applied, if there is a prior object.
func (op *Op) IgnoreChanges(e Config, lc *config.Lifecycle, pr Prior) Config {
	stored := op.Withheld.Outside(pr.Sensitive())
	e.Value, e.Sensitive = contract.IgnoreChanges(op.Block(), lc, pr.Value, e.Value, e.Sensitive, stored)
	return e
}

// PlanRequest has the inputs of a plan of one object. An object is planned twice: while planning, and again
// while applying, when all values are known.
type PlanRequest struct {
	Prior  Prior
	Config cty.Value // without marks; null to destroy the object
	Meta   cty.Value // provider_meta; cty.NilVal if there is none
	// First and Private are the planned object and the private data of the first plan; for the first plan
	// itself, cty.NilVal and nil.
	First   cty.Value
	Private []byte
}

func (r *PlanRequest) destroys() bool { return r.Config.IsNull() }

// Plan has the provider plan a change and checks the answer against the contract. It returns false if the
// plan cannot be used, which was reported.
func (op *Op) Plan(req PlanRequest) (provider.PlanResponse, bool) {
	defer Await(op)()
	proposed, doing := req.Config, "planning to destroy"
	if !req.destroys() {
		proposed, doing = schema.ProposedNew(op.Block(), req.Prior.Value, req.Config), "planning"
	}
	resp, diags := op.Provider.PlanResource(op.Ctx, provider.PlanRequest{
		Type: op.TypeName(), Prior: req.Prior.Value, Proposed: proposed, Config: req.Config, PriorPrivate: req.Prior.Private,
		PlannedPrivate: req.Private, Identity: req.Prior.Identity, ProviderMeta: req.Meta,
	})
	if !diags.HasErrors() {
		put, wrong := PutsOff(op, resp.Deferred, doing)
		if diags = append(diags, wrong...); put {
			op.Report(diags)
			return resp, false
		}
	}
	switch {
	case diags.HasErrors():
	case !req.destroys():
		resp.Planned, diags = op.checkPlan(&req, resp, diags)
		op.LogIdentity("planning", req.Prior.Identity, resp.Identity)
	case !resp.Planned.IsNull():
		diags = append(diags, op.Answers.Violations(contract.Plan, contract.ErrNotNull)...)
	}
	var wrong, leaks diag.List
	if resp.Identity, wrong = op.Answers.AcceptPlannedIdentity(resp.Identity); len(wrong) > 0 && resp.Identity == cty.NilVal {
		resp.Identity = req.Prior.Identity
	}
	resp.Private, leaks = acceptPlanned(op, &req, resp.Private)
	diags = slices.Concat(diags, wrong, leaks)
	op.Report(diags)
	return resp, !diags.HasErrors()
}

// acceptPlanned checks the private data of a plan. Providers of the legacy type system keep the arguments
// there that they normalize. A withheld one does not leak by that: the first plan is stored without such
// data, and the second makes it anew and is not stored.
func acceptPlanned(op *Op, req *PlanRequest, private []byte) ([]byte, diag.List) {
	withholds := len(op.Withheld.Names) > 0
	if withholds && req.First != cty.NilVal {
		return private, nil
	}
	kept, leaks := op.Answers.AcceptPrivate(private, req.Prior.Private, contract.Plan)
	if withholds && len(leaks) > 0 {
		return req.Prior.Private, nil
	}
	return kept, leaks
}

var errPlannedNull = errors.New("the planned object is null although the configuration asks for one")

// checkPlan checks the plan of an object that is to exist against its configuration, and a second plan
// against the first. It returns the planned object without values that must not be stored, and diags with any
// violations appended.
func (op *Op) checkPlan(req *PlanRequest, resp provider.PlanResponse, diags diag.List) (cty.Value, diag.List) {
	planned, diags := op.Answers.Accept(resp.Planned, diags, contract.Plan)
	if diags.HasErrors() {
		return planned, diags
	}
	diags = append(diags, op.violations(contract.Plan, resp.LegacyTypes, func() []error {
		return schema.AssertPlanValid(op.Block(), req.Prior.Value, req.Config, planned)
	})...)
	if req.First != cty.NilVal {
		diags = append(diags, op.checkSecond(req, planned, resp.LegacyTypes)...)
	}
	if !diags.HasErrors() && planned.IsNull() {
		diags = append(diags, op.Answers.Violations(contract.Plan, errPlannedNull)...)
	}
	return planned, diags
}

// checkSecond checks a second plan against the first. Where the configuration itself asks for another value
// than in the first plan, that is not the provider's fault.
func (op *Op) checkSecond(req *PlanRequest, planned cty.Value, legacy bool) (diags diag.List) {
	var faults []error
	for _, err := range schema.AssertSecondPlan(op.Block(), req.First, planned) {
		at, _ := errors.AsType[cty.PathError](err)
		if op.Withheld.Names.Matches(at.Path) {
			continue // the first plan has null there, and the value may be another one
		}
		if !asConfigured(at.Path, req.Config, planned) {
			faults = append(faults, err)
			continue
		}
		diags = append(diags, diag.Diagnostic{
			Summary: "Argument has changed since the plan", Path: at.Path,
			Detail: fmt.Sprintf("The configuration gives the argument %s of %s another value than when the plan was made. It may be made of a file that has changed since, or of the fingerprint of a value that is a new one each time that it is opened. Nothing was changed. Make a new plan; if that doesn't help, the argument needs a value that stays the same.",
				schema.PathIn(req.Config.Type(), at.Path), op.Obj),
		})
	}
	return append(diags, op.violations(contract.FinalPlan, legacy, func() []error { return faults })...)
}

// asConfigured reports whether the configuration has a value at the path, and the object has that one.
func asConfigured(path cty.Path, config, object cty.Value) bool {
	want, unset := path.Apply(config)
	got, gone := path.Apply(object)
	return unset == nil && gone == nil && !want.IsNull() && got.RawEquals(want)
}

// violations returns an error for each rule that check finds broken. For a provider of the legacy type
// system they are only logged, and violations returns nil.
func (op *Op) violations(a contract.Answer, legacy bool, check func() []error) diag.List {
	if legacy {
		op.LogTolerated(a, check)
		return nil
	}
	return op.Answers.Violations(a, check()...)
}
