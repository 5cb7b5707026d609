package engine

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// deferrer decides which objects a plan leaves to a later one.
type deferrer struct {
	*walk
	planner  *planner
	set      deferral.Set
	triggers deferral.Triggers
	planned  []*eval.Instance // that might have been deferred; protected by planner.mu
	attempts *attempts
}

// attempts has the findings that attempts at one plan hand on: each defers or leaves out more than the one
// before.
type attempts struct {
	seeds map[addr.Instance]*plan.Deferral
	left  map[addr.Instance]struct{} // see restriction.extend
	reads *object.Reads              // nil if there is one attempt only
}

// newAttempts returns the findings before the first attempt, which are none.
func newAttempts(req *PlanRequest) *attempts {
	several := req.AllowDeferral || req.Part != nil || len(req.Excludes) > 0 && req.Config.TriggersActions()
	return &attempts{seeds: map[addr.Instance]*plan.Deferral{}, left: map[addr.Instance]struct{}{}, reads: object.NewReads(several)}
}

// partial reports whether a plan may leave something out, so that outputs, conditions and orphans wait
// until that is known.
func partial(p *planner) bool { return p.selection.Restricted() || p.req.AllowDeferral }

// waits returns the dependencies of an instance that are deferred, its own and its ephemeral values'.
func (de *deferrer) waits(t *future.Task, in *eval.Instance) (direct, fleeting []plan.Dep) {
	if !de.planner.req.AllowDeferral || de.planner.req.Mode == plan.RefreshOnly {
		return nil, nil
	}
	de.planner.mu.Lock()
	de.planned = append(de.planned, in)
	de.planner.mu.Unlock()
	direct, behind := eval.Reach(t, in)
	direct, fleeting = de.set.Touched(direct), de.set.Touched(behind)
	for _, d := range behind {
		if d.Resource.Resource.Mode == addr.Ephemeral { // with unknown instances
			m := de.run.Module(d.Resource.Module)
			fleeting = append(fleeting, de.unsettled(m.Resource(d.Resource.Resource).RepetitionDeps(t))...)
			fleeting = append(fleeting, d)
		}
	}
	return direct, fleeting
}

// unsettled returns the dependencies that have changes or are deferred.
func (de *deferrer) unsettled(deps []plan.Dep) []plan.Dep {
	touched := de.set.Touched(deps)
	return slices.DeleteFunc(slices.Clone(deps), func(d plan.Dep) bool {
		return !slices.Contains(touched, d) && !de.planner.changing(d)
	})
}

// outOfReach reports whether an ephemeral instance depends on something deferred.
func (de *deferrer) outOfReach(t *future.Task, in *eval.Instance) bool {
	direct, fleeting := de.waits(t, in)
	return len(direct)+len(fleeting) > 0
}

// lacking returns the dependencies that instances out of reach wait for.
func (de *deferrer) lacking(t *future.Task, s *ephemeral.Session) (deps []plan.Dep) {
	for _, in := range s.OutOfReach() {
		deps = append(deps, de.unsettled(in.Deps(t))...)
	}
	return append(deps, s.PutOff()...)
}

// later says that an object is left to a later plan, and why.
type later struct {
	reason plan.DeferralReason
	waits  []plan.Dep
}

// answered returns why an operation on an instance has failed without a report, nil if it has not.
func (de *deferrer) answered(t *future.Task, s *ephemeral.Session, op *objectOp, po *eval.ProviderObject, deps []plan.Dep) *later {
	switch {
	case s.Unconfigured():
		waits := append(de.unsettled(po.Deps(t)), s.PutOff()...)
		if len(waits) == 0 {
			waits = de.unsettled(deps)
		}
		return &later{plan.DeferredProviderConfig, waits}
	case op.PutOff == provider.DeferredProviderConfig || op.PutOff == provider.DeferredAbsent:
		return &later{plan.DeferralReason(op.PutOff), de.unsettled(deps)}
	case op.PutOff != "":
		return &later{plan.DeferredConfigUnknown, de.unsettled(deps)}
	case len(s.OutOfReach()) > 0:
		return &later{plan.DeferredPrereq, de.lacking(t, s)}
	}
	return nil
}

