package main

import (
	"fmt"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/plan"
)

// converge plans and applies in rounds until a complete plan was applied, and returns the exit status. The
// state stays locked from the first plan on, unless several runs may change it at the same time.
func (r *changeRun) converge(f *applyFlags) int {
	for r.rounds == nil || !r.rounds.Done() {
		if r.rounds != nil {
			r.announceRound()
		}
		p, ok := r.plan()
		if !ok {
			r.sumUp()
			return exitError
		}
		if code := r.approve(p, f); code != exitOK {
			r.sumUp()
			return code
		}
		if code := r.apply(p); code != exitOK {
			return code
		}
	}
	if r.rounds.Number() > 1 && r.out.stream == nil {
		r.out.say("\n%s", r.out.view.Success(fmt.Sprintf("Converged in %d rounds. In all: %s", r.rounds.Number(), view.Made(r.made))))
	}
	return exitOK
}

// announceRound says that the next round begins.
func (r *changeRun) announceRound() {
	next := r.rounds.Number() + 1
	for _, s := range r.out.streams() {
		s.Round(next)
	}
	if r.out.stream == nil {
		r.out.say("\n%s", r.out.view.Bold(fmt.Sprintf("Round %d: planning the deferred objects", next)))
	}
}

// planned makes the plan of the run or, if it converges, of its next round. The options are the ones of the
// whole run.
func (r *changeRun) planned(opt mayfly.PlanOptions) (p *plan.Plan, diags diag.List) {
	diags = r.working(func() (diags diag.List) {
		switch {
		case !r.flags.converge:
			p, diags = r.Operation.Plan(r.hard, opt)
		case r.rounds == nil:
			r.rounds = r.Operation.Rounds(opt)
			fallthrough
		default:
			p, diags = r.rounds.Plan(r.hard)
		}
		return diags
	})
	return p, diags
}

// carryOut applies the plan of the run or of its present round.
func (r *changeRun) carryOut(p *plan.Plan) (*engine.Applied, diag.List) {
	opt := mayfly.ApplyOptions{Variables: r.Variables, Soft: r.soft}
	if r.rounds != nil {
		return r.rounds.Apply(r.hard, opt)
	}
	return r.Operation.Apply(r.hard, p, opt)
}

// goesAround reports whether another round follows an apply of the plan with the given result.
func (r *changeRun) goesAround(p *plan.Plan, result diag.List) bool {
	return r.rounds != nil && !p.Complete() && !result.HasErrors()
}

// note counts the changes of a round towards the whole run.
func (r *changeRun) note(n plan.Counts) {
	r.made.Import += n.Import
	r.made.Add += n.Add
	r.made.Change += n.Change
	r.made.Destroy += n.Destroy
	r.made.Forget += n.Forget
	r.made.Invoke += n.Invoke
}

// sumUp reports the changes of the earlier rounds, in a run that ends before it has converged.
func (r *changeRun) sumUp() {
	if r.rounds == nil || r.rounds.Number() < 2 || r.out.stream != nil {
		return
	}
	r.out.say("\nRound %d was not applied. Before it: %s", r.rounds.Number(), view.Made(r.made))
}

// approvalHint says how to approve where no question can be asked.
func (c *changeFlags) approvalHint() string {
	if c.converge {
		return "Use -auto-approve, which approves all rounds, or plan and apply each of them with -allow-deferral and -out."
	}
	return "Apply a saved plan, or use -auto-approve."
}
