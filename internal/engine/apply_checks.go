package engine

import (
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// checkApplier evaluates the checks of an apply, after all changes.
type checkApplier struct {
	*walk
	applier *applier
	due     []dueCheck                   // set before any step starts
	reads   map[addr.Instance]nestedRead // put off until all changes are made; protected by applier.mu
}

// nests reports whether the change is about a block that is nested in a check.
func (ch *checkApplier) nests(c *plan.Change) bool {
	in := ch.applier.instance(c.Addr)
	return in != nil && in.Config().Check != nil
}

// putOff defers reading a nested data source, with its claims, until all changes are made.
func (ch *checkApplier) putOff(t *future.Task, c *plan.Change) {
	in := ch.applier.instance(c.Addr)
	r := nestedRead{change: c, uses: slices.Concat(in.Uses(t), lentUses(ch.applier, in.Resource.Block.Borrows, c.Deps))}
	ch.pool.Claim(r.uses...)
	ch.applier.mu.Lock()
	defer ch.applier.mu.Unlock()
	ch.reads[c.Addr] = r
}

// unreadable remembers that a data source nested in a check could not be read. It returns the changes to the
// state, which drop the result of an earlier run.
func (ch *checkApplier) unreadable(d *dataRead) []state.ObjectChange {
	if d.in.Config().Check == nil {
		return nil
	}
	ch.unread.Store(d.in.Addr(), d.failure)
	if ch.applier.object(d.Obj) == nil {
		return nil
	}
	return []state.ObjectChange{{Object: d.Obj, Provider: d.in.Provider(d.t).Addr}}
}

// claim finds the checks to evaluate and claims their uses. Their objects come from the plan: no
// repetition is evaluated before the changes are made.
func (ch *checkApplier) claim(t *future.Task) {
	if ch.applier.req.Plan.Mode != plan.Normal {
		return
	}
	for _, r := range ch.applier.req.Plan.Checks {
		if r.Kind != "check" {
			continue
		}
		for _, o := range r.Objects {
			if c := ch.run.Check(o.Addr); c != nil {
				due := dueCheck{Check: c, uses: c.Uses(t)}
				ch.pool.Claim(due.uses...)
				ch.due = append(ch.due, due)
			}
		}
	}
}

// finish queues the evaluation of the checks, each after its own nested data source is read. A
// restricted plan may read nested data sources and leave their checks for later.
func (ch *checkApplier) finish(pool *future.Pool) {
	alone := maps.Clone(ch.reads)
	for _, c := range ch.due {
		nested := c.Nested()
		if nested != nil {
			delete(alone, nested.Addr())
		}
		pool.Go(func(t *future.Task) {
			defer ch.pool.Waive(c.uses...)
			if nested != nil {
				ch.readNested(t, nested.Addr())
			}
			ch.run.Guard(c.Addr(), func() { ch.finishOne(t, c.Check) })
		})
	}
	for i := range alone {
		pool.Go(func(t *future.Task) { ch.readNested(t, i) })
	}
}

// readNested reads a data source that is nested in a check, if that is planned.
func (ch *checkApplier) readNested(t *future.Task, i addr.Instance) {
	r, planned := ch.reads[i]
	if !planned {
		return
	}
	defer ch.pool.Waive(r.uses...)
	ok := ch.interrupted()
	if !ok {
		ch.run.Guard(i, func() { ok = ch.applier.reading.step(t, r.change) })
	}
	if _, unread := ch.unread.Load(i); !ok && !unread {
		ch.applier.block(&plan.Step{Leg: plan.ApplyLeg, Change: r.change})
	}
}

func (ch *checkApplier) finishOne(t *future.Task, c *eval.Check) {
	if deps := c.Deps(t); ch.interrupted() || ch.applier.anyBlocked(deps) || len(ch.applier.deferred.Touched(deps)) > 0 || !c.InputsHold(t) {
		c.Undecided()
		return
	}
	c.Prepare(t)
	ch.evaluateCheck(t, c, false)
}

// warnUnchecked warns of checks that an interrupt left undecided.
func (ch *checkApplier) warnUnchecked() {
	if ch.interrupted() && len(ch.due) > 0 {
		ch.run.Report(diag.Warnf("Checks not completed", "The apply was interrupted when its changes were made but before all checks were evaluated: the next plan evaluates them."))
	}
}
