package workdir

import (
	"context"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Show is Dir.Open for showing a saved plan, after Open. Providers whose schemas the plan has are not started
// and need not be installed.
func (ps *Plans) Show(ctx context.Context, f *planfile.File, opt SessionOptions) (*Session, diag.List) {
	d := ps.dir
	s, diags := d.open(ctx, d.tree, place{workspace: store.DefaultWorkspace}, opt)
	if diags.HasErrors() {
		return s, diags
	}
	s.launcher.Recorded = map[addr.Provider]mayfly.Recording{}
	for p, r := range f.Schemas {
		s.launcher.Recorded[p] = mayfly.Recording{Protocol: r.Protocol, Schemas: r.Types, Identities: r.Identities}
	}
	for p := range providersOf(d.tree, f.Plan) {
		if _, ok := f.Schemas[p]; !ok {
			return s, append(diags, s.useProviders(f.Plan.Base)...)
		}
	}
	return s, diags
}

// recordings returns the schemas that showing a plan takes. A provider without valid schemas is left out: its
// mistakes were reported when the plan was made.
func (s *Session) recordings(p *plan.Plan) map[addr.Provider]planfile.Schemas {
	tree := s.Project.Tree
	wanted := shownTypes(tree, p)
	out := map[addr.Provider]planfile.Schemas{}
	for source := range providersOf(tree, p) {
		// Planning has loaded the catalogs, so that nothing is started or waited for.
		cat, diags := s.Project.Catalog(context.Background(), source)
		if recorder, ok := cat.(provider.Recorder); ok && !diags.HasErrors() {
			r := recorder.Record(func(mode addr.Mode, name string) bool { return wanted[shownType{mode, name}] })
			out[source] = planfile.Schemas{Protocol: r.Protocol, Types: r.Schemas, Identities: r.Identities}
		}
	}
	return out
}

// providersOf returns the providers that a plan and its configuration use, but for those in the program.
func providersOf(tree *config.Tree, p *plan.Plan) map[addr.Provider]bool {
	out := map[addr.Provider]bool{}
	for _, source := range tree.UsedProviders() {
		out[source] = true
	}
	for _, c := range slices.Concat(p.Changes, p.Drift) {
		out[c.Provider.Provider] = true
	}
	maps.DeleteFunc(out, func(source addr.Provider, _ bool) bool { return mayfly.Embedded(source) })
	return out
}

// shownType is a type of resources.
type shownType struct {
	mode addr.Mode
	name string
}

// shownTypes returns the types of the resources in a plan, its states and its configuration.
func shownTypes(tree *config.Tree, p *plan.Plan) map[shownType]bool {
	out := map[shownType]bool{}
	add := func(r addr.Resource) { out[shownType{r.Mode, r.Type}] = true }
	for _, m := range tree.SortedModules() {
		for r := range m.Resources {
			add(r)
		}
	}
	for _, c := range slices.Concat(p.Changes, p.Drift) {
		add(c.Addr.Resource)
	}
	for _, st := range []*state.State{p.Base, p.Prior} {
		for r := range st.Resources {
			add(r.Resource)
		}
	}
	return out
}
