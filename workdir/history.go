package workdir

import (
	"context"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Historian returns access to the runs on the state of the selected workspace and to former versions of its
// objects, outputs and checks. It fails if the backend keeps none.
func (b *Backend) Historian(ctx context.Context) (store.Historian, diag.List) {
	if diags := b.dir.loadedRoot(ctx); diags.HasErrors() {
		return nil, diags
	}
	p, diags := b.place(ctx, StateFiles{})
	if diags.HasErrors() {
		return nil, diags
	}
	h, is := p.manager.(store.Historian)
	if !is {
		return nil, append(diags, diag.Errorf("No history", "The %s keeps no history of a state: neither runs nor former versions. The backend \"postgres\" does.", p.location.kind)...)
	}
	return h, diags
}

// Querier returns access by SQL to the states of the backend. It fails if the backend has none.
func (b *Backend) Querier(ctx context.Context) (store.Querier, diag.List) {
	if diags := b.dir.loadedRoot(ctx); diags.HasErrors() {
		return nil, diags
	}
	p, diags := b.place(ctx, StateFiles{})
	if diags.HasErrors() {
		return nil, diags
	}
	q, is := p.manager.(store.Querier)
	if !is {
		return nil, append(diags, diag.Errorf("No SQL", "The %s does not answer questions in SQL. The backend \"postgres\" does.", p.location.kind)...)
	}
	return q, diags
}
