package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang/funcs"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/value"
)

// ConsoleInput is the file name that diagnostics give to expressions of a console.
const ConsoleInput = "<console-input>"

// ConsoleRequest is what a console evaluates expressions about. Of the plan request, Config, State, Variables
// and Soft count always, and the rest if Planned is set. Variables that are not set and have no default are
// unknown.
type ConsoleRequest struct {
	PlanRequest
	// Planned evaluates the objects as a plan would make them. Otherwise they are as the state has them, and
	// nothing is read.
	Planned bool
}

// Console evaluates expressions one after the other, as if they stood in the root module. What they open
// stays open, renewed as it needs, until Close. It belongs to one goroutine.
type Console struct {
	walk      *walk
	functions map[string]function.Function
	renew     func() *walk // a walk that forgets what the present one has failed to evaluate; nil if there is no such thing
	failed    bool         // the present walk has values that could not be evaluated
	keeping   bool         // what is opened stays open
	kept      map[eval.Use]struct{}
	runs      []*eval.Run
	end       func()
}

// Console starts a console. It is returned also when the diagnostics have errors, which are about values of
// the configuration, and then must be closed too.
func (e *Engine) Console(ctx context.Context, req ConsoleRequest) (*Console, diag.List) {
	if req.Soft == nil {
		req.Soft = ctx
	}
	c := &Console{kept: map[eval.Use]struct{}{}}
	stamp := e.opt.Now().UTC().Truncate(time.Second)
	c.functions = funcs.Table(funcs.Options{BaseDir: e.opt.WorkDir, PureOnly: req.Planned, PlanTimestamp: stamp, Console: true, PublicType: req.Config.DeclaresType})
	stop := e.stopOn(req.Soft)
	var invalid diag.List
	if req.Planned {
		if found := e.validate(ctx, req.Soft, req.Config).diags; found.HasErrors() {
			req.Planned, invalid = false, found
		}
	}
	if req.Planned {
		c.plan(e, ctx, req, stamp)
	} else {
		c.look(e, ctx, req, stamp)
	}
	c.end = sync.OnceFunc(func() {
		c.walk.pool.Shutdown()
		stop()
		for _, r := range c.runs {
			e.stats.Evaluations += r.Stats.Evaluations.Load()
		}
	})
	return c, append(invalid, provider.WithoutRepeats(c.walk.run.Diags.Take())...)
}

// plan makes a plan whose objects the expressions are about. What the plan opens is closed with it.
func (c *Console) plan(e *Engine, ctx context.Context, req ConsoleRequest, stamp time.Time) {
	p := e.newPlanner(ctx, req.PlanRequest)
	p.plan.Timestamp = stamp
	opt := p.runOptions(eval.Planning, &plannedHost{planner: p, console: c}, req.Variables, stamp)
	opt.UnsetUnknown = true
	p.startRun(eval.NewRun(req.Config, opt))
	c.walk, c.runs = p.walk, []*eval.Run{p.run}
	p.run.Guard("the plan", p.makePlan)
	c.keeping = true
}

// look makes the expressions be about the objects of the state.
func (c *Console) look(e *Engine, ctx context.Context, req ConsoleRequest, stamp time.Time) {
	c.keeping = true
	known := map[addr.AbsResource][]addr.Key{}
	for _, r := range req.State.Resources {
		keys := known[r.Addr]
		for k, in := range r.Instances {
			if in.Current != nil {
				keys = append(keys, k)
			}
		}
		known[r.Addr] = keys
	}
	newRun := func(w *walk, host *stateHost) *eval.Run {
		opt := w.runOptions(eval.Planning, host, req.Variables, stamp)
		opt.Functions = e.functions(eval.Applying, stamp)
		opt.UnsetUnknown = true
		opt.Recorded = func(a addr.AbsResource) []addr.Key { return known[a] }
		run := eval.NewRun(req.Config, opt)
		c.runs = append(c.runs, run)
		return run
	}
	host := &stateHost{walk: e.newWalk(ctx, req.Soft), console: c, state: req.State}
	host.startRun(newRun(host.walk, host))
	c.walk = host.walk
	c.renew = func() *walk {
		host := &stateHost{console: c, state: req.State}
		host.walk = c.walk.fork(newRun(c.walk, host))
		return host.walk
	}
	c.walk.run.Guard("the variables", func() { c.walk.run.Root.CheckVariablesClosed(&future.Task{}) })
	c.failed = c.walk.run.Diags.HasErrors()
}

