package mayfly

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/internal/engine/given"
	"github.com/mayfly-iac/mayfly/internal/engine/hashes"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// sound compiles the configuration for an operation that needs it free of errors. If it has any, all that
// validating finds is among the diagnostics. Validating ends with soft, which may be nil.
func (o *Operation) sound(ctx, soft context.Context) (*blocks.Config, diag.List) {
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() {
		if soft == nil {
			soft = ctx
		}
		diags = o.p.validated(soft, cfg, diags)
	}
	return cfg, diags
}

// Plan plans. The plan is returned, for showing, also when there were errors; it cannot be applied then. The
// observer may receive the last events later.
func (o *Operation) Plan(ctx context.Context, opt PlanOptions) (*plan.Plan, diag.List) {
	return o.planRound(ctx, opt, nil)
}

// planRound plans, for a run in rounds if it is given the memory of one.
func (o *Operation) planRound(ctx context.Context, opt PlanOptions, memory *rounds.Memory) (*plan.Plan, diag.List) {
	cfg, diags := o.sound(ctx, opt.Soft)
	if diags.HasErrors() {
		return nil, diags
	}
	if o.reread {
		before := o.State()
		if ds := o.Reread(ctx); ds.HasErrors() {
			return nil, append(diags, ds...)
		}
		memory.ForgetOthers(before, o.State(), nil)
	}
	if !o.suits(opt) {
		o.purpose, o.saved = nil, nil
		if ds := o.Reread(ctx); ds.HasErrors() {
			return nil, append(diags, ds...)
		}
	}
	var work *changed.Work
	var known *hashes.Set
	if opt.Scope == ScopeChanged {
		var ds diag.List
		if work, known, ds = o.readChanged(ctx, cfg, opt); ds.HasErrors() {
			return nil, append(diags, ds...)
		}
	} else if changeReader(o) != nil {
		if set, ds := o.hashes(ctx, soft(ctx, opt.Soft), cfg, opt.Variables); !ds.HasErrors() { // else the blocks that it changes are compared later
			known = set
		}
	}
	req := o.request(cfg, opt)
	req.Changed, req.Hashes = work, known.Blocks()
	if work != nil {
		req.Given = given.New(known.Key(), o.p.version)
	}
	req.Memory, req.Scoped = memory, o.p.claimer() != nil
	late := store.RecoveredBy(o.p.opt.State.Store)
	planned, more := o.p.engine.Plan(ctx, req)
	if planned.Reads != nil {
		planned.Reads.At = o.asked
	}
	return planned, append(append(diags, more...), o.besideState(late, planned)...)
}

// suits reports whether the operation has all of the state that a plan with these options needs.
func (o *Operation) suits(opt PlanOptions) bool {
	p := o.purpose
	return o.part == nil || opt.Scope == ScopeChanged || o.saved == nil && p != nil && opt.Scope == p.Scope && opt.Mode == p.Mode && slices.Equal(texts(opt.Targets), texts(p.Targets)) && restrictedOnly(opt)
}

func texts(targets []addr.Target) (out []string) {
	for _, t := range targets {
		out = append(out, t.String())
	}
	return out
}

func (o *Operation) request(cfg *blocks.Config, opt PlanOptions) engine.PlanRequest {
	req := engine.PlanRequest{
		Config: cfg, State: o.State(), Part: o.part, Mode: opt.Mode, Variables: opt.Variables, Targets: opt.Targets, Excludes: opt.Excludes,
		ForceReplace: opt.ForceReplace, AssumeUnchanged: opt.AssumeUnchanged, Places: opt.Places, SkipRefresh: opt.SkipRefresh, LazyEphemeral: opt.LazyEphemeral,
		RequireEphemeral: opt.RequireEphemeral, AllowDeferral: opt.AllowDeferral, Advice: opt.Advice,
		Invoke: opt.Invoke, Generated: opt.Generated, Soft: opt.Soft,
	}
	if o.File != nil {
		req.Meta = o.File.Meta
	}
	return req
}

// besideState returns warnings about results that came after their runs had lost their claims, and about
// operations of runs that were freed by force, as far as a plan is about their objects. Of attributes only
// the identifying one is shown.
func (o *Operation) besideState(found *store.Recovered, planned *plan.Plan) diag.List {
	if found == nil {
		return nil
	}
	restricted, targets := len(planned.Targets)+len(planned.Excludes) > 0, addr.NewTargetSet(planned.Targets)
	about := func(a addr.Instance) bool { // a target that is not in the state has no change in a plan to destroy
		return !restricted || targets.Selects(a) || slices.ContainsFunc(planned.Changes, func(p *plan.Change) bool { return p.Addr == a || p.PrevAddr == a })
	}
	diags := found.FreedDiags(about)
	for _, d := range diags {
		o.told = append(o.told, d.Detail)
	}
	var sb strings.Builder
	for _, r := range found.Late {
		c := r.Change
		if !about(c.Object.Instance) {
			continue
		}
		done := "was destroyed"
		if c.New != nil {
			done = "was created or changed" + o.p.engine.Label(c)
		}
		fmt.Fprintf(&sb, "\n  - %s %s by %s, run %s, at %s", c.Object, done, (&store.LockError{Info: &r.Run}).Holder(), r.Run.ID, r.At.Local().Format(time.DateTime))
	}
	if sb.Len() == 0 {
		return diags
	}
	return append(diags, diag.Warnf("Results came too late", "These operations ended after their runs had lost their claims on the objects, so that others could change them. The state does not have these results:%s\n\n"+
		"Compare the plan with the real objects. To have the state take over an object that it lacks, import it. This warning stays until a newer result is recorded: by a step of an apply on the object, an import or a push.", sb.String()).Once()...)
}

