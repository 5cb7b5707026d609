package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// invocationUses returns the uses of a step that invokes actions.
func invocationUses(a *applier, t *future.Task, s *plan.Step) (uses []eval.Use) {
	own := plan.Dep{Resource: s.Change.Addr.Abs(), Key: s.Change.Addr.Key} // which Deps leave out
	for _, inv := range s.Invocations {
		if in := a.instance(inv.Action); in != nil {
			uses = append(uses, in.Uses(t)...)
			uses = append(uses, lentUses(a, in.Resource.Block.Borrows, append(slices.Clip(inv.Deps), own))...)
		}
		if tr, ok := triggerOf(a, s, inv); ok && inv.Undecided {
			uses = append(uses, tr.ConditionUses(t)...)
			uses = append(uses, lentUses(a, tr.ReadsLent(), append(slices.Clip(inv.Deps), own))...)
		}
	}
	return uses
}

// triggerOf returns the trigger of an invocation. It returns false if the configuration has none there.
func triggerOf(a *applier, s *plan.Step, inv *plan.Invocation) (eval.ActionTrigger, bool) {
	in := a.instance(s.Change.Addr)
	if in == nil {
		return eval.ActionTrigger{}, false
	}
	all := eval.ActionTriggers(in)
	if inv.Trigger.Block >= len(all) {
		return eval.ActionTrigger{}, false
	}
	return all[inv.Trigger.Block], true
}

// invokeStep invokes the actions that the change of a resource triggers, before or after it, one by one. It
// returns false if one has failed that does not let everything else go on.
func invokeStep(a *applier, t *future.Task, s *plan.Step) bool {
	decided := map[int]eval.Verdict{}
	for i, inv := range s.Invocations {
		if a.interrupted() {
			reportNotInvoked(a, s, s.Invocations[i:])
			return false
		}
		if inv.Undecided {
			block := inv.Trigger.Block
			if _, ok := decided[block]; !ok {
				decided[block] = decideTrigger(a, t, s, inv)
			}
			switch decided[block] {
			case eval.Wrong:
				return false
			case eval.Fails:
				continue
			}
		}
		if !invokeTriggered(a, t, s, i) {
			return false
		}
	}
	return true
}

// reportPassedOver reports the actions of a step that is not begun, unless the next plan has them again
// because their change was not made either.
func reportPassedOver(a *applier, s *plan.Step) {
	a.mu.Lock()
	unchanged := a.blocked.Touched(plan.Dep{Resource: s.Change.Addr.Abs(), Key: s.Change.Addr.Key})
	a.mu.Unlock()
	if !s.Before && !unchanged {
		reportNotInvoked(a, s, s.Invocations)
	}
}

// reportNotInvoked reports actions that a step has left.
func reportNotInvoked(a *applier, s *plan.Step, left []*plan.Invocation) {
	first, why := left[0].Action, "Something that it depends on could not be changed."
	if a.interrupted() {
		why = "The interrupt came before."
	}
	a.run.Report(diag.Errorf("Actions were not invoked", "%s, which a change of %s triggers, was not invoked. %s%s",
		first, s.Change.Addr, why, againText(a, s, left)).WithAddress(first.String()))
}

// decideTrigger evaluates the condition of a trigger that the plan could not decide.
func decideTrigger(a *applier, t *future.Task, s *plan.Step, inv *plan.Invocation) eval.Verdict {
	tr, ok := triggerOf(a, s, inv)
	if !ok {
		a.run.Report(diag.Errorf("Configuration doesn't match the plan", "The plan invokes %s for a trigger of %s that the configuration does not have. Make a new plan.", inv.Action, s.Change.Addr))
		return eval.Wrong
	}
	tr.PrepareCondition(t)
	in, verdict := a.instance(s.Change.Addr), eval.Wrong
	var made []value.Computed
	var diags diag.List
	self := cty.DynamicVal
	if !s.Before {
		self = in.Value(t, nil)
	}
	a.inSession(t, in, event.OpEvaluate, func(session *ephemeral.Session) {
		verdict, made, diags = tr.Condition(t, session.Opened, self)
		if session.Failed() {
			verdict = eval.Wrong
		}
	})
	if verdict == eval.Undecided {
		verdict = eval.Wrong
		lacks := useCondition(a.walk, in, tr, made) // of an update that has made no new value
		if len(lacks) == 0 {
			lacks = diag.At(tr.Config.Range, "Condition of a trigger is not known", "The condition is still not known, although everything that it refers to has been applied.").WithAddress(s.Change.Addr.String())
		}
		diags = append(diags, lacks...)
	}
	a.run.Report(diags)
	return verdict
}

