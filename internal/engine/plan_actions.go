package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// planActions plans the invocations that the planned changes trigger. They come after all changes, since the
// configuration of an action may refer to the resource that triggers it. It may also lead to instances that
// a restricted plan has not planned so far, whose changes may trigger actions too.
func planActions(p *planner) {
	if p.req.Mode != plan.Normal || p.imports.generating || !p.req.Config.TriggersActions() {
		return
	}
	claims := eval.ActionClaims(p.req.Config)
	p.pool.Claim(claims...)
	defer p.pool.Waive(claims...)
	done := map[addr.Instance]struct{}{}
	for {
		var due []*plan.Change
		for _, c := range p.changes {
			if _, again := done[c.Addr]; again || c.Deposed != addr.Current || len(c.Action.Triggers()) == 0 {
				continue
			}
			done[c.Addr] = struct{}{}
			due = append(due, c)
		}
		pool := future.NewPool(p.workers())
		for _, c := range due {
			if in := p.run.DeclaredInstance(c.Addr); in != nil && len(in.Resource.Block.ActionTriggers) > 0 {
				pool.Go(func(t *future.Task) { p.run.Guard(in, func() { planTriggers(p, t, in, c) }) })
			}
		}
		pool.Wait()
		if len(due) == 0 {
			break
		}
	}
	p.plan.SortInvocations()
}

// planTriggers plans the invocations that the change of an instance triggers.
func planTriggers(p *planner, t *future.Task, in *eval.Instance, c *plan.Change) {
	self := in.Value(t, nil)
	for _, tr := range eval.ActionTriggers(in) {
		var events []plan.TriggerEvent
		for _, e := range c.Action.Triggers() {
			if slices.Contains(tr.Config.Events, string(e)) {
				events = append(events, e)
			}
		}
		if len(events) == 0 || p.interrupted() {
			continue
		}
		of := plan.Invocation{Trigger: &plan.ActionTrigger{Resource: in.Addr(), Block: tr.Index, OnFailure: plan.FailurePolicy(tr.Config.OnFailure)}}
		tr.PrepareCondition(t)
		if of.Deps = tr.ConditionDeps(t); p.deferral.triggerWaits(&of, of.Deps, p.deferral.set.Touched(of.Deps)) {
			continue
		}
		verdict, made, diags := tr.Condition(t, closed(p, "the condition of a trigger of "+in.Addr().String(), computed.ThisRun), self)
		p.run.Report(diags)
		if verdict == eval.Fails || verdict == eval.Wrong || !conditionCanBeHad(p, in, tr, verdict, made) {
			continue
		}
		for _, e := range events {
			of.Undecided, of.Trigger.Event = verdict == eval.Undecided, e
			planTrigger(p, t, in, tr, of)
		}
	}
}

// planTrigger plans the invocations of one trigger at one event. of has the parts that they share.
func planTrigger(p *planner, t *future.Task, in *eval.Instance, tr eval.ActionTrigger, of plan.Invocation) {
	for position := range tr.Config.Actions {
		action, diags := tr.Action(t, position)
		p.run.Report(diags)
		if action == nil {
			if len(diags) == 0 && p.req.AllowDeferral {
				p.deferral.triggers.Wait(of.Trigger, p.deferral.unsettled(tr.ActionRepetitionDeps(t, position)))
			}
			continue
		}
		inv := of
		trigger := *of.Trigger
		trigger.Position = position
		inv.Trigger = &trigger
		if !planInvocation(p, t, action, &inv) {
			continue
		}
		inv.Deps = slices.DeleteFunc(inv.Deps, func(d plan.Dep) bool {
			return !trigger.Event.IsBefore() && !d.All && d.Resource == in.Addr().Abs() && d.Key == in.Key
		})
		addInvocation(p, &inv)
	}
}

func addInvocation(p *planner, inv *plan.Invocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan.Invocations = append(p.plan.Invocations, inv)
}

// planInvocation completes an invocation of an action: it evaluates the configuration without opening
// anything, and asks the provider. It returns false if the action cannot be planned, which was reported.
func planInvocation(p *planner, t *future.Task, action *eval.Instance, inv *plan.Invocation) (ok bool) {
	action.Prepare(t)
	deps := action.Deps(t)
	if action.Circular() || p.dependencyFailed(deps) || !action.InputsHold(t) {
		return false // the reason was reported where it arose
	}
	direct, fleeting := p.deferral.waits(t, action)
	if p.deferral.triggerWaits(inv, deps, append(direct, fleeting...)) {
		return false
	}
	inv.Action, inv.Deps = action.Addr(), slices.Concat(inv.Deps, deps)
	p.inSession(t, action, event.OpPlan, func(s *ephemeral.Session) {
		op := p.instanceOp(action)
		defer p.events.BeginDetail(event.OpPlan, op.Obj, &ok)()
		po := action.Provider(t)
		defer func() {
			if why := p.deferral.answered(t, s, &op, po, deps); !ok && why != nil {
				p.deferral.triggers.Wait(inv.Trigger, why.waits)
			}
		}()
		if po == nil || !op.Use(s.Provider(t, po, action.Addr()), po.Addr) {
			return
		}
		inv.Provider = po.Addr
		ok = planAction(p, &op, t, action, inv)
	})
	return ok
}

// planAction asks the provider about an invocation.
func planAction(p *planner, op *objectOp, t *future.Task, action *eval.Instance, inv *plan.Invocation) bool {
	then := computed.ThisRun
	if inv.Trigger == nil {
		then = computed.Invocation
	}
	config, diags := action.EvalBody(t, closed(p, action.Addr().String(), then))
	op.walk.run.Report(diags)
	if diags.HasErrors() {
		return false
	}
	if !canBeHad(op, config, action, inv) {
		return false
	}
	plain := op.Answers.Given(config)
	inv.Ephemeral = value.PathsWith(config, value.Ephemeral)
	shown := op.Block().NullAt(plain, inv.Ephemeral)
	if inv.Trigger == nil && !shown.IsWhollyKnown() {
		op.walk.run.Report(notKnown(action))
		return false
	}
	diags = op.validateConfig(addr.Action, action.Resource.Block, plain)
	if !diags.HasErrors() {
		deferred, more := op.Provider.PlanAction(op.Ctx, op.TypeName(), plain)
		if diags = append(diags, more...); !more.HasErrors() {
			_, wrong := object.PutsOff(&op.Op, deferred, "planning")
			diags = append(diags, wrong...)
		}
	}
	op.Report(diags)
	return !diags.HasErrors() && op.PutOff == "" && sealInvocation(op, config, shown, inv)
}

// sealInvocation keeps the configuration with the plan, without its ephemeral values. shown has none.
func sealInvocation(op *objectOp, config, shown cty.Value, inv *plan.Invocation) (ok bool) {
	b := op.Block()
	inv.Ephemeral = append(inv.Ephemeral, b.WriteOnlyPaths(shown)...)
	shown = b.NullWriteOnly(shown)
	sensitive := slices.Concat(value.PathsWith(config, value.Sensitive), b.SensitivePaths(shown))
	inv.Config, ok = op.Seal(shown, sensitive)
	return ok
}
