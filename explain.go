package mayfly

import (
	"context"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/explain"
	"github.com/mayfly-iac/mayfly/plan"
)

// Explain returns what answers questions about a plan of the configuration. Nothing is evaluated or opened.
func (p *Project) Explain(ctx context.Context, planned *plan.Plan) (*Explainer, diag.List) {
	cfg, diags := p.compile(ctx)
	if cfg == nil || diags.HasErrors() {
		return nil, diags
	}
	return explain.New(cfg, planned), diags
}