// Evaluate evaluates the source text of one expression. Parts of the value that are ephemeral are unknown;
// the marks say which they are. A call of the function type as the whole expression gives a value that
// funcs.TypeOf takes apart. Errors of one expression are of no consequence for the next.
func (c *Console) Evaluate(src string) (cty.Value, diag.List) {
	if c.failed && c.renew != nil {
		c.walk = c.renew()
	}
	c.failed = false
	w := c.walk
	w.pool.Retry()
	x, diags := w.run.Root.Expression(src, ConsoleInput, c.functions)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	v := cty.DynamicVal
	w.run.Guard("the expression", func() {
		t := &future.Task{}
		x.Prepare(t)
		ran := w.inSlot(func() {
			s := eval.NewSession()
			s.Purpose = string(event.OpEvaluate)
			defer s.End()
			var more diag.List
			v, more = x.Value(t, s)
			diags = append(diags, more...)
		})
		if !ran {
			interrupt := diag.Errorf("Interrupted", "The expression was not evaluated.")
			interrupt[0].Extra = context.Canceled
			diags = append(diags, interrupt...)
		}
	})
	said := w.run.Diags.Take()
	c.failed = said.HasErrors()
	diags = oneInterrupt(provider.WithoutRepeats(append(said, diags...)))
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if _, err := funcs.TypeOf(v); err == nil {
		v, _ = v.Unmark()
		return v.Mark(value.TypeValue), diags
	}
	if value.Contains(v, value.TypeValue) {
		return cty.DynamicVal, append(diags, diag.Errorf("Invalid use of type function",
			"A type is not a value that can be stored or compared: the function \"type\" must be the whole expression.")...)
	}
	return value.WithholdEphemeral(v), diags
}

// Close closes everything that expressions have opened, and tells what went wrong in doing so. It is safe to
// call more than once.
func (c *Console) Close() diag.List {
	c.end()
	return provider.WithoutRepeats(c.walk.run.Diags.Take())
}

// Names returns the beginnings of all expressions: functions, each with an opening parenthesis, and what can
// be referred to.
func (c *Console) Names() []string {
	var out []string
	for name := range maps.Keys(c.functions) {
		out = append(out, name+"(")
	}
	out = append(out, c.walk.run.Root.Names()...)
	slices.Sort(out)
	return out
}

// keep lets an ephemeral instance stay open that is about to be used.
func (c *Console) keep(w *walk, in *eval.Instance) {
	if !c.keeping {
		return
	}
	u := eval.Use{Kind: eval.UseInstance, Instance: in.Addr()}
	if _, ok := c.kept[u]; ok {
		return
	}
	c.kept[u] = struct{}{}
	w.pool.Claim(u)
}

// plannedHost plans, and keeps open what is opened after that.
type plannedHost struct {
	*planner
	console *Console
}

// Open implements eval.Host.
func (h *plannedHost) Open(t *future.Task, s *eval.Session, in *eval.Instance) cty.Value {
	h.console.keep(h.walk, in)
	return h.planner.Open(t, s, in)
}

// stateHost gives the objects of a state as they are there. It implements eval.Host.
type stateHost struct {
	*walk
	console *Console
	state   *state.State
}

// Result implements eval.Host: the object of the state. One that is not there is unknown.
func (h *stateHost) Result(t *future.Task, in *eval.Instance) cty.Value {
	return h.recorded(t, h.state, in)
}

// Open implements eval.Host.
func (h *stateHost) Open(t *future.Task, s *eval.Session, in *eval.Instance) cty.Value {
	h.console.keep(h.walk, in)
	return h.pool.Open(t, s, in, func(t *future.Task, in *eval.Instance) bool {
		return slices.ContainsFunc(in.ExplicitDeps(t), h.missing)
	})
}

// missing reports whether a dependency is on something that is not in the state.
func (h *stateHost) missing(d plan.Dep) bool {
	return !d.All && h.state.Object(addr.Object{Instance: d.Resource.Instance(d.Key)}) == nil
}
