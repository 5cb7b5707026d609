package engine

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// applied is the state of an object after an apply call.
type applied struct {
	value   cty.Value
	exists  bool
	failed  bool
	tainted bool
	// untouched is set if the response says nothing about the object, so that its record stays as it was.
	untouched bool
	diags     diag.List
}

// applyAnswer is a provider's answer to an apply call, which is held against the contract part by part: an
// object that exists is recorded, even if other parts of the answer are wrong.
type applyAnswer struct {
	*objectOp
	prior   object.Prior // nothing after a creation
	planned provider.PlanResponse
	refused bool                   // by the provider, whose answer may be incomplete then
	resp    provider.ApplyResponse // with the parts that may be stored, once they are accepted
	applied
}

// acceptRest takes the identity and the private data, once the object is accepted.
func (an *applyAnswer) acceptRest() {
	an.resp.Identity = an.acceptIdentity(an.resp.Identity)
	if an.resp.Private == nil && an.failed {
		an.resp.Private = an.prior.Private // an error answer may leave it out
	}
	private, leaks := an.Answers.AcceptPrivate(an.resp.Private, an.prior.Private, contract.Object)
	an.fault(leaks)
	an.resp.Private = private
}

// acceptObject takes the object. diags are the provider's. Parts that were left out, since they cannot be
// stored, taint nothing, though the operation fails.
func (an *applyAnswer) acceptObject(diags diag.List) {
	resp := an.resp
	an.refused = diags.HasErrors()
	an.value, an.failed, an.tainted = resp.New, an.refused, an.refused
	if resp.New == cty.NilVal || resp.New.IsNull() {
		if !an.failed {
			diags = append(diags, an.Answers.Violations(contract.Object, fmt.Errorf("%w after it was applied", contract.ErrNull))...)
		}
		an.unusable(diags)
		return
	}
	_, unstorable := value.Storable(resp.New, an.Block().Type())
	v, diags := an.Answers.Accept(resp.New, diags, contract.Object)
	if v == cty.NilVal {
		an.unusable(diags)
		return
	}
	if errs := schema.AssertWhollyKnown(v); len(errs) > 0 {
		for _, err := range errs {
			diags = append(diags, an.Answers.Violations(contract.Object, fmt.Errorf("%s: unknown values are not allowed after apply", contract.Text(err, schema.PathString)))...)
		}
		v, an.tainted = contract.NullUnknown(v), true
	} else if !an.failed && len(unstorable) == 0 {
		check := func() []error { return schema.AssertApplyResult(an.Block(), an.planned.Planned, v) }
		if an.planned.LegacyTypes || resp.LegacyTypes {
			an.LogTolerated(contract.Object, check)
		} else if errs := check(); len(errs) > 0 {
			diags, an.tainted = append(diags, an.Answers.Violations(contract.Result, errs...)...), true
		}
	}
	an.value, an.exists, an.diags = v, true, diags
	an.failed = diags.HasErrors()
	an.tainted = (an.tainted || an.Answers.Exposed) && an.failed && an.prior.Value.IsNull()
	an.Report(diags)
}

// unusable notes that the answer has no object that can be kept: an object that was there before stays as it
// was.
func (an *applyAnswer) unusable(diags diag.List) {
	an.Report(diags)
	an.failed, an.diags = true, diags
	if !an.prior.Value.IsNull() {
		an.value, an.untouched = an.prior.Value, true
	}
}

// fault reports errors in the answer besides its object, which is kept.
func (an *applyAnswer) fault(diags diag.List) {
	an.Report(diags)
	an.diags, an.failed = append(an.diags, diags...), an.failed || diags.HasErrors()
}

// acceptIdentity returns the identity after an apply: the one the provider returned, or else the prior one.
// An answer with errors may leave it unknown.
func (an *applyAnswer) acceptIdentity(id cty.Value) cty.Value {
	if an.refused && id != cty.NilVal && !id.IsWhollyKnown() {
		return an.prior.Identity
	}
	got, wrong := an.Answers.AcceptIdentity(id, contract.Object)
	an.fault(wrong)
	if got == cty.NilVal || got.IsNull() {
		return an.prior.Identity
	}
	an.LogIdentity("applying", an.prior.Identity, got)
	return got
}
