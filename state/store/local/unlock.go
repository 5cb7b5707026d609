package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mayfly-iac/mayfly/state/store"
)

// ForceUnlock implements store.Recoverer. The system releases a local lock when its process ends, so
// only the information file of a killed run remains to be removed. A journal of that run stays for the next
// run to recover.
func (m *Manager) ForceUnlock(_ context.Context, id string) error {
	return m.doc.Exclusively(func() error { return m.at.forceUnlock(id, func() error { return os.Remove(m.at.paths.info) }) })
}

// CheckUnlock implements store.Recoverer.
func (m *Manager) CheckUnlock(_ context.Context, id string) error {
	return m.doc.Exclusively(func() error { return m.at.forceUnlock(id, func() error { return nil }) })
}

// RefuseRun implements store.Recoverer: any run may use a local state.
func (m *Manager) RefuseRun(context.Context, store.LockInfo) error { return nil }

// forceUnlock calls remove if there is a lock with that ID whose holder is gone. To find out whether the
// holder lives, it takes the lock for a moment.
func (m *medium) forceUnlock(id string, remove func() error) error {
	if m.held != nil {
		return &store.LockError{Err: errors.New("this run itself holds the lock")}
	}
	_, err := os.Stat(m.paths.write)
	absent := errors.Is(err, fs.ErrNotExist)
	if absent && m.holder() == nil {
		return store.ErrNotLocked // without creating the directory
	}
	h, err := locks.lock(m.paths.write)
	if errors.Is(err, errHeld) {
		info := m.holder()
		if info != nil && info.ID != id {
			return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
		}
		return &store.LockError{Info: info, Err: errors.New("the process that holds the lock is running, and a lock on a local state ends with it only")}
	}
	if err != nil {
		return failed("the lock of the state", m.paths.write, "checked", err)
	}
	info := m.holder()
	switch {
	case info == nil:
		err = store.ErrNotLocked
	case info.ID != id:
		err = &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	default:
		err = remove()
	}
	return errors.Join(err, locks.unlock(h, m.paths.write))
}
