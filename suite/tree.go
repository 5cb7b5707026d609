package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// checkName returns the name of the check that has the assertions of a run. No check block can have it.
func checkName(run *config.TestRun) string { return "run." + run.Name }

// prepare changes the copy of a module's tree into the tree that a run plans.
func (r *fileRun) prepare(tree *config.Tree, run *config.TestRun) diag.List {
	root := tree.Root
	for name, outputs := range r.earlier {
		key := config.EarlierRun(name)
		root.Variables[key] = config.Given(key, outputs, false)
	}
	if len(run.Asserts) > 0 {
		name := checkName(run)
		root.Checks[name] = &config.Check{
			Name: name, Asserts: run.Asserts, Range: run.Range, Test: true, Late: !run.Plan && !run.Options.RefreshOnly,
		}
	}
	diags := r.overrideModules(tree, slices.Concat(run.Overrides, r.file.Overrides))
	return append(diags, r.configure(tree, run)...)
}

// configure puts the provider configurations of the file into the root module, or the ones in the providers
// argument if the run has one. Mocked providers need no arguments.
func (r *fileRun) configure(tree *config.Tree, run *config.TestRun) diag.List {
	var diags diag.List
	for _, p := range r.passed(tree, run) {
		key := p.InChild.String()
		if mock := r.file.Mocks[p.InParent.String()]; mock != nil {
			each := mock.ForEach
			if was := tree.Root.Providers[key]; each == nil && was != nil {
				each = was.ForEach
			}
			delete(tree.Root.Providers, key)
			if p.InChild.Alias != "" {
				tree.Root.Providers[key] = &config.Provider{Name: p.InChild.Name, Alias: p.InChild.Alias, ForEach: each, Body: hcl.EmptyBody(), Range: mock.Range, Test: true}
			}
			continue
		}
		from := r.file.Providers[p.InParent.String()]
		if from == nil {
			from = tree.Root.Providers[p.InParent.String()]
		}
		if from == nil {
			if p.InParent.Alias != "" {
				diags = append(diags, diag.At(p.InParent.Range, "Provider configuration not present", "This file has no provider or mock_provider block for %q.", p.InParent)...)
			}
			continue
		}
		passed := *from
		passed.Name, passed.Alias = p.InChild.Name, p.InChild.Alias
		tree.Root.Providers[key] = &passed
	}
	return diags
}

// passed returns which configurations of the file take the place of which in the root module.
func (r *fileRun) passed(tree *config.Tree, run *config.TestRun) []config.PassedProvider {
	if len(run.Providers) > 0 {
		return run.Providers
	}
	used := usedProviders(tree)
	var out []config.PassedProvider
	add := func(ref config.ProviderRef) {
		if _, ok := used[tree.Root.ProviderFor(ref.Name)]; ok || run.Module == nil {
			out = append(out, config.PassedProvider{InChild: ref, InParent: ref})
		}
	}
	for _, p := range diag.InOrder(r.file.Providers) {
		add(p.Ref())
	}
	for _, m := range diag.InOrder(r.file.Mocks) {
		add(m.Ref())
	}
	return out
}

// usedProviders returns the providers of the resources of a tree.
func usedProviders(tree *config.Tree) map[addr.Provider]struct{} {
	out := map[addr.Provider]struct{}{}
	for _, m := range tree.Modules {
		for _, res := range m.Order {
			out[m.ProviderFor(res.ProviderRef().Name)] = struct{}{}
		}
		for _, req := range m.Required {
			out[req.Source] = struct{}{}
		}
	}
	return out
}

// overrideModules replaces modules by their outputs. Overrides of a run come first and have precedence, but
// values given for one instance have precedence over values given for all.
func (r *fileRun) overrideModules(tree *config.Tree, overrides []*config.Override) diag.List {
	var diags diag.List
	done := map[addr.Module]struct{}{}
	for _, o := range overrides {
		path := o.Target.Module.Module()
		m := tree.Modules[path]
		if _, again := done[path]; again || m == nil || !o.Module() || ofInstance(o) {
			continue
		}
		done[path] = struct{}{}
		values, ds := r.moduleOutputs(m, o)
		diags = append(diags, ds...)
		outputs := make(map[string]*config.Output, len(values))
		for name, v := range values {
			declared := m.Outputs[name]
			outputs[name] = &config.Output{
				Name: name, Expr: hcl.StaticExpr(v, o.Range), Sensitive: declared.Sensitive, Ephemeral: declared.Ephemeral, Range: declared.Range,
			}
		}
		tree.Clear(m, outputs)
	}
	for _, o := range overrides {
		m := tree.Modules[o.Target.Module.Module()]
		if m == nil || !ofInstance(o) {
			continue
		}
		values, ds := r.moduleOutputs(m, o)
		diags = append(diags, ds...)
		for name, v := range values {
			output := *m.Outputs[name]
			output.Overrides = append(slices.Clone(output.Overrides), config.OutputOverride{Target: o.Target, Value: v})
			m.Outputs[name] = &output
		}
	}
	return diags
}

// ofInstance reports whether a single instance of a module is overridden. Its objects are mocked, since other
// instances have theirs.
func ofInstance(o *config.Override) bool {
	return o.Module() && o.Target.Module.String() != o.Target.Module.Module().String()
}

// moduleOutputs returns the outputs of a module that is overridden: the given ones, null for the others.
func (r *fileRun) moduleOutputs(m *config.Module, o *config.Override) (map[string]cty.Value, diag.List) {
	given := map[string]cty.Value{}
	var diags diag.List
	if o.Values != nil {
		v, ds := r.eval(r.vars, o.Values)
		diags = append(diags, ds...)
		if !ds.HasErrors() && !v.IsNull() && v.IsKnown() && (v.Type().IsObjectType() || v.Type().IsMapType()) {
			given = v.AsValueMap()
		}
	}
	out := make(map[string]cty.Value, len(m.Outputs))
	for name := range m.Outputs {
		v, ok := given[name]
		if !ok {
			v = cty.NullVal(cty.DynamicPseudoType)
		}
		out[name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if m.Outputs[name] == nil {
			at := diag.RangeOf(o.Values, cty.GetAttrPath(name))
			diags = append(diags, diag.At(at, "Invalid mock value", "The module %s has no output named %q.%s",
				fmt.Sprint(o.Target), name, diag.DidYouMean(name, slices.Sorted(maps.Keys(m.Outputs))))...)
		}
	}
	return out, diags
}
