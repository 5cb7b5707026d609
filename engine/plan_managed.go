package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/state"
)

// Result implements eval.Host: the object that the instance is planned to be.
func (p *planner) Result(t *future.Task, in *eval.Instance) cty.Value {
	placeholder := unknownObject(in)
	if p.interrupted() {
		p.reportInterrupt()
		return placeholder
	}
	if v, ok := p.asStored(in); ok {
		return v
	}
	// The task may plan the instance for the sake of another one, of a lower rank.
	defer func(before int64) { t.Rank = before }(t.Rank)
	t.Rank = max(t.Rank, p.rank(in))
	if in.Config().Addr.Mode == addr.Data {
		return p.planData(t, in)
	}
	ip := &instancePlan{objectOp: p.instanceOp(in), planner: p, t: t, in: in}
	v, ok := ip.planInstance()
	if !ok {
		return placeholder
	}
	return v
}

// instancePlan plans one managed instance that the configuration declares.
type instancePlan struct {
	objectOp
	planner *planner
	t       *future.Task
	in      *eval.Instance
	deps    []plan.Dep
	change  *plan.Change
	// stored is the object as the state has it; prior the same upgraded and refreshed.
	stored *state.Object
	prior  prior
	// declared is the configuration; config is the same with ignore_changes applied, unless the object is
	// new.
	declared, config evaluated
	generated        string // the configuration, if it was generated for this import
}

// planInstance returns the planned object with its marks; false if it could not be planned, which was
// reported.
func (ip *instancePlan) planInstance() (cty.Value, bool) {
	in, t := ip.in, ip.t
	in.Prepare(t)
	ip.deps = in.Deps(t)
	if ip.planner.excluded(in.Addr(), ip.deps) || ip.planner.usesExcluded(t, in) {
		return ip.keepPrior()
	}
	ip.planner.include(in.Addr())
	if in.Circular() || ip.planner.req.Mode == plan.Normal && (ip.planner.dependencyFailed(ip.deps) || !in.InputsHold(t)) {
		ip.planner.fail(in.Addr())
		return cty.NilVal, false // the reason was reported where it arose
	}
	ip.awaitOpenings(t, in)
	ok := false
	var v cty.Value
	ip.inSession(t, in, event.OpPlan, func(s *eval.Session) {
		defer ip.events.BeginDetail(event.OpPlan, ip.obj, &ok)()
		v, ok = ip.planWith(s)
	})
	if !ok {
		ip.planner.fail(in.Addr())
	}
	return v, ok
}

// planWith plans the instance with the provider and the leases of s. A refresh-only plan ends after the
// conditions: it records what refreshing found and plans no change.
func (ip *instancePlan) planWith(s *eval.Session) (cty.Value, bool) {
	ip.p = ip.openFor(ip.t, s, ip.in, ip.evaluatesFirst())
	if ip.p == nil || s.Failed() || !ip.loadPrior() || ip.interrupted() {
		return cty.NilVal, false
	}
	if ip.planner.req.Mode == plan.RefreshOnly {
		v := cty.UnknownVal(ip.block().Type())
		if !ip.prior.value.IsNull() {
			v = ip.mark(ip.prior.value, ip.prior.sensitive())
		}
		return v, ip.in.Preconditions(ip.t, s) && ip.in.Postconditions(ip.t, s, v)
	}
	if !ip.in.Preconditions(ip.t, s) {
		return cty.NilVal, false
	}
	var ok bool
	if ip.declared, ok = ip.evaluate(ip.t, s, ip.in); !ok {
		return cty.NilVal, false
	}
	ip.config = ip.ignoreChanges(ip.declared, &ip.in.Config().Lifecycle, ip.prior)
	v, ok := ip.decide()
	if !ok || !ip.checkProvisioners(v) {
		return cty.NilVal, false
	}
	return v, ip.in.Postconditions(ip.t, s, v)
}

