package mayfly

import (
	"context"
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/plan"
	grpcprovider "github.com/mayfly-iac/mayfly/provider/grpc"
)

// Validate checks the configuration without state and variables. It opens nothing and changes nothing.
func (p *Project) Validate(ctx context.Context) diag.List {
	cfg, diags := p.compile(ctx)
	return p.validated(ctx, cfg, diags)
}

// validated adds what validating finds to what compiling has said. Evaluating goes on after errors, so that all are found in one run.
func (p *Project) validated(ctx context.Context, cfg *eval.Config, said diag.List) diag.List {
	if cfg == nil {
		return said
	}
	return append(said, unsaid(said, p.engine.Validate(ctx, cfg))...)
}

// unsaid returns those of more that said has not: what was said about a place is not said again.
func unsaid(said, more diag.List) diag.List {
	places := map[string]bool{}
	for _, d := range said {
		places[placed(d)] = true
	}
	return slices.DeleteFunc(more, func(d diag.Diagnostic) bool { return places[placed(d)] })
}

// placed identifies a diagnostic by what it says in short and where, or by all it says if it is about no place.
func placed(d diag.Diagnostic) string {
	if d.Subject == nil {
		return d.Summary + "\x00" + d.Detail
	}
	return d.Summary + "\x00" + d.Subject.String()
}

// sound compiles the configuration for an operation that needs it free of errors. If it has any, all that validating finds is among the diagnostics.
func (o *Operation) sound(ctx context.Context) (*eval.Config, diag.List) {
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() {
		diags = o.p.validated(ctx, cfg, diags)
	}
	return cfg, diags
}

// hidden returns the errors of the configuration that a plan of all of it would have told, had errors not kept it from coming to every block: what
// depends on a block that failed is not planned.
func (o *Operation) hidden(ctx context.Context, cfg *eval.Config, opt PlanOptions, said diag.List) diag.List {
	stopped := slices.ContainsFunc(said, func(d diag.Diagnostic) bool {
		_, gone := d.Extra.(grpcprovider.Stopped)
		return gone
	})
	interrupted := ctx.Err() != nil || opt.Soft != nil && opt.Soft.Err() != nil
	whole := opt.Mode == plan.Normal && len(opt.Targets)+len(opt.Excludes) == 0
	if !said.HasErrors() || stopped || interrupted || !whole {
		return nil
	}
	found := unsaid(said, o.p.engine.Validate(ctx, cfg))
	return slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
}
