// Package scope finds the claims of a plan on a state that several runs may change at the same time, as far
// as they take the evaluated configuration. It also finds the records of objects that an apply brings up to
// date without a change, and the outcomes of steps.
//
// It may import addr, future, eval, plan, state and turn. It must not know providers, or how anything is
// claimed.
package scope

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/turn"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Of returns the scope of a plan that run has made from a state as it was read.
func Of(run *eval.Run, p *plan.Plan, stored *state.State) *state.Scope {
	opt := plan.ScopeOptions{Stored: stored, Checks: map[string][]plan.Dep{}, Units: map[string][]state.Finding{}, Turns: turn.Possible(run, p)}
	for _, r := range p.Checks {
		for _, o := range r.Objects {
			deps := CheckDeps(run, r.Kind, o.Addr)
			opt.Checks[r.Config] = append(opt.Checks[r.Config], deps...)
			if r.Kind != "resource" {
				opt.Units[r.Config] = append(opt.Units[r.Config], state.Finding{Unit: state.Unit{Kind: state.CheckUnit, Addr: o.Addr}, Block: state.CheckBlock(r.Config), Reads: plan.Subjects(deps)})
			}
		}
	}
	for _, c := range p.Changes {
		if _, outdated := Record(c, instance(run, c.Addr), p.Prior); outdated {
			opt.Records = append(opt.Records, c.Addr)
		}
	}
	opt.Left = left(run, p, opt.Checks)
	return plan.Scope(p, opt)
}

// left returns the instances that the configuration doesn't declare and a restricted plan leaves in the
// state, as far as changes, outputs or checks read them.
func left(run *eval.Run, p *plan.Plan, checks map[string][]plan.Dep) (out []addr.Instance) {
	if p.Mode != plan.Normal || len(p.Targets)+len(p.Excludes) == 0 && p.Complete() {
		return nil
	}
	planned, read := map[addr.Instance]bool{}, map[state.Subject]bool{}
	note := func(deps []plan.Dep) {
		for _, s := range plan.Subjects(deps) {
			read[s] = true
		}
	}
	for _, c := range p.Changes {
		planned[c.Addr] = true
		if c.Action != plan.NoOp {
			note(c.Deps)
		}
	}
	for _, o := range p.Outputs {
		note(o.Deps)
	}
	for _, deps := range checks {
		note(deps)
	}
	for a := range p.Prior.AllInstances() {
		if planned[a] || !slices.ContainsFunc(state.Around(a), func(s state.Subject) bool { return read[s] }) {
			continue
		}
		if in, known := run.Find(&future.Task{}, a); known && in == nil {
			out = append(out, a)
		}
	}
	return out
}

// instance returns the instance at an address, nil if the configuration has no block for it.
func instance(run *eval.Run, a addr.Instance) *eval.Instance {
	m := run.Module(a.Module)
	if m == nil || m.Resource(a.Resource) == nil {
		return nil
	}
	return m.Resource(a.Resource).Instance(a.Key)
}

// CheckDeps returns the read-set of the conditions of an object. Unlike its dependencies, that includes the
// object itself.
func CheckDeps(run *eval.Run, kind, address string) []plan.Dep {
	t := &future.Task{}
	switch kind {
	case "check":
		if c := run.Check(address); c != nil {
			return c.Deps(t)
		}
	case "resource":
		a, err := addr.ParseInstance(address)
		if err != nil || a.Resource.Mode == addr.Ephemeral {
			return nil
		}
		if in := instance(run, a); in != nil {
			return append(in.Deps(t), plan.Dep{Resource: a.Abs(), Key: a.Key})
		}
	default:
		if v := guarded(run, address); v != nil {
			return v.Deps(t)
		}
	}
	return nil
}

// guarded returns the variable or output with conditions at an address, nil if there is none.
func guarded(run *eval.Run, address string) *eval.Value {
	within := addr.RootInstance
	for _, label := range []string{"output.", "var."} {
		i := strings.LastIndex(address, "."+label)
		if i < 0 {
			continue
		}
		var err error
		if within, err = addr.ParseModuleInstance(address[:i]); err != nil {
			return nil
		}
		break
	}
	m := run.Module(within)
	if m == nil {
		return nil
	}
	values := m.Guarded()
	if i := slices.IndexFunc(values, func(v *eval.Value) bool { return v.Addr() == address }); i >= 0 {
		return values[i]
	}
	return nil
}

// Record returns the object of an instance that the plan leaves as it is, with the dependencies, replace
// order and fate at destruction that the configuration now asks for. It returns false if the state has it
// like that, with the same provider. in is nil for an instance without a block.
func Record(c *plan.Change, in *eval.Instance, st *state.State) (*state.Object, bool) {
	if c.Action != plan.NoOp || c.Deposed != addr.Current {
		return nil, false
	}
	o := st.Object(c.Object())
	if o == nil {
		return nil, false
	}
	deps, skip := Dependencies(c.Deps), o.SkipDestroy
	if in != nil {
		skip = in.Config().Lifecycle.SkipDestroy()
	}
	if sameResources(o.Dependencies, deps) && o.CreateBeforeDestroy == c.CreateBeforeDestroy && o.SkipDestroy == skip && st.Instance(c.Addr).Provider == c.Provider {
		return nil, false
	}
	n := o.Clone()
	n.Dependencies, n.CreateBeforeDestroy, n.SkipDestroy = deps, c.CreateBeforeDestroy, skip
	return n, true
}

// Dependencies returns the dependencies in the form that the state keeps.
func Dependencies(deps []plan.Dep) []addr.ConfigResource {
	var out []addr.ConfigResource
	seen := map[addr.ConfigResource]struct{}{}
	for _, d := range deps {
		r := d.Resource.Config()
		if _, ok := seen[r]; !ok {
			seen[r] = struct{}{}
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b addr.ConfigResource) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	return out
}

// sameResources reports whether two lists of dependencies are the same, whatever their order: the order is
// no reason to store an object again.
func sameResources(a, b []addr.ConfigResource) bool {
	if len(a) != len(b) {
		return false
	}
	have := make(map[addr.ConfigResource]struct{}, len(a))
	for _, r := range a {
		have[r] = struct{}{}
	}
	for _, r := range b {
		if _, ok := have[r]; !ok {
			return false
		}
	}
	return true
}
