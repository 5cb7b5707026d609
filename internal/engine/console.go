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
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// ConsoleInput is the file name that diagnostics give to expressions of a console.
const ConsoleInput = "<console-input>"

// ConsoleRequest says which configuration and objects a console evaluates expressions against. Of the plan
// request, only Config, State, Variables and Soft are used unless Planned is set. Variables with neither a
// value nor a default are unknown.
type ConsoleRequest struct {
	PlanRequest
	// Planned evaluates the objects as a plan would make them. Otherwise they are as in the state, and
	// nothing is read.
	Planned bool
}

// Console evaluates expressions one after the other, in the scope of the root module. Instances that they
// open stay open, renewed as needed, until Close. It is not safe for concurrent use.
type Console struct {
	walk      *walk
	functions map[string]function.Function
	renew     func() *walk // starts a walk without the failures that the present one remembers; nil if a failure is final
	failed    bool         // the present walk has values that could not be evaluated
	keeping   bool         // opened instances stay open
	runs      []*eval.Run
	end       func()

	mu   sync.Mutex // protects kept while an expression opens things side by side
	kept map[eval.Use]struct{}
}

// Console starts a console. If the diagnostics have errors, which concern values of the configuration, the
// console is returned all the same and must be closed.
func (e *Engine) Console(ctx context.Context, req ConsoleRequest) (*Console, diag.List) {
	if req.Soft == nil {
		req.Soft = ctx
	}
	c := &Console{kept: map[eval.Use]struct{}{}}
	stamp := e.opt.Now().UTC().Truncate(time.Second)
	stop, unexpose := e.stopOn(req.Soft), e.expose(req.Config, req.Variables, req.State)
	var invalid diag.List
	if req.Planned {
		if found := e.validate(ctx, req.Soft, req.Config, nil).diags; found.HasErrors() {
			req.Planned, invalid = false, found
		}
	}
	if req.Planned {
		c.plan(e, ctx, req, stamp)
	} else {
		c.look(e, ctx, req, stamp)
	}
	functions := c.walk.functionOptions(stamp, req.Soft.Done())
	functions.PureOnly, functions.Console, functions.PublicType = req.Planned, true, req.Config.DeclaresType
	c.functions = funcs.Table(functions)
	maps.Copy(c.functions, e.opt.Functions)
	c.end = sync.OnceFunc(func() {
		c.walk.pool.Finish()
		stop()
		unexpose()
		for _, r := range c.runs {
			e.stats.Evaluations += r.Stats.Evaluations.Load()
		}
	})
	return c, append(invalid, provider.WithoutRepeats(c.walk.run.Diags.Take())...)
}

// plan makes a plan, whose objects the expressions refer to. Instances that the plan opens are closed when it
// ends.
func (c *Console) plan(e *Engine, ctx context.Context, req ConsoleRequest, stamp time.Time) {
	p := e.newPlanner(ctx, req.PlanRequest, nil)
	p.plan.Timestamp = stamp
	p.rules.Opening = func(in *eval.Instance) { c.keep(p.walk, in) }
	opt := p.runOptions(req.Config, eval.Planning, p.result, req.Variables, stamp)
	opt.UnsetUnknown = true
	p.startRun(eval.NewRun(req.Config, opt))
	c.walk, c.runs = p.walk, []*eval.Run{p.run}
	p.run.Guard("the plan", func() { p.makePlan() })
	c.keeping = true
}

// look sets the console up to evaluate against the objects of the state.
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
	newRun := func(w *walk) *eval.Run {
		opt := w.runOptions(req.Config, eval.Planning, nil, req.Variables, stamp)
		opt.Result = func(t *future.Task, in *eval.Instance) cty.Value { return w.recorded(t, req.State, in) }
		opt.Functions = w.functions(eval.Applying, stamp, opt.Interrupted)
		opt.UnsetUnknown = true
		opt.Recorded = func(a addr.AbsResource) []addr.Key { return known[a] }
		run := eval.NewRun(req.Config, opt)
		c.runs = append(c.runs, run)
		w.rules = ephemeral.Rules{
			Opening: func(in *eval.Instance) { c.keep(w, in) },
			Pending: func(t *future.Task, in *eval.Instance) bool {
				return slices.ContainsFunc(in.ExplicitDeps(t), func(d plan.Dep) bool {
					return !d.All && req.State.Object(addr.Object{Instance: d.Resource.Instance(d.Key)}) == nil
				})
			},
		}
		return run
	}
	c.walk = e.newWalk(ctx, req.Soft, e.opt.Recorder, e.opt.Hashes.New(req.State.Salts, nil))
	c.walk.startRun(newRun(c.walk))
	c.renew = func() *walk { return c.walk.fork(newRun) }
	c.walk.run.Guard("the variables", func() { c.walk.run.Root.CheckVariablesClosed(&future.Task{}) })
	c.failed = c.walk.run.Diags.HasErrors()
}

// Evaluate evaluates the source text of one expression. Ephemeral parts of the value are unknown and carry
// the ephemeral mark. If the whole expression is a call of the function type, funcs.TypeOf extracts the type
// from the value. An error in one expression does not affect the next.
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
		ran := w.inSession(t, nil, event.OpEvaluate, func(s *ephemeral.Session) {
			var more diag.List
			v, more = x.Value(t, s.Opened)
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
	diags = provider.OneInterrupt(provider.WithoutRepeats(append(said, diags...)))
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

// Close closes everything that expressions have opened and returns the diagnostics of closing. It is safe to
// call more than once.
func (c *Console) Close() diag.List {
	c.end()
	return provider.WithoutRepeats(c.walk.run.Diags.Take())
}

// Names returns the ways an expression can begin, for completion: functions, each with an opening
// parenthesis, and everything that can be referred to.
func (c *Console) Names() []string {
	var out []string
	for name := range maps.Keys(c.functions) {
		out = append(out, name+"(")
	}
	out = append(out, c.walk.run.Root.Names()...)
	slices.Sort(out)
	return out
}

// keep keeps an ephemeral instance open that is about to be used.
func (c *Console) keep(w *walk, in *eval.Instance) {
	if !c.keeping {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	u := eval.Use{Kind: eval.UseInstance, Instance: in.Addr()}
	if _, ok := c.kept[u]; ok {
		return
	}
	c.kept[u] = struct{}{}
	w.pool.Claim(u)
}
