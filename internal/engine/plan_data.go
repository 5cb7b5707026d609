package engine

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// dataPlanner plans the reading of data sources, and checks.
type dataPlanner struct {
	*walk
	planner *planner
}

// plan reads a data source, or plans to read it during apply if its configuration is unknown or something
// that it explicitly depends on is about to change.
func (da *dataPlanner) plan(t *future.Task, in *eval.Instance) cty.Value {
	placeholder := unknownObject(in)
	if da.planner.invalid(t, in) {
		return placeholder
	}
	in.Prepare(t)
	deps := in.Deps(t)
	if da.planner.restrict.excluded(in.Addr(), deps) || da.planner.restrict.usesExcluded(t, in) {
		da.planner.restrict.leave(in.Addr())
		return placeholder
	}
	da.planner.restrict.include(in.Addr())
	op := da.instanceOp(in)
	if waits, lacks := da.planner.deferral.waits(t, in); len(waits)+len(lacks) > 0 {
		da.putOff(t, &op, in, deps, later{plan.DeferredPrereq, append(waits, lacks...)})
		return placeholder
	}
	if in.Circular() || da.planner.dependencyFailed(deps) || !in.InputsHold(t) {
		da.planner.fail(in.Addr())
		return placeholder
	}
	da.awaitOpenings(t, in)
	result, ok := placeholder, false
	var put *later
	da.inSession(t, in, event.OpRead, func(s *ephemeral.Session) {
		d := dataRead{objectOp: op, in: in, t: t, s: s}
		defer func() {
			if len(s.OutOfReach()) > 0 || !ok {
				put = da.planner.deferral.answered(t, s, &d.objectOp, in.Provider(t), deps)
			}
		}()
		d.Recorded = da.planner.req.State.Object(da.planner.req.Part.Look(addr.Object{Instance: da.planner.moved.From(in.Addr())}))
		end := d.StartSpan(string(event.OpRead), plan.Read)
		defer func() { end(ok) }()
		if !in.Preconditions(t, s.Opened) || !d.prepare() || len(s.OutOfReach()) > 0 {
			return
		}
		reason := plan.NoReason
		if !d.config.Value.IsWhollyKnown() {
			reason = plan.ReadConfigUnknown
		} else if slices.ContainsFunc(in.WaitDeps(t), da.planner.changing) || da.planner.moduleWaits(t, in) {
			reason = plan.ReadDependency
		}
		switch {
		case reason != plan.NoReason && !d.validate() && in.Config().Check == nil:
			return // the known part of the configuration is already invalid
		case reason != plan.NoReason:
			result, ok = da.planRead(&d, schema.PlannedDataObject(d.Block(), d.config.Value), deps, reason)
		case in.Config().Check != nil:
			result, ok = da.readForCheck(&d, deps)
		default:
			if result, ok = d.read(); ok {
				da.keep(&d, result, deps)
			}
		}
		ok = ok && in.Postconditions(t, s.Opened, result)
	})
	if put != nil {
		da.putOff(t, &op, in, deps, *put)
		return placeholder
	}
	if !ok {
		da.planner.fail(in.Addr())
		return placeholder
	}
	return result
}

// putOff defers a data source. One that is nested in a check leaves the check undecided, and nothing else.
func (da *dataPlanner) putOff(t *future.Task, op *objectOp, in *eval.Instance, deps []plan.Dep, why later) {
	if in.Config().Check != nil {
		da.planner.deferral.set.AddSilent(in.Addr())
		return
	}
	da.planner.deferral.declared(t, op, in, deps, why, nil)
}

// dataRead reads one data source.
type dataRead struct {
	objectOp
	in      *eval.Instance
	t       *future.Task
	s       *ephemeral.Session
	config  object.Config
	failure string // why read failed
}

// fault reports an error in reading and keeps its text as the failure.
func (d *dataRead) fault(diags diag.List) {
	if d.in.Config().Check != nil && diags.HasErrors() {
		d.failure = d.storable(diags)
	}
	d.Report(d.in.Resource.Block.AsCheckWarnings(diags))
}

// prepare gets the provider and evaluates the configuration.
func (d *dataRead) prepare() (ok bool) {
	po := d.in.Provider(d.t)
	if po == nil {
		return false
	}
	if d.in.Resource.Block.BodyOpens() && !d.Use(d.s.Provider(d.t, po, d.in.Addr(), d.s.BodyNeeds(d.t, d.in)...), po.Addr) {
		return false
	}
	d.PublishRecorded()
	if d.config, ok = d.evaluate(d.t, d.s, d.in); ok && d.Provider == nil {
		d.Use(d.s.Provider(d.t, po, d.in.Addr()), po.Addr)
	}
	return d.Provider != nil && ok
}

