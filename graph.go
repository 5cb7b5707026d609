package mayfly

import (
	"context"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// Graph returns what waits for what when the configuration is planned or applied, by blocks. It needs no
// state and no variables, and holds no values. For the order of a plan's changes see plan.Plan.Graph, for
// that of a state's destruction plan.DestroyGraph.
func (p *Project) Graph(ctx context.Context) (*plan.Graph, diag.List) {
	cfg, diags := p.compile(ctx)
	if cfg == nil || diags.HasErrors() {
		return nil, diags
	}
	return cfg.Graph(), diags
}

// Relevant returns the attributes that contributed to the changes of a plan of the configuration, for showing
// it. Blocks that do not compile contribute nothing. No values are involved.
func (p *Project) Relevant(ctx context.Context, planned *plan.Plan) []plan.RelevantAttribute {
	cfg, _ := p.compile(ctx)
	if cfg == nil {
		return nil
	}
	return cfg.Relevant(planned)
}
