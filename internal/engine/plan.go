package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/gone"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/order"
	"github.com/mayfly-iac/mayfly/internal/engine/scrub"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/engine/settle"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Plan makes a plan. If the diagnostics have errors, the plan is returned all the same, to be shown, with
// Errored set.
func (e *Engine) Plan(ctx context.Context, req PlanRequest) (*plan.Plan, diag.List) {
	ctx, span := trace.Start(ctx, "plan")
	made := false
	defer func() { span.Finish(made) }()
	if req.Soft == nil {
		req.Soft = ctx
	}
	defer e.expose(req.Config, req.Variables, req.State)()
	defer e.stopOn(req.Soft)()
	defer e.events.BeginDetail(event.OpPlanning, addr.Object{}, &made)()
	p := e.attempt(ctx, req)
	p.plan.Adopted = state.Diff(p.req.State, p.plan.Prior)
	if req.Scoped && !p.run.Diags.HasErrors() {
		settle.Planned(ctx, p.run, req.Config, &p.rows, req.Changed, req.Hashes)
		p.plan.Reads = settle.Reads(p.plan, partial(p) || req.Changed.Partial() || len(req.Invoke) > 0, p.deferral.attempts.reads.Has)
	}
	p.plan.Extent = req.Changed.Extent(p.req.State)
	p.reportInterrupt() // one that came while the last things were closed counts too: no apply may follow
	diags := p.run.Diags.List()
	p.plan.Errored = diags.HasErrors()
	made = !p.plan.Errored
	span.SetNumber(trace.Changes, int64(len(p.plan.Changes)))
	noteDecisions(ctx, p.plan)
	return p.plan, selection.Advise(provider.OneInterrupt(provider.WithoutRepeats(diags)), req.Excludes, cmp.Or(req.Advice, selection.InvokeAdvice(req.Invoke)))
}

// attempt makes a plan. Which replacements have to be deferred as a whole is known at the end, and then
// another attempt defers them from the start.
func (e *Engine) attempt(ctx context.Context, req PlanRequest) *planner {
	common := newAttempts(&req)
	for {
		p := e.startPlan(ctx, req)
		p.deferral.attempts = common
		if again := e.makeOne(p); !p.rows.Missed(ctx) && !again {
			return p
		}
		req.State = p.req.State
	}
}

// makeOne makes one attempt at a plan. It returns true if there must be another.
func (e *Engine) makeOne(p *planner) (again bool) {
	defer func() { e.stats.Evaluations += p.run.Stats.Evaluations.Load() }()
	defer p.pool.Finish()
	return p.makePlan()
}

// noteDecisions notes the action of the plan for each object, and the reasons.
func noteDecisions(ctx context.Context, p *plan.Plan) {
	if !trace.Noting(ctx) {
		return
	}
	for _, c := range p.Changes {
		why := ""
		if c.Reason != "" {
			why = ", because of " + string(c.Reason)
		}
		trace.Note(ctx, trace.Debug, "plan: %s of %s%s", c.Action, c.Object(), why)
	}
}

// makePlan runs the plan. Whether a restricted plan includes an output depends on the objects it includes, so
// the outputs of such a plan follow in a second round. It returns true if the plan must be made again.
func (p *planner) makePlan() (again bool) {
	p.plan.Prior = p.prior // an incomplete plan can be stored too
	if !p.valid() {
		return false
	}
	defer func() { p.run.Report(p.warnings.Except(p.run.Diags.List())) }()
	if len(p.req.Invoke) > 0 {
		planInvoke(p)
		return false
	}
	var outputs []dueOutput
	if p.req.Mode != plan.Destroy {
		p.claimAll()
		outputs = p.claimOutputs(&future.Task{}, p.req.Config)
		p.outputs.begin()
	}
	p.planVariables()
	if p.run.Diags.HasErrors() {
		return false
	}
	p.applyMoves()
	p.start.adoptProviders()
	p.orphans.list()
	p.imports.list()
	if p.run.Diags.HasErrors() {
		return false
	}
	pool := future.NewPool(p.workers())
	p.imports.queue(pool)
	switch {
	case p.req.Mode == plan.Destroy:
		p.orphans.queue(pool, &future.Task{}, p.orphans.stored.Below(addr.RootInstance, nil)) // everything in the state is destroyed, declared or not
	case p.req.Changed.Partial():
		if !planChanged(p, pool, outputs) {
			return false
		}
	default:
		p.order.Find(p.req.Config)
		p.expands = 1
		pool.GoRanked(order.Expansion, func(t *future.Task) { p.run.Guard("the root module", func() { p.visit(pool, t, p.run.Root) }) })
		if !partial(p) {
			p.outputs.queue(pool, outputs)
		}
	}
	pool.Wait()
	p.pool.Waive(p.untargeted...)
	if p.restrict.extend() || p.deferral.settle() {
		return true
	}
	planActions(p)
	if p.restrict.extend() || !p.run.Diags.HasErrors() && p.deferral.putOffTriggers() {
		return true
	}
	p.imports.check()
	checkDeliveries(p)
	p.outputs.planRestricted(pool, outputs)
	p.outputs.finish()
	p.reportInterrupt()
	p.collect()
	if p.req.Memory.Stalled(p.plan) && !p.run.Diags.HasErrors() {
		p.deferral.reportStuck(p.deferral.set.Crossed(p.prior, p.deferral.attempts.seeds))
	}
	putBack(p)
	p.restrict.warnUnmatched()
	p.run.Report(gone.Forgotten(p.plan))
	p.run.Report(withheld.TakenOut(p.plan))
	if p.req.RequireEphemeral {
		p.run.Report(withheld.StoresSensitive(p.plan, p.providers.Loaded))
	}
	return false
}