// invokeTriggered invokes one action of a step, and treats a failure as the trigger says.
func invokeTriggered(a *applier, t *future.Task, s *plan.Step, i int) bool {
	inv := s.Invocations[i]
	diags, ok := invokeOne(a, t, inv)
	if ok {
		a.run.Report(diags)
		return true
	}
	switch inv.Trigger.OnFailure {
	case plan.ContinueOnFailure:
		a.run.Report(slices.Clone(diags).AsWarnings())
		return !a.interrupted()
	case plan.TaintOnFailure:
		taintTriggering(a, s.Change)
		explainFailure(diags, fmt.Sprintf("%s is tainted, and will be replaced.", s.Change.Addr))
	default:
		text := fmt.Sprintf("%s was %s, and is not tainted. Nothing that depends on it was changed.", s.Change.Addr, map[bool]string{true: "updated", false: "created"}[s.Change.Action == plan.Update])
		if s.Before {
			text = fmt.Sprintf("So %s was not changed, nor was anything that depends on it.", s.Change.Addr)
		}
		explainFailure(diags, text+againText(a, s, s.Invocations[i:]))
	}
	a.run.Report(diags)
	return false
}

// explainFailure adds a sentence to the last error.
func explainFailure(diags diag.List, text string) {
	for i := range slices.Backward(diags) {
		if diags[i].Severity == diag.Error {
			diags[i].Detail = strings.TrimLeft(diags[i].Detail+"\n\n"+text, "\n")
			return
		}
	}
}

// againText says how actions that the next plan does not trigger again are invoked. Those before a change are
// triggered again, as the change is still to be made.
func againText(a *applier, s *plan.Step, left []*plan.Invocation) string {
	if s.Before {
		return ""
	}
	command := "mayfly apply"
	for _, inv := range left {
		if in := a.instance(inv.Action); in != nil && a.req.Config.NeedsLent(in.Resource.Block) {
			return fmt.Sprintf(" The next plan does not trigger its actions again, and -invoke has no value for %s that is kept out of the state: only the run that makes such a value has it. To invoke the actions again, change or replace %s in a run that makes new values.", inv.Action, s.Change.Addr)
		}
		command += " -invoke=" + diag.Argument(inv.Action.String())
	}
	return " The next plan does not trigger its actions again. To invoke them later, run:\n  " + command
}

// taintTriggering marks the object of a change as tainted.
func taintTriggering(a *applier, c *plan.Change) {
	o := a.object(c.Object())
	if o == nil {
		return
	}
	entry := a.journal.Begin(c.Object(), "taint")
	if entry == nil {
		return
	}
	tainted := o.Clone()
	tainted.Tainted = true
	entry.End(false, state.ObjectChange{Object: c.Object(), Provider: c.Provider, New: tainted})
}

// invokeAll invokes the actions that the user asked for, one by one, until one fails.
func invokeAll(a *applier) {
	pool := future.NewPool(1)
	pool.Go(func(t *future.Task) {
		for _, inv := range a.req.Plan.Invocations {
			if in := a.instance(inv.Action); in != nil {
				uses := in.Uses(t)
				a.pool.Claim(uses...)
				defer a.pool.Waive(uses...)
			}
		}
		a.run.Guard("the actions", func() {
			for _, inv := range a.req.Plan.Invocations {
				if a.interrupted() {
					break
				}
				diags, ok := invokeOne(a, t, inv)
				a.run.Report(diags)
				if !ok {
					break
				}
			}
		})
	})
	pool.Wait()
	a.reportInterrupted()
}

