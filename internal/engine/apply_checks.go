package engine

import (
	"maps"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// nestedInCheck reports whether the change is about a block that is nested in a check.
func (a *applier) nestedInCheck(c *plan.Change) bool {
	in := a.instance(c.Addr)
	return in != nil && in.Config().Check != nil
}

// deferRead defers reading a nested data source, with its claims, until all changes are made.
func (a *applier) deferRead(t *future.Task, c *plan.Change) {
	r := nestedRead{change: c, uses: a.instance(c.Addr).Uses(t)}
	a.pool.Claim(r.uses...)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.nested[c.Addr] = r
}

// unreadable remembers that a data source nested in a check could not be read. It returns the changes to the
// state, which drop the result of an earlier run.
func (a *applier) unreadable(d *dataRead) []state.ObjectChange {
	if d.in.Config().Check == nil {
		return nil
	}
	a.unread.Store(d.in.Addr(), d.failure)
	if a.object(d.Obj) == nil {
		return nil
	}
	return []state.ObjectChange{{Object: d.Obj, Provider: d.in.Provider(d.t).Addr}}
}

// claimChecks finds the checks to evaluate and claims their uses. Their objects come from the plan: no
// repetition is evaluated before the changes are made.
func (a *applier) claimChecks(t *future.Task) {
	if a.req.Plan.Mode != plan.Normal {
		return
	}
	for _, r := range a.req.Plan.Checks {
		if r.Kind != "check" {
			continue
		}
		for _, o := range r.Objects {
			if c := a.run.Check(o.Addr); c != nil {
				due := dueCheck{Check: c, uses: c.Uses(t)}
				a.pool.Claim(due.uses...)
				a.checks = append(a.checks, due)
			}
		}
	}
}

// finishChecks queues the evaluation of the checks, each after its own nested data source is read. A
// restricted plan may read nested data sources and leave their checks for later.
func (a *applier) finishChecks(pool *future.Pool) {
	alone := maps.Clone(a.nested)
	for _, c := range a.checks {
		nested := c.Nested()
		if nested != nil {
			delete(alone, nested.Addr())
		}
		pool.Go(func(t *future.Task) {
			defer a.pool.Waive(c.uses...)
			if nested != nil {
				a.readNested(t, nested.Addr())
			}
			a.run.Guard(c.Addr(), func() { a.finishCheck(t, c.Check) })
		})
	}
	for i := range alone {
		pool.Go(func(t *future.Task) { a.readNested(t, i) })
	}
}

// readNested reads a data source that is nested in a check, if that is planned.
func (a *applier) readNested(t *future.Task, i addr.Instance) {
	r, planned := a.nested[i]
	if !planned {
		return
	}
	defer a.pool.Waive(r.uses...)
	ok := a.interrupted()
	if !ok {
		a.run.Guard(i, func() { ok = a.readStep(t, r.change) })
	}
	if _, unread := a.unread.Load(i); !ok && !unread {
		a.block(&plan.Step{Leg: plan.ApplyLeg, Change: r.change})
	}
}

func (a *applier) finishCheck(t *future.Task, c *eval.Check) {
	if a.interrupted() || a.anyBlocked(c.Deps(t)) || !c.InputsHold(t) {
		c.Undecided()
		return
	}
	c.Prepare(t)
	a.evaluateCheck(t, c, false)
}

// warnUnchecked warns of checks that an interrupt left undecided.
func (a *applier) warnUnchecked() {
	if a.interrupted() && len(a.checks) > 0 {
		a.run.Report(diag.Warnf("Checks not completed", "The apply was interrupted when its changes were made but before all checks were evaluated: the next plan evaluates them."))
	}
}
