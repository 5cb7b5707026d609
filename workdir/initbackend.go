package workdir

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// BackendOptions control Backend.Init.
type BackendOptions struct {
	// Settings complete the backend block: arguments of the form name=value, and names of files that give
	// values to arguments.
	Settings []string
	// Reconfigure forgets the backend that was recorded before, and leaves its states where they are.
	Reconfigure bool
	// Migrate copies the states of the backend that was recorded before, if the Asker agrees.
	Migrate bool
	// ForceCopy copies them without asking.
	ForceCopy bool
	// Locking is for both places while states are copied.
	store.Locking
}

// BackendChange is the result of Backend.Init.
type BackendChange struct {
	Before, After string // kinds of backend; "" without a backend block
	// WasStateStore and IsStateStore report that the one before, and the one after, is a state store of a
	// provider, whose type stands in place of the kind of backend.
	WasStateStore, IsStateStore bool
	Changed                     bool
	State                       *state.File // of the selected workspace, with the objects of store.Providers at least; nil if it has none
	// Copied are the workspaces whose states were copied, and From and To the places of the two backends.
	Copied   []string
	From, To string
	// Left are the files that the copied states came from, with their backups. They stay where they are.
	Left []string
}

// Init records the backend of the configuration, whose root module has been loaded, and copies the
// states of the previous one if asked to. Nothing is changed if there were errors, except that states may
// have been copied.
func (b *Backend) Init(ctx context.Context, opt BackendOptions) (BackendChange, diag.List) {
	var change BackendChange
	want, diags := b.locations.declaredLocation(ctx, b.dir.root, opt.Settings)
	if diags.HasErrors() {
		return change, diags
	}
	if diags = append(append(diags, b.usable(want)...), b.accepts(ctx, want)...); diags.HasErrors() {
		return change, diags
	}
	block, _ := b.locations.declaredLocation(ctx, b.dir.root, nil)
	have, elsewhere := b.locations.undeclared(), false
	if !opt.Reconfigure {
		rec, _, ds := b.locations.recorded(ctx)
		if diags = append(diags, ds...); ds.HasErrors() {
			return change, diags
		}
		have, elsewhere = b.locations.former(rec.location, want)
		if len(opt.Settings) == 0 && want.declared() && rec.holdsFor(block) && !elsewhere {
			want = have
		}
		change.From, change.To = b.locations.placeOf(have), b.locations.placeOf(want)
		change.Copied, change.Left, ds = b.migrate(ctx, have, want, opt)
		if diags = append(diags, ds...); ds.HasErrors() {
			return change, diags
		}
	}
	// A location that cannot be read is not recorded, so that a corrected block meets no trace of it.
	file, ds := b.selectedState(ctx, have, want)
	if diags = append(diags, ds...); ds.HasErrors() {
		return change, diags
	}
	change.State = file
	if ds := b.locations.record(want, block); ds.HasErrors() {
		return change, append(diags, ds...)
	}
	if ds := b.selectOnly(have, want); ds.HasErrors() {
		return change, append(diags, ds...)
	}
	if ds := b.createSelected(ctx, want); ds.HasErrors() {
		return change, append(diags, ds...)
	}
	change.Before, change.WasStateStore = have.typeName()
	change.After, change.IsStateStore = want.typeName()
	change.Changed = elsewhere || !want.equal(have)
	return change, diags
}

// typeName returns the type of a block, and whether it is of a state store; "" without a block.
func (l location) typeName() (name string, stateStore bool) {
	switch {
	case !l.declared():
		return "", false
	case l.kind.Provided != nil:
		return l.kind.Provided.Type, true
	}
	return l.kind.Name, false
}

// selectedState reads the state of the workspace that will be selected when one backend has taken the place
// of another, as far as its providers are concerned; nil if there is none. Warnings are about the place.
func (b *Backend) selectedState(ctx context.Context, before, after location) (*state.File, diag.List) {
	name, diags := b.selectedIn(before, after)
	if diags.HasErrors() {
		return nil, diags
	}
	s, diags := b.store(ctx, after, StateFiles{})
	if diags.HasErrors() {
		return nil, diags
	}
	ctx, span := trace.Start(ctx, "read state")
	var file *state.File
	m, err := s.Manager(name)
	if err == nil {
		file, err = readOutline(ctx, m, store.Providers)
	}
	span.Finish(err == nil)
	if err != nil {
		return nil, diag.Errorf("Error reading the state", "%s", diag.Sentence(err))
	}
	return file, store.AdviceOf(ctx, s)
}