// Generate imports objects that import blocks name and no resource block declares, and writes blocks for
// them. Nothing is stored. To plan with them, add their text to the configuration, give the project the new
// tree with Reload, and the blocks to Plan.
func (o *Operation) Generate(ctx context.Context, opt PlanOptions) ([]*Generated, diag.List) {
	cfg, diags := o.sound(ctx, opt.Soft)
	if diags.HasErrors() {
		return nil, diags
	}
	out, more := o.p.engine.Generate(ctx, o.request(cfg, opt))
	return out, append(diags, more...)
}

// ApplyOptions control applying.
type ApplyOptions struct {
	Variables Variables // variables of the plan, ephemeral ones included
	Soft      context.Context
}

// Apply carries out a plan that was made from the state as this operation read it, and stores the new state,
// also when something failed. The observer may receive the last events later. After an interrupt, it begins
// nothing.
func (o *Operation) Apply(ctx context.Context, planned *plan.Plan, opt ApplyOptions) (*Applied, diag.List) {
	return o.applyRound(ctx, planned, opt, nil)
}

// applyRound applies a plan, for a run in rounds if it is given the memory of one.
func (o *Operation) applyRound(ctx context.Context, planned *plan.Plan, opt ApplyOptions, memory *rounds.Memory) (*Applied, diag.List) {
	if ctx.Err() != nil || opt.Soft != nil && opt.Soft.Err() != nil {
		return nil, diag.Errorf("Apply interrupted", "The interrupt came before the apply began. %s.", spared(o))
	}
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	soft := opt.Soft
	if soft == nil {
		soft = ctx
	}
	read := store.RecoveredBy(o.p.opt.State.Store)
	diags = append(diags, o.Claim(soft, planned)...)
	if diags.HasErrors() {
		return nil, diags
	}
	run, more := o.beginRun(ctx)
	if more.HasErrors() {
		return nil, append(append(diags, more...), o.release()...)
	}
	o.began = true
	// Writing a large state takes much memory. Nothing here holds the changes meanwhile.
	o.saved = nil
	before, rows, own := o.State(), planned.Rows(), memory.Own(planned)
	req := engine.ApplyRequest{Config: cfg, Plan: planned, Variables: opt.Variables, State: run, Salts: o.State().Salts, Memory: memory, Soft: opt.Soft, Writes: o.writes}
	if keyed, is := run.(state.Keyed); is {
		req.Given = given.New(keyed.HashKey(), o.p.version)
	}
	applied, more := o.p.engine.Apply(ctx, req)
	diags = append(diags, more...)
	diags = append(diags, o.endRun(run)...)
	diags = append(diags, read.ClearDiags(rows)...)
	if o.writes != nil {
		memory.ForgetOthers(before, o.State(), own)
	}
	return applied, append(diags, o.release()...)
}

// Rounds is a run that plans and applies in turn until nothing is left for a later plan:
//
//	rounds := op.Rounds(mayfly.PlanOptions{Variables: variables})
//	for !rounds.Done() {
//		planned, diags := rounds.Plan(ctx)
//		if diags.HasErrors() {
//			return diags
//		}
//		// Show planned, and ask for approval.
//		if _, diags = rounds.Apply(ctx, mayfly.ApplyOptions{Variables: variables}); diags.HasErrors() {
//			return diags
//		}
//	}
//
// Each plan defers all that cannot be planned yet. In one run, no object is refreshed twice, an object that a
// round has completed is planned again only if something that it refers to has changed since, and timestamp()
// is always the same. A Rounds is for one goroutine; it must end before its operation does.
type Rounds struct {
	op      *Operation
	opt     PlanOptions
	memory  *rounds.Memory
	planned *plan.Plan // of the present round; nil before its plan
	number  int
	done    bool
}

// Rounds begins a run in rounds. Options to replace objects and to invoke actions are used up by the round
// that carries them out.
func (o *Operation) Rounds(opt PlanOptions) *Rounds {
	opt.AllowDeferral = true
	return &Rounds{op: o, opt: opt, memory: rounds.New(o.p.opt.Process.Now())}
}

