package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// queueOutputs queues the planning of the root module's outputs, each of which waits for the objects it
// refers to.
func (p *planner) queueOutputs(pool *future.Pool, outputs []dueOutput) {
	for _, o := range outputs {
		pool.Go(func(t *future.Task) {
			defer p.pool.Waive(o.uses...)
			p.run.Guard(o.Addr(), func() { p.planOutput(t, o.Value) })
		})
	}
}

// planRestrictedOutputs plans the outputs that a restricted plan includes, and evaluates the conditions of
// the variables and outputs that it does.
func (p *planner) planRestrictedOutputs(pool *future.Pool, outputs []dueOutput) {
	if !p.selection.Restricted() || p.req.Mode == plan.Destroy || p.run.Diags.HasErrors() {
		return
	}
	p.unplanned = &missingDeps{instances: p.run.InstancesOf, missing: func(a addr.Instance) bool { return !p.planned(a) }}
	pool.Go(func(t *future.Task) { p.run.Guard("conditions", func() { p.checkSelected(t, p.run.Root) }) })
	p.queueOutputs(pool, outputs)
	pool.Wait()
}

// finishOutputs adds the outputs that the state has and the configuration has not. A plan with errors has no
// outputs: which of them it could have had is of no use.
func (p *planner) finishOutputs() {
	if p.run.Diags.HasErrors() {
		p.plan.Outputs = nil
		return
	}
	if p.selection.Restricted() {
		return
	}
	for name, old := range p.req.State.Outputs {
		if p.req.Mode == plan.Destroy || p.run.Root.Output(name) == nil {
			p.addOutput(&plan.OutputChange{Name: name, Action: plan.Delete, Before: old.Value, Sensitive: old.Sensitive})
		}
	}
}

// planOutput plans an output of the root module. A null output counts as absent, because the state does not
// store it. Nothing is opened for an output if something that it depends on has failed.
func (p *planner) planOutput(t *future.Task, o *eval.Value) {
	if !p.valueSelected(t, o) {
		return
	}
	o.Prepare(t)
	if p.run.Diags.HasErrors() && p.dependencyFailed(o.Deps(t)) || !o.InputsHold(t) || !o.Holds(t) {
		return
	}
	v, ok := p.rootOutput(t, o)
	if !ok {
		return
	}
	if p.req.Mode == plan.RefreshOnly {
		v = value.UnknownAsNull(v) // nothing that the plan does makes it known
	}
	c := &plan.OutputChange{Name: o.Output().Name, Action: plan.Create, Sensitive: o.Output().Sensitive, Deps: o.Deps(t)}
	var err error
	if c.After, err = value.Seal(v, v.Type(), nil); err != nil {
		p.run.Report(diag.At(o.Output().Range, "Output cannot be stored", "The value of output %q cannot be stored: %s.", c.Name, err))
		return
	}
	if old := p.req.State.Outputs[c.Name]; old != nil {
		c.Before = old.Value
		c.Action = plan.Update
		if sameDurable(old.Value, c.After) && old.Sensitive == c.Sensitive {
			c.Action = plan.NoOp
		}
	}
	if c.After.IsNull() { // null outputs are not kept in the state
		switch c.Action {
		case plan.Create:
			c.Action = plan.NoOp
		case plan.Update:
			c.Action = plan.Delete
		}
	}
	p.addOutput(c)
}

// valueSelected reports whether a plan restricted by -target or -exclude includes an output or variable: it
// does if it includes everything the value depends on. A value without dependencies is not included.
func (p *planner) valueSelected(t *future.Task, v *eval.Value) bool {
	if !p.selection.Restricted() {
		return true
	}
	deps := v.Deps(t)
	return len(deps) > 0 && !p.unplanned.any(t, deps)
}

// variablesFirst returns a filter for the variables of a module to check before the module is planned in a
// restricted plan: variables without dependencies. Checking the others could read objects that the plan
// leaves out.
func (p *planner) variablesFirst(t *future.Task) func(*eval.Value) bool {
	return func(v *eval.Value) bool { return len(v.Deps(t)) == 0 }
}

// checkSelected evaluates the conditions of the variables and outputs, of a module object and those below
// it, that a restricted plan includes.
func (p *planner) checkSelected(t *future.Task, m *eval.Module) {
	if !m.HasConditions() {
		return
	}
	m.CheckVariables(t, func(v *eval.Value) bool { return p.valueSelected(t, v) })
	m.OutputPreconditions(t, func(o *eval.Value) bool { return p.valueSelected(t, o) })
	for _, c := range m.Calls() {
		if p.unplanned.any(t, c.Deps(t)) {
			continue // its instances depend on objects that the plan leaves out
		}
		for _, child := range c.Children(t, nil) {
			p.checkSelected(t, child)
		}
	}
}

func (p *planner) addOutput(c *plan.OutputChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan.Outputs = append(p.plan.Outputs, c)
}

func sameDurable(a, b value.Durable) bool {
	x, errX := a.Unmarked()
	y, errY := b.Unmarked()
	return errX == nil && errY == nil && x != cty.NilVal && y != cty.NilVal && x.RawEquals(y)
}
