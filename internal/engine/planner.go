package engine

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/given"
	"github.com/mayfly-iac/mayfly/internal/engine/gone"
	"github.com/mayfly-iac/mayfly/internal/engine/moves"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/order"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// PlanRequest is the input of a plan.
type PlanRequest struct {
	Config    *blocks.Config
	State     *state.State      // not changed
	Part      *part.Part        // that State has; nil for a whole state
	Changed   *changed.Work     // nil for a plan of all objects; Part is its own
	Hashes    state.BlockHashes // of Config; nil if they are not known
	Given     *given.Hasher     // of configurations of objects; nil if nothing is recorded
	Meta      state.Meta
	Mode      plan.Mode
	Variables map[string]cty.Value // of the root module, set ones only, unmarked, of the declared type
	// Targets and Excludes restrict the plan; ForceReplace names instances to replace.
	Targets, Excludes []addr.Target
	ForceReplace      []addr.Instance
	AssumeUnchanged   []addr.Instance     // whose ephemeral attributes are the same as before if they cannot be compared
	Places            config.OptionPlaces // of the targets, the excludes and the addresses to replace
	SkipRefresh       bool
	Memory            *rounds.Memory // of the run that the plan is a round of; nil for none
	LazyEphemeral     bool           // does not open instances that only write-only arguments need
	RequireEphemeral  bool           // a plan that would store a sensitive attribute is an error
	AllowDeferral     bool           // leaves objects that cannot be planned yet to a later plan
	Advice            string         // the end of errors about blocks whose instances are unknown; "" for commands to run

	// Generated is configuration that Generate made for this plan; Config has it too.
	Generated []*Generated
	// Invoke names actions: the plan invokes them, in this order, and does nothing else.
	Invoke []addr.Instance
	Scoped bool            // the plan gets a scope, for a state that several runs may change at the same time
	Soft   context.Context // ends on the first interrupt; nil for never
}

// startPlan returns a planner with a run, ready to make a plan.
func (e *Engine) startPlan(ctx context.Context, req PlanRequest) *planner {
	if len(req.Invoke) > 0 {
		req.AllowDeferral = false // nothing but the actions is planned
	}
	if req.AllowDeferral {
		ctx = provider.AllowDeferral(ctx)
	}
	p := e.newPlanner(ctx, req, nil)
	// To destroy, nothing is waited for: the configuration of a provider will not become known.
	p.pool.Deferring, p.env.Deferring = req.AllowDeferral && req.Mode != plan.Destroy, req.AllowDeferral
	result := p.result
	if len(req.Invoke) > 0 { // nothing becomes known before the actions are invoked
		result, p.pool.OnlyKnown = resultFromState(p), true
	}
	opt := p.runOptions(req.Config, eval.Planning, result, req.Variables, p.plan.Timestamp)
	opt.Forgetful = len(req.Invoke) == 0 && !req.Changed.Partial() // which doesn't plan all that refers to an object
	opt.Condition = func(of string, made []value.Computed) { p.computed.AddCondition(of, made) }
	opt.MildConditions = req.Mode == plan.RefreshOnly // the real objects are recorded even if they fail their conditions
	if len(req.Excludes) > 0 {
		opt.Excluded = p.restrict.leavesOutAll
	}
	opt.Deferring, opt.Undecided = req.AllowDeferral && len(req.Invoke) == 0, p.deferral.set.AddBlock
	p.startRun(eval.NewRun(req.Config, opt))
	return p
}

// newPlanner returns a planner that has no run yet. A salt for fingerprints is made from random if the state
// has none; a plan has nowhere to keep one, so that random is nil for it.
func (e *Engine) newPlanner(ctx context.Context, req PlanRequest, random io.Reader) *planner {
	if req.Soft == nil {
		req.Soft = ctx
	}
	p := &planner{
		walk: e.newWalk(ctx, req.Soft, e.opt.Recorder, e.opt.Hashes.New(req.State.Salts, random)), req: req, given: req.Given.ForRun(), selection: selection.New(req.Targets, req.Excludes), forced: map[addr.Instance]struct{}{}, prior: req.State.Copy(),
		changes: map[addr.Object]*plan.Change{}, desired: map[addr.AbsResource]*eval.Resource{}, unknown: map[addr.AbsResource]struct{}{}, included: map[addr.Instance]struct{}{}, generated: map[addr.Instance]*Generated{}, takenOver: map[addr.Instance]struct{}{},
		plan: &plan.Plan{
			Mode: req.Mode, Base: req.State, Meta: req.Meta, Targets: req.Targets, Excludes: req.Excludes, ForceReplace: req.ForceReplace,
			SkipRefresh: req.SkipRefresh, LazyEphemeral: req.LazyEphemeral, LeakPolicy: e.opt.LeakPolicy, Timestamp: e.opt.Now().UTC().Truncate(time.Second),
		},
	}
	if at := req.Memory.Time(); !at.IsZero() {
		p.time, p.plan.Timestamp = at, at
	}
	p.rows = part.Growing{Part: req.Part, Plan: p.plan, Stored: &p.req.State, Prior: &p.prior, Report: func(diags diag.List) { p.run.Report(diags) }}
	p.order = order.Planning{Expected: p.expected}
	p.imports = importPlanner{walk: p.walk, planner: p}
	p.atHand = sync.OnceValue(func() *eval.Run { return runAtHand(p) })
	p.orphans = orphanPlanner{walk: p.walk, planner: p, blocks: gone.NewBlocks(p.atHand)}
	p.data = dataPlanner{walk: p.walk, planner: p}
	p.restrict = restriction{walk: p.walk, planner: p}
	p.start = startState{walk: p.walk, planner: p}
	p.outputs = outputPlanner{walk: p.walk, planner: p}
	p.deferral = deferrer{walk: p.walk, planner: p, attempts: &attempts{}}
	p.computed.State, p.env.Kept = req.State, req.Memory.Kept
	p.dependents = sync.OnceValue(func() map[addr.ConfigResource]map[addr.ConfigResource]struct{} {
		return deferral.DependentsIn(req.State)
	})
	p.rules = ephemeral.Rules{Skip: p.unneeded, Pending: p.dependsPending, OutOfReach: p.deferral.outOfReach}
	for _, a := range req.ForceReplace {
		p.forced[a] = struct{}{}
	}
	for _, g := range req.Generated {
		p.generated[g.Addr] = g
	}
	return p
}

