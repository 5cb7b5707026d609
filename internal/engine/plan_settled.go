package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// unchangedInRun reports whether an earlier round has settled the instance, and nothing that it refers to has
// changed since. The instance's dependencies have been planned.
func unchangedInRun(ip *instancePlan) bool {
	pl := ip.planner
	if pl.req.Mode != plan.Normal || !pl.req.Memory.Settled(ip.in.Addr()) {
		return false
	}
	_, forced := pl.forced[ip.in.Addr()]
	triggered := ip.in.Triggered(ip.t, pl.changeFor)
	pl.mu.Lock()
	defer pl.mu.Unlock()
	changed := func(d plan.Dep) bool { return pl.altered.Touched(d) || pl.renewed.Touched(d) }
	ip.stored = pl.prior.Object(ip.Obj)
	return ip.stored != nil && !ip.stored.Tainted && !forced && !triggered && !slices.ContainsFunc(ip.deps, changed)
}

// unchangedGiven reports whether the provider would be given the same as it was before, and the object is as
// it was then: there is nothing to ask it, unless something else asks for a replacement.
func unchangedGiven(ip *instancePlan) bool {
	pl := ip.planner
	before, known := pl.req.Changed.Given(ip.in.Addr())
	pl.mu.Lock()
	ip.stored = pl.prior.Object(ip.Obj)
	pl.mu.Unlock()
	if !known || ip.stored == nil || ip.stored.Version != before.Version || !object.AsItIs(&ip.Op, ip.stored) {
		return false
	}
	cfg, diags := ip.in.EvalBody(ip.t, eval.NewOpened(nil))
	if diags.HasErrors() { // which are reported when it is evaluated for the provider
		return false
	}
	c, _ := configOf(&ip.objectOp, cfg) // a value that can't be stored was never given before
	if !before.Hash.Is(hashGiven(&ip.objectOp, pl.given, ip.t, ip.in, c)) {
		return false
	}
	ip.prior, _ = ip.Upgrade(ip.stored)
	ip.given = before.Hash
	return ip.forcedReason() == plan.NoReason
}

// planSettled plans that the instance stays as the state has it. Only its conditions are evaluated: they may
// refer to something else.
func planSettled(ip *instancePlan) (cty.Value, bool) {
	var ok bool
	if ip.loaded, ok = ip.Upgrade(ip.stored); !ok {
		ip.planner.fail(ip.in.Addr())
		return cty.NilVal, false
	}
	ip.prior = ip.loaded
	ip.newChange(ip.prior)
	c := ip.change
	c.Action, c.After, c.PlannedPrivate, c.PlannedIdentity, c.Given = plan.NoOp, c.Before, ip.prior.Private, c.PriorIdentity, ip.given
	for _, w := range ip.stored.Withheld {
		c.Withheld = append(c.Withheld, plan.Withheld{Path: w.Path, Status: plan.WithheldSame, Computed: w.Computed})
	}
	v := markPrior(ip)
	if ip.in.HasConditions() {
		ip.walk.inSession(ip.t, ip.in, event.OpEvaluate, func(s *ephemeral.Session) {
			ok = ip.in.Preconditions(ip.t, s.Opened) && ip.in.Postconditions(ip.t, s.Opened, v)
		})
	}
	if !ok {
		ip.planner.fail(ip.in.Addr())
		return cty.NilVal, false
	}
	ip.planner.record(c)
	return v, true
}

// changeInRun returns the planned change of an instance or, if ip was deferred by the earlier rounds of a
// run, the change that one of them has made.
func changeInRun(ip *instancePlan) func(addr.Instance) *plan.Change {
	return func(a addr.Instance) *plan.Change {
		c := ip.planner.changeFor(a)
		if c != nil && c.Action != plan.NoOp || ip.planner.req.Memory.Settled(ip.in.Addr()) {
			return c
		}
		if made := ip.planner.req.Memory.Change(a); made != nil {
			return made
		}
		return c
	}
}

// noteRenewed notes that a data source was read, for the rounds of a run: an object that refers to it is
// planned again if the result is not the one that the state has. The caller holds p.mu.
func noteRenewed(p *planner, a addr.Instance, read *state.Object) {
	if p.req.Memory == nil {
		return
	}
	if before := p.req.State.Object(addr.Object{Instance: a}); before == nil || !before.Equal(read) {
		p.renewed.Add(a)
	}
}