// triggerWaits has a change wait for the given objects if the action that it triggers, which has the
// dependencies deps, does. It returns false if there are none.
func (de *deferrer) triggerWaits(inv *plan.Invocation, deps, on []plan.Dep) bool {
	if len(on) == 0 {
		de.triggers.Need(inv.Trigger, deps)
		return false
	}
	de.triggers.Wait(inv.Trigger, on)
	return true
}

// putOffTriggers has another attempt defer the changes whose actions must wait. It returns true if there are
// any.
func (de *deferrer) putOffTriggers() (again bool) {
	return de.triggers.Defer(de.planner.changes, de.attempts.seeds, func() map[addr.Instance][]plan.Dep {
		planned := make(map[addr.Instance][]plan.Dep, len(de.planned))
		for _, in := range de.planned {
			direct, behind := eval.Reach(&future.Task{}, in)
			if de.planner.prior.Object(addr.Object{Instance: in.Addr()}) == nil { // one that exists may stay as it is
				direct = append(direct, behind...)
			}
			planned[in.Addr()] = direct
		}
		return planned
	})
}

// add defers a change.
func (de *deferrer) add(c *plan.Change, why later) {
	c.Deps = deferral.RecordedInCalls(c.Deps, nil)
	de.set.Add(&plan.Deferral{Change: c, Reason: why.reason, WaitsFor: why.waits})
}

// declared defers an instance that the configuration declares: as far as that is known, it is created, read,
// imported, or the object that the state has.
func (de *deferrer) declared(t *future.Task, op *objectOp, in *eval.Instance, deps []plan.Dep, why later, importing *plan.Importing) {
	cfg, diags := in.EvalBody(t, eval.NewOpened(nil)) // errors count once it is planned
	if de.noteUses(t, in, cfg); diags.HasErrors() {
		cfg = cty.NilVal
	}
	if seed := de.attempts.seeds[in.Addr()]; seed != nil {
		de.set.Add(seed)
		return
	}
	c := &plan.Change{Addr: in.Addr(), PrevAddr: de.planner.moved.From(in.Addr()), Action: plan.Create, Deps: deps, SchemaVersion: op.Schema.Version}
	if po := in.Provider(t); po != nil {
		c.Provider = po.Addr
	}
	de.planner.mu.Lock()
	o := de.planner.prior.Object(op.Obj)
	de.planner.mu.Unlock()
	var v cty.Value
	var sensitive []cty.Path
	switch {
	case in.Config().Addr.Mode == addr.Data:
		c.Action = plan.Read
		v, sensitive = object.Foresee(&op.Op, cfg)
	case o != nil:
		c.Action = plan.NoOp
		if stored, err := o.DecodeUnmarked(op.Block().Type()); err == nil {
			v = op.Block().NullWriteOnly(stored)
			c.Before, _ = op.Seal(v, slices.Concat(o.Sensitive, op.Block().SensitivePaths(v)))
		}
		c.After = c.Before
		c.StateDeps, c.CreateBeforeDestroy = o.Dependencies, o.CreateBeforeDestroy || in.Config().Lifecycle.CreateBeforeDestroy
	default:
		c.Importing = importing
		v, sensitive = object.Foresee(&op.Op, cfg)
	}
	if c.Action != plan.NoOp {
		c.After, _ = op.Seal(v, slices.Concat(sensitive, op.Block().SensitivePaths(v)))
	}
	de.add(c, why)
}

