package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
)

// plan plans to forget or destroy an object without a block. Evaluation that may wait for other tasks
// (the provider, prevent_destroy, depends_on) comes before the slot is taken; within it, only the provider
// is called.
func (or *orphanPlanner) plan(t *future.Task, o *orphan) {
	if or.planner.req.Mode != plan.RefreshOnly && !o.kept && or.forgets(t, o) {
		or.forget(t, o)
		return
	}
	po := or.provider(t, o)
	if po == nil {
		return
	}
	op, ok := or.managedOp(o.obj, o.provider.Provider)
	if !ok {
		return
	}
	allowed := o.kept || or.mayDestroy(t, o) // if not, the plan, which cannot be applied then, shows why the object would be destroyed
	po.Prepare(t)
	if !po.Present(t) {
		or.run.Report(diag.Errorf("Provider instance not present",
			"The state has %s, which was made with %s, and the for_each of that provider block no longer has that key, so the object cannot be destroyed. Put the key back, apply, and remove the key after that. To leave the object alone, remove it from the state instead: mayfly state rm '%s'",
			o.obj, o.provider, o.obj.Instance).WithAddress(o.obj.Instance.String()))
		return
	}
	departure := or.departure(t, o)
	held := ephemeral.PrepareHeld(t, or.run, o.obj.Instance)
	if u, ok := or.run.Providers.Use(t, po.Addr); ok {
		or.awaitUses(t, []eval.Use{u})
	}
	or.inSession(t, o.obj, event.OpPlan, func(s *ephemeral.Session) {
		planned := false
		defer or.events.BeginDetail(event.OpPlan, o.obj, &planned)()
		end := op.StartSpan("plan object", plan.Delete)
		defer func() { end(planned) }()
		dp := deletePlan{objectOp: op, planner: or.planner, t: t, provider: o.provider, deps: po.Deps(t), departure: departure}
		defer func() {
			if !planned && !o.kept && (s.Unconfigured() || dp.PutOff != "") {
				or.putOff(&dp, o, *or.planner.deferral.answered(t, s, &dp.objectOp, po, dp.deps))
			}
		}()
		if !dp.Use(s.Provider(t, po, o.obj.Instance, held...), po.Addr) {
			return
		}
		dp.Leaves = or.planner.req.Mode != plan.RefreshOnly && !o.kept
		dp.Real = func() (cty.Value, bool) {
			cfg, ok := earlierConfig(or.run, t, s, o.obj)
			return dp.Answers.Given(cfg), ok
		}
		pr, ok := dp.Upgrade(o.stored)
		if !ok {
			return
		}
		if !or.planner.start.stands(o.obj) {
			before := pr
			if pr, ok = or.planner.deferral.attempts.reads.Once(&dp.Op, func() (object.Prior, bool) { return dp.Refresh(pr, dp.metaOfModule()) }); !ok {
				return
			}
			or.planner.start.noteRefreshed(&dp.objectOp, before, pr)
		}
		planned = true
		if or.planner.req.Mode != plan.RefreshOnly && !o.kept && !pr.Value.IsNull() {
			planned = dp.delete(pr, o.reason) && allowed
		}
	})
}

// putOff defers the destruction of an object whose provider cannot be asked.
func (or *orphanPlanner) putOff(dp *deletePlan, o *orphan, why later) {
	pr := object.NoPrior(dp.Block())
	if v, err := o.stored.DecodeUnmarked(dp.Block().Type()); err == nil {
		pr.Value = dp.Block().NullWriteOnly(v)
	}
	pr.Object = o.stored
	c := dp.newChange(pr, o.reason)
	c.Before, _ = dp.Seal(pr.Value, slices.Concat(pr.Sensitive(), dp.Block().SensitivePaths(pr.Value)))
	or.planner.deferral.add(c, why)
}

// provider returns the provider configuration that is to destroy the object, nil if there is none,
// which is reported.
func (or *orphanPlanner) provider(t *future.Task, o *orphan) *eval.ProviderObject {
	po, diags := or.run.Providers.ByAddr(t, o.provider)
	if (diags.HasErrors() || po.Unkeyed()) && or.planner.req.Mode == plan.Destroy && or.run.Declared(o.obj.Instance) {
		// The provider block has gained for_each since, and only the resource block says which instance it
		// uses.
		po = or.run.Module(o.obj.Module).Resource(o.obj.Resource).Instance(o.obj.Key).Provider(t)
		if po != nil {
			o.provider = po.Addr
		}
		return po
	}
	or.run.Report(diags.WithAddress(o.obj.Instance.String()))
	return po
}

