package engine

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
)

// forgets decides whether an object that is no longer wanted is forgotten instead of destroyed, and says why.
// A removed block decides about what has no resource block any more, and the lifecycle argument "destroy"
// about the rest. If that asks for nothing, what it said when the object was made holds, unless the block is
// about that very object.
func (p *planner) forgets(t *future.Task, o *orphan) (forget bool) {
	a := o.obj.Instance
	if !p.run.Declared(a) {
		if r := p.req.Config.Tree.Removal(a.Config()); r != nil {
			if !r.Destroy && o.obj.Deposed == addr.Current {
				o.reason = plan.DeleteNoConfig
			}
			return !r.Destroy
		}
	} else if p.req.Config.Tree.Modules[a.Module.Module()].Resources[a.Resource].Lifecycle.SkipDestroy() {
		o.reason = plan.ForgetInConfig
		return true
	}
	if !o.stored.SkipDestroy || o.obj.Deposed == addr.Current && p.declaredOne(t, a) {
		return false
	}
	o.reason = plan.ForgetInState
	return true
}

// declaredOne reports whether the configuration declares the very instance. What is unknown counts as not
// declared.
func (p *planner) declaredOne(t *future.Task, a addr.Instance) bool {
	if p.req.Mode == plan.Destroy {
		in, _ := p.run.Find(t, a)
		return in != nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.desired[a]
	return ok
}

// planForget plans to drop an object from the state. No provider is configured for that, nor asked about the
// object: often it is not even possible any more. Only an object in an old format is given to the provider's
// program, to be shown.
func (p *planner) planForget(o *orphan) {
	op, ok := p.managedOp(o.obj, o.provider.Provider)
	if !ok {
		return
	}
	p.inSlot(func() {
		p.run.Report(p.providers.Ask(p.ctx, o.provider.Provider, func(pr provider.Provider) diag.List {
			op.p = pr
			dp := deletePlan{objectOp: op, planner: p, provider: o.provider}
			if pr, ok := dp.upgrade(o.stored); ok {
				c := dp.newChange(pr, o.reason)
				c.Action = plan.Forget
				dp.record(c, pr)
			}
			return nil
		}))
	})
}

// departure returns what runs before the object is destroyed, nil if nothing does: an object that never was
// complete, or was set aside for its successor, gets no destroy-time provisioners.
func (p *planner) departure(t *future.Task, o *orphan) *eval.DestroyProvisioners {
	if o.obj.Deposed != addr.Current || o.stored.Tainted || p.req.Mode == plan.RefreshOnly {
		return nil
	}
	d := p.run.DestroyProvisioners(o.obj.Instance)
	if d != nil {
		d.Prepare(t)
	}
	return d
}

// checkArguments evaluates the arguments of provisioners that will run, with what is known. It opens nothing.
func (p *planner) checkArguments(t *future.Task, of provisioners, self cty.Value, at addr.Instance) bool {
	ok := true
	for i := range of.Provisioners() {
		_, _, diags := evalProvisioner(t, nil, of, i, self, at)
		p.run.Report(diags)
		ok = ok && !diags.HasErrors()
	}
	return ok
}

// maxForgottenShown bounds the list in a warning.
const maxForgottenShown = 20

// warnForgotten says which objects will no longer be managed. A change of another kind shows what becomes of
// the object; this one must not be overlooked.
func (p *planner) warnForgotten() {
	var names strings.Builder
	n := 0
	for _, c := range p.plan.Changes {
		if c.Action != plan.Forget {
			continue
		}
		if n++; n <= maxForgottenShown {
			fmt.Fprintf(&names, "\n  - %s", c.Object())
		}
	}
	if n > maxForgottenShown {
		fmt.Fprintf(&names, "\n  - and %d more", n-maxForgottenShown)
	}
	if n > 0 {
		p.run.Report(diag.Warnf("Resource will be removed from the state",
			"Applying this plan makes Mayfly forget these objects, which continue to exist:\n%s\n\nTo manage them again, import them.", names.String()))
	}
}