// migrate copies the states of all workspaces from one backend to another, unless they are in the same place
// or there is no state. It returns the workspaces whose states it has copied, and the files that they came
// from.
func (b *Backend) migrate(ctx context.Context, from, to location, opt BackendOptions) (copied, left []string, _ diag.List) {
	if b.locations.samePlace(from, to) {
		return nil, nil, nil
	}
	// A wrong argument in a pipeline would be an empty state: this is asked even if there is nothing to copy.
	if from.declared() && !opt.Migrate && !opt.ForceCopy {
		return nil, nil, diag.Errorf("Backend configuration changed",
			"The backend had another configuration before. To copy the state to the new place, if there is any, run \"mayfly init -migrate-state\"; to use the new configuration and leave the state where it is, run \"mayfly init -reconfigure\".")
	}
	names, files, diags := b.statesIn(ctx, from)
	if len(files) == 0 || diags.HasErrors() {
		return nil, nil, diags
	}
	if !opt.Migrate && !opt.ForceCopy {
		return nil, nil, diag.Errorf("Backend configuration changed",
			"There was no backend before, and there is state in the working directory. To copy the state to the new place, run \"mayfly init -migrate-state\"; to use the new configuration and leave the state where it is, run \"mayfly init -reconfigure\".")
	}
	targets, diags := b.targets(to, slices.DeleteFunc(names, func(name string) bool { return files[name] == nil }))
	if diags.HasErrors() {
		return nil, nil, diags
	}
	states, diags := b.moving(ctx, from, to, targets)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	if len(states) > 0 && !opt.ForceCopy {
		if b.dir.opt.Asker == nil {
			return nil, nil, diag.Errorf("Approval required", "The state must be copied to another place, and with -input=false Mayfly does not ask. To copy it without being asked, use -force-copy.")
		}
		if yes, err := b.dir.opt.Asker.CopyStates(ctx, len(states)); err != nil || !yes {
			return nil, nil, diag.Errorf("Migration cancelled", "The state was not copied and the backend not changed.")
		}
	}
	copied, left, ds := copyStates(ctx, states, b.dir.opt.User, opt)
	if diags = append(diags, ds...); ds.HasErrors() {
		return copied, left, diags
	}
	return copied, left, append(diags, b.selectTarget(targets)...)
}

// statesIn returns the workspaces of a backend in order, and the states of those that have any content.
func (b *Backend) statesIn(ctx context.Context, l location) (names []string, files map[string]*state.File, diags diag.List) {
	s, diags := b.store(ctx, l, StateFiles{})
	if diags.HasErrors() {
		return nil, nil, diags
	}
	names, err := s.Workspaces(ctx)
	if err != nil {
		return nil, nil, diag.Errorf("Cannot list the workspaces of the previous backend", "%s", diag.Sentence(err))
	}
	files = map[string]*state.File{}
	for _, name := range names {
		file, err := readWorkspace(ctx, s, name)
		if err != nil {
			return nil, nil, diag.Errorf("Error reading the state", "%s", diag.Sentence(fmt.Errorf("workspace %q of the previous backend: %w", name, err)))
		}
		if file != nil && !file.State.Empty() {
			files[name] = file
		}
	}
	return names, files, nil
}

func readWorkspace(ctx context.Context, s store.Store, name string) (*state.File, error) {
	m, err := s.Manager(name)
	if err != nil {
		return nil, err
	}
	return m.Read(ctx)
}

// copyState writes a state to a workspace, which it creates if it does not exist.
func copyState(ctx context.Context, to store.Store, name string, file *state.File) error {
	if name != store.DefaultWorkspace {
		if err := to.CreateWorkspace(ctx, name); err != nil && !errors.Is(err, store.ErrWorkspaceExists) {
			return err
		}
	}
	m, err := to.Manager(name)
	if err != nil {
		return err
	}
	return m.Write(ctx, file)
}
