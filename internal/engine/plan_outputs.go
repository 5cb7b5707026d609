package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// outputPlanner plans the outputs of the root module.
type outputPlanner struct {
	*walk
	planner   *planner
	unplanned *deferral.Missing // set before any output is planned
}

// queue queues the planning of the root module's outputs, each of which waits for the objects it
// refers to.
func (ou *outputPlanner) queue(pool *future.Pool, outputs []dueOutput) {
	for _, o := range outputs {
		pool.Go(func(t *future.Task) {
			defer ou.pool.Waive(o.uses...)
			ou.run.Guard(o.Addr(), func() { ou.plan(t, o.Value) })
		})
	}
}

// planRestricted plans the outputs that a restricted plan includes, and evaluates the conditions of
// the variables and outputs that it does.
func (ou *outputPlanner) planRestricted(pool *future.Pool, outputs []dueOutput) {
	if !partial(ou.planner) || ou.planner.req.Mode == plan.Destroy || ou.run.Diags.HasErrors() {
		return
	}
	ou.unplanned = &deferral.Missing{Instances: ou.run.InstancesOf, Missing: func(a addr.Instance) bool { return !ou.planner.restrict.planned(a) }}
	pool.Go(func(t *future.Task) { ou.run.Guard("conditions", func() { ou.checkSelected(t, ou.run.Root) }) })
	if !ou.planner.selection.Restricted() && ou.planner.req.Mode == plan.Normal && ou.planner.deferral.set.Empty() {
		pool.Go(func(t *future.Task) { ou.run.Guard("values", func() { evaluateValues(t, ou.run.Root) }) })
	}
	ou.queue(pool, outputs)
	pool.Wait()
}

// finish adds the outputs that the state has and the configuration has not. A plan with errors has no
// outputs: which of them it could have had is of no use.
func (ou *outputPlanner) finish() {
	if ou.run.Diags.HasErrors() {
		ou.planner.plan.Outputs = nil
		return
	}
	if ou.planner.selection.Restricted() {
		return
	}
	for name, old := range ou.planner.req.State.Outputs {
		if ou.planner.req.Mode == plan.Destroy || ou.run.Root.Output(name) == nil {
			ou.add(&plan.OutputChange{Name: name, Action: plan.Delete, Before: old.Value, Sensitive: old.Sensitive})
		}
	}
}

// plan plans an output of the root module. A null output counts as absent, because the state does not
// store it. Nothing is opened for an output if something that it depends on has failed.
func (ou *outputPlanner) plan(t *future.Task, o *eval.Value) {
	if !ou.valueSelected(t, o) {
		return
	}
	o.Prepare(t)
	if ou.run.Diags.HasErrors() && ou.planner.dependencyFailed(o.Deps(t)) || !o.InputsHold(t) || !o.Holds(t) {
		return
	}
	v, ok := ou.rootOutput(t, o)
	if !ok {
		return
	}
	if ou.planner.req.Mode == plan.RefreshOnly {
		v = value.UnknownAsNull(v) // nothing that the plan does makes it known
	}
	c := &plan.OutputChange{Name: o.Output().Name, Action: plan.Create, Sensitive: o.Output().Sensitive, Deps: o.Deps(t)}
	var err error
	if c.After, err = value.Seal(v, v.Type(), nil); err != nil {
		ou.run.Report(diag.At(o.Output().Range, "Output cannot be stored", "The value of output %q cannot be stored: %s.", c.Name, err))
		return
	}
	if old := ou.planner.req.State.Outputs[c.Name]; old != nil {
		c.Before = old.Value
		c.Action = plan.Update
		if old.Value.Equals(c.After) && old.Sensitive == c.Sensitive {
			c.Action = plan.NoOp
		}
		if old.Value.Same(c.After) {
			c.After = old.Value // which a plan has once then
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
	ou.add(c)
}

// valueSelected reports whether the plan includes an output or variable. One that depends on something
// deferred it leaves alone. A plan restricted by -target or -exclude includes a value if it includes
// everything that the value depends on, and none without dependencies.
func (ou *outputPlanner) valueSelected(t *future.Task, v *eval.Value) bool {
	if !partial(ou.planner) {
		return true
	}
	deps := v.Deps(t)
	if len(ou.planner.deferral.set.Touched(deps)) > 0 {
		return false
	}
	if !ou.planner.selection.Restricted() {
		return true
	}
	return len(deps) > 0 && !ou.unplanned.Any(t, deps)
}

// variablesFirst returns a filter for the variables of a module to check before the module is planned in a
// restricted plan: variables without dependencies. Checking the others could read objects that the plan
// leaves out.
func (ou *outputPlanner) variablesFirst(t *future.Task) func(*eval.Value) bool {
	return func(v *eval.Value) bool { return len(v.Deps(t)) == 0 }
}

// checkSelected evaluates the conditions of the variables and outputs, of a module object and those below
// it, that a restricted plan includes.
func (ou *outputPlanner) checkSelected(t *future.Task, m *eval.Module) {
	if !m.HasConditions() {
		return
	}
	m.CheckVariables(t, func(v *eval.Value) bool { return ou.valueSelected(t, v) })
	m.OutputPreconditions(t, func(o *eval.Value) bool { return ou.valueSelected(t, o) })
	for _, c := range m.Calls() {
		if ou.planner.selection.Restricted() && ou.unplanned.Any(t, c.Deps(t)) {
			continue // its instances depend on objects that the plan leaves out
		}
		for _, child := range c.Children(t, nil) {
			ou.checkSelected(t, child)
		}
	}
}

// evaluateValues evaluates the values of a module object and those below it, for the errors in them.
func evaluateValues(t *future.Task, m *eval.Module) {
	m.EvaluateValues(t, nil)
	for _, c := range m.Calls() {
		for _, child := range c.Children(t, nil) {
			evaluateValues(t, child)
		}
	}
}

func (ou *outputPlanner) add(c *plan.OutputChange) {
	ou.planner.mu.Lock()
	defer ou.planner.mu.Unlock()
	ou.planner.plan.Outputs = append(ou.planner.plan.Outputs, c)
}
