package main

import (
	"cmp"
	"context"
	"os"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// showPlan shows the saved plan that the directory was opened with. The providers that made it must be
// installed: their schemas say what is sensitive and how values are compared.
func (a *app) showPlan(ctx context.Context, opt *showFlags, f *planfile.File) int {
	tree := a.directory().Tree()
	s, diags := a.open(ctx, f.Plan.Base)
	defer s.close()
	if !a.report(diags) {
		return exitError
	}
	s.Workspace = cmp.Or(f.Backend.Workspace, s.Workspace)
	s.putPlan(ctx, f.Plan)
	done, code := a.documented(&opt.machineFlags, func() ([]byte, error) {
		if err := setDefaults(f.Plan, tree.Root); err != nil {
			return nil, err
		}
		return document.Plan(f.Plan, tree, s.relevant(ctx, f.Plan), s.Schemas(ctx), a.versions())
	})
	if done {
		return code
	}
	return a.wrote(view.Plan(a.env.Stdout, f.Plan, s.relevant(ctx, f.Plan), s.Schemas(ctx), a.view))
}

// showConfig shows the configuration of the working directory. It needs the providers, because only their
// schemas distinguish arguments from blocks.
func (a *app) showConfig(ctx context.Context, f *showFlags) int {
	d := a.directory()
	if !a.required("show -config") || !a.report(d.Load(ctx)) {
		return exitError
	}
	s, diags := a.open(ctx, nil)
	defer s.close()
	if !a.report(diags) {
		return exitError
	}
	_, code := a.documented(&f.machineFlags, func() ([]byte, error) { return document.Config(d.Tree(), s.Schemas(ctx)) })
	return code
}

// showModule shows the declarations of one directory, without called modules and without providers. Tools
// read modules with it that are not initialized, such as those of a registry.
func (a *app) showModule(ctx context.Context, f *showFlags) int {
	if info, err := os.Stat(f.module); err != nil || !info.IsDir() {
		return a.fail("Failed to read module directory", "The module directory %s does not exist, or it cannot be read.", f.module)
	}
	root, diags := a.directory().LoadModule(ctx, f.module)
	if !a.report(diags) {
		return exitError
	}
	_, code := a.documented(&f.machineFlags, func() ([]byte, error) { return document.Module(root) })
	return code
}

// setDefaults adds the defaults of variables that were not set to a plan: programs expect all variables in
// the document. Ephemeral ones are in no plan, and stay out (E81).
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
