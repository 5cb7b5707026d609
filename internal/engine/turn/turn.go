// Package turn evaluates outputs and checks at the end of a run, from the objects that all runs on a state
// have left: each run evaluates the ones behind which it has changed an object. So runs that change objects
// behind the same output need not exclude each other.
//
// It may import addr, diag, future, blocks, eval, value, plan and state. It must not know providers, or how a
// state is stored.
package turn

import (
	"context"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Possible returns the outputs and checks of a plan that can be evaluated from objects alone: those that open
// nothing, read no computed value that is kept out of the state, and have no nested data source.
func Possible(run *eval.Run, p *plan.Plan) map[state.Subject]bool {
	out := map[state.Subject]bool{}
	if p.Mode != plan.Normal {
		return out
	}
	t := &future.Task{}
	for _, c := range p.Outputs {
		if o := run.Root.Output(c.Name); o != nil && len(o.Uses(t)) == 0 && o.ReadsLent().Empty() {
			out[state.Subject{Kind: state.OneOutput, Addr: c.Name}] = true
		}
	}
	for _, r := range p.Checks {
		if r.Kind != "check" || len(r.Objects) == 0 {
			continue
		}
		out[state.Subject{Kind: state.OneCheck, Addr: r.Config}] = !slices.ContainsFunc(r.Objects, func(o state.CheckObject) bool {
			c := run.Check(o.Addr)
			return c == nil || c.Nested() != nil || len(c.Uses(t)) > 0
		})
	}
	return out
}

// due are the outputs and checks to evaluate.
type due struct {
	outputs  []string
	checks   map[string][]string // the objects of blocks
	leftOut  []state.CheckResult // that are not evaluated, and unknown from now on
	subjects []state.Subject     // that they are evaluated from
}

// find returns the outputs and checks behind which a plan changes an object.
func find(run *eval.Run, cfg *blocks.Config, p *plan.Plan) *due {
	d := &due{checks: map[string][]string{}, leftOut: leftOut(cfg, p)}
	altered, possible, t := p.Altered(), Possible(run, p), &future.Task{}
	for _, c := range p.Outputs {
		if !possible[state.Subject{Kind: state.OneOutput, Addr: c.Name}] {
			continue
		}
		if deps := run.Root.Output(c.Name).Deps(t); slices.ContainsFunc(deps, altered.Touched) {
			d.outputs = append(d.outputs, c.Name)
			d.add(deps)
		}
	}
	for _, r := range p.Checks {
		if !possible[state.Subject{Kind: state.OneCheck, Addr: r.Config}] {
			continue
		}
		var deps []plan.Dep
		var objects []string
		for _, o := range r.Objects {
			deps, objects = append(deps, run.Check(o.Addr).Deps(t)...), append(objects, o.Addr)
		}
		if slices.ContainsFunc(deps, altered.Touched) {
			d.checks[r.Config] = objects
			d.add(deps)
		}
	}
	return d
}

func (d *due) add(deps []plan.Dep) {
	for _, dep := range deps {
		if s, has := dep.Subject(); has {
			d.subjects = append(d.subjects, s)
		}
	}
}

// Objects are the objects of one moment that a turn is evaluated from.
type Objects struct {
	st    *state.State
	asked map[state.Subject]bool // that st has all objects of

	mu      sync.Mutex
	missing []state.Subject
}

// Of returns the state that has the object of an instance, or should have it: one that was not read is noted.
func (o *Objects) Of(a addr.Instance) *state.State {
	known := o.st.Instance(a) != nil || o.asked[state.InstanceSubject(a)] || o.has(plan.Dep{Resource: a.Abs(), All: true})
	for m := a.Module; !known; m, _, _ = m.Parent() {
		known = o.has(plan.Dep{Resource: a.Abs(), All: true, Modules: true, Within: m})
		if m.IsRoot() {
			break
		}
	}
	if !known {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.missing = append(o.missing, state.InstanceSubject(a))
	}
	return o.st
}

func (o *Objects) has(d plan.Dep) bool {
	s, _ := d.Subject()
	return o.asked[s]
}

// Take has a run store the outputs and checks behind which its plan has changed an object, evaluated from the
// objects that all runs have left. with starts the walk that evaluates them from such objects. It may have to
// be done several times; problems of the last time are reported to applied, the walk of the apply.
func Take(ctx context.Context, r state.Run, applied *eval.Run, cfg *blocks.Config, p *plan.Plan, with func(*Objects) *eval.Run) error {
	turner, is := r.(state.Turner)
	if !is {
		return nil
	}
	d := find(applied, cfg, p)
	if len(d.outputs)+len(d.checks)+len(d.leftOut) == 0 {
		return nil
	}
	asked := map[state.Subject]bool{}
	for _, s := range d.subjects {
		asked[s] = true
	}
	problems := &diag.Collector{}
	err := turner.TakeTurn(ctx, d.subjects, func(st *state.State) state.Evaluated {
		objects := &Objects{st: st, asked: asked}
		run := with(objects)
		problems = &diag.Collector{Redact: run.Diags.Redact}
		run.Diags = problems
		out := d.evaluate(run)
		out.Missing = objects.missing
		for _, s := range out.Missing {
			asked[s] = true
		}
		return out
	})
	applied.Report(problems.List())
	return err
}

// evaluate evaluates everything that is due. A value that cannot be evaluated stays as it is: a run that is
// about to make an object which is not there yet evaluates it as well.
func (d *due) evaluate(run *eval.Run) state.Evaluated {
	out, t := state.Evaluated{Outputs: map[string]*state.Output{}, Checks: slices.Clone(d.leftOut)}, &future.Task{}
	for _, name := range d.outputs {
		o := run.Root.Output(name)
		run.Guard(o.Addr(), func() {
			if got := output(t, run, o); got != nil {
				out.Outputs[name] = got
			}
		})
	}
	for _, objects := range d.checks {
		for _, a := range objects {
			run.Guard(a, func() { evaluateCheck(t, run.Check(a)) })
		}
	}
	for _, r := range run.Checks.Results() {
		if objects := d.checks[r.Config]; len(objects) == len(r.Objects) && r.Status != state.CheckUnknown && objects != nil {
			out.Checks = append(out.Checks, r)
		}
	}
	return out
}

// output returns the value of an output, nil if it has none.
func output(t *future.Task, run *eval.Run, o *eval.Value) *state.Output {
	o.Prepare(t)
	if !o.InputsHold(t) || !o.Holds(t) {
		return nil
	}
	v, ok := o.Durable(t)
	if !ok || value.Contains(v, value.Ephemeral) {
		return nil
	}
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil { // at the step of the output, with other objects, it may have been different
		run.Report(diag.At(o.Output().Range, "Output cannot be stored", "The value of output %q cannot be stored: %s.", o.Output().Name, err))
		return nil
	}
	return &state.Output{Value: d, Sensitive: o.Output().Sensitive}
}

func evaluateCheck(t *future.Task, c *eval.Check) {
	if c == nil || !c.InputsHold(t) {
		return
	}
	c.Prepare(t)
	c.Evaluate(t, nil, false)
}
