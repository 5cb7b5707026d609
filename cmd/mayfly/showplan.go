package main

import (
	"context"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/value"
	"github.com/mayfly-iac/mayfly/view"
)

// showPlan shows a saved plan.
func (a *app) showPlan(ctx context.Context, path string, asJSON bool) int {
	d := a.directory()
	f, diags := d.openPlan(path)
	if !a.report(diags) {
		return exitError
	}
	s, diags := a.open(ctx, d, place{workspace: f.Backend.Workspace}, nil, nil, 0)
	defer s.close()
	if !a.report(diags) || !a.report(s.useProviders(f.Plan.Base)) {
		return exitError
	}
	if asJSON {
		if err := setDefaults(f.Plan, d.tree.Root); err != nil {
			return a.wrote(err)
		}
		return a.writeDocument(view.PlanJSON(f.Plan, d.tree, s.schemas(ctx), a.versions()))
	}
	return a.wrote(view.Plan(a.env.Stdout, f.Plan, s.schemas(ctx), a.view))
}

// setDefaults completes the variables of a plan with the defaults of those that were not set: programs look for all of them in the document.
func setDefaults(p *plan.Plan, root *config.Module) error {
	if p.Variables == nil {
		p.Variables = map[string]value.Durable{}
	}
	for name, v := range root.Variables {
		if _, set := p.Variables[name]; set || v.Ephemeral || v.Required() {
			continue
		}
		d, err := value.Seal(v.Default, v.Default.Type(), nil)
		if err != nil {
			return err
		}
		p.Variables[name] = d
	}
	return nil
}

// emptyTree is the configuration of a directory without any.
func emptyTree() *config.Tree {
	root := &config.Module{Dir: "."}
	return &config.Tree{Root: root, Modules: map[addr.Module]*config.Module{addr.RootModule: root}, Sources: map[string][]byte{}}
}