// planner carries out one plan.
type planner struct {
	*walk
	req       PlanRequest
	given     *given.Hasher
	selection *selection.Selection       // of the request
	forced    map[addr.Instance]struct{} // to be replaced, of the request
	plan      *plan.Plan
	generated map[addr.Instance]*Generated // of the request

	atHand   func() *eval.Run // see runAtHand
	moved    moves.Moved      // set before any task starts
	warnings diag.List        // of validating, to be added to the warnings of planning
	// dependents returns, for each resource, the resources of the state that depend on it.
	dependents func() map[addr.ConfigResource]map[addr.ConfigResource]struct{}

	order    order.Planning
	imports  importPlanner
	orphans  orphanPlanner
	data     dataPlanner
	outputs  outputPlanner
	restrict restriction
	deferral deferrer
	start    startState

	endedEarly atomic.Bool // by an interrupt, which was reported
	rows       part.Growing

	mu         sync.Mutex // protects all below while tasks run
	prior      *state.State
	takenOver  map[addr.Instance]struct{} // moved objects in it that their provider has read or converted
	changes    map[addr.Object]*plan.Change
	drift      []*plan.Change
	desired    map[addr.AbsResource]*eval.Resource // that the configuration declares, once their instances are known
	called     []addr.ModuleInstance               // of module calls
	included   map[addr.Instance]struct{}          // planned or read, of a plan restricted by -target or -exclude
	unknown    map[addr.AbsResource]struct{}       // resource objects whose instances are unknown
	broken     plan.Instances                      // that could not be planned
	left       plan.Instances                      // left alone by -exclude
	altered    plan.Instances                      // with a change other than NoOp
	renewed    plan.Instances                      // data sources that were read with another result than the state has
	unsettled  plan.Instances                      // these, and managed instances that depend on them in any way
	untargeted []eval.Use                          // claims of blocks that -target leaves out
	expands    int                                 // expansions still to come, for the orphans of a restricted plan
}

// valid reports whether the configuration is free of errors that validation finds; otherwise they were
// reported.
func (p *planner) valid() bool {
	found := p.validate(p.ctx, p.soft, p.req.Config, p.req.Changed).diags
	if !found.HasErrors() {
		p.warnings = found
		return true
	}
	p.run.Report(found)
	return false
}

// unneeded reports whether a lazy plan leaves the ephemeral instance closed.
func (p *planner) unneeded(in *eval.Instance) bool {
	return p.req.LazyEphemeral && in.Resource.Block.OnlyWriteOnly(p.req.Config)
}

// dependsPending reports whether something that the instance's depends_on names has planned changes.
func (p *planner) dependsPending(t *future.Task, in *eval.Instance) bool {
	return slices.ContainsFunc(in.ExplicitDeps(t), p.changing) || p.moduleWaits(t, in)
}

// moduleWaits reports whether something that the instance waits for because of a module's depends_on has
// planned changes, or depends on something that has.
func (p *planner) moduleWaits(t *future.Task, in *eval.Instance) bool {
	return slices.ContainsFunc(in.ModuleWaitDeps(t), func(d plan.Dep) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.unsettled.Touched(d)
	})
}

func (p *planner) changing(d plan.Dep) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.altered.Touched(d)
}

// declares reports whether the configuration declares the instance, as far as planning has come. The mutex of
// p is held.
func declares(p *planner, a addr.Instance) bool {
	r := p.desired[a.Abs()]
	return r != nil && r.Has(&future.Task{}, a.Key)
}

// record stores a change.
func (p *planner) record(c *plan.Change) {
	noteTakenOut(p.computed, c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes[c.Object()] = c
	if c.Deposed != addr.Current {
		return
	}
	if c.Action != plan.NoOp {
		p.altered.Add(c.Addr)
	}
	if c.Action != plan.NoOp || slices.ContainsFunc(c.Deps, p.unsettled.Touched) {
		p.unsettled.Add(c.Addr)
	}
}

// reportInterrupt reports that planning was interrupted, if it was. It does so once.
func (p *planner) reportInterrupt() {
	if !p.interrupted() || p.endedEarly.Swap(true) {
		return
	}
	diags := diag.Errorf("Interrupted", "Planning was interrupted before it was complete.")
	diags[0].Extra = context.Canceled
	p.run.Report(diags)
}

// Generated is the configuration of an object that an import block names but no resource block declares.
// Passed to Plan, it saves a second import.
type Generated struct {
	Addr addr.Instance
	ID   string // "" if the object was imported by identity
	Text string // the resource block

	prior object.Prior
}
