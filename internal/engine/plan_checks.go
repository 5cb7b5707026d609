package engine

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// checksDue reports whether this plan evaluates checks, which concern the configuration as a whole.
func (da *dataPlanner) checksDue() bool {
	return da.planner.req.Mode != plan.Destroy && !da.planner.selection.Restricted()
}

// declareChecks makes every check block part of the plan's results, also those that this plan has not
// evaluated or that no module instance has. Where something is deferred, these may be the same.
func (da *dataPlanner) declareChecks() {
	status := state.CheckUnknown
	if da.checksDue() && da.planner.deferral.set.Empty() && !da.planner.req.Changed.Partial() {
		status = state.CheckPass
	}
	da.run.DeclareChecks(status)
}

// visitChecks queues the checks of a module object, trading the claims of their blocks for exact ones.
func (da *dataPlanner) visitChecks(pool *future.Pool, t *future.Task, m *eval.Module, due func(name string) bool) {
	for _, c := range m.CheckBlocks() {
		if due != nil && !due(strings.TrimPrefix(c.Addr(), m.Addr.Join(""))) {
			continue
		}
		if m.Generic() {
			da.pool.Waive(c.BlockUses()...)
			continue
		}
		if test, _ := c.Test(); !da.checksDue() && !test {
			da.pool.Waive(c.BlockUses()...)
			continue
		}
		uses := c.Uses(t)
		da.pool.Claim(uses...)
		da.pool.Waive(c.BlockUses()...)
		pool.Go(func(t *future.Task) {
			defer da.pool.Waive(uses...)
			da.run.Guard(c.Addr(), func() { da.planCheck(t, c) })
		})
	}
}

// planCheck evaluates the assertions of a check block, whose data sources were read before. A failure is a
// warning, and the plan goes on.
func (da *dataPlanner) planCheck(t *future.Task, c *eval.Check) {
	if _, late := c.Test(); late {
		c.Undecided()
		return
	}
	c.Prepare(t)
	da.planner.reportInterrupt()
	if len(da.planner.deferral.set.Touched(c.Deps(t))) > 0 {
		c.Undecided()
		return
	}
	if da.interrupted() || da.planner.dependencyFailed(c.Deps(t)) || !c.InputsHold(t) {
		c.Undecided()
		return
	}
	da.evaluateCheck(t, c, da.planner.req.Mode == plan.Normal)
}

// readForCheck reads a data source nested in a check. If the plan is to be applied, the data source is read
// again at the end, since data from before the changes says nothing about their outcome.
func (da *dataPlanner) readForCheck(d *dataRead, deps []plan.Dep) (cty.Value, bool) {
	v, ok := d.read()
	if !ok {
		da.unread.Store(d.in.Addr(), d.failure)
	}
	switch {
	case da.planner.req.Mode == plan.Normal && ok:
		plain, _ := v.UnmarkDeep()
		return da.planRead(d, plain, deps, plan.ReadCheckNested)
	case da.planner.req.Mode == plan.Normal:
		return da.planRead(d, schema.PlannedDataObject(d.Block(), d.config.Value), deps, plan.ReadCheckNested)
	case ok:
		da.keep(d, v, deps)
		return v, true
	}
	da.planner.mu.Lock()
	defer da.planner.mu.Unlock()
	da.planner.prior.RemoveInstance(d.in.Addr())
	return cty.UnknownVal(d.Block().Type()), true
}
