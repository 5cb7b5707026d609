package eval

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
)

// ValidateValues evaluates every local, output and variable of the module, for validation.
func (m *Module) ValidateValues(t *future.Task) {
	for _, group := range []map[string]*Value{m.variables, m.locals, m.outputs} {
		for _, v := range diag.InOrder(group) {
			if v.Opens() {
				v.Get(t, NewOpened(nil), v.rangePtr())
				continue
			}
			v.Get(t, nil, v.rangePtr())
		}
	}
	m.OutputPreconditions(t, nil)
}

// EvaluateValues evaluates the variables, locals and outputs of the module that open nothing, so that errors
// in them are found even if they are unused. If due is not nil, it limits them to those for which it returns
// true.
func (m *Module) EvaluateValues(t *future.Task, due func(*Value) bool) {
	for _, group := range []map[string]*Value{m.variables, m.locals, m.outputs} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			if v := group[name]; !v.Opens() && (due == nil || due(v)) {
				v.Get(t, nil, v.rangePtr())
			}
		}
	}
}

// ValidateProviders evaluates every provider block of a module object, for validation. It queues a call of f
// with each configuration, which has no marks. Since nothing configures a provider that no block uses,
// mistakes in its block are warnings.
func (m *Module) ValidateProviders(pool *future.Pool, t *future.Task, f func(addr.ProviderConfig, cty.Value) diag.List) {
	for _, b := range diag.InOrder(m.block.Providers) {
		if b.Config.Empty() {
			continue // missing arguments may come from the caller of the module
		}
		pc := addr.ProviderConfig{Module: m.block.Config.Path.Instance(), Provider: b.Source, Alias: b.Config.Alias}
		p := m.run.Providers.object(pc, providerRef{module: m, block: b})
		v, diags := p.EvalBody(t, nil)
		report := func(diags diag.List) {
			if len(diags) > 0 && !m.run.cfg.Uses(b) {
				diags = diags.AsWarnings()
			}
			m.run.Report(diags.WithAddress(fmt.Sprintf("provider[%q]", b.Source.String())))
		}
		report(diags)
		if !diags.HasErrors() {
			plain, _ := v.UnmarkDeep()
			pool.Go(func(*future.Task) {
				m.run.Guard(p, func() { report(f(pc, plain).InConfigBody(b.Config.Body)) })
			})
		}
	}
}

// ValidateChecks evaluates the assertions of the module's checks with unknown values. Unknown
// values do not decide whether they are met.
func (m *Module) ValidateChecks(t *future.Task) {
	for _, c := range m.CheckBlocks() {
		for _, a := range c.block.Assertions {
			m.run.Report(m.run.condition(&scope{m: m, t: t, of: c}, a, failedAssertion).diags)
		}
	}
}
