package engine

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/value"
)

// Validate checks a configuration without state, variables or configured providers: every expression is evaluated with unknown values, and
// providers validate what is known. It opens nothing.
func (e *Engine) Validate(ctx context.Context, cfg *eval.Config) diag.List {
	v := &validator{walk: e.newWalk(ctx, ctx)}
	v.run = e.run(cfg, eval.Validating, v, nil, e.opt.Now())
	defer func() { e.stats.Evaluations += v.run.Stats.Evaluations.Load() }()
	pool := future.NewPool(v.workers())
	pool.Go(func(t *future.Task) { v.guard("the import blocks", func() { v.run.Imports(t) }) })
	pool.Go(func(t *future.Task) { v.guard("the root module", func() { v.module(pool, t, v.run.Root) }) })
	pool.Wait()
	return v.run.Diags.List()
}

// validator implements eval.Host with unknown objects.
type validator struct{ *walk }

// Result implements eval.Host. What the instance refers to is demanded, so that references in a circle are found. Instances of what is repeated stand
// for all of their block here, so that one that refers to another one would look like a circle: they are left to planning.
func (v *validator) Result(t *future.Task, in *eval.Instance) cty.Value {
	if in.Alone() {
		in.Prepare(t)
	}
	return cty.UnknownVal(in.Resource.Block.Schema.Block.Type())
}

// Open implements eval.Host; evaluation does not call it while validating.
func (v *validator) Open(_ *future.Task, _ *eval.Session, in *eval.Instance) cty.Value {
	return cty.UnknownVal(in.Resource.Block.Schema.Block.Type()).Mark(value.Ephemeral)
}

func (v *validator) module(pool *future.Pool, t *future.Task, m *eval.Module) {
	m.CheckVariables(t)
	m.ValidateProviders(t, func(p addr.Provider, cfg cty.Value) diag.List {
		return v.providers.ask(v.ctx, p, func(p provider.Provider) diag.List { return p.ValidateConfig(v.ctx, cfg) })
	})
	m.ValidateValues(t)
	m.ValidateChecks(t)
	for _, c := range m.Calls() {
		for _, child := range c.Children(t, nil) {
			v.module(pool, t, child)
		}
	}
	for _, d := range m.Removals() {
		v.departure(t, d, cty.DynamicVal)
	}
	for _, r := range m.Resources() {
		instances, _ := r.Instances(t)
		for _, in := range instances {
			pool.Go(func(t *future.Task) { v.guard(in.Addr().String(), func() { v.instance(t, in) }) })
		}
	}
}

func (v *validator) instance(t *future.Task, in *eval.Instance) {
	if in.Provider(t) == nil {
		return
	}
	cfg, diags := in.EvalBody(t, nil)
	v.run.Report(diags)
	self := v.Result(t, in)
	if in.Config().Addr.Mode == addr.Ephemeral {
		self = self.Mark(value.Ephemeral)
	}
	in.Preconditions(t, nil)
	in.Postconditions(t, nil, self)
	_, diags2 := in.PreventDestroy(t)
	v.run.Report(diags2)
	for i := range in.Provisioners() {
		_, _, diags := evalProvisioner(t, nil, in, i, self, in.Addr())
		v.run.Report(diags)
	}
	if d := v.run.Departure(in.Addr()); d != nil {
		v.departure(t, d, self)
	}
	if diags.HasErrors() {
		return
	}
	plain, _ := cfg.UnmarkDeep()
	more := v.providers.ask(v.ctx, in.Resource.Block.Provider, func(p provider.Provider) diag.List {
		return p.ValidateResource(v.ctx, in.Config().Addr.Mode, in.Config().Addr.Type, plain)
	})
	v.run.Report(more.InConfigBody(in.Config().Body).WithAddress(in.Addr().String()))
}

func (v *validator) departure(t *future.Task, d *eval.Departure, self cty.Value) {
	for i := range d.Provisioners() {
		_, _, diags := evalProvisioner(t, nil, d, i, self, d.Addr())
		v.run.Report(diags)
	}
}
