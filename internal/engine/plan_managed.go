package engine

import (
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// result returns the object that the instance is planned to be.
func (p *planner) result(t *future.Task, in *eval.Instance) cty.Value {
	if p.interrupted() {
		p.reportInterrupt()
		return unknownObject(in)
	}
	if v, ok := p.asStored(in); ok {
		return v
	}
	if v, ok := unchanged(p, in); ok {
		return v
	}
	// The task may plan the instance for the sake of another one, of a lower rank.
	defer func(before int64) { t.Rank = before }(t.Rank)
	t.Rank = max(t.Rank, p.order.Rank(in))
	if in.Addr().Unkeyed() {
		return p.deferral.generic(t, in)
	}
	if in.Config().Addr.Mode == addr.Data {
		return p.data.plan(t, in)
	}
	ip := &instancePlan{objectOp: p.instanceOp(in), planner: p, t: t, in: in}
	ip.load = priorLoader{objectOp: &ip.objectOp, priorObject: &ip.priorObject, planner: p, t: t, in: in}
	v, ok := ip.planInstance()
	if !ok {
		return unknownObject(in)
	}
	return v
}

// instancePlan plans one managed instance that the configuration declares.
type instancePlan struct {
	objectOp
	priorObject
	load    priorLoader // of the prior object
	planner *planner
	t       *future.Task
	in      *eval.Instance
	deps    []plan.Dep
	change  *plan.Change
	// declared is the configuration; config is the same with ignore_changes applied, unless the object is
	// new.
	declared, config object.Config
	configured       func() bool // evaluates declared, once, and reports whether that succeeded
	given            state.Hash  // that the provider was given before; zero if it is asked
	undelivered      bool        // an earlier run made computed values and did not deliver them

	session *ephemeral.Session
	lacks   []plan.Dep // that ephemeral values which cannot be had wait for
	later   *later     // set if the instance turns out to be deferred
}

// planInstance returns the planned object with its marks; false if it could not be planned, which was
// reported.
func (ip *instancePlan) planInstance() (cty.Value, bool) {
	in, t := ip.in, ip.t
	if ip.planner.invalid(t, in) {
		return cty.NilVal, false // which was reported
	}
	in.Prepare(t)
	ip.deps = in.Deps(t)
	if ip.planner.restrict.excludes(t, in, ip.deps) {
		return ip.keepPrior()
	}
	ip.planner.restrict.include(in.Addr())
	if beginInstance(ip); ip.later != nil {
		return putOffInstance(ip)
	}
	if unchangedInRun(ip) {
		return planSettled(ip)
	}
	if in.Circular() || ip.planner.req.Mode == plan.Normal && (ip.planner.dependencyFailed(ip.deps) || !in.InputsHold(t)) {
		ip.planner.fail(in.Addr())
		return cty.NilVal, false // the reason was reported where it arose
	}
	var ok bool
	if ip.load.importing, ok = ip.planner.imports.targetOf(t, in); !ok {
		ip.planner.fail(in.Addr())
		return cty.NilVal, false
	}
	ip.walk.awaitOpenings(t, in)
	if unchangedGiven(ip) {
		return planSettled(ip)
	}
	ok = false
	var v cty.Value
	ip.walk.inSession(t, in, event.OpPlan, func(s *ephemeral.Session) {
		decided := false
		defer ip.walk.events.BeginDetail(event.OpPlan, ip.Obj, &decided)()
		end := ip.StartSpan("plan object", plan.NoOp)
		v, ok = ip.planWith(s)
		if ip.change != nil {
			trace.Of(ip.Ctx).Set(trace.Action, ip.change.Action.String())
		}
		decided = ok || ip.later != nil
		end(decided)
	})
	if ip.later != nil {
		return putOffInstance(ip)
	}
	if !ok {
		ip.planner.fail(in.Addr())
	}
	return v, ok
}

// planWith plans the instance with the provider and the leases of s. A refresh-only plan ends after the
// conditions: it records the refreshed object and plans no change.
func (ip *instancePlan) planWith(s *ephemeral.Session) (v cty.Value, ok bool) {
	ip.session = s
	defer func() { noteAnswer(ip, ok) }()
	refreshOnly := ip.planner.req.Mode == plan.RefreshOnly
	ip.configured = sync.OnceValue(func() (ok bool) {
		if !refreshOnly && !ip.in.Preconditions(ip.t, s.Opened) {
			return false
		}
		ip.declared, ok = ip.evaluate(ip.t, s, ip.in)
		return ok
	})
	ip.Withheld.Lost = !ip.Hasher.Ready()
	if slices.Contains(ip.planner.req.AssumeUnchanged, ip.in.Addr()) {
		ip.Withheld.Assume = func(cty.Path) bool { return true }
	}
	ip.Real = func() (cty.Value, bool) { return ip.declared.Value, ip.configured() }
	var needs []eval.Need
	if ip.evaluatesFirst() {
		needs = s.BodyNeeds(ip.t, ip.in)
	}
	if !ip.Use(s.ProviderOf(ip.t, ip.in, needs...)) || !ip.load.object() || ip.walk.interrupted() {
		return cty.NilVal, false
	}
	if !ip.Answers.Later && !ip.load.keep() {
		return cty.NilVal, false
	}
	if refreshOnly {
		v := cty.UnknownVal(ip.Block().Type())
		if !ip.prior.Value.IsNull() {
			v = markPrior(ip)
		}
		return v, ip.in.Preconditions(ip.t, s.Opened) && ip.in.Postconditions(ip.t, s.Opened, v)
	}
	if !evaluateVersions(ip.t, ip.in, &ip.objectOp) {
		return cty.NilVal, false
	}
	if !checkUndelivered(ip) {
		return cty.NilVal, false
	}
	if again, ok := unneeded(ip); ok {
		return planUnneeded(ip, s, again)
	}
	if !ip.configured() {
		return cty.NilVal, false
	}
	switch settleComputed(ip, s) {
	case settledSame:
		return planUnneeded(ip, s, remade(ip, ip.declared.Computed))
	case settledFailed:
		return cty.NilVal, false
	}
	if ip.Answers.Later && !ip.load.review() {
		return cty.NilVal, false
	}
	ip.prior.Value = ip.Withheld.Fill(ip.prior.Value, ip.prior.Object, ip.declared.Value)
	ip.config = ip.IgnoreChanges(ip.declared, &ip.in.Config().Lifecycle, ip.prior)
	v, ok = ip.decide()
	if !ok || !ip.checkProvisioners(v) {
		return cty.NilVal, false
	}
	if ip.planner.req.LazyEphemeral && ip.change.Action != plan.NoOp {
		ip.in.EvalBody(ip.t, closed(ip.planner, ip.in.Addr().String(), computed.ThisRun)) // which the apply opens
	}
	return v, ip.in.Postconditions(ip.t, s.Opened, v)
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
	return pl.prior.Object(ip.Obj) == nil && ip.load.importing == nil
}

// checkProvisioners evaluates the arguments of provisioners that will run, as far as they are known, so that
// mistakes in them are found before anything is created. It opens nothing.
func (ip *instancePlan) checkProvisioners(planned cty.Value) bool {
	if a := ip.change.Action; a != plan.Create && !a.IsReplace() {
		return true
	}
	ok := ip.planner.checkArguments(ip.t, ip.in, planned, ip.in.Addr())
	if ip.change.Action == plan.DeleteThenCreate && (ip.stored == nil || !ip.stored.Tainted) {
		if d := ip.walk.run.DestroyProvisioners(ip.in.Addr()); d != nil {
			ok = ip.planner.checkArguments(ip.t, d, markPrior(ip), ip.in.Addr()) && ok
		}
	}
	return ok
}

// warnDeprecated warns about parts that the schema deprecates, unless the provider has done so itself, as
// most do.
func (ip *instancePlan) warnDeprecated(said diag.List) {
	for _, d := range ip.Block().DeprecatedUses(ip.declared.Value) {
		if slices.ContainsFunc(said, func(own diag.Diagnostic) bool { return own.Severity == diag.Warning && own.Path.Equals(d.Path) }) {
			continue
		}
		ip.walk.run.Report(diag.List{d}.InConfigBody(ip.in.Config().Body).WithAddress(ip.Obj.Instance.String()))
	}
}

// decide has the provider plan the object and determines the action.
func (ip *instancePlan) decide() (cty.Value, bool) {
	diags := ip.validateConfig(addr.Managed, ip.in.Resource.Block, ip.config.Value)
	ip.warnDeprecated(diags)
	ip.Report(diags)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	pv, reason := ip.prior, ip.forcedReason()
	base := pv
	if reason != plan.NoReason {
		base = object.NoPrior(ip.Block())
	}
	resp, ok := ip.planFrom(base)
	if !ok {
		return cty.NilVal, false
	}
	ip.newChange(pv)
	c := ip.change
	c.Withheld = ip.Withheld.Judge(pv.Value, pv.Object, ip.declared.Value, resp.Planned)
	if diags := ip.Withheld.CheckGiven(ip.config.Value, resp.Planned); diags.HasErrors() {
		ip.Report(diags)
		return cty.NilVal, false
	}
	switch {
	case pv.Value.IsNull():
		c.Action = plan.Create
	case reason != plan.NoReason:
		c.Action, c.Reason = ip.replacement(), reason
	default:
		if resp, ok = ip.compare(pv, resp); !ok {
			return cty.NilVal, false
		}
	}
	if !checkUnavailable(ip, resp.Planned) {
		return cty.NilVal, false
	}
	return ip.finish(resp)
}

// forcedReason returns why the object must be replaced regardless of the provider's plan, the zero Reason if
// it need not be.
func (ip *instancePlan) forcedReason() plan.Reason {
	if ip.prior.Value.IsNull() {
		return plan.NoReason
	}
	if ip.stored != nil && ip.stored.Tainted || ip.undelivered {
		return plan.ReplaceTainted
	}
	if _, ok := ip.planner.forced[ip.in.Addr()]; ok {
		return plan.ReplaceRequested
	}
	ip.walk.run.Report(ip.in.TriggerKeys(ip.t))
	if ip.in.Triggered(ip.t, changeInRun(ip)) {
		return plan.ReplaceTriggered
	}
	return plan.NoReason
}

// compare chooses between no-op, update and replacement.
func (ip *instancePlan) compare(pv object.Prior, resp provider.PlanResponse) (provider.PlanResponse, bool) {
	c := ip.change
	if normal, found := ip.Withheld.Normalized(pv.Value, pv.Object, resp.Planned); found {
		pv.Value = normal
		var ok bool
		if resp, ok = ip.planFrom(pv); !ok {
			return resp, false
		}
	}
	c.RequiredReplace = contract.ReplacePaths(ip.Block(), pv.Value, resp.Planned, ip.Answers.AcceptPaths(resp.RequiresReplace))
	if len(c.RequiredReplace) == 0 {
		c.RequiredReplace = object.HiddenReplacement(&ip.Op, object.PlanRequest{Prior: pv, Config: ip.config.Value, Meta: ip.meta(ip.in)})
	}
	if diags := ip.Withheld.CheckSeen(pv.Value, resp.Planned, c.Withheld, c.RequiredReplace); diags.HasErrors() {
		ip.Report(diags)
		return resp, false
	}
	switch {
	case len(c.RequiredReplace) > 0:
		c.Action, c.Reason = ip.replacement(), plan.ReplaceCannotUpdate
		resp, ok := ip.planFrom(object.NoPrior(ip.Block()))
		if ok { // the new object has computed values of its own
			c.Withheld = ip.Withheld.Judge(pv.Value, pv.Object, ip.declared.Value, resp.Planned)
		}
		return resp, ok
	case resp.Planned.RawEquals(pv.Value):
		c.Action = plan.NoOp
		if ip.marksChanged(resp.Planned) || slices.ContainsFunc(c.Withheld, plan.Withheld.Restores) {
			c.Action = plan.Update
		}
	default:
		c.Action = plan.Update
		if diags := ip.Withheld.CheckSent(ip.config.Value, ip.declared.Value, pv.Object); diags.HasErrors() {
			ip.Report(diags)
			return resp, false
		}
	}
	return resp, true
}

// marksChanged reports whether the sensitive paths differ from those in the state, apart from those that the
// schema marks.
func (ip *instancePlan) marksChanged(planned cty.Value) bool {
	if ip.stored == nil {
		return false
	}
	bySchema := ip.Block().SensitivePaths(planned)
	stored := ip.DropMirrored(ip.Withheld.Outside(ip.stored.Sensitive))
	return !contract.SamePaths(ip.config.Sensitive, stored, bySchema)
}

// planFrom has the provider plan a change of the prior object. Without a prior object, ignore_changes has no
// effect.
func (ip *instancePlan) planFrom(pr object.Prior) (provider.PlanResponse, bool) {
	if pr.Value.IsNull() {
		ip.config = ip.declared
	}
	return ip.objectOp.Plan(object.PlanRequest{Prior: pr, Config: ip.config.Value, Meta: ip.meta(ip.in)})
}

// newChange begins the change of an object with its prior value, which the provider may have refreshed.
func (ip *instancePlan) newChange(pv object.Prior) {
	a := ip.in.Addr()
	c := &plan.Change{
		Addr: a, PrevAddr: ip.planner.moved.From(a), Provider: ip.in.Provider(ip.t).Addr, Deps: ip.deps, SchemaVersion: ip.Schema.Version,
		PriorPrivate: pv.Private, Importing: pv.Importing, GeneratedConfig: ip.load.generated, PriorIdentity: ip.SealIdentity(pv.Identity),
		CreateBeforeDestroy: ip.in.Config().Lifecycle.CreateBeforeDestroy,
	}
	if pv.Object != nil {
		c.StateDeps = pv.Object.Dependencies
	}
	c.Deps = deferral.RecordedInCalls(c.Deps, c.StateDeps)
	c.Before, _ = ip.Seal(pv.Value, slices.Concat(ip.prior.Sensitive(), ip.Block().SensitivePaths(pv.Value)))
	ip.change = c
}

// finish checks prevent_destroy, records the change and returns the planned object. A forbidden replacement
// is recorded too: the plan cannot be applied, but shows the attributes that force the replacement.
func (ip *instancePlan) finish(resp provider.PlanResponse) (cty.Value, bool) {
	c := ip.change
	if needsValue(ip) {
		return cty.NilVal, false
	}
	allowed := !c.Action.DestroysReplaced() || ip.mayDestroy()
	if c.CreateBeforeDestroy && c.Action == plan.DeleteThenCreate {
		c.Action = plan.CreateThenDelete
	}
	if c.Action == plan.NoOp {
		c.Given = hashGiven(&ip.objectOp, ip.planner.given, ip.t, ip.in, ip.declared)
	}
	if staysAsIs(ip) {
		c.After = c.Before
	} else {
		var ok bool
		if c.After, ok = ip.Seal(resp.Planned, slices.Concat(ip.config.Sensitive, ip.Block().SensitivePaths(resp.Planned))); !ok {
			return cty.NilVal, false
		}
	}
	c.PlannedPrivate, c.PlannedIdentity = resp.Private, ip.SealIdentity(resp.Identity)
	ip.planner.record(c)
	return ip.Mark(keptAway(ip, resp.Planned), ip.config, recordsOf(ip)), allowed
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
	ip.walk.run.Report(diags)
	if !prevent {
		return !diags.HasErrors()
	}
	ip.walk.run.Report(preventedDestroy(ip.in))
	return false
}

// keepPrior returns the object in the state, for an instance that -exclude leaves alone.
func (ip *instancePlan) keepPrior() (cty.Value, bool) {
	ip.planner.restrict.leave(ip.in.Addr())
	return ip.planner.fromPrior(ip.in)
}
