package engine

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/journal"
	"github.com/mayfly-iac/mayfly/internal/engine/order"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/engine/settle"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Apply carries out a plan. Errors or not, the rows of the state then have the last reports of the providers;
// ending their run is left to the caller.
func (e *Engine) Apply(ctx context.Context, req ApplyRequest) (*Applied, diag.List) {
	if req.Soft == nil {
		req.Soft = ctx
	}
	ctx, span := trace.Start(ctx, "apply")
	made := false
	defer func() { span.Finish(made) }()
	recorder := ephemeral.Remember(req.State)
	a := &applier{
		walk: e.newWalk(ctx, req.Soft, recorder, e.opt.Hashes.New(req.Salts, rand.Reader)), req: req, given: req.Given.ForRun(), selection: selection.New(req.Plan.Targets, req.Plan.Excludes), results: map[addr.Instance]cty.Value{},
		opened: map[addr.Instance]struct{}{}, deposedBy: map[addr.Instance]addr.Deposed{}, neededOpen: sync.OnceValue(req.Config.NeededOpen),
	}
	a.time, a.env.Kept = req.Memory.Time(), req.Memory.Kept
	a.checks = checkApplier{walk: a.walk, applier: a, reads: map[addr.Instance]nestedRead{}}
	a.finishing = finisher{walk: a.walk, applier: a}
	a.destroying = destroyer{walk: a.walk, applier: a}
	a.reading = dataApplier{walk: a.walk, applier: a}
	if e.opt.LeakPolicy == leak.Standard {
		a.env.Leaks.Policy = req.Plan.LeakPolicy
	}
	a.computed.State, a.deferred = req.Plan.Prior, deferral.Of(req.Plan)
	for _, c := range req.Plan.Changes {
		noteTakenOut(a.computed, c)
		for _, w := range c.Withheld {
			a.deliveries.Expect(c.Addr, w.Consumers, w.Missed)
		}
	}
	a.startRuns()
	a.journal = &journal.Log{State: req.State, Report: a.run.Report, Salts: a.hasher.Made, Steps: func() *future.Pool { return a.steps }}
	defer e.expose(req.Config, req.Variables, req.Plan.Base)()
	defer e.stopOn(req.Soft)()
	defer func() {
		e.stats.Evaluations += a.run.Stats.Evaluations.Load() + a.preApply.run.Stats.Evaluations.Load()
	}()
	defer e.events.BeginDetail(event.OpApplying, addr.Object{}, &made)()
	defer a.pool.Finish()
	defer a.giveUpLate(ctx)()
	a.apply()
	a.pool.Finish()
	recorder.MoveTo(e.opt.Recorder)
	if !req.Plan.Invoking() { // nothing of which is in the state, not even data that was read for it
		req.State.AddSalts(a.hasher.Made()...)
		req.State.PutChecks(state.MergeChecks(req.Plan.LastingChecks(), a.run.Checks.Results()))
	}
	diags := a.run.Diags.List()
	if made = !diags.HasErrors(); made {
		req.Memory.Applied(req.Plan)
	}
	return &Applied{Counts: a.counts}, provider.WithoutRepeats(diags)
}

// giveUpLate sets changing, the context for calls that change objects. It outlives ctx until everything that
// is open has been closed, leased or not: a provider may still answer in that time, and its answer is then
// recorded. The returned function releases the context at the end of the apply.
func (a *applier) giveUpLate(ctx context.Context) (stop func()) {
	changing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.changing = changing
	forget := context.AfterFunc(ctx, func() {
		a.pool.Shutdown()
		cancel()
	})
	return func() {
		forget()
		cancel()
	}
}

// apply carries out the plan in three stages: changes that planning made without the providers are recorded
// first, so that a step finds the object at its new address; then the steps run; then conditions and checks
// on their results are evaluated. The claims of all steps are made before the first one starts, or an
// ephemeral object might be closed and opened again between two steps that use it.
func (a *applier) apply() {
	if !a.run.Root.CheckVariablesEarly(&future.Task{}) {
		return
	}
	if a.req.Plan.Invoking() {
		invokeAll(a)
		return
	}
	steps, diags := a.req.Plan.Steps()
	a.run.Report(diags)
	if diags.HasErrors() {
		return
	}
	if err := a.adopt(); err != nil {
		a.run.Report(journal.Failed(err))
		return
	}
	for _, c := range a.req.Plan.Changes {
		if c.Action != plan.NoOp {
			a.altered.Add(c.Addr)
		}
	}
	a.left = &deferral.Missing{Instances: a.run.InstancesOf, Missing: a.absent}
	a.finishing.conditions = a.finishing.listConditions()
	findLenders(a)
	a.runSteps(steps, a.claimSteps(steps))
	a.takeTurn()
	settle.Applied{
		Plan: a.req.Plan, Run: a.req.State, Outcomes: &a.outcomes, Blocked: &a.blocked, Failed: a.run.Diags.HasErrors(),
		Checks: state.MergeChecks(a.req.Plan.LastingChecks(), a.run.Checks.Results()),
	}.Record()
}

