package engine

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/accepted"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// validation is the result of validating a configuration.
type validation struct {
	cfg   *blocks.Config
	part  bool // resources that have not changed since they were last applied were left out
	diags diag.List
}

// Validate checks a configuration without state, variables or configured providers: every expression is
// evaluated with unknown values, and providers validate the known parts. It opens nothing.
func (e *Engine) Validate(ctx context.Context, cfg *blocks.Config) diag.List {
	return e.validate(ctx, ctx, cfg, nil).diags
}

// validate validates a configuration, unless the engine already has. Every plan begins with it, so that
// mistakes are reported before anything is opened, read or asked of a real object. Resources that are not in
// the scope of a change were validated when they were applied.
func (h *host) validate(ctx, soft context.Context, cfg *blocks.Config, work *changed.Work) *validation {
	if h.valid != nil && h.valid.cfg == cfg && (!h.valid.part || work.Partial()) {
		return h.valid
	}
	ctx, span := trace.Start(ctx, "validate")
	v := &validator{h.newWalk(ctx, soft, nil, h.opt.Hashes.New(nil, nil)), work}
	v.startRun(v.newRun(cfg, eval.Validating, v.result, nil, h.opt.Now()))
	v.run.ReportBlockCycles()
	pool := future.NewPool(v.workers())
	pool.Go(func(t *future.Task) { v.run.Guard("the root module", func() { v.module(pool, t, v.run.Root) }) })
	pool.Wait()
	h.stats.Evaluations += v.run.Stats.Evaluations.Load()
	found := &validation{cfg: cfg, part: work.Partial(), diags: provider.OneInterrupt(provider.WithoutRepeats(v.run.Diags.List()))}
	span.Finish(!found.diags.HasErrors())
	if !v.interrupted() {
		h.valid = found
	}
	return found
}

// validator validates one configuration, in which all objects are unknown.
type validator struct {
	*walk
	work *changed.Work
}

// result demands the objects that the instance refers to, so that cycles are found. It does not do so for a
// repeated block, whose one instance represents all: a reference from one instance to another would look like
// a cycle. Planning finds the real ones.
func (v *validator) result(t *future.Task, in *eval.Instance) cty.Value {
	if in.Alone() {
		in.Prepare(t)
		in.InputsHold(t)
	}
	return unknownObject(in)
}

// module queues the validation of a module object and everything below it. Values, providers and checks are
// evaluated here, once, and not by the instances that refer to them.
func (v *validator) module(pool *future.Pool, t *future.Task, m *eval.Module) {
	m.CheckVariables(t, nil)
	m.ValidateProviders(pool, t, v.provider)
	m.ValidateValues(t)
	m.ValidateChecks(t)
	for _, c := range m.Calls() {
		for _, child := range c.Children(t, nil) {
			v.module(pool, t, child)
		}
	}
	for _, b := range m.Imports() {
		pool.Go(func(t *future.Task) {
			v.run.Guard("an import block", func() {
				for _, evaluate := range m.ImportTargets(t, b) {
					pool.Go(func(t *future.Task) { v.run.Guard("an import block", func() { evaluate(t) }) })
				}
			})
		})
	}
	for _, d := range m.Removals() {
		v.destroyProvisioners(t, d, cty.DynamicVal)
	}
	for _, r := range m.Resources() {
		if v.work.Unchanged(r.Block) {
			continue
		}
		instances, _ := r.Instances(t)
		for _, in := range instances {
			pool.Go(func(t *future.Task) { v.run.Guard(in, func() { v.instance(t, in) }) })
		}
	}
}

// provider has a provider validate its configuration, as far as it is known, unless that was done already by
// an engine that shares the process.
func (v *validator) provider(a addr.ProviderConfig, cfg cty.Value) diag.List {
	if v.accepted.Has(a, cfg) {
		return nil
	}
	diags := v.providers.Ask(v.ctx, a.Provider, func(p provider.Reader) diag.List { return p.ValidateConfig(v.ctx, cfg) })
	if len(diags) == 0 {
		v.accepted.Add(a, cfg)
	}
	return diags
}

