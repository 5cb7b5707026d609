package engine

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/idle"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// useCondition notes the computed values that the condition of a trigger is made of. It returns an error if
// one of them cannot be had.
func useCondition(w *walk, in *eval.Instance, tr eval.ActionTrigger, made []value.Computed) diag.List {
	diags := w.computed.Use(computed.Use{User: "The condition of a trigger of " + in.Addr().String(), When: computed.ThisRun}, made)
	if len(diags) > 0 {
		diags[0].Subject = tr.Config.Condition.Range().Ptr()
	}
	return diags.WithAddress(in.Addr().String())
}

// conditionCanBeHad notes the computed values that the condition of a trigger is made of. It returns false if
// the apply cannot decide the condition without one of an earlier run, which it reports.
func conditionCanBeHad(p *planner, in *eval.Instance, tr eval.ActionTrigger, verdict eval.Verdict, made []value.Computed) bool {
	if verdict != eval.Undecided {
		made = slices.DeleteFunc(made, func(c value.Computed) bool { return c.Past })
	}
	diags := useCondition(p.walk, in, tr, made)
	p.run.Report(diags)
	return !diags.HasErrors()
}

// useInAction notes the computed values that parts of the configuration of an action are made of. It returns
// an error if one of them cannot be had.
func useInAction(op *objectOp, parts []value.ComputedPart, inv *plan.Invocation) diag.List {
	by := computed.Use{User: fmt.Sprintf("The configuration of %s", inv.Action), When: computed.ThisRun}
	if inv.Trigger == nil {
		by.When = computed.Invocation
	} else {
		by.User += fmt.Sprintf(", which a trigger of %s invokes,", inv.Trigger.Resource)
	}
	return op.walk.computed.UseInParts(by, parts)
}

// canBeHad notes the computed values that the configuration of an action is made of. It returns false if one
// of them existed in an earlier run only, or does not exist when -invoke invokes the action, which it
// reports.
func canBeHad(op *objectOp, config cty.Value, action *eval.Instance, inv *plan.Invocation) bool {
	parts := value.PathsMadeOf(config)
	diags := useInAction(op, parts, inv)
	if inv.Trigger == nil && len(diags) == 0 && slices.ContainsFunc(parts, func(p value.ComputedPart) bool { return p.IsUnmade(config) }) {
		diags = notKnown(action)
	}
	op.Report(diags)
	return !diags.HasErrors()
}

// notKnown is the error about an action that -invoke names and whose configuration is not known.
func notKnown(action *eval.Instance) diag.List {
	return diag.At(action.Config().Range, "Configuration of an action is not known",
		"The config block refers to something that does not exist yet. With -invoke, nothing is created first: resources are as in the state.").WithAddress(action.Addr().String())
}

// useInProvisioner notes the computed values that the arguments of a provisioner and its connection,
// cty.NilVal for none, are made of. It returns an error if one of them cannot be had.
func useInProvisioner(u *computed.Uses, of *config.Provisioner, at addr.Instance, args, conn cty.Value) diag.List {
	made := value.MadeOf(args)
	if conn != cty.NilVal {
		made = append(made, value.MadeOf(conn)...)
	}
	by := computed.Use{User: "A provisioner of " + at.String(), When: computed.ThisRun}
	if of.Destroy { // which is never the run that makes values of the object itself
		by = computed.Use{User: "A provisioner that runs before " + at.String() + " is destroyed", When: computed.Departure}
	}
	return u.Use(by, made).InConfigBody(of.Body).WithAddress(at.String())
}

// findIdle returns a search for users of computed values that the plan does not reach.
func findIdle(p *planner) *idle.Search {
	return idle.NewSearch(p.req.Config, func() *eval.Run { return storedRun(p) }, func(a addr.Instance) bool { return stays(p, a) })
}

// stays reports whether an object exists that the plan leaves out, leaves as it is, or updates.
func stays(p *planner, a addr.Instance) bool {
	obj := addr.Object{Instance: a}
	if o := p.prior.Object(obj); o == nil || o.Tainted || p.broken.Touched(plan.Dep{Resource: a.Abs(), Key: a.Key}) {
		return false
	}
	c := p.changes[obj]
	return c == nil || c.Action == plan.NoOp || c.Action == plan.Update
}

// closed returns an Opened for the evaluation of something in the plan that the apply repeats then, with
// objects of before if then is its departure. It opens nothing, but reports ephemeral instances whose
// configuration cannot be had.
func closed(p *planner, of string, then computed.When) *eval.Opened {
	before := then == computed.Departure
	return idle.Closed(func(in *eval.Instance, made []value.Computed) {
		for i, c := range made {
			made[i].Past = c.Past || before && !p.computed.TakenOut(c)
		}
		a := in.Addr().String()
		diags := p.computed.Use(computed.Use{User: fmt.Sprintf("The configuration of %s, for %s,", a, of), When: then}, made)
		if len(diags) > 0 && !slices.ContainsFunc(p.run.Diags.List(), func(d diag.Diagnostic) bool { return d.Summary == diags[0].Summary && d.Address == a }) {
			p.run.Report(diags.InConfigBody(in.Config().Body).WithAddress(a))
		}
	})
}
