package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// checksDue reports whether this plan evaluates checks, which concern the configuration as a whole.
func (p *planner) checksDue() bool {
	return p.req.Mode != plan.Destroy && !p.selection.Restricted()
}

// declareChecks makes every check block part of the plan's results, also those that this plan does not
// evaluate or that no module instance has.
func (p *planner) declareChecks() {
	status := state.CheckUnknown
	if p.checksDue() {
		status = state.CheckPass
	}
	p.run.DeclareChecks(status)
}

// visitChecks queues the checks of a module object, trading the claims of their blocks for exact ones.
func (p *planner) visitChecks(pool *future.Pool, t *future.Task, m *eval.Module) {
	for _, c := range m.CheckBlocks() {
		if test, _ := c.Test(); !p.checksDue() && !test {
			p.pool.Waive(c.BlockUses()...)
			continue
		}
		uses := c.Uses(t)
		p.pool.Claim(uses...)
		p.pool.Waive(c.BlockUses()...)
		pool.Go(func(t *future.Task) {
			defer p.pool.Waive(uses...)
			p.run.Guard(c.Addr(), func() { p.planCheck(t, c) })
		})
	}
}

// planCheck evaluates the assertions of a check block, whose data sources were read before. A failure is a
// warning, and the plan goes on.
func (p *planner) planCheck(t *future.Task, c *eval.Check) {
	if _, late := c.Test(); late {
		c.Undecided()
		return
	}
	c.Prepare(t)
	p.reportInterrupt()
	if p.interrupted() || p.dependencyFailed(c.Deps(t)) || !c.InputsHold(t) {
		c.Undecided()
		return
	}
	p.evaluateCheck(t, c, p.req.Mode == plan.Normal)
}

// readForCheck reads a data source nested in a check. If the plan is to be applied, the data source is read
// again at the end, since data from before the changes says nothing about their outcome.
func (p *planner) readForCheck(d *dataRead, deps []plan.Dep) (cty.Value, bool) {
	v, ok := d.read()
	if !ok {
		p.unread.Store(d.in.Addr(), d.failure)
	}
	switch {
	case p.req.Mode == plan.Normal && ok:
		plain, _ := v.UnmarkDeep()
		return p.planRead(d, plain, deps, plan.ReadCheckNested)
	case p.req.Mode == plan.Normal:
		return p.planRead(d, schema.PlannedDataObject(d.Block(), d.config.Value), deps, plan.ReadCheckNested)
	case ok:
		p.keepRead(d, v, deps)
		return v, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prior.RemoveInstance(d.in.Addr())
	return cty.UnknownVal(d.Block().Type()), true
}
