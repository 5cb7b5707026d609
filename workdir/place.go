package workdir

import (
	"context"
	"fmt"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// place is where the state of a workspace is.
type place struct {
	location  location
	workspace string
	manager   store.Manager
}

// place finds the state of the selected workspace. The root module has been loaded.
func (b *Backend) place(ctx context.Context, files StateFiles) (place, diag.List) {
	l, diags := b.currentLocation(ctx)
	if diags.HasErrors() {
		return place{}, diags
	}
	workspace, _, diags := b.dir.Workspace()
	if diags.HasErrors() {
		return place{}, diags
	}
	return b.placeIn(ctx, l, workspace, files)
}

// placeIn finds the state of a workspace in a backend.
func (b *Backend) placeIn(ctx context.Context, l location, workspace string, files StateFiles) (place, diag.List) {
	s, diags := b.store(ctx, l, files)
	if diags.HasErrors() {
		return place{}, diags
	}
	trace.Note(ctx, trace.Info, "the state is that of workspace %q in %s", workspace, l.kind.PlaceIn(b.locations.filled(l), workspace))
	m, err := s.Manager(workspace)
	if err != nil {
		return place{}, diag.Errorf("Error loading the backend", "%s", diag.Sentence(err))
	}
	return place{l, workspace, m}, diags
}

// State finds the state of the selected workspace, and returns access to it. Only the root module is loaded
// for that.
func (b *Backend) State(ctx context.Context, files StateFiles) (store.Manager, diag.List) {
	if diags := b.dir.loadedRoot(ctx); diags.HasErrors() {
		return nil, diags
	}
	p, diags := b.place(ctx, files)
	return p.manager, diags
}

// ReadState reads the state of the selected workspace without locking it; nil if there is none.
func (b *Backend) ReadState(ctx context.Context, files StateFiles) (*state.File, diag.List) {
	return b.read(ctx, files, func(ctx context.Context, m store.Manager) (*state.File, error) { return m.Read(ctx) })
}

// ReadPart is ReadState with the objects of a part only, if the backend can read parts. Outputs and results
// of checks are not objects: they are always there.
func (b *Backend) ReadPart(ctx context.Context, files StateFiles, part state.Part) (*state.File, diag.List) {
	return b.read(ctx, files, func(ctx context.Context, m store.Manager) (*state.File, error) { return readPart(ctx, m, part) })
}

// readPart reads a part of a state, or the whole state from managers that cannot read parts.
func readPart(ctx context.Context, m store.Manager, part state.Part) (*state.File, error) {
	if r, can := m.(store.PartReader); can {
		return r.ReadPart(ctx, part)
	}
	return m.Read(ctx)
}

// ReadOutline is ReadState with the objects of an outline alone, if the backend can read outlines.
func (b *Backend) ReadOutline(ctx context.Context, files StateFiles, what store.Outline) (*state.File, diag.List) {
	return b.read(ctx, files, func(ctx context.Context, m store.Manager) (*state.File, error) { return readOutline(ctx, m, what) })
}

// readOutline reads an outline of a state, or the whole state from managers that cannot read outlines.
func readOutline(ctx context.Context, m store.Manager, what store.Outline) (*state.File, error) {
	if r, can := m.(store.OutlineReader); can {
		return r.ReadOutline(ctx, what)
	}
	return m.Read(ctx)
}

// read reads the state of the selected workspace by calling f.
func (b *Backend) read(ctx context.Context, files StateFiles, f func(context.Context, store.Manager) (*state.File, error)) (*state.File, diag.List) {
	m, diags := b.State(ctx, files)
	if diags.HasErrors() {
		return nil, diags
	}
	ctx, span := trace.Start(ctx, "read state")
	file, err := f(ctx, m)
	span.Finish(err == nil)
	if err != nil {
		return nil, append(diags, diag.Errorf("Error reading the state", "%s", diag.Sentence(err))...)
	}
	return file, diags
}

// currentLocation returns the backend to use: the configuration's, which must be the recorded one. A
// directory in which none was recorded may have one that keeps the state where it is without a backend block.
func (b *Backend) currentLocation(ctx context.Context) (location, diag.List) {
	want, diags := b.locations.declaredLocation(ctx, b.dir.root, nil)
	if diags = append(diags, b.usable(want)...); diags.HasErrors() {
		return want, diags
	}
	have, ok, diags := b.locations.recorded(ctx)
	switch {
	case diags.HasErrors():
		return want, diags
	case ok && b.dir.root != nil && have.holdsFor(want) && !have.sameVersion(want):
		return want, initRequired(fmt.Sprintf("This directory was initialized for the %s with version %s of its provider, and version %s is selected now. Run: mayfly init", want.kind, have.version, want.kind.Provided.Version))
	case ok && (b.dir.root == nil || have.holdsFor(want)):
		if l, elsewhere := b.locations.former(have.location, want); !elsewhere {
			return l, nil // init may have completed it with -backend-config
		}
		fallthrough
	case ok:
		return want, initRequired("The configuration has another backend than this directory was initialized for, so the state may be elsewhere. " + moveOrLeave)
	case b.locations.samePlace(want, b.locations.undeclared()):
		return want, nil
	default:
		return want, initRequired(fmt.Sprintf("The configuration puts the state into %s, but this directory was not initialized for that. Run: mayfly init", b.locations.placeOf(want)))
	}
}

// selfInit initializes a directory for the backend of its configuration, which is loaded, unless init has
// done so or there is state that would be left behind.
func (b *Backend) selfInit(ctx context.Context) diag.List {
	want, diags := b.locations.declaredLocation(ctx, b.dir.root, nil)
	if diags = append(diags, b.usable(want)...); diags.HasErrors() || !want.declared() {
		return diags
	}
	if _, ok, diags := b.locations.recorded(ctx); ok || diags.HasErrors() {
		return diags
	}
	if bare := b.locations.undeclared(); !b.locations.samePlace(want, bare) {
		_, left, diags := b.statesIn(ctx, bare)
		if diags.HasErrors() {
			return diags
		}
		if len(left) > 0 {
			return initRequired(fmt.Sprintf("The configuration puts the state into %s, but there is state in %s, where it is kept without a backend block. %s", b.locations.placeOf(want), b.locations.placeOf(bare), moveOrLeave))
		}
	}
	return b.locations.record(want, want)
}

const moveOrLeave = `Run "mayfly init -migrate-state" to copy the state to the new place, or "mayfly init -reconfigure" to leave it where it is.`

func initRequired(why string) diag.List {
	return diag.Errorf("Backend initialization required, please run \"mayfly init\"", "%s", why)
}
