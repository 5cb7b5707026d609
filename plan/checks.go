package plan

import (
	"slices"

	"github.com/mayfly-iac/mayfly/state"
)

// LastingChecks returns the results that the plan recorded, as far as they are still valid when it has been
// applied: its changes may have altered the subjects of checks. Results that apply evaluates itself replace
// the ones returned here.
func (p *Plan) LastingChecks() []state.CheckResult {
	if p.Mode != Normal {
		return p.Checks
	}
	out := slices.Clone(p.Checks)
	for i, r := range out {
		if r.Kind != "check" || len(r.Objects) == 0 {
			continue
		}
		out[i].Status, out[i].Objects = state.CheckUnknown, slices.Clone(r.Objects)
		for j := range r.Objects {
			out[i].Objects[j] = state.CheckObject{Addr: r.Objects[j].Addr, Status: state.CheckUnknown}
		}
	}
	return out
}
