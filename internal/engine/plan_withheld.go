package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// evaluateVersions evaluates the versions of the attributes that an operation withholds. It returns false if
// that failed, which was reported.
func evaluateVersions(t *future.Task, in *eval.Instance, op *objectOp) bool {
	if !slices.ContainsFunc(in.Resource.Block.Versions, func(x *lang.Expr) bool { return x != nil }) {
		return true
	}
	versions, diags := eval.Versions(t, in)
	op.walk.run.Report(diags)
	op.Withheld.Versions = versions
	return !diags.HasErrors()
}

// unneeded reports whether an object stays as it is without the values that it withholds (E94): it is as the
// state has it, nothing asks for its replacement, neither the versions of the values nor the rest of the
// configuration has changed, and its provider plans no change by itself.
func unneeded(ip *instancePlan) bool {
	if len(ip.Withheld.Versions) == 0 || !asStored(ip) || !ip.prior.SameAs(ip.loaded, &ip.Withheld) || ip.forcedReason() != plan.NoReason {
		return false
	}
	if len(ip.Withheld.Restored(ip.prior.Value, ip.stored)) > 0 {
		return false
	}
	cfg, diags := ip.in.EvalBody(ip.t, eval.NewOpened(nil))
	if diags.HasErrors() {
		return false // which is reported when it is evaluated with the instances it lacks
	}
	plain, faults := value.Storable(ip.Answers.Given(cfg), ip.Block().Type())
	if len(faults) > 0 || !ip.Withheld.Unneeded(ip.stored, plain) {
		return false
	}
	ip.config = object.Config{Value: plain, Sensitive: ip.Withheld.Outside(value.PathsWith(cfg, value.Sensitive))}
	if ip.marksChanged(ip.prior.Value) {
		return false
	}
	made := value.PathsMadeOf(cfg)
	if !leftAlone(ip, plain, made) {
		return false
	}
	noteUses(ip, made)
	return true
}

// leftAlone reports whether the provider plans no change of an object without the values that it withholds.
// If one of them cannot be had, only a replacement counts: anything else could not be planned with the value
// either.
func leftAlone(ip *instancePlan, cfg cty.Value, made []value.ComputedPart) bool {
	if slices.ContainsFunc(made, func(part value.ComputedPart) bool { return part.Of.Past && ip.Withheld.Names.Matches(part.Path) }) {
		return len(object.DueReplacement(&ip.Op, ip.prior, cfg, ip.meta(ip.in))) == 0
	}
	return object.Stays(&ip.Op, ip.prior, cfg, ip.meta(ip.in))
}

// asStored reports whether the object exists and is stored as it would be now, but for changes outside and
// the upgrade of its schema.
func asStored(ip *instancePlan) bool {
	return ip.stored != nil && ip.loaded.Object == ip.stored && !ip.loaded.Cleaned && !ip.prior.Value.IsNull()
}

// planUnneeded plans no change of an object for which unneeded is true, or one of the state alone. remade are
// the attributes that are to be recorded anew.
func planUnneeded(ip *instancePlan, s *ephemeral.Session, remade []plan.Withheld) (cty.Value, bool) {
	if !ip.in.Preconditions(ip.t, s.Opened) || ip.Answers.Later && !ip.review() {
		return cty.NilVal, false
	}
	ip.newChange(ip.prior)
	ip.change.Action = plan.NoOp
	restored := ip.Withheld.Restored(ip.prior.Value, ip.stored)
	if diags := ip.Withheld.CheckSeen(ip.prior.Value, ip.prior.Value, restored, nil); diags.HasErrors() {
		ip.Report(diags)
		return cty.NilVal, false
	}
	restored = append(restored, remade...)
	if len(restored) > 0 || ip.marksChanged(ip.prior.Value) {
		ip.change.Action, ip.change.Withheld = plan.Update, restored
	}
	for _, w := range ip.stored.Withheld {
		if !slices.ContainsFunc(restored, func(r plan.Withheld) bool { return r.Path.Equals(w.Path) }) {
			ip.change.Withheld = append(ip.change.Withheld, plan.Withheld{Path: w.Path, Status: plan.WithheldSame, Computed: w.Computed})
		}
	}
	v, ok := ip.finish(provider.PlanResponse{Planned: ip.prior.Value, Private: ip.prior.Private, Identity: ip.prior.Identity})
	return v, ok && ip.in.Postconditions(ip.t, s.Opened, v)
}
