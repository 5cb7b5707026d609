package main

import (
	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/workdir"
)

// checkGenerate reports a wrong -generate-config-out before anything is read.
func (c *changeFlags) checkGenerate() diag.List {
	if c.generate == "" {
		return nil
	}
	if c.destroy || c.refreshOnly {
		return diag.Errorf("Invalid generate-config-out flag", "Configuration can be generated only in an ordinary plan, not with -destroy or -refresh-only.")
	}
	return workdir.CheckGenerated(c.generate)
}

// generateConfig writes the file of -generate-config-out and adds it to the configuration to be planned. It
// reports errors itself and returns whether there were none. The file is written before planning, because
// people may want it although the plan fails: generated configuration often needs editing first.
func (r *changeRun) generateConfig(opt *mayfly.PlanOptions) bool {
	if r.flags.generate == "" {
		return true
	}
	var generated []*engine.Generated
	diags := r.working(func() (diags diag.List) {
		generated, diags = r.Operation.Generate(r.hard, *opt)
		return diags
	})
	if len(generated) == 0 {
		return r.out.report(diags)
	}
	wrote, more := r.AddGenerated(r.soft, generated, r.flags.generate)
	if wrote {
		r.written = r.flags.generate
	}
	opt.Generated = generated
	diags = append(diags, more...)
	return r.out.report(append(diags, r.unfinished(diags)...))
}

// unfinished returns, after errors, a note that the generated file was kept.
func (r *changeRun) unfinished(diags diag.List) diag.List {
	if r.written == "" || !diags.HasErrors() {
		return nil
	}
	return diag.Warnf("Generated configuration is kept", "The generated configuration was written to %s before the errors occurred. Correct it, or remove the file to have it generated again, and plan again.", r.written)
}
