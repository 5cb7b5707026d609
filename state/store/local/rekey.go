package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Rekey implements store.InFiles. It handles all backups whose names other runs with the same options would
// choose, and the one that the options name.
func (m *Manager) Rekey(ctx context.Context) ([]store.Rekeyed, error) {
	var done []store.Rekeyed
	err := m.doc.Restore(ctx, func(f *state.File, v document.Version) (document.Version, error) {
		if f != nil {
			var err error
			if v, err = m.at.rekeyState(v); err != nil {
				return v, err
			}
			done = append(done, store.Rekeyed{Path: m.at.paths.write})
		}
		for _, path := range m.at.backups() {
			done = append(done, store.Rekeyed{Path: path, Err: m.at.rekeyBackup(path)})
		}
		return v, nil
	})
	return done, err
}

// rekeyState replaces the state file without a backup, since the content is the same.
func (m *medium) rekeyState(was document.Version) (document.Version, error) {
	old, err := m.readSource()
	if err != nil {
		return "", failed("the state", m.source(), "read", err)
	}
	if err := m.checkUnchanged(old, was); err != nil {
		return "", err
	}
	data, err := store.Recode(old, m.cipher)
	if err != nil {
		return "", err
	}
	return versionOf(data), m.replace(data)
}

// rekeyBackup replaces a backup, which keeps its permissions.
func (m *medium) rekeyBackup(path string) error {
	old, err := locks.read(path)
	if err != nil {
		return err
	}
	data, err := store.Recode(old, m.cipher)
	if err != nil {
		return err
	}
	path = follow(path)
	return m.disk.replace(path, data, modeOf(path))
}

// backups returns the backups of the state that are not empty, in order.
func (m *medium) backups() []string {
	var found []string
	look := func(path string) {
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Size() > 0 && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	dir, base := filepath.Split(m.paths.read)
	entries, err := os.ReadDir(filepath.Dir(m.paths.read))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+".") && strings.HasSuffix(e.Name(), backupSuffix) {
			look(filepath.Join(dir, e.Name()))
		}
	}
	if m.paths.backup != "" {
		look(m.paths.backup)
	}
	return found
}
