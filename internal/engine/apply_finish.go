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

// finisher evaluates conditions and outputs that need the final objects.
type finisher struct {
	*walk
	applier *applier
	// conditions has the objects whose conditions the plan knows, and whether it left them undecided. Nil if
	// none are to be evaluated.
	conditions map[string]bool
}

// queue queues the evaluations that need the final objects: conditions that planning could not decide,
// the conditions of unused ephemeral resources, and checks, which look at the outcome of all changes. It
// returns false if an interrupt rules it out.
func (fi *finisher) queue(pool *future.Pool) bool {
	if fi.conditions == nil || fi.interrupted() {
		return false
	}
	fi.finishConditions(pool)
	fi.applier.checks.finish(pool)
	return true
}

// end drops the outputs that are gone, and warns of checks that were begun but not evaluated.
func (fi *finisher) end(begun bool) {
	p := fi.applier.req.Plan
	if p.Mode == plan.Destroy {
		fi.endDestroy()
		return
	}
	for _, o := range p.Outputs {
		if o.Action == plan.Delete && fi.run.Root.Output(o.Name) == nil {
			fi.applier.req.State.PutOutput(o.Name, nil)
		}
	}
	if begun {
		fi.applier.checks.warnUnchecked()
	}
}

// output evaluates the conditions of an output and stores its value.
func (fi *finisher) output(t *future.Task, planned *plan.OutputChange) {
	o := fi.run.Root.Output(planned.Name)
	if o == nil {
		return
	}
	if _, due := fi.conditions[o.Addr()]; due && !fi.interrupted() {
		fi.finishGuarded(t, o)
	}
	fi.finishOutput(t, o, planned)
}

// endDestroy drops the outputs after everything was destroyed. They stay after an error or a restricted
// plan, which leave objects that they may describe.
func (fi *finisher) endDestroy() {
	if fi.run.Diags.HasErrors() || fi.applier.selection.Restricted() {
		return
	}
	for name := range fi.applier.req.Plan.Base.Outputs {
		fi.applier.req.State.PutOutput(name, nil)
	}
}

// finishOutput stores the value of an output: the planned value if it is known, and otherwise the final
// value, or the old one if a dependency has no final object.
func (fi *finisher) finishOutput(t *future.Task, o *eval.Value, planned *plan.OutputChange) {
	if o.Unmet() {
		return // keeps its old value
	}
	if fi.applier.anyBlocked(o.Deps(t)) || !o.InputsHold(t) {
		fi.store(planned.Name, planned.After, planned.Sensitive)
		return
	}
	o.Prepare(t)
	v, ok := fi.rootOutput(t, o)
	if !ok {
		return
	}
	if promised, err := planned.After.Unmarked(); err == nil && promised.IsWhollyKnown() {
		fi.store(planned.Name, planned.After, planned.Sensitive)
		return
	}
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		fi.run.Report(diag.At(o.Output().Range, "Output cannot be stored", "The value of output %q cannot be stored: %s.", planned.Name, err))
		return
	}
	fi.store(planned.Name, d, o.Output().Sensitive)
}

// store stores the value of an output, unless it is unknown.
func (fi *finisher) store(name string, d value.Durable, sensitive bool) {
	fi.applier.req.State.PutOutput(name, &state.Output{Value: d, Sensitive: sensitive})
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
	return a.selection.LeavesOutAny(i, deps) || a.left.Any(t, deps)
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
func (fi *finisher) listConditions() map[string]bool {
	if fi.applier.req.Plan.Mode != plan.Normal {
		return nil
	}
	undecided := map[string]bool{}
	for _, r := range fi.applier.req.Plan.Checks {
		for _, o := range r.Objects {
			undecided[o.Addr] = o.Status == state.CheckUnknown
		}
	}
	return undecided
}

// finishConditions queues the evaluation of the conditions that no step has evaluated.
func (fi *finisher) finishConditions(pool *future.Pool) {
	var walk func(t *future.Task, m *eval.Module)
	walk = func(t *future.Task, m *eval.Module) {
		if !m.HasConditions() {
			return
		}
		for _, v := range m.Guarded() {
			if undecided, due := fi.conditions[v.Addr()]; undecided || due && v.Output() != nil {
				fi.finishGuarded(t, v)
			}
		}
		for _, r := range m.Resources() {
			if !r.Block.HasConditions() {
				continue
			}
			instances, _ := r.Instances(t)
			for _, in := range instances {
				pool.Go(func(t *future.Task) { fi.run.Guard(in, func() { fi.finishInstance(t, in) }) })
			}
		}
		for _, c := range m.Calls() {
			for _, child := range c.Children(t, nil) {
				walk(t, child)
			}
		}
	}
	pool.Go(func(t *future.Task) { fi.run.Guard("conditions", func() { walk(t, fi.run.Root) }) })
}

// finishGuarded evaluates the conditions of a variable or output, unless something they depend on is
// missing.
func (fi *finisher) finishGuarded(t *future.Task, v *eval.Value) {
	if deps := v.Deps(t); !fi.applier.anyBlocked(deps) && !fi.applier.anyLeftOut(t, addr.Instance{}, deps) && v.InputsHold(t) {
		v.Holds(t)
	}
}

// finishInstance evaluates the conditions of an instance that no step has evaluated. An ephemeral instance
// that was never opened is opened here for its conditions alone; a lazy plan promises not to do that for one
// that only write-only arguments use.
func (fi *finisher) finishInstance(t *future.Task, in *eval.Instance) {
	if deps := in.Deps(t); fi.applier.anyBlocked(deps) || fi.applier.anyLeftOut(t, in.Addr(), deps) || !in.InputsHold(t) {
		return
	}
	if in.Config().Addr.Mode == addr.Ephemeral {
		fi.applier.mu.Lock()
		_, was := fi.applier.opened[in.Addr()]
		fi.applier.mu.Unlock()
		lazy := fi.applier.req.Plan.LazyEphemeral && in.Resource.Block.OnlyWriteOnly(fi.applier.req.Config)
		if was || lazy || !fi.applier.selection.Selects(in.Addr()) {
			return
		}
		in.Prepare(t)
		fi.inSession(t, in, event.OpEvaluate, func(s *ephemeral.Session) { s.Open(t, []eval.Need{{Instance: in}}) })
		return
	}
	fi.applier.mu.Lock()
	_, stepped := fi.applier.results[in.Addr()]
	fi.applier.mu.Unlock()
	if stepped || !fi.conditions[in.Addr().String()] {
		return
	}
	in.Prepare(t)
	fi.inSession(t, in, event.OpEvaluate, func(s *ephemeral.Session) {
		if in.Preconditions(t, s.Opened) {
			in.Postconditions(t, s.Opened, in.Value(t, nil))
		}
	})
}
