package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
)

// planInvoke plans the invocations of the actions that the user asks for, and nothing else.
func planInvoke(p *planner) {
	claims := eval.ActionClaims(p.req.Config)
	p.pool.Claim(claims...)
	defer p.pool.Waive(claims...)
	p.planVariables()
	if p.run.Diags.HasErrors() {
		return
	}
	for _, a := range p.req.Invoke { // in this order, in which they are invoked
		pool := future.NewPool(p.workers())
		pool.Go(func(t *future.Task) {
			p.run.Guard(a, func() {
				inv := &plan.Invocation{}
				if in := invoked(p, t, a); in != nil && planInvocation(p, t, in, inv) {
					addInvocation(p, inv)
				}
			})
		})
		pool.Wait()
	}
	p.reportInterrupt()
}

// resultFromState is the host's answer for an instance of a plan that only invokes actions: data sources are
// read, and managed resources are as in the state.
func resultFromState(p *planner) results {
	return func(t *future.Task, in *eval.Instance) cty.Value {
		if in.Config().Addr.Mode == addr.Data {
			return p.data.plan(t, in)
		}
		return p.recorded(t, p.req.State, in)
	}
}

// invoked returns the instance of an action that the user asks for, nil if there is none, which it reports.
func invoked(p *planner, t *future.Task, a addr.Instance) *eval.Instance {
	in, known := p.run.Find(t, a)
	switch {
	case in != nil || !known: // the reason was reported
		return in
	case !p.run.Declared(a):
		p.run.Report(selection.NotInvoked(a, selection.UndeclaredAction(a, p.req.Config.ActionNames())))
		return nil
	case p.run.WhyGone(a) == plan.DeleteNoModule:
		p.run.Report(selection.NotInvoked(a, "There is no such instance of the module."))
		return nil
	}
	instances, _ := p.run.Module(a.Module).Resource(a.Resource).Instances(t)
	var have []string
	for _, in := range instances {
		have = append(have, in.Addr().String())
	}
	p.run.Report(selection.NoActionInstance(a, have))
	return nil
}
