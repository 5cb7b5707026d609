package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// startRuns starts the run of the apply and the one that sees the objects as they were before it.
func (a *applier) startRuns() {
	req := &a.req
	a.startRun(a.newRun(req.Config, eval.Applying, a, req.Variables, req.Plan.Timestamp))
	a.rules.Opening = a.noteOpening
	before := &preApplyHost{a: a}
	before.walk = a.fork(a.newRun(req.Config, eval.Applying, before, req.Variables, req.Plan.Timestamp))
	before.run.Checks = a.run.Checks
	before.rules = ephemeral.Rules{Opening: a.noteOpening, Use: before.use}
	a.preApply = before.walk
}

// noteOpening notes that an instance has been used.
func (a *applier) noteOpening(in *eval.Instance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened[in.Addr()] = struct{}{}
}

// preApplyHost gives the objects as they were before the apply.
type preApplyHost struct {
	*walk
	a *applier
}

// Result implements eval.Host.
func (h *preApplyHost) Result(t *future.Task, in *eval.Instance) cty.Value { return h.a.fromState(in) }

// use returns the use of an instance that is opened with the objects from before the apply. One that
// is the same before and after the apply is opened once for both.
func (h *preApplyHost) use(t *future.Task, in *eval.Instance) eval.Use {
	return h.a.asPreApply(t, []eval.Use{{Kind: eval.UseInstance, Instance: in.Addr()}})[0]
}

// asPreApply returns the uses with PreApply set where the apply changes what they refer to: an instance
// opened with the old objects must not be mistaken for one opened with the final objects.
func (a *applier) asPreApply(t *future.Task, uses []eval.Use) []eval.Use {
	out := slices.Clone(uses)
	for i, u := range out {
		if u.Kind != eval.UseInstance {
			continue
		}
		m := a.preApply.run.Module(u.Instance.Module)
		in := m.Resource(u.Instance.Resource).Instance(u.Instance.Key)
		out[i].PreApply = slices.ContainsFunc(in.Deps(t), a.altered.Touched)
	}
	return out
}