// mayDestroy evaluates prevent_destroy for an object whose block is still there.
func (or *orphanPlanner) mayDestroy(t *future.Task, o *orphan) bool {
	if o.obj.Deposed != addr.Current || or.planner.req.Mode == plan.RefreshOnly || !or.run.Declared(o.obj.Instance) {
		return true
	}
	in := or.run.Module(o.obj.Module).Resource(o.obj.Resource).Instance(o.obj.Key)
	prevent, diags := in.PreventDestroy(t)
	or.run.Report(diags)
	if prevent {
		or.run.Report(preventedDestroy(in))
	}
	return !prevent && !diags.HasErrors()
}

func preventedDestroy(in *eval.Instance) diag.List {
	address := in.Addr().String()
	return diag.At(in.Config().Range, "Instance cannot be destroyed",
		"This plan would destroy %s, which \"prevent_destroy\" in its lifecycle block forbids. To let it be destroyed, remove that argument. To leave it alone, with all that depends on it, add the option -exclude=%s.",
		address, diag.Argument(address)).WithAddress(address)
}

// deletePlan plans the destruction of one object.
type deletePlan struct {
	objectOp
	planner   *planner
	t         *future.Task
	provider  addr.ProviderConfig
	deps      []plan.Dep
	departure *eval.DestroyProvisioners // nil if nothing runs before the object is destroyed
}

// delete plans the deletion of an object, for a reason that the plan shows. It reports whether that
// succeeded.
func (dp *deletePlan) delete(pr object.Prior, reason plan.Reason) bool {
	c := dp.newChange(pr, reason)
	if dp.departure != nil {
		if !dp.planner.checkArguments(dp.t, dp.departure, dp.Mark(pr.Value, object.Config{Sensitive: pr.Object.Sensitive}, pr.Object.Withheld), dp.Obj.Instance) {
			return false
		}
		c.Deps = append(c.Deps, dp.departure.Deps(dp.t)...)
	}
	catalog, diags := dp.walk.providers.Catalog(dp.walk.ctx, dp.Source)
	if diags.HasErrors() {
		return false
	}
	return (!catalog.Capabilities().PlanDestroy || dp.ask(c, pr)) && dp.record(c, pr)
}

// newChange returns the change that destroys the object. If the object has no block only because a move took
// it to an address without one, the reason says so: the user is more likely to fix the move.
func (dp *deletePlan) newChange(pr object.Prior, reason plan.Reason) *plan.Change {
	c := &plan.Change{
		Addr: dp.Obj.Instance, PrevAddr: dp.Obj.Instance, Deposed: dp.Obj.Deposed, Provider: dp.provider, Action: plan.Delete, Reason: reason,
		PriorPrivate: pr.Private, PriorIdentity: dp.SealIdentity(pr.Identity), Deps: dp.deps, SchemaVersion: dp.Schema.Version,
		Withheld: withheld.Gone(pr.Object),
	}
	if dp.planner.req.Mode != plan.Destroy { // there it makes no difference where the object was
		c.PrevAddr = dp.planner.moved.From(dp.Obj.Instance)
	}
	if c.Moved() && reason == plan.DeleteNoConfig {
		c.Reason = plan.DeleteNoMoveTarget
	}
	if pr.Object != nil {
		c.StateDeps, c.CreateBeforeDestroy = pr.Object.Dependencies, pr.Object.CreateBeforeDestroy
	}
	return c
}

// record stores the change with the object as it is.
func (dp *deletePlan) record(c *plan.Change, pr object.Prior) bool {
	var ok bool
	if c.Before, ok = dp.Seal(pr.Value, slices.Concat(pr.Sensitive(), dp.Block().SensitivePaths(pr.Value))); !ok {
		return false
	}
	dp.planner.record(c)
	return true
}

// ask has the provider plan the destruction. It reports false if the provider refused.
func (dp *deletePlan) ask(c *plan.Change, pr object.Prior) bool {
	resp, ok := dp.Plan(object.PlanRequest{Prior: pr, Config: cty.NullVal(dp.Block().Type()), Meta: dp.metaOfModule()})
	c.PlannedPrivate = resp.Private
	return ok
}
