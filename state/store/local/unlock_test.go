package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/state/store"
)

func TestForceUnlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "terraform.tfstate")
	manager := func() *Manager {
		m, err := New(Options{Path: path}).Manager(store.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		return m.(*Manager)
	}
	m := manager()
	if err := store.ForceUnlock(t.Context(), m, "x"); !errors.Is(err, store.ErrNotLocked) {
		t.Errorf("without a state: %v", err)
	}
	if err := store.CheckUnlock(t.Context(), m, "x"); !errors.Is(err, store.ErrNotLocked) {
		t.Errorf("looking without a state: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("looking for a lock made a directory")
	}
	id, err := m.Lock(t.Context(), store.LockInfo{ID: "mine", Who: "ada@host"})
	if err != nil {
		t.Fatal(err)
	}
	var held *store.LockError
	for _, other := range []string{"mine", "other"} {
		if err := store.ForceUnlock(t.Context(), manager(), other); !errors.As(err, &held) || held.Info == nil || held.Info.ID != "mine" {
			t.Errorf("ForceUnlock(%s) of a lock that is held: got %v, want it held as mine", other, err)
		}
	}
	if err := store.ForceUnlock(t.Context(), m, "mine"); !errors.As(err, &held) {
		t.Errorf("one's own lock: %v", err)
	}
	left, err := os.ReadFile(m.at.paths.info)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.at.paths.info, left, 0o600); err != nil { // as a killed run leaves it
		t.Fatal(err)
	}
	if err := store.ForceUnlock(t.Context(), manager(), "other"); !errors.As(err, &held) || held.Info.ID != "mine" {
		t.Errorf("ForceUnlock of a lock that was left, with another ID: got %v, want it held as mine", err)
	}
	if err := store.CheckUnlock(t.Context(), manager(), "other"); !errors.As(err, &held) || held.Info.ID != "mine" {
		t.Errorf("CheckUnlock of a lock that was left, with another ID: got %v, want it held as mine", err)
	}
	if err := store.CheckUnlock(t.Context(), manager(), "mine"); err != nil {
		t.Errorf("looking for a lock that was left: %v", err)
	}
	if err := store.ForceUnlock(t.Context(), manager(), "mine"); err != nil {
		t.Errorf("a lock that was left: %v", err)
	}
	if _, err := os.Stat(m.at.paths.info); err == nil {
		t.Error("the lock is still there")
	}
	for range 2 { // the second time, there is a state
		if err := store.ForceUnlock(t.Context(), manager(), "mine"); !errors.Is(err, store.ErrNotLocked) {
			t.Errorf("twice: %v", err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
