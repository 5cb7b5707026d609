package workdir

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

func (f *files) workspacePath() string { return filepath.Join(f.dataDir, "environment") }

// Workspace returns the name of the selected workspace, and whether the environment variable TF_WORKSPACE
// selects it.
func (d *Dir) Workspace() (name string, fromEnv bool, diags diag.List) {
	if name := d.files.vars["TF_WORKSPACE"]; name != "" {
		if err := store.CheckWorkspaceName(name); err != nil {
			return "", true, diag.Errorf("Invalid workspace name", "The environment variable TF_WORKSPACE selects the workspace, but %s.", err)
		}
		return name, true, nil
	}
	text, err := safefile.Read(d.files.workspacePath(), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return store.DefaultWorkspace, false, nil
	}
	if err != nil {
		return "", false, diag.Errorf("Cannot read the selected workspace", "The file %s, which names the selected workspace, could not be read: %s.", d.files.workspacePath(), diag.Reason(err))
	}
	name = cmp.Or(strings.TrimSpace(string(text)), store.DefaultWorkspace)
	if err := store.CheckWorkspaceName(name); err != nil {
		return "", false, diag.Errorf("Invalid workspace name", "The file %s names the selected workspace, but %s. Select one with: mayfly workspace select NAME", d.files.workspacePath(), err)
	}
	return name, false, nil
}

// Workspaces are the workspaces of a working directory. They are read once.
type Workspaces struct {
	Names   []string // in order, the default one first
	Current string
	FromEnv bool // TF_WORKSPACE selects the current one

	dir   *Dir
	store store.Store
}

