package workdir

import (
	"context"
	"errors"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Rekeyed is one file that Rekey has handled.
type Rekeyed struct {
	Workspace string
	store.Rekeyed
}

// Rekey stores the states of all workspaces and their backups again, encrypted as the configuration says
// now. It calls done for each file. A state that cannot be read ends it with an error; a backup that cannot
// be read stays as it is.
func (w *Workspaces) Rekey(ctx context.Context, locking store.Locking, done func(Rekeyed)) diag.List {
	set, diags := w.dir.Backend.encryption(ctx)
	if diags.HasErrors() {
		return diags
	}
	if set.State == nil {
		return append(diags, diag.Errorf("No encryption configured", "There is no \"state\" block in an encryption configuration, neither in this directory nor in the environment variable %s, so there is no key to encrypt states with.", encryptionVariable)...)
	}
	set.State.Renew()
	for _, name := range w.Names {
		if ds := w.rekey(ctx, name, locking, done); ds.HasErrors() {
			return append(diags, ds...)
		}
	}
	return diags
}

// rekey stores the state of one workspace and its backups again. Files that were stored before an error
// stay so: each is complete with the old key or the new one.
func (w *Workspaces) rekey(ctx context.Context, name string, locking store.Locking, done func(Rekeyed)) diag.List {
	const summary = "Cannot encrypt the state again"
	m, err := w.store.Manager(name)
	if err != nil {
		return diag.Errorf(summary, "Workspace %q: %s.", name, err)
	}
	unlock, diags := lockFor(ctx, m, "state rekey", w.dir.opt.User, locking)
	if diags.HasErrors() {
		return diags
	}
	files, err := store.Rekey(ctx, m)
	for _, f := range files {
		done(Rekeyed{name, f})
	}
	if err = errors.Join(err, unlock()); err != nil {
		return diag.Errorf(summary, "Workspace %q: %s.", name, err)
	}
	return nil
}
