package local

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/state/store"
)

var _ store.Rekeyer = (*Manager)(nil)

// Rekey implements store.Rekeyer. It handles all backups whose names other runs with the same options would
// choose, and the one that the options name.
func (m *Manager) Rekey(ctx context.Context) ([]store.Rekeyed, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkHeld(); err != nil {
		return nil, err
	}
	f, err := m.settle()
	if err != nil {
		return nil, err
	}
	var done []store.Rekeyed
	if f != nil {
		if err := m.rekeyState(); err != nil {
			return nil, err
		}
		done = append(done, store.Rekeyed{Path: m.paths.write})
	}
	for _, path := range m.backups() {
		done = append(done, store.Rekeyed{Path: path, Err: m.rekeyBackup(path)})
	}
	return done, nil
}

// rekeyState replaces the state file without a backup, since the content is the same.
func (m *Manager) rekeyState() error {
	old, err := m.readSource()
	if err != nil {
		return failed("the state", m.source(), "read", err)
	}
	if err := m.checkUnchanged(old); err != nil {
		return err
	}
	data, err := store.Recode(old, m.cipher)
	if err != nil {
		return err
	}
	if m.held != nil {
		err = m.disk.replaceHeld(m.paths.write, data, m.held)
	} else {
		err = m.disk.replace(m.paths.write, data, modeOf(m.paths.write))
	}
	if err != nil {
		return failed("the state", m.paths.write, "written", err)
	}
	m.sum = sha256.Sum256(data)
	return nil
}

// rekeyBackup replaces a backup, which keeps its permissions.
func (m *Manager) rekeyBackup(path string) error {
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
func (m *Manager) backups() []string {
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
