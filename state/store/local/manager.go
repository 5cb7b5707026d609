package local

import (
	"context"
	"os"

	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Manager is a store.Manager for one state file. It is safe for concurrent use. It has four files: the
// state, its backup, the journal and the information about the lock; see paths.
type Manager struct {
	doc *document.Manager
	at  *medium
}

var (
	_ store.Manager   = (*Manager)(nil)
	_ store.Recoverer = (*Manager)(nil)
	_ store.InFiles   = (*Manager)(nil)
)

// Lock implements store.Manager. It takes the same lock on the state file as other engines, with their
// information file beside it. A state that is not a regular file cannot be written, so it needs no lock.
func (m *Manager) Lock(ctx context.Context, info store.LockInfo) (string, error) {
	return m.doc.Lock(ctx, info)
}

// Unlock implements store.Manager. A local lock ends with its process, so locks of other runs cannot be
// released.
func (m *Manager) Unlock(ctx context.Context, id string) error { return m.doc.Unlock(ctx, id) }

// Read implements store.Manager. With the lock held, it folds the journal of an interrupted run into the
// state file. Otherwise it includes the journal's results in the returned file, and changes no file.
func (m *Manager) Read(ctx context.Context) (*state.File, error) { return m.doc.Read(ctx) }

// Write implements store.Manager. If it fails although the journal has all results of the run, the error is
// a *store.JournaledError.
func (m *Manager) Write(ctx context.Context, f *state.File) error { return m.doc.Write(ctx, f) }

// BeginRun implements store.Manager. The first record creates the journal's file. It first folds in the
// journal of an interrupted run, if there is one, and fails if base is not the stored state.
func (m *Manager) BeginRun(ctx context.Context, base *state.File, version string) (state.Run, error) {
	return m.doc.BeginRun(ctx, base, version)
}

// Recovered implements store.Recoverer.
func (m *Manager) Recovered() *store.Recovered { return m.doc.Recovered() }

// CheckWritable implements store.InFiles.
func (m *Manager) CheckWritable() error { return m.at.paths.checkTargets() }

// SamePlace implements store.InFiles. Stores with different files for the default workspace may share the
// directory of the other workspaces.
func (m *Manager) SamePlace(other store.Manager) bool {
	o, ok := other.(*Manager)
	return ok && m.at.paths.read == o.at.paths.read && m.at.paths.write == o.at.paths.write
}

// Files implements store.InFiles.
func (m *Manager) Files() []string {
	var out []string
	for _, name := range []string{m.at.paths.read, m.at.paths.backup} {
		if _, err := os.Stat(name); name != "" && err == nil {
			out = append(out, name)
		}
	}
	return out
}

// RedirectedTo implements store.InFiles.
func (m *Manager) RedirectedTo() string { return m.at.paths.redirected }