// planVariables checks root variables and records the ones that are kept with the plan.
func (p *planner) planVariables() {
	p.run.Root.CheckVariablesEarly(&future.Task{})
	p.plan.Variables = map[string]value.Durable{}
	for name, v := range p.req.Variables {
		cfg := p.req.Config.Tree.Root.Variables[name]
		if cfg == nil {
			continue
		}
		if cfg.Ephemeral {
			p.plan.EphemeralVariables = append(p.plan.EphemeralVariables, name)
			continue
		}
		d, err := value.Seal(v, v.Type(), nil)
		if err != nil {
			p.run.Report(diag.At(cfg.Range, "Invalid value for input variable", "The value of the variable %q cannot be stored in the plan: %s.", name, err))
			continue
		}
		p.plan.Variables[name] = d
	}
	slices.Sort(p.plan.EphemeralVariables)
}

// claimAll claims, for every block, the uses of its instances, before any instance is known. visit replaces
// these claims by exact ones.
func (p *planner) claimAll() {
	p.req.Config.EachResource(func(b *blocks.Resource) { p.pool.Claim(eval.BlockClaims(b)...) })
	eval.EachCheck(p.req.Config, func(uses []eval.Use) { p.pool.Claim(uses...) })
}

// visit queues the work of a module object: first whatever determines its instances, then the instances.
func (p *planner) visit(pool *future.Pool, t *future.Task, m *eval.Module) {
	if partial(p) && !m.Generic() {
		m.CheckVariables(t, p.outputs.variablesFirst(t))
	}
	calls, resources := p.dropUntargeted(m)
	p.mu.Lock()
	p.expands += len(calls) + len(resources)
	p.mu.Unlock()
	for _, c := range calls {
		pool.GoRanked(order.Expansion, func(t *future.Task) {
			defer p.orphans.expansionDone(pool, t)
			p.run.Guard("a module call", func() { p.visitCall(pool, t, c) })
		})
	}
	for _, r := range resources {
		pool.GoRanked(order.Expansion, func(t *future.Task) {
			defer p.orphans.expansionDone(pool, t)
			p.run.Guard(r.Addr(), func() { p.visitResource(pool, t, r) })
		})
	}
	pool.Go(func(t *future.Task) {
		p.run.Guard("the values of a module", func() {
			if partial(p) {
				return
			}
			m.CheckVariables(t, nil)
			if p.req.Mode != plan.Destroy {
				m.OutputPreconditions(t, nil)
			}
			if p.req.Mode == plan.Normal {
				m.EvaluateValues(t, nil)
			}
		})
	})
	p.data.visitChecks(pool, t, m, nil)
	p.orphans.decided(pool, t, p.orphans.stored.WithoutBlocks(m)...)
	p.orphans.expansionDone(pool, t)
}

