package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// Each unit of a plan is evaluated again by itself: in a new run, which remembers nothing, on the objects
// that the plan leads to. The instances that it asks for have to be in its read-set, from which the order of
// steps and the claims are made.

// readChecker has one configuration and the objects of a plan.
type readChecker struct {
	w       *world
	req     engine.PlanRequest
	objects map[addr.Instance]cty.Value
	planned *plan.Plan
	run     *eval.Run // in which read-sets are collected
}

// unit is something that is evaluated as a whole: an instance, an output, a check.
type unit struct {
	name  string
	self  addr.Instance // the zero Instance if it is none
	eval  func(r *eval.Run, t *future.Task, o *eval.Opened)
	reads func(r *eval.Run, t *future.Task) []plan.Dep
}

// mostUnits bounds the number of units that are evaluated for one plan.
const mostUnits = 24

// checkReads checks the units of a plan, or some of them if there are many.
func (w *world) checkReads(req engine.PlanRequest, p *plan.Plan) {
	w.t.Helper()
	if req.Mode == plan.Destroy || len(w.functions) > 0 { // which may never return
		return
	}
	c := &readChecker{w: w, req: req, planned: p, objects: map[addr.Instance]cty.Value{}}
	for _, ch := range p.Changes {
		if v, err := ch.After.Live(); err == nil && v != cty.NilVal && ch.Deposed == addr.Current {
			c.objects[ch.Addr] = v
		}
	}
	c.run = c.newRun(func(addr.Instance) {})
	units := c.units(&future.Task{}, c.run.Root)
	for i := 0; i < len(units); i += 1 + len(units)/mostUnits {
		c.check(units[i])
	}
}

var pureFunctions = sync.OnceValue(func() map[string]function.Function { return funcs.Table(funcs.Options{PureOnly: true}) })

// newRun returns a run that calls asked for each instance whose object it needs.
func (c *readChecker) newRun(asked func(addr.Instance)) *eval.Run {
	return eval.NewRun(c.req.Config, eval.Options{
		Phase: eval.Planning, Host: c, Variables: c.req.Variables, Functions: pureFunctions(), Workspace: "default", RootDir: c.w.dir, WorkDir: c.w.dir,
		Result: func(_ *future.Task, in *eval.Instance) cty.Value {
			asked(in.Addr())
			return c.object(in)
		},
	})
}

// object returns the object of an instance as the plan leaves it, unknown if there is none.
func (c *readChecker) object(in *eval.Instance) cty.Value {
	if v, ok := c.objects[in.Addr()]; ok {
		return v
	}
	ty := in.Resource.Block.Schema.Block.Type()
	if o := c.planned.Prior.Object(addr.Object{Instance: in.Addr()}); o != nil {
		if v, err := o.Decode(ty); err == nil {
			return v
		}
	}
	return cty.UnknownVal(ty)
}

// WithOpened implements eval.Host.
func (c *readChecker) WithOpened(_ *future.Task, _ *eval.Value, f func(*eval.Opened)) { f(c.opened()) }

// CallFunction implements eval.Host.
func (c *readChecker) CallFunction(t *future.Task, f eval.FunctionCall) (cty.Value, error) {
	if f.On != nil {
		f.On.EvalBody(t, c.opened())
	}
	return cty.DynamicVal, nil
}

// ConfiguredFunctions implements eval.Host.
func (c *readChecker) ConfiguredFunctions(t *future.Task, p *eval.ProviderObject) (map[string]*schema.Function, bool) {
	p.EvalBody(t, c.opened())
	return nil, false
}

// evaluatingOpener evaluates the configurations of ephemeral instances in place of opening them.
type evaluatingOpener struct {
	c *readChecker
	o *eval.Opened
}

func (c *readChecker) opened() *eval.Opened {
	e := &evaluatingOpener{c: c}
	e.o = eval.NewOpened(e)
	return e.o
}

// Open implements eval.Opener.
func (e *evaluatingOpener) Open(t *future.Task, needs []eval.Need) {
	for _, n := range needs {
		if !e.o.Has(n.Instance) {
			e.o.Add(n.Instance, eval.Unopened(n.Instance))
			evaluate(t, e.c.opened(), n.Instance, eval.Unopened(n.Instance))
		}
	}
}

// evaluate evaluates all that makes an object of an instance, and its conditions.
func evaluate(t *future.Task, o *eval.Opened, in *eval.Instance, self cty.Value) {
	in.Resource.Instances(t)
	in.InputsHold(t)
	if po := in.Provider(t); po != nil {
		po.EvalBody(t, o)
	}
	in.EvalBody(t, o)
	in.Preconditions(t, o)
	in.Postconditions(t, o, self)
	in.TriggerKeys(t)
	in.Triggered(t, func(addr.Instance) *plan.Change { return nil })
	eval.Versions(t, in)
	for i := range in.Provisioners() {
		in.EvalProvisioner(t, o, i, self)
		in.EvalConnection(t, o, i, self)
	}
}

