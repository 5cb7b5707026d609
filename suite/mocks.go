package suite

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/mock"
)

// stand answers in place of the providers of a run, with mocks of whole configurations, and overrides of
// objects.
type stand struct {
	ctx       context.Context
	project   *mayfly.Project
	accepted  *accepted
	tree      *config.Tree
	made      *made    // in the state of the run; nil if it has none
	own       sync.Map // of addr.Instance: instances that were left to their providers
	mocked    map[addr.ProviderConfig]*mocked
	overrides []override // in order of falling precedence
}

// mocked is a mocked provider configuration with evaluated values.
type mocked struct {
	defaults  map[typeKey][]mock.Values
	overrides []override
}

// typeKey identifies a type of objects.
type typeKey struct {
	mode addr.Mode
	name string
}

// override is an override block with evaluated values.
type override struct {
	target addr.Target
	values mock.Values
}

// stand evaluates the values in the mocks and overrides of a run, and checks them against the schemas of the
// types.
func (r *fileRun) stand(tree *config.Tree, run *config.TestRun) (*stand, diag.List) {
	out := &stand{ctx: r.ctx, project: r.opt.Project, accepted: &r.accepted, tree: tree, mocked: map[addr.ProviderConfig]*mocked{}}
	var diags diag.List
	for _, p := range r.passed(tree, run) {
		m := r.file.Mocks[p.InParent.String()]
		if m == nil {
			continue
		}
		source := tree.Root.ProviderFor(p.InChild.Name)
		got := &mocked{defaults: map[typeKey][]mock.Values{}}
		for _, d := range m.Defaults {
			v, ds := r.values(out, d.Values, d.DuringPlan, source, d.Mode, d.Type, d.Range)
			diags = append(diags, ds...)
			key := typeKey{d.Mode, d.Type}
			got.defaults[key] = append(got.defaults[key], v)
		}
		var ds diag.List
		got.overrides, ds = r.overrides(out, tree, m.Overrides)
		diags = append(diags, ds...)
		out.mocked[addr.ProviderConfig{Provider: source, Alias: p.InChild.Alias}] = got
	}
	for _, list := range [][]*config.Override{run.Overrides, r.file.Overrides} {
		got, ds := r.overrides(out, tree, list)
		diags = append(diags, ds...)
		out.overrides = append(out.overrides, got...)
	}
	return out, diags
}

// overrides evaluates override blocks of objects. Values for a target that is not in the tree have no effect:
// another run may have it. For an object of it that is left in the state, no provider is asked.
func (r *fileRun) overrides(s *stand, tree *config.Tree, list []*config.Override) ([]override, diag.List) {
	var out []override
	var diags diag.List
	for _, o := range list {
		if ofInstance(o) {
			out = append(out, override{o.Target, mock.Values{}})
		}
		if o.Module() {
			continue
		}
		m := tree.Modules[o.Target.Module.Module()]
		if m == nil || m.Resources[*o.Target.Resource] == nil {
			out = append(out, override{o.Target, mock.Values{}})
			continue
		}
		diags = append(diags, mixed(m, o)...)
		res := m.Resources[*o.Target.Resource]
		v, ds := r.values(s, o.Values, o.DuringPlan, m.ProviderFor(res.ProviderRef().Name), res.Addr.Mode, res.Addr.Type, o.Range)
		diags = append(diags, ds...)
		out = append(out, override{o.Target, v})
	}
	return out, diags
}

// mixed reports a target with [*] that names a repeated module without it: whether all its instances are
// meant is not clear.
func mixed(m *config.Module, o *config.Override) diag.List {
	for step := len(o.Target.Module.Path()) - 1; m.Parent != nil; step, m = step-1, m.Parent {
		_, name, _ := o.Target.Module.Path()[step].Parent()
		call := m.Parent.Calls[name]
		if slices.Contains(o.Bare, step) && (call.Repeat.ForEach != nil || call.Repeat.Count != nil) {
			return diag.At(o.Range, "Invalid resource override usage", "The module %q is repeated, and has neither a key nor [*] in the target, while [*] stands elsewhere in it. For all instances, write module.%s[*].", name, name)
		}
	}
	return nil
}

// values evaluates the values of a mock or override, nil for none.
func (r *fileRun) values(s *stand, e hcl.Expression, during bool, p addr.Provider, mode addr.Mode, typeName string, at hcl.Range) (mock.Values, diag.List) {
	out := mock.Values{DuringPlan: during}
	catalog, diags := s.project.Catalog(r.ctx, p)
	if diags.HasErrors() {
		return out, diags
	}
	sch, diags := catalog.Resource(mode, typeName)
	if sch == nil && !diags.HasErrors() {
		diags = diag.At(at, "Invalid mock", "The provider %s has no type %q of this kind.%s", p.ForDisplay(), typeName, diag.DidYouMean(typeName, catalog.Types(mode)))
	}
	if diags.HasErrors() || e == nil {
		return out, diags
	}
	v, diags := r.eval(r.vars, e)
	if diags.HasErrors() {
		return out, diags
	}
	out.Object, _ = v.UnmarkDeep()
	wrong := mock.Check(sch.Block, out.Object)
	for i := range wrong {
		rng := diag.RangeOf(e, wrong[i].Path)
		wrong[i].Subject, wrong[i].Path = &rng, nil
	}
	return out, append(diags, wrong...)
}

// mockOf returns the mock of a provider configuration, nil if there is none.
func (s *stand) mockOf(pc addr.ProviderConfig) *mocked {
	if !pc.Module.IsRoot() {
		return nil
	}
	return s.mocked[addr.ProviderConfig{Provider: pc.Provider, Alias: pc.Alias}]
}

// instead returns the provider that answers for an instance in place of its own; nil if its own answers.
func (s *stand) instead(pc addr.ProviderConfig, i addr.Instance) provider.Provider {
	var values []mock.Values
	replaced := false
	add := func(list []override) {
		for _, o := range list {
			if o.target.Selects(i) {
				replaced = true
				values = append(values, o.values)
			}
		}
	}
	add(s.overrides)
	if m := s.mockOf(pc); m != nil {
		replaced = true
		add(m.overrides)
		values = append(values, m.defaults[typeKey{i.Resource.Mode, i.Resource.Type}]...)
	}
	if !replaced && !s.made.orphan(s.tree, i) {
		s.own.Store(i, struct{}{})
		return nil
	}
	return s.made.noting(i, mock.New(mock.Options{
		Seed: i.String(), Values: values,
		Catalog: func(ctx context.Context) (provider.Catalog, diag.List) { return s.project.Catalog(ctx, pc.Provider) },
		Validate: func(ctx context.Context, mode addr.Mode, typeName string, config cty.Value) diag.List {
			return s.accepted.validate(ctx, s.project, pc.Provider, mode, typeName, config)
		},
	}))
}