// Number returns the number of the present round: 1 from the first plan on, 0 before.
func (r *Rounds) Number() int { return r.number }

// Done reports whether a complete plan was carried out.
func (r *Rounds) Done() bool { return r.done }

// Plan makes the plan of the next round. It is an error if that would not bring the run any further; the
// error names everything that is stuck. The plan is returned, for showing, also when there were errors.
func (r *Rounds) Plan(ctx context.Context) (*plan.Plan, diag.List) {
	r.number++
	r.planned = nil
	planned, diags := r.op.planRound(ctx, r.opt, r.memory)
	if diags.HasErrors() {
		return planned, diags
	}
	if stuck := r.memory.Stuck(planned); stuck.HasErrors() {
		return planned, append(diags, stuck...)
	}
	r.planned = planned
	return planned, diags
}

// Apply carries out the plan of the present round, as Operation.Apply does. After an error, the run has
// ended.
func (r *Rounds) Apply(ctx context.Context, opt ApplyOptions) (*Applied, diag.List) {
	p := r.planned
	if p == nil {
		return nil, diag.Errorf("No plan", "This round has no plan that can be applied.")
	}
	r.planned = nil
	applied, diags := r.op.applyRound(ctx, p, opt, r.memory)
	if diags.HasErrors() {
		return applied, diags
	}
	r.done = p.Complete()
	r.opt.ForceReplace = slices.DeleteFunc(slices.Clone(r.opt.ForceReplace), func(a addr.Instance) bool {
		return slices.ContainsFunc(p.Changes, func(c *plan.Change) bool { return c.Addr == a })
	})
	r.opt.Invoke, r.opt.Generated = nil, nil
	return applied, diags
}

// ImportOptions control importing one object.
type ImportOptions struct {
	Variables Variables
	Soft      context.Context // ends on the first interrupt
}

// Import takes an existing object into the state for an instance of a resource block in the configuration,
// and stores the state. Errors in parts of the configuration that the import does not need are left to the
// next plan.
func (o *Operation) Import(ctx context.Context, to addr.Instance, id string, opt ImportOptions) diag.List {
	cfg, wrong := o.p.compile(ctx)
	if cfg == nil {
		return wrong
	}
	imported, diags := o.p.engine.Import(ctx, engine.ImportRequest{
		Config: cfg, State: o.State(), Variables: opt.Variables, To: to, ID: id, Soft: opt.Soft,
	})
	if imported == nil {
		return causes(wrong, diags)
	}
	return append(diags, o.write(imported, to.String())...)
}

// causes returns the errors that explain why something failed: if it only says that something is not known,
// errors in the configuration are the cause.
func causes(wrong, failed diag.List) diag.List {
	onlyUnknown := !slices.ContainsFunc(failed, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && !d.AboutUnknown() })
	if wrong.HasErrors() && onlyUnknown {
		return wrong
	}
	return failed
}

// ConsoleOptions control a console.
type ConsoleOptions struct {
	Variables Variables       // one that is absent and has no default is unknown
	Planned   bool            // evaluate the objects as a plan would make them, not as the state has them
	Soft      context.Context // ends on the first interrupt; later evaluations fail
}

// Console starts a console, whose Evaluate evaluates expressions about the root module. It changes nothing.
// Instances that expressions open stay open until the console is closed, which must be before the operation
// ends. The console is nil only if the configuration cannot be evaluated at all; errors beside one are about
// values that expressions then see as unknown.
func (o *Operation) Console(ctx context.Context, opt ConsoleOptions) (*Console, diag.List) {
	cfg, diags := o.p.compile(ctx)
	if cfg == nil {
		return nil, diags
	}
	req := engine.ConsoleRequest{Planned: opt.Planned && !diags.HasErrors()}
	req.Config, req.State, req.Variables, req.Soft = cfg, o.State(), opt.Variables, opt.Soft
	if o.File != nil {
		req.Meta = o.File.Meta
	}
	c, more := o.p.engine.Console(ctx, req)
	return c, append(diags, more...)
}

// QueryOptions control a query.
type QueryOptions struct {
	Variables Variables
	Observer  event.ListObserver
	Generate  bool            // have resource and import blocks written for the results
	Soft      context.Context // ends on the first interrupt, and with it all lists
}

// Query lists the objects that the list blocks in the query files of the configuration ask for: a Loader
// reads those files if its field Queries says so. Nothing is stored.
func (o *Operation) Query(ctx context.Context, opt QueryOptions) diag.List {
	cfg, diags := o.sound(ctx, opt.Soft)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, engine.Query(ctx, o.p.engine, engine.QueryRequest{
		Config: cfg, State: o.State(), Variables: opt.Variables, Observer: opt.Observer, Generate: opt.Generate, Soft: opt.Soft,
	})...)
}
