package mayfly

import (
	"context"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/plan"
)

// Rounds is a run that plans and applies in turn until nothing is left for a later plan:
//
//	rounds := op.Rounds(mayfly.PlanOptions{Variables: variables})
//	for !rounds.Done() {
//		planned, diags := rounds.Plan(ctx)
//		if diags.HasErrors() {
//			return diags
//		}
//		// Show planned, and ask for approval.
//		if _, diags = rounds.Apply(ctx, mayfly.ApplyOptions{Variables: variables}); diags.HasErrors() {
//			return diags
//		}
//	}
//
// Each plan defers all that cannot be planned yet. In one run, no object is refreshed twice, an object that a
// round has completed is planned again only if something that it refers to has changed since, and timestamp()
// is always the same. A Rounds is for one goroutine; it must end before its operation does.
type Rounds struct {
	op      *Operation
	opt     PlanOptions
	memory  *rounds.Memory
	planned *plan.Plan // of the present round; nil before its plan
	number  int
	done    bool
}

// Rounds begins a run in rounds. Options to replace objects and to invoke actions are used up by the round
// that carries them out.
func (o *Operation) Rounds(opt PlanOptions) *Rounds {
	opt.AllowDeferral = true
	return &Rounds{op: o, opt: opt, memory: rounds.New(o.p.opt.Process.Now())}
}

// Number returns the number of the present round: 1 from the first plan on, 0 before.
func (r *Rounds) Number() int { return r.number }

// Done reports whether a complete plan was carried out.
func (r *Rounds) Done() bool { return r.done }

// Plan makes the plan of the next round. It is an error if that would not bring the run any further; the
// error names everything that is stuck. The plan is returned, for showing, also when there were errors.
func (r *Rounds) Plan(ctx context.Context) (*plan.Plan, diag.List) {
	r.number++
	r.planned = nil
	planned, diags := r.op.planRound(ctx, r.opt, r.memory)
	if diags.HasErrors() {
		return planned, diags
	}
	if stuck := r.memory.Stuck(planned); stuck.HasErrors() {
		return planned, append(diags, stuck...)
	}
	r.planned = planned
	return planned, diags
}

// Apply carries out the plan of the present round, as Operation.Apply does. After an error, the run has
// ended.
func (r *Rounds) Apply(ctx context.Context, opt ApplyOptions) (*Applied, diag.List) {
	p := r.planned
	if p == nil {
		return nil, diag.Errorf("No plan", "This round has no plan that can be applied.")
	}
	r.planned = nil
	applied, diags := r.op.applyRound(ctx, p, opt, r.memory)
	if diags.HasErrors() {
		return applied, diags
	}
	r.done = p.Complete()
	r.opt.ForceReplace = slices.DeleteFunc(slices.Clone(r.opt.ForceReplace), func(a addr.Instance) bool {
		return slices.ContainsFunc(p.Changes, func(c *plan.Change) bool { return c.Addr == a })
	})
	r.opt.Invoke, r.opt.Generated = nil, nil
	return applied, diags
}
