package engine

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/order"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// changedPlanner plans the units with work in a plan with the scope of a change. Claims of the others are
// kept until the plan is made.
type changedPlanner struct {
	of      *planner
	pool    *future.Pool
	outputs []dueOutput
}

// planChanged plans the instances that have work, with all that follows from them. It returns false if the
// plan has to be made again as a full one. One with errors is shown as far as it was made.
func planChanged(p *planner, pool *future.Pool, outputs []dueOutput) bool {
	work := p.req.Changed
	work.GiveUp(len(p.moved) > 0, "objects move")
	p.order.Find(p.req.Config)
	seen, ok := work.Plan(p.ctx, p.run, pool, &changedPlanner{p, pool, outputs})
	if ok {
		p.orphans.queue(pool, &future.Task{}, seen)
		pool.Wait()
		p.rows.Load(state.New())
		work.Settle(maps.Values(p.changes), p.req.State)
	}
	p.req.Part.LookAll(!work.Partial())
	return work.Partial()
}

// unchanged returns the object of an instance without work in a plan with the scope of a change.
func unchanged(p *planner, in *eval.Instance) (cty.Value, bool) {
	p.rows.Demand(p.ctx, &p.mu, in.Addr())
	if p.req.Changed.Plans(in.Addr(), in.Resource.Block) {
		return cty.NilVal, false
	}
	op := p.instanceOp(in)
	p.mu.Lock()
	o := p.prior.Object(op.Obj)
	p.mu.Unlock()
	if o != nil && op.IsCurrent(o) {
		if v, ok := op.Live(o); ok {
			return v, true
		}
	}
	p.req.Changed.Join(in.Addr()) // it is created, or brought into another form
	return cty.NilVal, false
}

// Load implements changed.Planner.
func (c *changedPlanner) Load(found *state.State) {
	c.of.rows.Load(found)
	c.of.start.adoptProviders()
}

// Resource implements changed.Planner.
func (c *changedPlanner) Resource(r *eval.Resource) {
	c.of.pool.Claim(eval.BlockClaims(r.Block)...)
	c.pool.GoRanked(order.Expansion, func(t *future.Task) { c.of.run.Guard(r.Addr(), func() { c.of.visitResource(c.pool, t, r) }) })
}

// Results implements changed.Planner.
func (c *changedPlanner) Results(m *eval.Module, due func(name string) bool) {
	c.of.data.visitChecks(c.pool, &future.Task{}, m, due)
	if m.Addr.IsRoot() {
		c.of.outputs.queue(c.pool, slices.DeleteFunc(c.outputs, func(o dueOutput) bool { return !due(o.Addr()) }))
	}
}

// Wait implements changed.Planner.
func (c *changedPlanner) Wait() bool {
	c.pool.Wait()
	c.of.rows.Load(state.New())
	return !c.of.run.Diags.HasErrors()
}

// Altered implements changed.Planner.
func (c *changedPlanner) Altered(a addr.Instance) bool {
	obj := addr.Object{Instance: a}
	ch := c.of.changes[obj]
	return ch != nil && ch.Action != plan.NoOp || !c.of.req.State.Object(obj).SameValue(c.of.prior.Object(obj))
}
