package object

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Applied is the state of an object after an apply call.
type Applied struct {
	Value   cty.Value
	Exists  bool
	Failed  bool
	Tainted bool
	// Untouched is set if the response says nothing about the object, so that its record stays as it was.
	Untouched bool
	Diags     diag.List
}

// Answer is a provider's answer to an apply call, which is held against the contract part by part: an object
// that exists is recorded, even if other parts of the answer are wrong.
type Answer struct {
	*Op
	Prior   Prior // nothing after a creation
	Planned provider.PlanResponse
	Resp    provider.ApplyResponse // with the parts that may be stored, once they are accepted
	Applied
	refused bool // by the provider, whose answer may be incomplete then
}

// AcceptRest takes the identity and the private data, once the object is accepted.
func (an *Answer) AcceptRest() {
	an.Resp.Identity = an.acceptIdentity(an.Resp.Identity)
	if an.Resp.Private == nil && an.Failed {
		an.Resp.Private = an.Prior.Private // an error answer may leave it out
	}
	private, leaks := an.Answers.AcceptPrivate(an.Resp.Private, an.Prior.Private, contract.Object)
	an.fault(leaks)
	an.Resp.Private = private
}

// AcceptObject takes the object. diags are the provider's. Parts that were left out, since they cannot be
// stored, taint nothing, though the operation fails.
func (an *Answer) AcceptObject(diags diag.List) {
	resp := an.Resp
	an.refused = diags.HasErrors()
	an.Value, an.Failed, an.Tainted = resp.New, an.refused, an.refused
	if resp.New == cty.NilVal || resp.New.IsNull() {
		if !an.Failed {
			diags = append(diags, an.Answers.Violations(contract.Object, fmt.Errorf("%w after it was applied", contract.ErrNull))...)
		}
		an.unusable(diags)
		return
	}
	v, diags := an.Answers.Accept(resp.New, diags, contract.Object)
	if v == cty.NilVal {
		an.unusable(diags)
		return
	}
	if errs := schema.AssertWhollyKnown(v); len(errs) > 0 {
		for _, err := range errs {
			diags = append(diags, an.Answers.Violations(contract.Object, fmt.Errorf("%s: unknown values are not allowed after apply", contract.Text(err, schema.PathString)))...)
		}
		v, an.Tainted = contract.NullUnknown(v), true
	} else if !an.Failed {
		check := func() []error {
			errs := schema.AssertApplyResult(an.Block(), an.Planned.Planned, v)
			if len(errs) == 0 {
				return nil
			}
			if _, unstorable := value.Storable(resp.New, an.Block().Type()); len(unstorable) > 0 {
				return nil // v lacks these parts, which is an error of its own
			}
			return errs
		}
		if an.Planned.LegacyTypes || resp.LegacyTypes {
			an.LogTolerated(contract.Object, check)
		} else if errs := check(); len(errs) > 0 {
			diags, an.Tainted = append(diags, an.Answers.Violations(contract.Result, errs...)...), true
		}
	}
	an.Value, an.Exists, an.Diags = v, true, diags
	an.Failed = diags.HasErrors()
	an.Tainted = (an.Tainted || an.Answers.Exposed) && an.Failed && an.Prior.Value.IsNull()
	an.Report(diags)
}

// unusable notes that the answer has no object that can be kept: an object that was there before stays as it
// was.
func (an *Answer) unusable(diags diag.List) {
	an.Report(diags)
	an.Failed, an.Diags = true, diags
	if !an.Prior.Value.IsNull() {
		an.Value, an.Untouched = an.Prior.Value, true
	}
}

// fault reports errors in the answer besides its object, which is kept.
func (an *Answer) fault(diags diag.List) {
	an.Report(diags)
	an.Diags, an.Failed = append(an.Diags, diags...), an.Failed || diags.HasErrors()
}

// acceptIdentity returns the identity after an apply: the one the provider returned, or else the prior one.
// An answer with errors may leave it unknown.
func (an *Answer) acceptIdentity(id cty.Value) cty.Value {
	if an.refused && id != cty.NilVal && !id.IsWhollyKnown() {
		return an.Prior.Identity
	}
	got, wrong := an.Answers.AcceptIdentity(id, contract.Object)
	an.fault(wrong)
	if got == cty.NilVal || got.IsNull() {
		return an.Prior.Identity
	}
	an.LogIdentity("applying", an.Prior.Identity, got)
	return got
}
