// Package included says which outputs, variables and module calls a restricted plan includes: those for which
// it has planned everything that they depend on.
//
// It may import the evaluator, the model of plans and package deferral. It must not know how objects are
// planned. Nothing is planned for the sake of its answers: dependencies are found in a run of their own.
package included

import (
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
)

// Plan answers questions about a plan in which all instances are planned that it has.
type Plan struct {
	Restricted bool                     // by -target or -exclude
	Planned    func(addr.Instance) bool // reports whether it has planned, or read, an instance
	Defers     func([]plan.Dep) bool    // reports whether something that the dependencies are on is deferred
	// Aside returns a run to find dependencies in, which begins when it is needed: to do so evaluates keys,
	// and in the run of the plan that would plan the objects which they come from.
	Aside func() *eval.Run
}

// Values answers for the outputs and variables of a plan. It may be used concurrently.
type Values struct {
	plan    Plan
	missing deferral.Missing
}

// New returns a Values for a plan that was made in the given run.
func New(run *eval.Run, p Plan) *Values {
	p.Aside = sync.OnceValue(p.Aside)
	return &Values{plan: p, missing: deferral.Missing{
		Missing: func(a addr.Instance) bool { return !p.Planned(a) },
		Instances: func(t *future.Task, d plan.Dep) ([]addr.Instance, bool) {
			if !eval.Expanded(run, d) {
				return nil, false // no part of the plan refers to the block
			}
			return run.InstancesOf(t, d)
		},
	}}
}

// Has reports whether the plan includes an output or variable. One that depends on something deferred it
// leaves alone. A plan restricted by -target or -exclude includes a value if it includes everything that the
// value depends on, and none without dependencies.
func (v *Values) Has(t *future.Task, of *eval.Value) bool {
	deps := of.In(v.plan.Aside()).Deps(t)
	if v.plan.Defers(deps) {
		return false
	}
	return !v.plan.Restricted || len(deps) > 0 && !v.missing.Any(t, deps)
}

// CheckConditions evaluates the conditions of the variables and outputs that the plan includes, of a module
// object and those below it.
func (v *Values) CheckConditions(t *future.Task, m *eval.Module) {
	if !m.HasConditions() {
		return
	}
	has := func(of *eval.Value) bool { return v.Has(t, of) }
	m.CheckVariables(t, has)
	m.OutputPreconditions(t, has)
	for _, c := range m.Calls() {
		if v.plan.Restricted && v.missing.Any(t, c.In(v.plan.Aside()).Deps(t)) {
			continue // its instances depend on objects that the plan leaves out
		}
		for _, child := range c.Children(t, nil) {
			v.CheckConditions(t, child)
		}
	}
}
