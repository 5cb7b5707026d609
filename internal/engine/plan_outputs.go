package engine

import (
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/included"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// outputPlanner plans the outputs of the root module.
type outputPlanner struct {
	*walk
	planner  *planner
	included *included.Values
}

// begin is called before anything is planned.
func (ou *outputPlanner) begin() {
	ou.included = included.New(ou.run, included.Plan{
		Restricted: ou.planner.selection.Restricted(), Planned: ou.planner.restrict.planned,
		Defers: func(deps []plan.Dep) bool { return len(ou.planner.deferral.set.Touched(deps)) > 0 },
		Aside:  func() *eval.Run { return runOfPlanned(ou.planner) },
	})
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
	pool.Go(func(t *future.Task) {
		ou.run.Guard("conditions", func() { ou.included.CheckConditions(t, ou.run.Root) })
	})
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
	if partial(ou.planner) && !ou.included.Has(t, o) {
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

// variablesFirst returns a filter for the variables of a module to check before the module is planned in a
// restricted plan: variables without dependencies. Checking the others could read objects that the plan
// leaves out.
func (ou *outputPlanner) variablesFirst(t *future.Task) func(*eval.Value) bool {
	return func(v *eval.Value) bool { return len(v.In(ou.planner.atHand()).Deps(t)) == 0 }
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
