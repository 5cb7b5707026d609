package workdir

import (
	"context"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
)

// DataDir returns the data directory: installed packages and records are in it.
func (d *Dir) DataDir() string { return d.files.dataDir }

// BackendStatus describes a backend without asking it.
type BackendStatus struct {
	Kind     string // of the backend block; the local backend without one
	Declared bool   // there is a block
	Recorded bool   // init has recorded a backend
	Place    string // where the state of the default workspace is, for people, without credentials
}

// Status describes the backend, and returns why commands would not use it. The root module has been loaded.
// The provider of a state store is started for the schema of its arguments.
func (b *Backend) Status() (BackendStatus, diag.List) {
	ctx := context.Background()
	s := BackendStatus{Kind: backend.Local}
	if b.dir.root != nil && b.dir.root.Backend != nil {
		s.Kind, s.Declared = b.dir.root.Backend.Type, true
	}
	want, diags := b.locations.declaredLocation(ctx, b.dir.root, nil)
	if diags.HasErrors() {
		return s, diags
	}
	s.Kind, s.Declared, s.Place = want.kind.Name, want.declared(), b.locations.placeOf(want)
	if _, s.Recorded, diags = b.locations.recorded(ctx); diags.HasErrors() {
		return s, diags
	}
	l, diags := b.currentLocation(ctx)
	if !diags.HasErrors() {
		s.Kind, s.Place = l.kind.Name, b.locations.placeOf(l)
	}
	return s, diags
}
