package engine

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/value"
)

// evaluateCheck evaluates the assertions of a check. What the check needs must have been prepared. With
// announce set, the results of what cannot be decided now are announced for later.
func (w *walk) evaluateCheck(t *future.Task, c *eval.Check, announce bool) {
	in := c.Nested()
	if in != nil {
		if why, failed := w.unread.Load(in.Addr()); failed {
			c.Fail(why.(string))
			return
		}
	}
	ran := w.inSlot(func() {
		s := eval.NewSession()
		defer s.End()
		c.OpenNested(t, s)
		if in != nil && s.Failed() {
			// What the provider said is not repeated in a message that is stored.
			c.Fail(fmt.Sprintf("%s could not be opened.", in.Addr()))
			return
		}
		c.Evaluate(t, s, announce)
	})
	if !ran {
		c.Undecided()
	}
}

// checksDue reports whether this plan evaluates checks: they are about the configuration as a whole.
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
		if !p.checksDue() {
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

func (p *planner) planCheck(t *future.Task, c *eval.Check) {
	c.Prepare(t)
	if p.interrupted() {
		p.run.Report(interruptedPlan())
	}
	if p.interrupted() || p.dependencyFailed(c.Deps(t)) || !c.InputsHold(t) {
		c.Undecided()
		return
	}
	p.evaluateCheck(t, c, p.req.Mode == plan.Normal)
}

// readForCheck reads a data source that is nested in a check. A plan that is to be applied has it read again
// at the end: what was read before the changes says nothing about the outcome.
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
		return p.planRead(d, schema.PlannedDataObject(d.block(), d.config.value), deps, plan.ReadCheckNested)
	case ok:
		p.keepRead(d, v, deps)
		return v, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prior.RemoveInstance(d.in.Addr())
	return cty.UnknownVal(d.block().Type()), true
}

// storable returns the first error in the form that results of checks keep. What a provider says that was
// given a secret is kept nowhere.
func (d *dataRead) storable(diags diag.List) string {
	po := d.in.Provider(d.t)
	secret := len(d.config.sensitive) > 0 || po.Opens()
	if !secret {
		cfg, _ := po.EvalBody(d.t, nil)
		secret = value.Contains(cfg, value.Sensitive) || value.Contains(cfg, value.Ephemeral)
	}
	i := slices.IndexFunc(diags, func(x diag.Diagnostic) bool { return x.Severity == diag.Error })
	switch {
	case secret:
		return fmt.Sprintf("%s could not be read.", d.obj)
	case diags[i].Detail == "":
		return diags[i].Summary
	default:
		return diags[i].Summary + ": " + diags[i].Detail
	}
}

// unreadable remembers that a data source that is nested in a check could not be read, and returns what that
// changes in the state: what an earlier run read is not kept.
func (a *applier) unreadable(d *dataRead) []state.ObjectChange {
	if d.in.Config().Check == nil {
		return nil
	}
	a.unread.Store(d.in.Addr(), d.failure)
	if a.object(d.obj) == nil {
		return nil
	}
	return []state.ObjectChange{{Object: d.obj, Provider: d.in.Provider(d.t).Addr}}
}

// nestedRead is a planned read of a data source that is nested in a check.
type nestedRead struct {
	change *plan.Change
	uses   []eval.Use
}

// deferRead puts a nested data source off until all changes are made, with its claims.
func (a *applier) deferRead(t *future.Task, c *plan.Change) {
	r := nestedRead{change: c, uses: a.instance(c.Addr).Uses(t)}
	a.pool.Claim(r.uses...)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.nested = append(a.nested, r)
}

// nestedInCheck reports whether the change is about a block that is nested in a check.
func (a *applier) nestedInCheck(c *plan.Change) bool {
	in := a.instance(c.Addr)
	return in != nil && in.Config().Check != nil
}

// dueCheck is a check that this apply evaluates, with its claims.
type dueCheck struct {
	*eval.Check
	uses []eval.Use
}

// claimChecks finds the checks to evaluate and claims what they may use. Their objects are those of the plan:
// no repetition is evaluated before the changes are made.
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

// finishChecks reads the data sources of checks, then evaluates the checks.
func (a *applier) finishChecks(pool *future.Pool) {
	for _, r := range a.nested {
		pool.Go(func(t *future.Task) {
			defer a.pool.Waive(r.uses...)
			ok := a.interrupted()
			if !ok {
				a.run.Guard(r.change.Addr.String(), func() { ok = a.readStep(t, r.change) })
			}
			if _, unread := a.unread.Load(r.change.Addr); !ok && !unread {
				a.block(r.change)
			}
		})
	}
	pool.Wait()
	for _, c := range a.checks {
		pool.Go(func(t *future.Task) {
			defer a.pool.Waive(c.uses...)
			a.run.Guard(c.Addr(), func() {
				if a.interrupted() || a.anyBlocked(c.Deps(t)) || !c.InputsHold(t) {
					c.Undecided()
					return
				}
				c.Prepare(t)
				a.evaluateCheck(t, c.Check, false)
			})
		})
	}
	pool.Wait()
	if a.interrupted() && len(a.checks) > 0 {
		a.run.Report(diag.Warnf("Checks not completed", "The apply was interrupted when its changes were made but before all checks were evaluated: the next plan evaluates them."))
	}
}
