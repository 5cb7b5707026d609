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

// showPlan shows the saved plan that the directory was opened with. The plan has the schemas of the providers
// that made it, which say which values are sensitive and how they are compared.
func (c *showCommand) showPlan(ctx context.Context, opt *showFlags, f *planfile.File) int {
	tree := c.wd.dir().Tree()
	s, diags := c.wd.saved(ctx, f)
	defer s.close()
	if !c.out.report(diags) {
		return exitError
	}
	s.Workspace = cmp.Or(f.Backend.Workspace, s.Workspace)
	s.putPlan(ctx, f.Plan)
	done, code := c.out.documented(&opt.machineFlags, func() ([]byte, error) {
		if err := setDefaults(f.Plan, tree.Root); err != nil {
			return nil, err
		}
		return document.Plan(f.Plan, tree, s.relevant(ctx, f.Plan), s.Schemas(ctx), s.out.versions())
	})
	if done {
		return code
	}
	return c.out.wrote(view.Plan(c.out.env.Stdout, f.Plan, s.relevant(ctx, f.Plan), s.Schemas(ctx), c.out.view))
}

// showConfig shows the configuration of the working directory. It needs the providers, because only their
// schemas distinguish arguments from blocks.
func (c *showCommand) showConfig(ctx context.Context, f *showFlags) int {
	d := c.wd.dir()
	if !c.wd.required("show -config") || !c.out.report(d.Load(ctx)) {
		return exitError
	}
	s, diags := c.wd.open(ctx, nil)
	defer s.close()
	if !c.out.report(diags) {
		return exitError
	}
	_, code := c.out.documented(&f.machineFlags, func() ([]byte, error) { return document.Config(d.Tree(), s.Schemas(ctx)) })
	return code
}

// showModule shows the declarations of one directory, without called modules and without providers. Tools
// read modules with it that are not initialized, such as modules of a registry.
func (c *showCommand) showModule(ctx context.Context, f *showFlags) int {
	if info, err := os.Stat(f.module); err != nil || !info.IsDir() {
		return c.out.fail("Failed to read module directory", "The module directory %s does not exist, or it cannot be read.", f.module)
	}
	root, diags := c.wd.dir().LoadModule(ctx, f.module)
	if !c.out.report(diags) {
		return exitError
	}
	_, code := c.out.documented(&f.machineFlags, func() ([]byte, error) { return document.Module(root) })
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
