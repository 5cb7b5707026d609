package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// queueFinish queues the evaluations that need the final objects: conditions that planning could not decide,
// the conditions of unused ephemeral resources, and checks, which look at the outcome of all changes. It
// returns false if an interrupt rules it out.
func (a *applier) queueFinish(pool *future.Pool) bool {
	if a.conditions == nil || a.interrupted() {
		return false
	}
	a.finishConditions(pool)
	a.finishChecks(pool)
	return true
}

// finish drops the outputs that are gone, and warns of checks that were begun but not evaluated.
func (a *applier) finish(begun bool) {
	p := a.req.Plan
	if p.Mode == plan.Destroy {
		a.finishDestroy()
		return
	}
	for _, o := range p.Outputs {
		if o.Action == plan.Delete && a.run.Root.Output(o.Name) == nil {
			a.req.State.PutOutput(o.Name, nil)
		}
	}
	if begun {
		a.warnUnchecked()
	}
}

// outputStep evaluates the conditions of an output and stores its value.
func (a *applier) outputStep(t *future.Task, planned *plan.OutputChange) {
	o := a.run.Root.Output(planned.Name)
	if o == nil {
		return
	}
	if _, due := a.conditions[o.Addr()]; due && !a.interrupted() {
		a.finishGuarded(t, o)
	}
	a.finishOutput(t, o, planned)
}

// finishDestroy drops the outputs after everything was destroyed. They stay after an error or a restricted
// plan, which leave objects that they may describe.
func (a *applier) finishDestroy() {
	if a.run.Diags.HasErrors() || a.selection.Restricted() {
		return
	}
	for name := range a.req.Plan.Base.Outputs {
		a.req.State.PutOutput(name, nil)
	}
}

// finishOutput stores the value of an output: the planned value if it is known, and otherwise the final
// value, or the old one if a dependency has no final object.
func (a *applier) finishOutput(t *future.Task, o *eval.Value, planned *plan.OutputChange) {
	if o.Unmet() {
		return // keeps its old value
	}
	if a.anyBlocked(o.Deps(t)) || !o.InputsHold(t) {
		a.storeOutput(planned.Name, planned.After, planned.Sensitive)
		return
	}
	o.Prepare(t)
	v, ok := a.rootOutput(t, o)
	if !ok {
		return
	}
	if promised, err := planned.After.Unmarked(); err == nil && promised.IsWhollyKnown() {
		a.storeOutput(planned.Name, planned.After, planned.Sensitive)
		return
	}
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		a.run.Report(diag.At(o.Output().Range, "Output cannot be stored", "The value of output %q cannot be stored: %s.", planned.Name, err))
		return
	}
	a.storeOutput(planned.Name, d, o.Output().Sensitive)
}

// storeOutput stores the value of an output, unless it is unknown.
func (a *applier) storeOutput(name string, d value.Durable, sensitive bool) {
	a.req.State.PutOutput(name, &state.Output{Value: d, Sensitive: sensitive})
}

// anyBlocked reports whether one of the dependencies has no final object.
func (a *applier) anyBlocked(deps []plan.Dep) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(deps, a.blocked.Touched)
}

// anyLeftOut reports whether one of the dependencies is left out by -exclude, or has no object because
// -target or -exclude left it out before it was ever created.
func (a *applier) anyLeftOut(t *future.Task, i addr.Instance, deps []plan.Dep) bool {
	if !a.selection.Restricted() {
		return false
	}
	return a.selection.LeavesOutAny(i, deps) || a.left.any(t, deps)
}

// absent reports whether the instance has no object, neither from before nor from this apply.
func (a *applier) absent(i addr.Instance) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, made := a.results[i]
	return !made && a.req.Plan.Prior.Object(addr.Object{Instance: i}) == nil
}

// listConditions returns the objects whose conditions the plan knows and whether it left them undecided; nil
// in modes that evaluate none.
func (a *applier) listConditions() map[string]bool {
	if a.req.Plan.Mode != plan.Normal {
		return nil
	}
	undecided := map[string]bool{}
	for _, r := range a.req.Plan.Checks {
		for _, o := range r.Objects {
			undecided[o.Addr] = o.Status == state.CheckUnknown
		}
	}
	return undecided
}

// finishConditions queues the evaluation of the conditions that no step has evaluated.
func (a *applier) finishConditions(pool *future.Pool) {
	var walk func(t *future.Task, m *eval.Module)
	walk = func(t *future.Task, m *eval.Module) {
		if !m.HasConditions() {
			return
		}
		for _, v := range m.Guarded() {
			if undecided, due := a.conditions[v.Addr()]; undecided || due && v.Output() != nil {
				a.finishGuarded(t, v)
			}
		}
		for _, r := range m.Resources() {
			if !r.Block.HasConditions() {
				continue
			}
			instances, _ := r.Instances(t)
			for _, in := range instances {
				pool.Go(func(t *future.Task) { a.run.Guard(in, func() { a.finishInstance(t, in) }) })
			}
		}
		for _, c := range m.Calls() {
			for _, child := range c.Children(t, nil) {
				walk(t, child)
			}
		}
	}
	pool.Go(func(t *future.Task) { a.run.Guard("conditions", func() { walk(t, a.run.Root) }) })
}

// finishGuarded evaluates the conditions of a variable or output, unless something they depend on is
// missing.
func (a *applier) finishGuarded(t *future.Task, v *eval.Value) {
	if deps := v.Deps(t); !a.anyBlocked(deps) && !a.anyLeftOut(t, addr.Instance{}, deps) && v.InputsHold(t) {
		v.Holds(t)
	}
}

// finishInstance evaluates the conditions of an instance that no step has evaluated. An ephemeral instance
// that was never opened is opened here for its conditions alone; a lazy plan promises not to do that for one
// that only write-only arguments use.
func (a *applier) finishInstance(t *future.Task, in *eval.Instance) {
	if deps := in.Deps(t); a.anyBlocked(deps) || a.anyLeftOut(t, in.Addr(), deps) || !in.InputsHold(t) {
		return
	}
	if in.Config().Addr.Mode == addr.Ephemeral {
		a.mu.Lock()
		_, was := a.opened[in.Addr()]
		a.mu.Unlock()
		lazy := a.req.Plan.LazyEphemeral && in.Resource.Block.OnlyWriteOnly(a.req.Config)
		if was || lazy || !a.selection.Selects(in.Addr()) {
			return
		}
		in.Prepare(t)
		a.inSession(t, in, event.OpEvaluate, func(s *ephemeral.Session) { s.Open(t, []eval.Need{{Instance: in}}) })
		return
	}
	a.mu.Lock()
	_, stepped := a.results[in.Addr()]
	a.mu.Unlock()
	if stepped || !a.conditions[in.Addr().String()] {
		return
	}
	in.Prepare(t)
	a.inSession(t, in, event.OpEvaluate, func(s *ephemeral.Session) {
		if in.Preconditions(t, s.Opened) {
			in.Postconditions(t, s.Opened, in.Value(t, nil))
		}
	})
}