// claimSteps claims the uses of each step; stepDone waives them.
func (a *applier) claimSteps(steps []plan.Step) [][]eval.Use {
	t := &future.Task{}
	uses := make([][]eval.Use, len(steps))
	for i := range steps {
		c := steps[i].Change
		switch steps[i].Leg {
		case plan.ApplyLeg:
			if in := a.instance(c.Addr); in != nil {
				uses[i] = append(in.Uses(t), lentUses(a, in.Resource.Block.Borrows, c.Deps)...) // mostly shared by all instances
			}
		case plan.DestroyLeg:
			uses[i] = a.destroyUses(t, c)
		case plan.InvokeLeg:
			uses[i] = invocationUses(a, t, &steps[i])
		case plan.OutputLeg:
			o := a.run.Root.Output(steps[i].Output.Name)
			uses[i] = a.outputUses(t, o, a.req.Config)
			if o != nil {
				uses[i] = slices.Concat(uses[i], lentUses(a, o.ReadsLent(), steps[i].Output.Deps))
			}
		}
		a.pool.Claim(uses[i]...)
	}
	a.claimConditions()
	claimLent(a)
	a.checks.claim(t)
	return uses
}

// destroyUses returns the uses of destroying the object of a change.
func (a *applier) destroyUses(t *future.Task, c *plan.Change) (uses []eval.Use) {
	if u, ok := a.preApply.run.Providers.Use(t, c.Provider); ok {
		uses = append(uses, u)
	}
	if d := a.destroying.departure(c); d != nil {
		uses = append(uses, a.asPreApply(t, d.Uses(t))...)
	}
	return append(uses, ephemeral.HeldUses(t, a.preApply.run, c.Addr)...)
}

// claimConditions claims the uses of opening, at the end, the ephemeral resources with conditions but without
// users.
func (a *applier) claimConditions() {
	if a.req.Plan.Mode != plan.Normal {
		return
	}
	a.req.Config.EachResource(func(b *blocks.Resource) {
		if b.Config.Addr.Mode == addr.Ephemeral && b.HasConditions() {
			claimOpened(a, b)
		}
	})
}

// runSteps carries out the steps in dependency order; of those that are ready, the one with the longest way
// still behind it goes first. After a failure, steps that depend on it are passed over; after an interrupt,
// all steps not yet started are. Conditions and checks on all changes follow the last of them.
func (a *applier) runSteps(steps []plan.Step, uses [][]eval.Use) {
	pool := future.NewPool(a.workers())
	a.steps = pool
	var changes atomic.Int64 // still to be made, and one more for the time of queueing them
	var finishing atomic.Bool
	changed := func() {
		if changes.Add(-1) == 0 {
			writeTakenOut(a)
			a.reportInterrupted()
			finishing.Store(a.finishing.queue(pool))
		}
	}
	for i := range steps {
		if steps[i].Change != nil {
			changes.Add(1)
		}
	}
	changes.Add(1)
	order.Queue(pool, steps, plan.Ranks(steps, a.weight), func(t *future.Task, i int32, skip bool) bool {
		defer endDecided(a)
		defer a.pool.Waive(uses[i]...)
		s, ok := &steps[i], false
		if s.Leg == plan.OutputLeg { // also after failures and an interrupt: it keeps its value then
			a.run.Guard(s, func() { a.finishing.output(t, s.Output) })
			return true
		}
		if !skip && (!a.interrupted() || s.Leg == plan.Gate) {
			a.run.Guard(s, func() { ok = a.step(t, s) })
		} else if s.Leg == plan.InvokeLeg {
			reportPassedOver(a, s)
		}
		if !ok {
			a.block(s)
		}
		if s.Change != nil {
			changed()
		}
		return ok
	})
	changed()
	pool.Wait()
	a.finishing.end(finishing.Load())
}

// reportInterrupted reports an interrupt that came before all changes were made.
func (a *applier) reportInterrupted() {
	if a.ctx.Err() != nil {
		a.run.Report(diag.Errorf("Apply aborted", "The apply was interrupted twice, so operations that were under way were abandoned. They may have created or changed objects that the state does not have. Everything that was finished is recorded. Check what exists on the provider's side before you plan and apply again."))
	} else if a.interrupted() {
		a.run.Report(diag.Errorf("Apply interrupted", "The apply was interrupted. Operations that were under way were finished or cancelled, and their results are recorded. Nothing else was started. Plan and apply again to continue."))
	}
}

// step dispatches one step of the plan and reports whether steps that depend on it may go on. A data source
// nested in a check always lets it go on: checks must not block changes.
func (a *applier) step(t *future.Task, s *plan.Step) bool {
	switch s.Leg {
	case plan.ApplyLeg:
		if a.checks.nests(s.Change) {
			a.checks.putOff(t, s.Change)
			return true
		}
		if s.Change.Addr.Resource.Mode == addr.Data {
			return a.reading.step(t, s.Change)
		}
		return a.applyStep(t, s.Change)
	case plan.InvokeLeg:
		return invokeStep(a, t, s)
	case plan.DestroyLeg:
		return a.destroying.step(t, s.Change)
	case plan.ForgetLeg:
		return a.destroying.forget(s.Change)
	default:
		return true
	}
}
