package engine

import (
	"context"
	"crypto/rand"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// ImportRequest asks for one object to be taken into a state.
type ImportRequest struct {
	Config    *blocks.Config       // may have errors in blocks that the import does not need
	State     *state.State         // not changed
	Variables map[string]cty.Value // of the root module, set ones only, unmarked, of the declared type
	To        addr.Instance        // for which Config has a managed resource block
	ID        string
	Soft      context.Context // ends on the first interrupt; nil for never
}

// Import has the provider of a declared instance import an object and returns a state that includes it, nil
// if that failed. It evaluates only the expressions that determine the instance and the provider
// configuration; the arguments of the resource may still be missing.
func (e *Engine) Import(ctx context.Context, req ImportRequest) (*state.State, diag.List) {
	p := e.newPlanner(ctx, PlanRequest{Config: req.Config, State: req.State, Mode: plan.Normal, Variables: req.Variables, Soft: req.Soft}, rand.Reader)
	im := &importer{p}
	p.pool.OnlyKnown = true
	p.startRun(p.newRun(req.Config, eval.Planning, im.result, req.Variables, p.plan.Timestamp))
	defer e.expose(req.Config, req.Variables, req.State)()
	defer e.stopOn(p.req.Soft)()
	defer func() { e.stats.Evaluations += p.run.Stats.Evaluations.Load() }()
	defer p.pool.Finish()
	var out *state.State
	p.run.Guard(req.To, func() { out = im.importObject(&future.Task{}, req.To, req.ID) })
	p.pool.Finish()
	diags := provider.WithoutRepeats(p.run.Diags.List())
	if diags.HasErrors() {
		return nil, diags
	}
	e.recordOutputs(ctx, req, out)
	return out, diags
}

// recordOutputs stores in st, into which an object has been imported, the outputs of the root module that the
// objects in it decide: a plan would show them as changes otherwise. Those for which something would have to
// be opened or read stay as they are, and so do those that fail, since the configuration need not be complete
// yet.
func (e *Engine) recordOutputs(ctx context.Context, req ImportRequest, st *state.State) {
	p := e.newPlanner(ctx, PlanRequest{Config: req.Config, State: st, Mode: plan.Normal, Variables: req.Variables, Soft: req.Soft}, nil)
	p.pool.OnlyKnown = true
	recorded := func(t *future.Task, in *eval.Instance) cty.Value { return p.recorded(t, st, in) }
	p.startRun(p.newRun(req.Config, eval.Planning, recorded, req.Variables, p.plan.Timestamp))
	defer func() { e.stats.Evaluations += p.run.Stats.Evaluations.Load() }()
	defer p.pool.Finish()
	t := &future.Task{}
	for _, o := range p.run.Root.Outputs() {
		if len(p.outputUses(t, o, req.Config)) == 0 {
			p.run.Guard(o.Addr(), func() { p.outputs.plan(t, o) })
		}
	}
	for _, c := range p.plan.Outputs {
		st.SetOutput(c.Name, &state.Output{Value: c.After, Sensitive: c.Sensitive})
	}
}

// importer imports one object. It takes managed resources from the state, and has data sources read.
type importer struct{ planner *planner }

// result returns the object of an instance.
func (im *importer) result(t *future.Task, in *eval.Instance) cty.Value {
	if in.Config().Addr.Mode == addr.Data {
		return im.planner.data.plan(t, in)
	}
	return im.planner.recorded(t, im.planner.req.State, in)
}

// importObject imports the object and returns the resulting state, nil if that failed, which was reported.
// The provider configuration is claimed before it is prepared, so that instances opened for it stay open for
// the call.
func (im *importer) importObject(t *future.Task, to addr.Instance, id string) *state.State {
	im.planner.run.Root.CheckVariablesEarly(t)
	in := im.instance(t, to)
	if in == nil || im.planner.run.Diags.HasErrors() {
		return nil
	}
	po := in.Provider(t)
	if po == nil {
		return nil
	}
	if u, ok := im.planner.run.Providers.Use(t, po.Addr); ok {
		im.planner.pool.Claim(u)
		defer im.planner.pool.Waive(u)
	}
	po.Prepare(t)
	var out *state.State
	ran := im.planner.inSession(t, in, event.OpImport, func(s *ephemeral.Session) {
		sub := im.planner.instanceOp(in)
		if !sub.Use(s.Provider(t, po, in.Addr()), po.Addr) {
			return
		}
		got, ok := (&object.ImportTarget{ID: id}).Import(&sub.Op, sub.meta(in))
		if !ok {
			return
		}
		sub.Withheld.Making = withheld.Making{At: im.planner.plan.Timestamp, Prior: got.Value}
		if o := sub.StateObject(got.Value, nil, got.Private, got.Identity, nil); o != nil {
			im.planner.prior.SetObject(sub.Obj, o, po.Addr)
			out = im.planner.prior
			out.AddSalts(im.planner.hasher.Made()...)
			im.planner.run.Report(withheld.Dropped(&sub.Withheld, got.Value).WithAddress(to.String()))
		}
	})
	if !ran {
		im.planner.run.Report(diag.Errorf("Interrupted", "The import was interrupted before it began."))
	}
	return out
}

// instance returns the instance at an address, nil if the configuration does not have it, which is reported.
func (im *importer) instance(t *future.Task, to addr.Instance) *eval.Instance {
	in, ok := im.planner.run.Find(t, to)
	if in == nil && ok {
		im.planner.run.Report(diag.Errorf("Configuration for import target does not exist",
			"The configuration has a block for %s, but no instance %s: its count, for_each, or enabled argument rules it out, or that of a module around it. Check the instance key.", to.Abs(), to))
	}
	return in
}