// units returns the units in a module and below it.
func (c *readChecker) units(t *future.Task, m *eval.Module) []unit {
	var out []unit
	for _, r := range m.Resources() {
		instances, _ := r.Instances(t)
		for _, in := range instances {
			if mode := in.Config().Addr.Mode; mode == addr.Managed || mode == addr.Data {
				out = append(out, c.instanceUnits(in.Addr())...)
			}
		}
	}
	for i, check := range m.CheckBlocks() {
		at := m.Addr
		of := func(r *eval.Run) *eval.Check { return r.Module(at).CheckBlocks()[i] }
		out = append(out, unit{
			name: check.Addr(),
			eval: func(r *eval.Run, t *future.Task, o *eval.Opened) {
				of(r).Evaluate(t, o, false)
				of(r).InputsHold(t)
			},
			reads: func(r *eval.Run, t *future.Task) []plan.Dep { return of(r).Deps(t) },
		})
	}
	out = append(out, valueUnits(m, m.Guarded(), (*eval.Module).Guarded)...)
	if m.Addr.IsRoot() {
		out = append(out, valueUnits(m, m.Outputs(), (*eval.Module).Outputs)...)
	}
	for _, call := range m.Calls() {
		for _, child := range call.Children(t, nil) {
			out = append(out, c.units(t, child)...)
		}
	}
	return out
}

// valueUnits returns the units of values of a module, which list lists.
func valueUnits(m *eval.Module, values []*eval.Value, list func(*eval.Module) []*eval.Value) []unit {
	var out []unit
	for i, v := range values {
		at := m.Addr
		of := func(r *eval.Run) *eval.Value { return list(r.Module(at))[i] }
		out = append(out, unit{
			name: v.Addr(),
			eval: func(r *eval.Run, t *future.Task, o *eval.Opened) {
				of(r).Final(t, o)
				of(r).Holds(t)
				of(r).InputsHold(t)
			},
			reads: func(r *eval.Run, t *future.Task) []plan.Dep { return of(r).Deps(t) },
		})
	}
	return out
}

// instanceUnits returns the units of an instance: itself, and its triggers of actions.
func (c *readChecker) instanceUnits(a addr.Instance) []unit {
	of := func(r *eval.Run) *eval.Instance { return r.Module(a.Module).Resource(a.Resource).Instance(a.Key) }
	out := []unit{{
		name: a.String(), self: a,
		eval:  func(r *eval.Run, t *future.Task, o *eval.Opened) { evaluate(t, o, of(r), c.object(of(r))) },
		reads: func(r *eval.Run, t *future.Task) []plan.Dep { return of(r).Deps(t) },
	}}
	for i, tr := range eval.ActionTriggers(of(c.run)) {
		actions := func(r *eval.Run, t *future.Task) (out []*eval.Instance) {
			for n := range tr.Config.Actions {
				if action, _ := eval.ActionTriggers(of(r))[i].Action(t, n); action != nil {
					out = append(out, action)
				}
			}
			return out
		}
		out = append(out, unit{
			name: "a trigger of " + a.String(), self: a,
			eval: func(r *eval.Run, t *future.Task, o *eval.Opened) {
				eval.ActionTriggers(of(r))[i].Condition(t, o, c.object(of(r)))
				for _, action := range actions(r, t) {
					action.EvalBody(t, o)
				}
			},
			reads: func(r *eval.Run, t *future.Task) []plan.Dep {
				deps := eval.ActionTriggers(of(r))[i].ConditionDeps(t)
				for n := range tr.Config.Actions {
					deps = append(deps, eval.ActionTriggers(of(r))[i].ActionDeps(t, n)...)
				}
				return deps
			},
		})
	}
	return out
}

// check evaluates a unit and fails the test if it asks for an object that it doesn't read.
func (c *readChecker) check(u unit) {
	c.w.t.Helper()
	asked := map[addr.Instance]struct{}{}
	run := c.newRun(func(a addr.Instance) { asked[a] = struct{}{} })
	u.eval(run, &future.Task{}, c.opened())
	delete(asked, u.self)
	if len(asked) == 0 {
		return
	}
	reads := u.reads(c.run, &future.Task{})
	direct := slices.Clone(reads)
	for i := 0; i < len(reads); i++ {
		reads = append(reads, c.behind(reads[i], reads)...)
	}
	for a := range asked {
		var one plan.Instances
		one.Add(a)
		if !slices.ContainsFunc(reads, one.Touched) {
			text, _ := os.ReadFile(filepath.Join(c.w.dir, "main.tf"))
			c.w.t.Errorf("%s: got the object of %s asked for, want it in the read-set %v. The configuration:\n%s", u.name, a, direct, text)
		}
	}
}

// behind returns the reads of the repetition of a resource that is read, except for those among the reads
// already. The repetition is a unit of its own if there are instances: these wait for what it reads.
func (c *readChecker) behind(d plan.Dep, had []plan.Dep) []plan.Dep {
	var out []plan.Dep
	t := &future.Task{}
	for _, r := range c.resources(t, c.run.Root, d) {
		for _, more := range r.RepetitionDeps(t) {
			if !slices.Contains(had, more) && !slices.Contains(out, more) {
				out = append(out, more)
			}
		}
	}
	return out
}

// resources returns the resource objects in a module and below it that have instances in the dependency.
func (c *readChecker) resources(t *future.Task, m *eval.Module, d plan.Dep) []*eval.Resource {
	var out []*eval.Resource
	for _, r := range m.Resources() {
		instances, _ := r.Instances(t)
		if r.Addr().Config() == d.Resource.Config() && slices.ContainsFunc(instances, func(in *eval.Instance) bool {
			var one plan.Instances
			one.Add(in.Addr())
			return one.Touched(d)
		}) {
			out = append(out, r)
		}
	}
	for _, call := range m.Calls() {
		for _, child := range call.Children(t, nil) {
			out = append(out, c.resources(t, child, d)...)
		}
	}
	return out
}
