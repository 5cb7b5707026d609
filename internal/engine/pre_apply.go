package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/journal"
	"github.com/mayfly-iac/mayfly/internal/engine/turn"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// startRuns starts the run of the apply and the one that sees the objects as they were before it.
func (a *applier) startRuns() {
	a.startRun(a.newApplyRun(a.walk, a.result, true))
	a.rules.Opening = a.noteOpening
	a.preApply = a.fork(func(w *walk) *eval.Run {
		w.rules.Opening = a.noteOpening
		w.rules.Use = func(t *future.Task, in *eval.Instance) eval.Use { // one that is the same before and after is opened once
			return a.asPreApply(t, []eval.Use{{Kind: eval.UseInstance, Instance: in.Addr()}})[0]
		}
		return a.newApplyRun(w, func(_ *future.Task, in *eval.Instance) cty.Value { return a.fromState(in) }, false)
	})
	a.preApply.run.Checks = a.run.Checks
}

func (a *applier) newApplyRun(w *walk, result results, forgetful bool) *eval.Run {
	opt := w.runOptions(a.req.Config, eval.Applying, result, a.req.Variables, a.req.Plan.Timestamp)
	opt.Deferring, opt.Forgetful = !a.req.Plan.Complete(), forgetful
	return eval.NewRun(a.req.Config, opt)
}

// takeTurn evaluates outputs and checks from the objects that all runs have left.
func (a *applier) takeTurn() {
	err := turn.Take(a.ctx, a.req.State, a.run, a.req.Config, a.req.Plan, func(objects *turn.Objects) *eval.Run {
		return a.fork(func(w *walk) *eval.Run {
			return a.newApplyRun(w, func(t *future.Task, in *eval.Instance) cty.Value { return w.recorded(t, objects.Of(in.Addr()), in) }, false)
		}).run
	})
	if err != nil && a.ctx.Err() == nil {
		a.run.Report(journal.Failed(err))
	}
}

// noteOpening notes that an instance has been used.
func (a *applier) noteOpening(in *eval.Instance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened[in.Addr()] = struct{}{}
}

// asPreApply returns the uses with PreApply set where the apply changes the objects they refer to: an
// instance opened with the old objects must not be mistaken for one opened with the final objects.
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