// generic plans the generic instance of a block whose instances are unknown, so that mistakes in the block
// are found. It opens nothing. One that depends on an excluded object is left out.
func (de *deferrer) generic(t *future.Task, in *eval.Instance) cty.Value {
	in.Prepare(t)
	op, deps, mode := de.planner.instanceOp(in), in.Deps(t), in.Config().Addr.Mode
	if de.planner.restrict.excludes(t, in, deps) {
		de.planner.restrict.leave(in.Addr())
		de.set.Leave(in.Addr())
		return unknownObject(in)
	}
	why := later{plan.DeferredCountUnknown, de.unsettled(in.Resource.RepetitionDeps(t))}
	po, planned := in.Provider(t), cty.NilVal
	cfg, diags := in.EvalBody(t, eval.NewOpened(nil))
	de.run.Report(diags)
	if de.noteUses(t, in, cfg); diags.HasErrors() || po == nil {
		return unknownObject(in)
	}
	config := object.Config{Value: op.Answers.Given(cfg), Sensitive: op.Withheld.Outside(value.PathsWith(cfg, value.Sensitive))}
	if !po.Opens() {
		mild := *op.Env // the provider may have other reasons to refuse the creation of an object that may never exist
		mild.Sink = func(diags diag.List) {
			diags.AsWarnings()
			de.run.Report(diags)
		}
		de.inSession(t, in, event.OpPlan, func(s *ephemeral.Session) {
			if !op.Use(s.Provider(t, po, in.Addr()), po.Addr) {
				return
			}
			diags := op.validateConfig(mode, in.Resource.Block, config.Value)
			op.Report(diags)
			if op.Env = &mild; !diags.HasErrors() && mode == addr.Managed {
				resp, ok := op.Plan(object.PlanRequest{Prior: object.NoPrior(op.Block()), Config: config.Value, Meta: op.meta(in)})
				if ok {
					planned = resp.Planned
				}
			}
		})
	}
	if planned == cty.NilVal {
		planned = schema.PlannedDataObject(op.Block(), op.Block().NullWriteOnly(config.Value))
	}
	c := &plan.Change{Addr: in.Addr(), PrevAddr: in.Addr(), Provider: po.Addr, Action: plan.Create, Deps: deps, SchemaVersion: op.Schema.Version}
	if mode == addr.Data {
		c.Action = plan.Read
	}
	c.After, _ = op.Seal(planned, slices.Concat(config.Sensitive, op.Block().SensitivePaths(planned)))
	de.add(c, why)
	return op.Mark(planned, config, nil)
}

// settle defers the destructions that must wait for deferred objects. It returns true if the plan must be
// made again. A change that would have to wait for a deferred object which waits for it is an error: no later
// plan could go on.
func (de *deferrer) settle() (again bool) {
	p := de.planner
	if !p.req.AllowDeferral || de.set.Empty() || de.run.Diags.HasErrors() {
		return false
	}
	p.plan.Changes = slices.Collect(maps.Values(p.changes))
	for _, d := range de.set.List() { // whose order of replacement concerns the objects that they depend on
		p.plan.Changes = append(p.plan.Changes, d.Change)
	}
	p.plan.SpreadReplaceOrder()
	p.plan.Changes = nil
	d := deferral.Destructions{Set: &de.set, Changes: p.changes, Prior: p.prior, Seeds: de.attempts.seeds}
	again = d.Settle()
	de.reportStuck(d.Stuck)
	again = de.putOffProducers() || again
	return again && !de.run.Diags.HasErrors()
}

// reportStuck reports replacements, each with an object that they wait for in vain.
func (de *deferrer) reportStuck(list []*plan.Deferral) {
	for _, d := range list {
		c, by := d.Change, d.WaitsFor[0]
		other := by.Resource.Instance(by.Key)
		de.run.Report(diag.Errorf("Objects wait for each other",
			"%s must be replaced, which destroys it first. It has to stay until %s is planned, which depends on it, and which is deferred until the replacement is done: no plan could go on. Set create_before_destroy in the lifecycle block of %s, so that the new object is made first, or leave it as it is with the option -exclude=%s.",
			c.Addr, other, c.Addr.Config(), diag.Argument(c.Addr.String())).WithAddress(c.Addr.String()))
	}
}

// noteUses notes the computed values that a deferred instance, with this configuration, is going to use once
// it is planned. Its provisioners may run then too.
func (de *deferrer) noteUses(t *future.Task, in *eval.Instance, cfg cty.Value) {
	if in.Resource.Block.Borrows.Empty() {
		return
	}
	made := value.MadeOf(cfg)
	for i := range in.Provisioners() {
		args, conn, _ := evalProvisioner(t, nil, in, i, cty.DynamicVal, in.Addr())
		for _, v := range []cty.Value{args, conn} {
			if v != cty.NilVal {
				made = append(made, value.MadeOf(v)...)
			}
		}
	}
	for _, of := range made {
		de.planner.computed.AddLater(of, in.Addr())
	}
}