// Workspaces lists the workspaces of the backend.
func (d *Dir) Workspaces(ctx context.Context) (*Workspaces, diag.List) {
	if diags := d.loadedRoot(ctx); diags.HasErrors() {
		return nil, diags
	}
	l, diags := d.Backend.currentLocation(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	w := &Workspaces{dir: d}
	if w.store, diags = d.Backend.store(ctx, l, StateFiles{}); diags.HasErrors() {
		return nil, diags
	}
	if w.Current, w.FromEnv, diags = d.Workspace(); diags.HasErrors() {
		return nil, diags
	}
	names, err := w.store.Workspaces(ctx)
	if err != nil {
		return nil, diag.Errorf("Cannot list the workspaces", "%s", diag.Sentence(err))
	}
	w.Names = names
	if only := d.Backend.locations.onlyWorkspace(l); only != "" {
		w.Names = []string{only}
	}
	return w, nil
}

// onlyWorkspace returns the name of the only workspace of a location, if that is not the default one; ""
// otherwise.
func (ls *locations) onlyWorkspace(l location) string { return l.kind.Only(ls.filled(l)) }

// selectOnly selects the only workspace of a location, or, after a location with such a one, the default one.
func (b *Backend) selectOnly(before, after location) diag.List {
	name, _, diags := b.dir.Workspace()
	if diags.HasErrors() {
		return diags
	}
	next, diags := b.selectedIn(before, after)
	if diags.HasErrors() || next == name {
		return diags
	}
	return (&Workspaces{dir: b.dir}).use(next)
}

// selectedIn returns the workspace that will be selected when one backend has taken the place of another.
func (b *Backend) selectedIn(before, after location) (string, diag.List) {
	name, fromEnv, diags := b.dir.Workspace()
	if fromEnv || diags.HasErrors() {
		return name, diags
	}
	switch only := b.locations.onlyWorkspace(after); {
	case only != "":
		return only, nil
	case name == b.locations.onlyWorkspace(before):
		return store.DefaultWorkspace, nil
	}
	return name, nil
}

// createSelected creates the workspace that TF_WORKSPACE selects, if the states are files, so that scripts
// can select it from then on. Elsewhere this needs permissions that init does not need otherwise.
func (b *Backend) createSelected(ctx context.Context, l location) diag.List {
	name, fromEnv, diags := b.dir.Workspace()
	if diags.HasErrors() || !fromEnv || name == store.DefaultWorkspace || l.declared() && l.kind.Name != "local" {
		return diags
	}
	s, diags := b.store(ctx, l, StateFiles{})
	if diags.HasErrors() {
		return diags
	}
	if err := s.CreateWorkspace(ctx, name); err != nil && !errors.Is(err, store.ErrWorkspaceExists) {
		return diag.Errorf("Cannot create the workspace", "%s", diag.Sentence(err))
	}
	return nil
}

// Read reads the state of a workspace without locking it; nil if it has none yet.
func (w *Workspaces) Read(ctx context.Context, name string) (*state.File, diag.List) {
	if !slices.Contains(w.Names, name) {
		return nil, w.missing(name)
	}
	file, err := readWorkspace(ctx, w.store, name)
	if err != nil {
		return nil, diag.Errorf("Error reading the state", "%s", diag.Sentence(err))
	}
	return file, nil
}

// Select makes an existing workspace the current one, also for later runs.
func (w *Workspaces) Select(name string) diag.List {
	switch {
	case w.FromEnv:
		return overridden()
	case !slices.Contains(w.Names, name):
		return diag.Errorf("Workspace not found", "Workspace %q doesn't exist.%s\n\nTo create it, run:\n  mayfly workspace new %s", name, w.instead(name), name)
	case name == w.Current:
		return nil
	}
	return w.use(name)
}

// missing returns the error that there is no workspace of a name.
func (w *Workspaces) missing(name string) diag.List {
	return diag.Errorf("Workspace not found", "Workspace %q doesn't exist.%s", name, w.instead(name))
}

func overridden() diag.List {
	return diag.Errorf("Cannot select a workspace", "The environment variable TF_WORKSPACE selects the workspace. To select another one, unset it.")
}

func (w *Workspaces) use(name string) diag.List {
	if err := w.dir.files.write(w.dir.files.workspacePath(), []byte(name)); err != nil {
		return diag.Errorf("Cannot select a workspace", "The file %s could not be written: %s.", w.dir.files.workspacePath(), diag.Reason(err))
	}
	w.Current = name
	return nil
}

// Create creates a workspace, with a copy of a state unless content is nil, and selects it.
func (w *Workspaces) Create(ctx context.Context, name string, content *state.File) diag.List {
	if w.FromEnv {
		return overridden()
	}
	err := w.store.CreateWorkspace(ctx, name)
	if errors.Is(err, store.ErrWorkspaceExists) {
		return diag.Errorf("Workspace already exists", "Workspace %q already exists. To select it, run: mayfly workspace select %s", name, name)
	}
	if err == nil && content != nil {
		err = copyState(ctx, w.store, name, content)
	}
	if err != nil {
		return diag.Errorf("Cannot create the workspace", "%s", diag.Sentence(err))
	}
	return w.use(name)
}

// DeleteOptions control Workspaces.Delete.
type DeleteOptions struct {
	// Force deletes the workspace even if its state has resources, which are then forgotten.
	Force bool
	store.Locking
}

// instead returns a sentence, preceded by a space, on the workspaces that there are in place of one.
func (w *Workspaces) instead(name string) string {
	switch near := diag.DidYouMean(name, w.Names); {
	case near != "":
		return near
	case len(w.Names) == 1:
		return fmt.Sprintf(" The only one is %q.", w.Names[0])
	}
	return fmt.Sprintf(" There are %s.", diag.Names(w.Names))
}

// Delete deletes a workspace with its state.
func (w *Workspaces) Delete(ctx context.Context, name string, opt DeleteOptions) diag.List {
	switch {
	case name == w.Current && name != store.DefaultWorkspace:
		return diag.Errorf("Workspace is your active workspace", "Workspace %q is the selected one. Select another one before you delete it.", name)
	case !slices.Contains(w.Names, name):
		return w.missing(name)
	}
	unlock, diags := w.lock(ctx, name, opt)
	if diags.HasErrors() {
		return diags
	}
	err := w.store.DeleteWorkspace(ctx, name, opt.Force)
	if failed := unlock(); err == nil {
		err = failed
	}
	switch {
	case errors.Is(err, store.ErrNotEmpty):
		return w.notEmpty(ctx, name)
	case err != nil:
		return diag.Errorf("Cannot delete the workspace", "%s", diag.Sentence(err))
	}
	return nil
}

// notEmpty lists the objects that would be lost with a workspace.
func (w *Workspaces) notEmpty(ctx context.Context, name string) diag.List {
	var objects []addr.Object
	file, err := readWorkspace(ctx, w.store, name)
	if err != nil {
		return diag.Errorf("Cannot delete the workspace", "%s", diag.Sentence(err))
	}
	if file != nil {
		objects = file.State.Managed()
	}
	return diag.Errorf("Workspace is not empty",
		"Workspace %q is currently tracking the following resource instances:%s\n\nWithout the workspace, Mayfly would lose track of them while they continue to exist. Destroy them first:\n  mayfly workspace select %s\n  mayfly destroy\n\nTo leave them behind, use -force.",
		name, diag.Lines("- ", objects), name)
}

// lock keeps others from using the state of a workspace until unlock is called.
func (w *Workspaces) lock(ctx context.Context, name string, opt DeleteOptions) (unlock func() error, diags diag.List) {
	if name == store.DefaultWorkspace { // which is not deleted anyway
		return func() error { return nil }, nil
	}
	m, err := w.store.Manager(name)
	if err != nil {
		return nil, diag.Errorf("Error acquiring the state lock", "%s", diag.Sentence(err))
	}
	return lockFor(ctx, m, "workspace delete", w.dir.opt.User, opt.Locking)
}

// lockFor locks a state for the named operation of a user, unless locking is off, until unlock is called.
func lockFor(ctx context.Context, m store.Manager, operation string, user *User, locking store.Locking) (unlock func() error, diags diag.List) {
	id, err := takeLock(ctx, m, operation, user, locking)
	if err != nil {
		return nil, notLocked(err, "")
	}
	return func() error { return releaseLock(ctx, m, id) }, nil
}

// takeLock is lockFor, but returns the ID of the lock; "" if locking is off.
func takeLock(ctx context.Context, m store.Manager, operation string, user *User, locking store.Locking) (id string, err error) {
	info, err := store.NewLockInfo(operation, user.engine().Version, time.Now(), rand.Reader)
	if err != nil {
		return "", err
	}
	return locking.Take(ctx, m, info)
}

// releaseLock releases a lock of takeLock.
func releaseLock(ctx context.Context, m store.Manager, id string) error {
	if id == "" {
		return nil
	}
	return m.Unlock(context.WithoutCancel(ctx), id)
}

// notLocked says why a state could not be locked. where completes the advice to remove the lock.
func notLocked(err error, where string) diag.List {
	const summary = "Error acquiring the state lock"
	var held *store.LockError
	if !errors.As(err, &held) {
		return diag.Errorf(summary, "%s", diag.Sentence(err))
	}
	text := "Wait until the other operation has ended, or let Mayfly wait with -lock-timeout=5m."
	if held.Info != nil {
		text += " If you are sure that it does not run any more, remove its lock" + where + ":\n  mayfly force-unlock " + held.Info.ID
	}
	return diag.Errorf(summary, "%s\n\n%s", err, text)
}
