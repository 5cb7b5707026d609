package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

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
		// Before the apply, so that a plan that is stale is one that was not applied.
		if claimed, _ := r.claim(p, false); !claimed {
			r.sumUp()
			return exitError
		}
		if code := r.apply(p); code != exitOK {
			r.tellRounds("Round %d was not completed. In all: %s")
			return code
		}
	}
	r.tellRounds("Converged in %d rounds. In all: %s")
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

// planned makes the plan of the run or, if it converges, of its next round. The options are for the
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

// note counts the changes of a round towards the whole run; nil if the round did not begin.
func (r *changeRun) note(applied *engine.Applied) {
	if applied == nil {
		return
	}
	n := applied.Counts
	r.made.Import += n.Import
	r.made.Add += n.Add
	r.made.Change += n.Change
	r.made.Destroy += n.Destroy
	r.made.Forget += n.Forget
	r.made.Invoke += n.Invoke
}

// sumUp reports the changes of the earlier rounds, in a run that ends before its present round is applied.
func (r *changeRun) sumUp() { r.tellRounds("Round %d was not applied. Before it: %s") }

// tellRounds ends a run of several rounds: it reports the changes of all of them, in a text with the number
// of the present one.
func (r *changeRun) tellRounds(format string) {
	if r.rounds == nil || r.rounds.Number() < 2 {
		return
	}
	text := fmt.Sprintf(format, r.rounds.Number(), view.Made(r.made))
	for _, s := range r.out.streams() {
		s.Rounds(text, r.rounds.Number(), r.made, r.rounds.Done())
	}
	switch {
	case r.out.stream != nil:
	case r.rounds.Done():
		r.out.say("\n%s", r.out.view.Success(text))
	default:
		r.out.say("\n%s", text)
	}
}

// spared says which things are as they were if the plan is not applied.
func (r *changeRun) spared() string {
	if r.rounds != nil && r.rounds.Number() > 1 {
		return "This round changed nothing."
	}
	return "Nothing was changed."
}

// approvalHint says how to approve where no question can be asked.
func (c *changeFlags) approvalHint() string {
	if c.converge {
		return "Use -auto-approve, which approves all rounds, or plan and apply each of them with -allow-deferral and -out."
	}
	return "Apply a saved plan, or use -auto-approve."
}

// deferralFlag returns the option -allow-deferral.
func (c *changeFlags) deferralFlag() cli.Flag {
	return &cli.BoolFlag{
		Name: "allow-deferral", Usage: "Leave to a later plan what can't be planned yet: objects with an unknown count, for_each or provider configuration, and what depends on them.", Destination: &c.allowDeferral, Local: true,
		Action: func(_ context.Context, _ *cli.Command, on bool) error {
			c.deferralOff = !on
			return nil
		},
	}
}
