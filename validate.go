package mayfly

import (
	"context"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Validate checks the configuration without state and variables. It opens nothing and changes nothing.
func (p *Project) Validate(ctx context.Context) diag.List {
	cfg, diags := p.compile(ctx)
	return p.validated(ctx, cfg, diags)
}

// Check checks what follows from the configuration and the schemas of its providers alone: that all that
// is referred to is declared. Nothing is evaluated.
func (p *Project) Check(ctx context.Context) diag.List {
	_, diags := p.compile(ctx)
	return diags
}

// validated adds what validating finds to what compiling has found. Evaluating goes on after errors, so that
// all are found in one run.
func (p *Project) validated(ctx context.Context, cfg *blocks.Config, found diag.List) diag.List {
	if cfg == nil {
		return found
	}
	return append(found, p.engine.Validate(ctx, cfg).Except(found)...)
}

// sound compiles the configuration for an operation that needs it free of errors. If it has any, all that
// validating finds is among the diagnostics. Validating ends with soft, which may be nil.
func (o *Operation) sound(ctx, soft context.Context) (*blocks.Config, diag.List) {
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() {
		if soft == nil {
			soft = ctx
		}
		diags = o.p.validated(soft, cfg, diags)
	}
	return cfg, diags
}