// instance validates one instance: its body, conditions, prevent_destroy and provisioners, and then, if the
// body has no errors, has the provider validate the configuration. A configuration without remarks is
// remembered, so that planning need not ask again.
func (v *validator) instance(t *future.Task, in *eval.Instance) {
	if in.Provider(t) == nil {
		return
	}
	o := eval.NewOpened(nil) // without one, a value with an ephemeral part would be ephemeral as a whole
	cfg, diags := in.EvalBody(t, o)
	v.run.Report(diags)
	self := v.result(t, in)
	if in.Config().Addr.Mode == addr.Ephemeral {
		self = self.Mark(value.Ephemeral)
	}
	in.Preconditions(t, o)
	in.Postconditions(t, o, self)
	_, diags2 := in.PreventDestroy(t)
	_, diags3 := eval.Versions(t, in)
	v.run.Report(slices.Concat(diags2, diags3, in.TriggerKeys(t)))
	for i := range in.Provisioners() {
		_, _, diags := evalProvisioner(t, o, in, i, self, in.Addr())
		v.run.Report(diags)
	}
	if d := v.run.DestroyProvisioners(in.Addr()); d != nil {
		v.destroyProvisioners(t, d, self)
	}
	for _, tr := range eval.ActionTriggers(in) {
		_, _, diags := tr.Condition(t, o, self)
		for position := range tr.Config.Actions {
			_, more := tr.Action(t, position)
			diags = append(diags, more...)
		}
		v.run.Report(diags)
	}
	if diags.HasErrors() {
		return
	}
	plain := v.opt.Leaks.Reveal(leak.Source{Kind: leak.Other, Address: in.Addr().String()}, cfg, in.Resource.Block.Schema.Block.Type())
	if in.Resource.Block.IsList() {
		v.list(t, in, plain)
		return
	}
	more := v.resource(in, plain)
	if !in.Resource.Block.IsAction() { // nothing of which is kept
		more = append(more, in.Resource.Block.Schema.Block.UnversionedUses(plain)...)
	}
	v.run.Report(more.InConfigBody(in.Config().Body).WithAddress(in.Addr().String()))
}

// resource has the provider validate a configuration, which has no marks, unless it accepted the same before.
func (v *validator) resource(in *eval.Instance, config cty.Value) diag.List {
	key := accepted.Key(in.Resource.Block)
	if v.accepted.Has(key, config) {
		return nil
	}
	diags := v.providers.Ask(v.ctx, key.Provider, func(p provider.Reader) diag.List {
		return p.ValidateResource(v.ctx, key.Mode, key.Type, config)
	})
	if len(diags) == 0 {
		v.accepted.Add(key, config)
	}
	return diags
}

// list validates the arguments of a list, and has the provider validate them.
func (v *validator) list(t *future.Task, in *eval.Instance, config cty.Value) {
	args, diags := eval.ListArgumentsOf(t, in)
	if !diags.HasErrors() {
		b := in.Resource.Block
		req := provider.ListRequest{Type: b.Config.Addr.Type, Config: config, IncludeObject: args.Include, Limit: args.Limit}
		more := v.providers.Ask(v.ctx, b.Provider, func(p provider.Reader) diag.List { return p.ValidateList(v.ctx, req) })
		diags = append(diags, more.InConfigBody(b.Config.Body)...)
	}
	v.run.Report(diags.WithAddress(in.Addr().String()))
}

func (v *validator) destroyProvisioners(t *future.Task, d *eval.DestroyProvisioners, self cty.Value) {
	for i := range d.Provisioners() {
		_, _, diags := evalProvisioner(t, nil, d, i, self, d.Addr())
		v.run.Report(diags)
	}
}
