package workdir

import (
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
)

// DataDir returns the data directory: what is installed and recorded is in it.
func (d *Dir) DataDir() string { return d.dataDir }

// BackendStatus is what can be known of a backend without asking it.
type BackendStatus struct {
	Kind     string // of the backend block; that of the local backend without one
	Declared bool   // there is a block
	Recorded bool   // init has recorded a backend
	Place    string // where the state of the default workspace is, for people, without credentials
}

// BackendStatus returns what is known of the backend, and why commands would not use it. The root module has
// been loaded.
func (d *Dir) BackendStatus() (BackendStatus, diag.List) {
	s := BackendStatus{Kind: backend.Local}
	if d.root != nil && d.root.Backend != nil {
		s.Kind, s.Declared = d.root.Backend.Type, true
	}
	want, diags := d.declaredLocation(d.root, nil)
	if diags.HasErrors() {
		return s, diags
	}
	s.Kind, s.Declared, s.Place = want.kind.Name, want.declared(), d.placeOf(want)
	if _, s.Recorded, diags = d.recorded(); diags.HasErrors() {
		return s, diags
	}
	l, diags := d.currentLocation()
	if !diags.HasErrors() {
		s.Kind, s.Place = l.kind.Name, d.placeOf(l)
	}
	return s, diags
}
