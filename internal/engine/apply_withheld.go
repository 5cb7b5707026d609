package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// leaveOutUnavailable returns the configuration of an apply with null in place of write-only arguments whose
// values cannot be had, which an update does not take. It returns false if the change takes one, which was
// reported. The plan has seen to it that there is none, but null must not be sent if that was wrong.
func leaveOutUnavailable(ia *instanceApply, config object.Config) (cty.Value, bool) {
	v := config.Value
	for _, part := range config.Computed {
		if !part.Of.Past || !ia.Block().InWriteOnly(part.Path) {
			continue
		}
		version := ia.Block().WriteOnlyVersion(part.Path)
		if ia.change.Action != plan.Update || version != nil && !withheld.SameAt(ia.prior.Value, v, version) {
			reportUnavailable(&ia.objectOp, config.Computed, part.Path, "")
			return v, false
		}
		v = ia.Block().NullAt(v, []cty.Path{part.Path})
	}
	return v, true
}

// settlesAgain looks at the ephemeral attributes of an update whose values cannot be had, as settleComputed
// does in the plan: the update changes no more than the record of the object. If that is not so, it is
// reported and settlesAgain returns false.
func settlesAgain(ia *instanceApply, config object.Config) bool {
	missing := slices.DeleteFunc(missingIn(&ia.objectOp, config), func(p cty.Path) bool { return withheld.Ignores(&ia.Withheld, p) })
	if len(missing) == 0 {
		return true
	}
	ia.stays = ia.change.Action == plan.Update && (ia.Withheld.Unavailable(ia.prior.Object, config.Value, missing) ||
		sameAdopted(ia.t, &ia.objectOp, ia.s.Opened, ia.in, ia.prior.Object, config, missing, ia.walk.computed.TakenOut))
	if !ia.stays {
		reportUnavailable(&ia.objectOp, config.Computed, missing[0], "")
	}
	return ia.stays
}

// staysUpdate reports whether an update is still one with the values of withheld attributes, which may be
// others than in the plan (E93). If not, that is reported.
func staysUpdate(ia *instanceApply, planned provider.PlanResponse) bool {
	if ia.change.Action != plan.Update || len(ia.change.Withheld) == 0 {
		return true
	}
	paths := contract.ReplacePaths(ia.Block(), ia.prior.Value, planned.Planned, ia.Answers.AcceptPaths(planned.RequiresReplace))
	if len(paths) == 0 {
		paths = object.HiddenReplacement(&ia.Op, object.PlanRequest{Prior: ia.prior, Config: ia.config.Value, Meta: ia.meta(ia.in)})
	}
	if len(paths) == 0 {
		return true
	}
	ia.Report(diag.Errorf("Action has changed since the plan",
		"The plan updates %s, but with the value that %s has now, it would have to be replaced. Nothing was changed. Make a new plan.", ia.Obj, schema.PathString(paths[0])))
	return false
}

// staysSeen reports whether an update sends no withheld attribute as null that the real object has. A value
// may be one in the plan and null now. If so, that is reported.
func staysSeen(ia *instanceApply, planned provider.PlanResponse) bool {
	if ia.change.Action != plan.Update || ia.prior.Object == nil || len(ia.prior.Object.Withheld) == 0 {
		return true
	}
	statuses := ia.Withheld.Judge(ia.prior.Value, ia.prior.Object, ia.config.Value, planned.Planned)
	diags := ia.Withheld.CheckSeen(ia.prior.Value, planned.Planned, statuses, nil)
	if !planned.Planned.RawEquals(ia.prior.Value) {
		diags = append(diags, ia.Withheld.CheckSent(ia.config.Value, ia.config.Value, ia.prior.Object)...)
	}
	ia.Report(diags)
	return !diags.HasErrors()
}
