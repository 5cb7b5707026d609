package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
)

// forgets reports whether an object that is no longer wanted is to be forgotten rather than destroyed. A
// removed block decides if there is no resource block, otherwise the lifecycle argument "destroy". If
// neither asks to forget, the setting recorded with the object applies, unless the block declares that very
// object.
func (or *orphanPlanner) forgets(t *future.Task, o *orphan) (forget bool) {
	a := o.obj.Instance
	if !or.run.Declared(a) {
		if r := or.planner.req.Config.Tree.Removal(a.Config()); r != nil {
			switch {
			case r.Destroy:
			case o.stored.SkipDestroy:
				o.reason = plan.ForgetInState
			case o.obj.Deposed == addr.Current:
				o.reason = plan.DeleteNoConfig
			}
			return !r.Destroy
		}
	} else if or.planner.req.Config.Tree.Modules[a.Module.Module()].Resources[a.Resource].Lifecycle.SkipDestroy() {
		o.reason = plan.ForgetInConfig
		return true
	}
	if !o.stored.SkipDestroy || o.obj.Deposed == addr.Current && or.declaredOne(t, a) {
		return false
	}
	o.reason = plan.ForgetInState
	return true
}

// declaredOne reports whether the configuration declares exactly this instance. An unknown one counts as not
// declared.
func (or *orphanPlanner) declaredOne(t *future.Task, a addr.Instance) bool {
	if or.planner.req.Mode == plan.Destroy || !or.planner.selection.Touches(a.Abs()) {
		declared, _ := or.blocks.Declare(t, a)
		return declared
	}
	or.planner.mu.Lock()
	defer or.planner.mu.Unlock()
	return declares(or.planner, a)
}

// forget plans to drop an object from the state. It configures no provider and does not read the object,
// which is often no longer possible. Only an object in an old format is upgraded, for display; that takes an
// unconfigured provider process.
func (or *orphanPlanner) forget(t *future.Task, o *orphan) {
	op, ok := or.managedOp(o.obj, o.provider.Provider)
	if !ok {
		return
	}
	or.inSlot(t, func() {
		or.run.Report(or.providers.Ask(or.ctx, o.provider.Provider, func(pr provider.Reader) diag.List {
			op.Provider = pr
			dp := deletePlan{objectOp: op, planner: or.planner, provider: o.provider}
			if pr, ok := dp.Upgrade(o.stored); ok {
				c := dp.newChange(pr, o.reason)
				c.Action = plan.Forget
				dp.record(c, pr)
			}
			return nil
		}))
	})
}

// departure returns the provisioners to run before the object is destroyed, nil if there are none. An object
// whose creation never completed, or that was deposed by its replacement, gets no destroy-time provisioners.
func (or *orphanPlanner) departure(t *future.Task, o *orphan) *eval.DestroyProvisioners {
	if o.obj.Deposed != addr.Current || o.stored.Tainted || or.planner.req.Mode == plan.RefreshOnly {
		return nil
	}
	d := or.run.DestroyProvisioners(o.obj.Instance)
	if d != nil {
		d.Prepare(t)
	}
	return d
}

// checkArguments evaluates the arguments of provisioners that will run, as far as they are known. It opens
// nothing.
func (p *planner) checkArguments(t *future.Task, of provisioners, self cty.Value, at addr.Instance) bool {
	ok := true
	for i, one := range of.Provisioners() {
		by, then := "a provisioner of "+at.String(), computed.ThisRun
		if one.Destroy {
			by, then = "a provisioner that runs before "+at.String()+" is destroyed", computed.Departure
		}
		args, conn, diags := evalProvisioner(t, closed(p, by, then), of, i, self, at)
		if !diags.HasErrors() {
			diags = append(diags, useInProvisioner(p.computed, one, at, args, conn)...)
		}
		p.run.Report(diags)
		ok = ok && !diags.HasErrors()
	}
	return ok
}