// putOffProducers has another attempt defer the changes that make computed values for deferred objects, or
// take them out of the state. It returns true if there are any.
func (de *deferrer) putOffProducers() (again bool) {
	p := de.planner
	producers := deferral.Producers{Set: &de.set, Changes: p.changes, Seeds: de.attempts.seeds, Users: func(c *plan.Change) (users []addr.Instance) {
		for _, w := range c.Withheld {
			if w.Computed && (w.Status.Differs() || withheld.IsTakenOut(w)) {
				users = append(users, p.computed.Later(computed.Name(c.Addr, w.Path))...)
			}
		}
		return sortedOnce(users)
	}}
	again, stuck := producers.Defer(changesWith(p, func(c *plan.Change) bool { return withheld.MakesComputed(c) || withheld.TakesOutComputed(c) }))
	for _, s := range stuck {
		if p.req.Memory != nil && !withheld.TakesOutComputed(s.Change) {
			continue // the run keeps the value
		}
		by := s.WaitsFor[0].Resource.Instance(s.WaitsFor[0].Key)
		de.run.Report(diag.Errorf("Deferred object would not get a value",
			"%s makes a value that ephemeral_attributes keeps out of the state, and %s uses it. %s is deferred until %s is there, and the value exists only in the run that makes it. Apply in rounds with the option -converge, which keep the value in memory until %s has it, or make what %s waits for of values that are known in advance.",
			s.Change.Addr, by, by, s.Change.Addr, by, by).WithAddress(s.Change.Addr.String()))
	}
	return again
}

// kept reports whether the objects of a resource are only refreshed, because its instances are unknown.
func (de *deferrer) kept(a addr.AbsResource) bool {
	return de.planner.req.AllowDeferral && de.set.CoversBlock(a)
}

// beginInstance decides whether the instance is deferred before anything is opened or asked for it.
func beginInstance(ip *instancePlan) {
	de := &ip.planner.deferral
	waits, lacks := de.waits(ip.t, ip.in)
	ip.planner.mu.Lock()
	exists := ip.planner.prior.Object(ip.Obj) != nil
	ip.planner.mu.Unlock()
	ip.lacks = lacks
	if !exists { // other changes are known to trigger an action once they are planned
		waits = append(waits, de.set.Touched(eval.TriggerDeps(ip.t, ip.in, eval.CreationTriggers(ip.in)))...)
	}
	switch {
	case de.attempts.seeds[ip.in.Addr()] != nil:
		ip.later = &later{}
	case len(waits) > 0:
		if po := ip.in.Provider(ip.t); po != nil {
			waits = append(waits, de.unsettled(po.Deps(ip.t))...)
		}
		ip.later = &later{plan.DeferredPrereq, append(waits, lacks...)}
	case len(lacks) > 0 && !exists:
		ip.later = &later{plan.DeferredPrereq, lacks}
	}
}

// noteAnswer notes why planning the instance has failed if it has for want of an answer.
func noteAnswer(ip *instancePlan, ok bool) {
	if ip.later == nil {
		ip.later = ip.load.later
	}
	if s := ip.session; !ok && ip.later == nil && (s.Unconfigured() || ip.PutOff != "") {
		ip.later = ip.planner.deferral.answered(ip.t, s, &ip.objectOp, ip.in.Provider(ip.t), ip.deps)
	}
}

// putOffInstance defers the instance. To others its object is unknown: nothing may be decided by the one
// that the state has. An import is left to the plan that shows it, also if the object has been read already.
func putOffInstance(ip *instancePlan) (cty.Value, bool) {
	if ip.loaded.Importing != nil {
		ip.planner.start.set(ip.Obj, nil)
	}
	target, _ := ip.planner.imports.targetOf(ip.t, ip.in)
	ip.planner.deferral.declared(ip.t, &ip.objectOp, ip.in, ip.deps, *ip.later, target.Planned(&ip.Op))
	return cty.NilVal, false
}

// needsValue reports whether the change needs ephemeral values that cannot be had before a later plan, and
// defers it then.
func needsValue(ip *instancePlan) bool {
	if ip.change.Action == plan.NoOp || len(ip.lacks) == 0 && len(ip.session.OutOfReach()) == 0 {
		return false
	}
	ip.later = &later{plan.DeferredPrereq, append(ip.lacks, ip.planner.deferral.lacking(ip.t, ip.session)...)}
	return true
}
