package workdir

import (
	"context"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Glance reads a working directory at once, for completing typed words: it locks nothing, writes nothing,
// asks nothing and reaches no remote system. It leaves out items with errors.
type Glance struct{ dir *Dir }

// Glance returns the view for completions.
func (d *Dir) Glance() Glance { return Glance{d} }

// Root returns the readable part of the root module; nil if there is none.
func (g Glance) Root() *config.Module {
	root, _ := g.dir.loader(context.Background()).LoadModule(g.dir.opt.Root, addr.RootModule)
	return root
}

// Workspaces returns the names of the workspaces.
func (g Glance) Workspaces() []string {
	s := g.store(StateFiles{})
	if s == nil {
		return nil
	}
	names, _ := s.Workspaces(context.Background())
	return names
}

// State returns the state of the selected workspace or, if its name is not empty, the one in a file; an empty
// state if it is not known.
func (g Glance) State(file string) *state.State {
	name, _, diags := g.dir.Workspace()
	if s := g.store(StateFiles{State: file}); s != nil && !diags.HasErrors() {
		if f, err := readWorkspace(context.Background(), s, name); err == nil && f != nil {
			return f.State
		}
	}
	return state.New()
}

// store returns the store if it is a local one and not encrypted, since keys can take long to obtain: the one
// that init has recorded, or the configuration's.
func (g Glance) store(files StateFiles) store.Store {
	root, ctx := g.Root(), context.Background()
	if root != nil && root.Backend != nil && root.Backend.Store != nil || g.dir.Backend.locations.recordsStateStore() {
		return nil // its provider is not started for this
	}
	record, recorded, diags := g.dir.Backend.locations.recorded(ctx)
	l := record.location
	if !recorded && !diags.HasErrors() {
		l, diags = g.dir.Backend.locations.declaredLocation(ctx, root, nil)
	}
	if diags.HasErrors() || l.kind.Name != backend.Local {
		return nil
	}
	s, _ := g.dir.Backend.openLocation(ctx, l, files, nil)
	return s
}