// invocation invokes one action.
type invocation struct {
	objectOp
	a   *applier
	t   *future.Task
	s   *ephemeral.Session
	in  *eval.Instance
	inv *plan.Invocation
}

// invokeOne invokes an action, with its configuration evaluated anew. It returns false if that failed, and
// the diagnostics of the invocation itself; others were reported.
func invokeOne(a *applier, t *future.Task, inv *plan.Invocation) (diags diag.List, ok bool) {
	in := a.prepareInstance(t, &plan.Change{Addr: inv.Action}, "invokes")
	if in == nil {
		return nil, false
	}
	a.inSession(t, in, event.OpInvoke, func(s *ephemeral.Session) {
		i := invocation{objectOp: a.instanceOp(in), a: a, t: t, s: s, in: in, inv: inv}
		end := i.StartSpan(string(event.OpInvoke), plan.NoOp)
		diags, ok = i.invoke()
		end(ok)
	})
	return diags, ok
}

// invoke evaluates the configuration and has the provider invoke the action.
func (i *invocation) invoke() (diags diag.List, ok bool) {
	if !i.Use(i.s.ProviderOf(i.t, i.in, i.s.BodyNeeds(i.t, i.in)...)) {
		return nil, false
	}
	config, ok := i.evaluate(i.t, i.s, i.in)
	if !ok {
		return nil, false
	}
	if !config.Value.IsWhollyKnown() {
		if diags = useInAction(&i.objectOp, config.Computed, i.inv); len(diags) > 0 { // an update has made no new value
			return i.placed(diags), false
		}
		return diag.At(i.in.Config().Range, "Configuration contains unknown value",
			"The configuration of %s is still not wholly known, although everything that it refers to has been applied. This is usually caused by a provider that left an attribute unknown.", i.Obj).WithAddress(i.Obj.Instance.String()), false
	}
	if diags = i.validateAgain(config); diags.HasErrors() {
		return i.placed(diags), false
	}
	if !i.s.Fresh() || i.walk.interrupted() {
		return nil, false
	}
	done := i.walk.events.BeginInvocation(i.Obj.Instance, i.inv.Trigger)
	said := event.Event{Kind: event.Output, Op: event.OpInvoke, Object: i.Obj, Trigger: i.inv.Trigger}
	diags = invokeAction(trace.With(i.a.changing, trace.Of(i.Ctx)), i.Provider, i.TypeName(), config.Value, func(message string) {
		line := said
		line.Line = message
		i.walk.output(line)
	})
	diags = i.ended(diags)
	done(diags)
	if !diags.HasErrors() {
		i.a.count(func(n *plan.Counts) { n.Invoke++ })
	}
	return i.placed(diags), !diags.HasErrors()
}

// ended returns the diagnostics of an invocation. After an interrupt, an answer without an end is not a
// mistake of the provider, which was asked to stop.
func (i *invocation) ended(diags diag.List) diag.List {
	if !i.walk.interrupted() {
		return diags
	}
	out := slices.Clone(diags)
	for at, d := range out {
		if _, ok := d.Extra.(provider.Unfinished); ok {
			out[at] = diag.Errorf("Action interrupted", "The provider was asked to stop, and has ended %s without saying how far it was. It may have been carried out or not.", i.Obj)[0]
		}
	}
	return out
}

// validateAgain has the provider validate a configuration that differs from the planned one.
func (i *invocation) validateAgain(config object.Config) diag.List {
	planned, err := i.inv.Config.Unmarked()
	if err == nil && len(i.inv.Ephemeral) == 0 && config.Value.RawEquals(planned) {
		return nil
	}
	return i.validateConfig(addr.Action, i.in.Resource.Block, config.Value)
}

// placed returns diagnostics with the places in the configuration that they are about.
func (i *invocation) placed(diags diag.List) diag.List {
	return diags.InConfigBody(i.Body).WithAddress(i.Obj.Instance.String())
}
