package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// initBackend records the backend of the configuration, brings the state along if asked to, and returns the
// state of the selected workspace, nil if there is none.
func (a *app) initBackend(ctx context.Context, d *directory, f *initFlags) (*state.State, bool) {
	a.progress("\n%s", a.bold("Initializing the backend..."))
	want, diags := declaredBackend(d.tree.Root, f.backendConfig)
	if !a.report(diags) {
		return nil, false
	}
	block, _ := declaredBackend(d.tree.Root, nil)
	var have backendConfig
	if !f.reconfigure {
		rec, _, diags := d.recorded()
		if !a.report(diags) {
			return nil, false
		}
		have = rec.backendConfig
		if len(f.backendConfig) == 0 && want.declared && rec.holdsFor(block) {
			want = have
		}
		if !a.report(a.migrate(ctx, have, want, f)) {
			return nil, false
		}
	}
	if err := d.record(want, block); err != nil {
		a.fail("Cannot record the backend", "The file %s could not be written: %s.", d.recordPath(), diag.Reason(err))
		return nil, false
	}
	switch {
	case have.declared && !want.declared:
		a.progress("\n%s", a.paintDone("Successfully unset the backend \"local\". Mayfly will now operate locally."))
	case want.declared && want != have:
		a.progress("\n%s", a.paintDone("Successfully configured the backend \"local\"! Mayfly will automatically\nuse this backend unless the backend configuration changes."))
	}
	ws, _, diags := d.workspace()
	if !a.report(diags) {
		return nil, false
	}
	m, diags := place{backend: want, workspace: ws}.manager()
	if !a.report(diags) {
		return nil, false
	}
	file, err := m.Read(ctx)
	if err != nil {
		a.fail("Error reading the state", "%s", diag.Sentence(err))
		return nil, false
	}
	if file == nil {
		return nil, true
	}
	return file.State, true
}

// migrate brings the states of all workspaces from one backend to another, unless they are the same, or the
// old one has none.
func (a *app) migrate(ctx context.Context, from, to backendConfig, f *initFlags) diag.List {
	if from.samePlace(to) {
		return nil
	}
	names, files, diags := statesIn(ctx, from.store(stateFlags{}))
	if len(files) == 0 || diags.HasErrors() {
		return diags
	}
	if !f.migrate && !f.force {
		return diag.Errorf("Backend configuration changed",
			"The backend had another configuration before, and there is state in it. To copy the state to the new place, run \"mayfly init -migrate-state\"; to use the new configuration and leave the state where it is, run \"mayfly init -reconfigure\".")
	}
	if !f.force {
		if ds := a.confirmMigration(ctx, f.input, len(files)); ds.HasErrors() {
			return ds
		}
	}
	return copyStates(ctx, to.store(stateFlags{}), files, names)
}

// statesIn returns the workspaces of a previous backend, and the states of those that have any content.
func statesIn(ctx context.Context, s store.Store) (names []string, files map[string]*state.File, diags diag.List) {
	names, err := s.Workspaces(ctx)
	if err != nil {
		return nil, nil, diag.Errorf("Cannot list the workspaces of the previous backend", "%s", diag.Sentence(err))
	}
	files = map[string]*state.File{}
	for _, name := range names {
		file, err := readWorkspace(ctx, s, name)
		if err != nil {
			return nil, nil, diag.Errorf("Error reading the state", "Workspace %q of the previous backend: %s.", name, err)
		}
		if file != nil && !file.State.Empty() {
			files[name] = file
		}
	}
	return names, files, nil
}

func (a *app) confirmMigration(ctx context.Context, input bool, n int) diag.List {
	if !input {
		return diag.Errorf("Approval required", "The state must be copied to another place, and with -input=false Mayfly does not ask. To copy it without being asked, use -force-copy.")
	}
	answer, err := a.ask(ctx, term.Question{
		Title: "\nDo you want to copy existing state to the new backend?",
		Text:  fmt.Sprintf("The previous backend configuration has state in %d workspace(s), which will be\ncopied to the new one. Only 'yes' will be accepted to confirm.", n),
	})
	if err != nil || answer != "yes" {
		return diag.Errorf("Migration cancelled", "The state was not copied and the backend not changed.")
	}
	return nil
}

func readWorkspace(ctx context.Context, s store.Store, name string) (*state.File, error) {
	m, err := s.Manager(name)
	if err != nil {
		return nil, err
	}
	return m.Read(ctx)
}

// copyStates writes the states to a store. It writes nothing if one of the workspaces has a state there
// already that would be lost.
func copyStates(ctx context.Context, to store.Store, files map[string]*state.File, order []string) diag.List {
	for name, file := range files {
		there, err := readWorkspace(ctx, to, name)
		if err == nil {
			err = store.CheckPush(there, file)
		}
		if err != nil {
			return diag.Errorf("Cannot copy the state", "Workspace %q of the new backend: %s. Nothing was copied.", name, err)
		}
	}
	for _, name := range order {
		if files[name] == nil {
			continue
		}
		if err := copyState(ctx, to, name, files[name]); err != nil {
			return diag.Errorf("Cannot copy the state", "Workspace %q of the new backend: %s.", name, err)
		}
	}
	return nil
}

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