// evaluatesFirst reports whether planning begins with evaluating the configuration: there is no object to
// refresh or import, and there are no preconditions.
func (ip *instancePlan) evaluatesFirst() bool {
	pl := ip.planner
	if pl.req.Mode == plan.RefreshOnly || len(ip.in.Resource.Block.Preconditions) > 0 {
		return false
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.prior.Object(ip.obj) == nil && pl.imports[ip.in.Addr()] == nil
}

// checkProvisioners evaluates the arguments of provisioners that will run, as far as they are known, so that
// mistakes in them are found before anything is created. It opens nothing.
func (ip *instancePlan) checkProvisioners(planned cty.Value) bool {
	if a := ip.change.Action; a != plan.Create && !a.IsReplace() {
		return true
	}
	ok := ip.planner.checkArguments(ip.t, ip.in, planned, ip.in.Addr())
	if ip.change.Action == plan.DeleteThenCreate && (ip.stored == nil || !ip.stored.Tainted) {
		if d := ip.run.DestroyProvisioners(ip.in.Addr()); d != nil {
			ok = ip.planner.checkArguments(ip.t, d, ip.mark(ip.prior.value, ip.prior.sensitive()), ip.in.Addr()) && ok
		}
	}
	return ok
}

// warnDeprecated warns about parts that the schema deprecates, unless the provider has done so itself, as
// most do.
func (ip *instancePlan) warnDeprecated(said diag.List) {
	for _, d := range ip.block().DeprecatedUses(ip.declared.value) {
		if slices.ContainsFunc(said, func(own diag.Diagnostic) bool { return own.Severity == diag.Warning && own.Path.Equals(d.Path) }) {
			continue
		}
		ip.run.Report(diag.List{d}.InConfigBody(ip.in.Config().Body).WithAddress(ip.obj.Instance.String()))
	}
}

// loadPrior finds the object in the state, or imports it, and brings it up to date.
func (ip *instancePlan) loadPrior() bool {
	pl := ip.planner
	pl.mu.Lock()
	o := pl.prior.Object(ip.obj)
	imp := pl.imports[ip.in.Addr()]
	pl.mu.Unlock()
	from, moved := pl.moved[ip.in.Addr()]
	ip.stored = o
	meta := ip.meta(ip.in)
	ip.prior = noPrior(ip.block())
	ok := true
	switch {
	case o != nil && moved && ip.converts(from):
		ip.prior, ok = ip.convertMoved(o, from)
	case o != nil:
		ip.prior, ok = ip.upgrade(o)
	case imp != nil:
		return ip.importPrior(imp, meta)
	}
	if !ok || o == nil {
		return ok
	}
	if pl.req.SkipRefresh {
		ip.keepUpgraded(o)
		return true
	}
	before := ip.prior
	ip.prior, ok = ip.refresh(ip.prior, meta)
	if ok {
		pl.noteRefreshed(&ip.objectOp, before, ip.prior)
	}
	return ok
}

// keepUpgraded stores an object that was upgraded or converted but not refreshed.
func (ip *instancePlan) keepUpgraded(o *state.Object) {
	if o == nil || o.SchemaVersion == ip.schema.Version && o.Flatmap == nil && !ip.prior.cleaned {
		return
	}
	if n := ip.stateObject(ip.prior.value, o.Sensitive, ip.prior.private, ip.prior.identity, o); n != nil {
		ip.planner.setPrior(ip.obj, n)
		ip.prior.object = n
	}
}

// decide has the provider plan the object and determines the action.
func (ip *instancePlan) decide() (cty.Value, bool) {
	diags := ip.validateConfig(addr.Managed, ip.in.Resource.Block, ip.config.value)
	ip.warnDeprecated(diags)
	ip.report(diags)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	pv, reason := ip.prior, ip.forcedReason()
	base := pv
	if reason != plan.NoReason {
		base = noPrior(ip.block())
	}
	resp, ok := ip.planFrom(base)
	if !ok {
		return cty.NilVal, false
	}
	ip.newChange(pv)
	c := ip.change
	switch {
	case pv.value.IsNull():
		c.Action = plan.Create
	case reason != plan.NoReason:
		c.Action, c.Reason = ip.replacement(), reason
	default:
		if resp, ok = ip.compare(pv, resp); !ok {
			return cty.NilVal, false
		}
	}
	return ip.finish(resp)
}

// forcedReason returns why the object must be replaced regardless of the provider's plan, the zero Reason if
// it need not be.
func (ip *instancePlan) forcedReason() plan.Reason {
	if ip.prior.value.IsNull() {
		return plan.NoReason
	}
	if ip.stored != nil && ip.stored.Tainted {
		return plan.ReplaceTainted
	}
	if _, ok := ip.planner.forced[ip.in.Addr()]; ok {
		return plan.ReplaceRequested
	}
	if ip.in.Triggered(ip.t, ip.planner.changeFor) {
		return plan.ReplaceTriggered
	}
	return plan.NoReason
}

// compare chooses between no-op, update and replacement.
func (ip *instancePlan) compare(pv prior, resp provider.PlanResponse) (provider.PlanResponse, bool) {
	c := ip.change
	c.RequiredReplace = contract.ReplacePaths(ip.block(), pv.value, resp.Planned, resp.RequiresReplace)
	switch {
	case len(c.RequiredReplace) > 0:
		c.Action, c.Reason = ip.replacement(), plan.ReplaceCannotUpdate
		return ip.planFrom(noPrior(ip.block()))
	case resp.Planned.RawEquals(pv.value):
		c.Action = plan.NoOp
		if ip.marksChanged(resp.Planned) {
			c.Action = plan.Update
		}
	default:
		c.Action = plan.Update
	}
	return resp, true
}

// marksChanged reports whether the sensitive paths differ from those in the state, apart from those that the
// schema marks.
func (ip *instancePlan) marksChanged(planned cty.Value) bool {
	if ip.stored == nil {
		return false
	}
	bySchema := ip.block().SensitivePaths(planned)
	stored := ip.dropMirrored(ip.block().OutsideWriteOnly(ip.stored.Sensitive))
	return !contract.SamePaths(ip.config.sensitive, stored, bySchema)
}

// planFrom has the provider plan a change of the prior object. Without a prior object, ignore_changes has no
// effect.
func (ip *instancePlan) planFrom(pr prior) (provider.PlanResponse, bool) {
	if pr.value.IsNull() {
		ip.config = ip.declared
	}
	return ip.objectOp.plan(planRequest{prior: pr, config: ip.config.value, meta: ip.meta(ip.in)})
}

// newChange begins the change of an object with its prior value, which the provider may have refreshed.
func (ip *instancePlan) newChange(pv prior) {
	a := ip.in.Addr()
	c := &plan.Change{
		Addr: a, PrevAddr: ip.planner.moved.From(a), Provider: ip.in.Provider(ip.t).Addr, Deps: ip.deps, SchemaVersion: ip.schema.Version,
		PriorPrivate: pv.private, Importing: pv.importing, GeneratedConfig: ip.generated, PriorIdentity: ip.sealIdentity(pv.identity),
		CreateBeforeDestroy: ip.in.Config().Lifecycle.CreateBeforeDestroy,
	}
	if pv.object != nil {
		c.StateDeps = pv.object.Dependencies
	}
	c.Before, _ = ip.seal(pv.value, slices.Concat(ip.prior.sensitive(), ip.block().SensitivePaths(pv.value)))
	ip.change = c
}

// finish checks prevent_destroy, records the change and returns the planned object. A forbidden replacement
// is recorded too: the plan cannot be applied, but shows what forces the replacement.
func (ip *instancePlan) finish(resp provider.PlanResponse) (cty.Value, bool) {
	c := ip.change
	allowed := !c.Action.DestroysReplaced() || ip.mayDestroy()
	if c.CreateBeforeDestroy && c.Action == plan.DeleteThenCreate {
		c.Action = plan.CreateThenDelete
	}
	var ok bool
	c.After, ok = ip.seal(resp.Planned, slices.Concat(ip.config.sensitive, ip.block().SensitivePaths(resp.Planned)))
	if !ok {
		return cty.NilVal, false
	}
	c.PlannedPrivate, c.PlannedIdentity = resp.Private, ip.sealIdentity(resp.Identity)
	ip.planner.record(c)
	return ip.mark(resp.Planned, ip.config.sensitive), allowed
}

// replacement returns the action that replaces the object, regardless of create_before_destroy, which finish
// applies.
func (ip *instancePlan) replacement() plan.Action {
	if ip.in.Config().Lifecycle.SkipDestroy() {
		return plan.ForgetThenCreate
	}
	return plan.DeleteThenCreate
}

// mayDestroy evaluates prevent_destroy.
func (ip *instancePlan) mayDestroy() bool {
	prevent, diags := ip.in.PreventDestroy(ip.t)
	ip.run.Report(diags)
	if !prevent {
		return !diags.HasErrors()
	}
	ip.run.Report(preventedDestroy(ip.in))
	return false
}

// keepPrior returns the object in the state, for an instance that -exclude leaves alone.
func (ip *instancePlan) keepPrior() (cty.Value, bool) {
	ip.planner.leave(ip.in.Addr())
	return ip.planner.fromPrior(ip.in)
}

// asStored returns the object of an instance in a plan to destroy everything, where provider configurations
// may still refer to it. A data source without an object in the state is read.
func (p *planner) asStored(in *eval.Instance) (cty.Value, bool) {
	if p.req.Mode != plan.Destroy {
		return cty.NilVal, false
	}
	v, ok := p.fromPrior(in)
	if !ok && in.Config().Addr.Mode == addr.Managed {
		return unknownObject(in), true
	}
	return v, ok
}

// fromPrior returns the object that the state has.
func (p *planner) fromPrior(in *eval.Instance) (cty.Value, bool) {
	op := p.instanceOp(in)
	p.mu.Lock()
	o := p.prior.Object(op.obj)
	p.mu.Unlock()
	return op.live(o)
}