// dropUntargeted returns the calls and resources of a module object that -target selects. They may depend on
// the others, whose claims last until they are planned: an ephemeral instance would be opened for each.
func (p *planner) dropUntargeted(m *eval.Module) ([]*eval.Call, []*eval.Resource) {
	calls, resources := m.Calls(), m.Resources()
	var untargeted []eval.Use
	resources = slices.DeleteFunc(resources, func(r *eval.Resource) bool { return r.Block.IsAction() })
	if len(p.req.Targets) == 0 {
		return calls, resources
	}
	calls = slices.DeleteFunc(calls, func(c *eval.Call) bool {
		drop := !p.selection.TouchesModule(c.Addr())
		if drop {
			untargeted = append(untargeted, c.BlockClaims()...)
		}
		return drop
	})
	resources = slices.DeleteFunc(resources, func(r *eval.Resource) bool {
		drop := !p.selection.Touches(r.Addr())
		if drop {
			untargeted = append(untargeted, eval.BlockClaims(r.Block)...)
		}
		return drop
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.untargeted = append(p.untargeted, untargeted...)
	return calls, resources
}

// checkRepetition has an invalid value reported before the errors about instances that follow from it. In a
// restricted plan, this could read objects that the plan leaves out.
func (p *planner) checkRepetition(t *future.Task, of interface{ RepetitionHolds(*future.Task) bool }) {
	if !partial(p) {
		of.RepetitionHolds(t)
	}
}

// visitCall queues the instances of a called module. Each instance needs its own set of block claims, so the
// one set that claimAll made is multiplied, or waived if there are no instances.
func (p *planner) visitCall(pool *future.Pool, t *future.Task, c *eval.Call) {
	p.checkRepetition(t, c)
	children := c.Children(t, nil)
	if c.Undecided(t) {
		children = []*eval.Module{c.Generic()}
	}
	p.orphans.keepLeftOut(t, c)
	// The claims of the called module's blocks stand for one instance of it.
	uses := c.BlockClaims()
	for range len(children) - 1 {
		p.pool.Claim(uses...)
	}
	if len(children) == 0 {
		p.pool.Waive(uses...)
	}
	p.mu.Lock()
	p.expands += len(children)
	for _, child := range children {
		if !child.Generic() {
			p.called = append(p.called, child.Addr)
		}
	}
	p.mu.Unlock()
	for _, child := range children {
		pool.GoRanked(order.Expansion, func(t *future.Task) { p.run.Guard(child.Addr, func() { p.visit(pool, t, child) }) })
	}
	p.orphans.decided(pool, t, p.orphans.stored.WithoutModules(t, c)...)
}

// visitResource queues the instances of a resource. It claims the uses of each instance before it waives the
// claim of the block: the other way round, an ephemeral object could be closed in between.
func (p *planner) visitResource(pool *future.Pool, t *future.Task, r *eval.Resource) {
	p.checkRepetition(t, r)
	instances, ok := r.Instances(t)
	if r.Undecided(t) && !r.Block.Config.Addr.Mode.Fleeting() {
		instances = []*eval.Instance{r.Generic()}
	}
	p.mu.Lock()
	if !ok {
		p.unknown[r.Addr()] = struct{}{}
	}
	if !r.Addr().Instance(addr.NoKey).Unkeyed() {
		p.desired[r.Addr()] = r
	}
	p.mu.Unlock()
	uses := make([][]eval.Use, len(instances))
	for i, in := range instances {
		if in.Addr().Unkeyed() {
			continue
		}
		uses[i] = in.Claims(t)
		p.pool.Claim(uses[i]...)
	}
	if ok {
		p.orphans.decided(pool, t, r.Addr())
	}
	p.pool.Waive(eval.BlockClaims(r.Block)...)
	for i, in := range instances {
		pool.GoRanked(p.order.Rank(in), func(t *future.Task) {
			defer p.pool.Waive(uses[i]...)
			p.run.Guard(in, func() { p.visitInstance(t, in) })
		})
	}
}

// visitInstance demands the results that the plan needs of an instance. An ephemeral instance is opened only
// for its own conditions.
func (p *planner) visitInstance(t *future.Task, in *eval.Instance) {
	if !in.Addr().Unkeyed() && (!p.selection.Selects(in.Addr()) || p.req.Changed.Idle(in.Addr(), in.Resource.Block)) {
		return
	}
	switch in.Config().Addr.Mode {
	case addr.Ephemeral:
		if !in.HasConditions() || p.req.Mode == plan.RefreshOnly || p.interrupted() || p.unneeded(in) || in.Addr().Unkeyed() {
			return
		}
		in.Prepare(t)
		if p.deferral.outOfReach(t, in) || p.restrict.excluded(in.Addr(), in.Deps(t)) || p.restrict.usesExcluded(t, in) || !in.InputsHold(t) {
			return
		}
		p.inSession(t, in, event.OpEvaluate, func(s *ephemeral.Session) {
			s.Open(t, []eval.Need{{Instance: in}})
		})
	default:
		in.Value(t, nil)
	}
}

// collect assembles the plan from the records of the tasks.
func (p *planner) collect() {
	p.plan.Changes = slices.AppendSeq(p.plan.Changes, maps.Values(p.changes))
	slices.SortFunc(p.plan.Changes, (*plan.Change).Compare)
	slices.SortFunc(p.drift, (*plan.Change).Compare)
	p.plan.Drift = p.drift
	if p.req.Mode == plan.Normal {
		p.deferral.set.AddMoved(p.moved, p.prior, p.changes)
	}
	p.plan.Deferrals = p.deferral.set.List()
	slices.SortFunc(p.plan.Outputs, func(a, b *plan.OutputChange) int { return strings.Compare(a.Name, b.Name) })
	p.rows.Made(p.ctx)
	p.dropWriteOnly()
	p.plan.Prior = p.prior
	p.data.declareChecks()
	p.plan.Checks = p.run.Checks.Results()
	p.plan.SpreadReplaceOrder()
	if _, diags := p.plan.Steps(); diags.HasErrors() && !p.run.Diags.HasErrors() {
		p.run.Report(diags)
	}
}

// dropWriteOnly drops the values that another engine has left in write-only attributes from the states that
// the plan keeps, which a saved plan would copy. Planning itself cleans an object only in its planned form.
// Types whose provider was not started are left as they are.
func (p *planner) dropWriteOnly() {
	s := scrub.New(scrub.Options{
		Schema: func(a addr.Provider, typeName string) *schema.Schema {
			return p.providers.Loaded(a, addr.Managed, typeName)
		},
		Absent: object.Additions,
	})
	p.plan.Base = s.State(p.plan.Base, func(addr.Object, []cty.Path) {}) // planning has already warned about the objects it read
	p.prior = s.State(p.prior, func(obj addr.Object, paths []cty.Path) { p.run.Report(scrub.Warning(obj, paths)) })
}