// validate has the provider validate the configuration, parts of which may be unknown.
func (d *dataRead) validate() bool {
	diags := d.validateConfig(addr.Data, d.in.Resource.Block, d.config.Value)
	d.fault(diags)
	return !diags.HasErrors()
}

// read calls the provider and returns the object with its marks. Instances that depends_on names are open
// meanwhile.
func (d *dataRead) read() (cty.Value, bool) {
	d.s.Open(d.t, d.in.Held(d.t))
	if d.s.Failed() || !d.s.Fresh() {
		return cty.NilVal, false
	}
	if !d.validate() {
		return cty.NilVal, false
	}
	done := d.walk.events.BeginDeferrable(event.OpRead, d.Obj, plan.Read, "", "")
	resp, diags := d.Provider.ReadData(d.Ctx, provider.DataRequest{Type: d.TypeName(), Instance: d.Obj.Instance, Config: d.config.Value, ProviderMeta: d.meta(d.in)})
	if !diags.HasErrors() {
		resp.State, diags = d.accept(resp, diags)
	}
	d.fault(diags)
	if diags.HasErrors() || d.PutOff != "" {
		done(d.PutOff != "", diags, "", "")
		return cty.NilVal, false
	}
	idKey, id := object.Identifying(resp.State, d.Block(), d.config.Sensitive)
	done(false, diags, idKey, id)
	return d.Mark(resp.State, d.config, nil), true
}

// accept checks an answer: a data source must return an object that fits its schema and is wholly known. It
// returns the object, and diags with any mistakes appended.
func (d *dataRead) accept(resp provider.DataResponse, diags diag.List) (cty.Value, diag.List) {
	if put, wrong := object.PutsOff(&d.Op, resp.Deferred, "reading"); put || len(wrong) > 0 {
		return cty.NilVal, append(diags, wrong...)
	}
	return d.Answers.AcceptExisting(resp.State, diags, contract.Read)
}

// object makes the state's record of the object that was read.
func (d *dataRead) object(v cty.Value) *state.Object {
	plain, _ := v.UnmarkDeep()
	return d.StateObject(plain, slices.Concat(d.config.Sensitive, d.Block().SensitivePaths(plain)), nil, cty.NilVal, nil)
}

// keep stores the data in the state that the plan starts from.
func (da *dataPlanner) keep(d *dataRead, v cty.Value, deps []plan.Dep) {
	o := d.object(v)
	if o == nil {
		return
	}
	o.Dependencies = scope.Dependencies(deps)
	po := d.in.Provider(d.t)
	da.planner.mu.Lock()
	defer da.planner.mu.Unlock()
	noteRenewed(da.planner, d.in.Addr(), o)
	da.planner.prior.SetObject(d.Obj, o, po.Addr)
}

// planRead records that the data source is to be read during apply. planned is the known part of the object,
// without marks.
func (da *dataPlanner) planRead(d *dataRead, planned cty.Value, deps []plan.Dep, reason plan.Reason) (cty.Value, bool) {
	c := &plan.Change{
		Addr: d.in.Addr(), PrevAddr: da.planner.moved.From(d.in.Addr()), Provider: d.in.Provider(d.t).Addr, Action: plan.Read, Reason: reason, Deps: deps,
		SchemaVersion: d.Schema.Version,
	}
	var ok bool
	if c.After, ok = d.Seal(planned, slices.Concat(d.config.Sensitive, d.Block().SensitivePaths(planned))); !ok {
		return cty.NilVal, false
	}
	if da.planner.req.Mode == plan.Normal {
		da.planner.record(c)
	}
	return d.Mark(planned, d.config, nil), true
}

// storable returns the first error in the form in which results of checks are stored. The provider's text is
// left out if the provider was configured with a secret, and redacted otherwise: it may have been given one
// for another object.
func (d *dataRead) storable(diags diag.List) string {
	po := d.in.Provider(d.t)
	secret := len(d.config.Sensitive) > 0 || po.Opens()
	if !secret {
		cfg, _ := po.EvalBody(d.t, nil)
		secret = value.Contains(cfg, value.Sensitive) || value.Contains(cfg, value.Ephemeral)
	}
	i := slices.IndexFunc(diags, func(x diag.Diagnostic) bool { return x.Severity == diag.Error })
	switch {
	case secret:
		return fmt.Sprintf("%s could not be read.", d.Obj)
	case diags[i].Detail == "":
		return d.walk.opt.Leaks.Redact(diags[i].Summary)
	default:
		return d.walk.opt.Leaks.Redact(diags[i].Summary + ": " + diags[i].Detail)
	}
}
