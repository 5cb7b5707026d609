package main

import (
	"context"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
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
		return a.writeDocument(view.PlanJSON(f.Plan, d.tree, s.schemas(ctx), a.versions()))
	}
	return a.wrote(view.Plan(a.env.Stdout, f.Plan, s.schemas(ctx), a.view))
}

// emptyTree is the configuration of a directory without any.
func emptyTree() *config.Tree {
	root := &config.Module{Dir: "."}
	return &config.Tree{Root: root, Modules: map[addr.Module]*config.Module{addr.RootModule: root}, Sources: map[string][]byte{}}
}
