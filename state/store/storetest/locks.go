package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/state/store"
)

// testLock requires that a second lock is refused, and that the error says who holds the first.
func testLock(t *testing.T, h Harness) {
	needsLock(t, h)
	a, b := manager(t, h, store.DefaultWorkspace), manager(t, h, store.DefaultWorkspace)
	id, err := a.Lock(t.Context(), Info("alice@there"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Lock(t.Context(), Info("bob"))
	var held *store.LockError
	if !errors.As(err, &held) {
		t.Fatalf("second lock: %v, want a LockError", err)
	}
	if h.OwnHolder {
		if held.Info == nil || held.Info.Operation != "test" || held.Info.ID == "" || held.Info.Path == "" {
			t.Errorf("holder: got %+v, want its own, with an operation, ID and path", held.Info)
		}
	} else if held.Info == nil || held.Info.Who != "alice@there" || held.Info.ID != id || !held.Info.Created.Equal(Info("").Created) || held.Info.Path == "" {
		t.Errorf("holder: got %+v, want alice@there with the ID %s, its time and a path", held.Info, id)
	}
	if !h.OwnHolder && !strings.Contains(held.Error(), "alice@there") {
		t.Errorf("the message does not name the holder: %s", held)
	}
	if _, err := a.Lock(t.Context(), Info("alice again")); !errors.As(err, &held) {
		t.Errorf("second lock of the same handle: %v", err)
	}
	if err := a.Unlock(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	lock(t, b, "bob")()
}

// testUnlockForeign requires that a lock is released by its own ID only, and only once.
func testUnlockForeign(t *testing.T, h Harness) {
	needsLock(t, h)
	a := manager(t, h, store.DefaultWorkspace)
	unlock := lock(t, a, "a")
	var held *store.LockError
	if err := a.Unlock(t.Context(), "another"); !errors.As(err, &held) {
		t.Errorf("unlocking with a wrong ID: %v", err)
	}
	if _, err := manager(t, h, store.DefaultWorkspace).Lock(t.Context(), Info("b")); !errors.As(err, &held) {
		t.Errorf("the lock is gone after a refused unlock: %v", err)
	}
	unlock()
	for _, id := range []string{"id-a", ""} {
		if err := a.Unlock(t.Context(), id); err == nil {
			t.Errorf("unlocking %q succeeds without a lock", id)
		}
	}
}

// testLockWaits requires that waiting for a lock ends with its time, or with the lock.
func testLockWaits(t *testing.T, h Harness) {
	needsLock(t, h)
	a, b := manager(t, h, store.DefaultWorkspace), manager(t, h, store.DefaultWorkspace)
	unlock := lock(t, a, "a")
	var held *store.LockError
	if _, err := (store.Locking{LockTimeout: 10 * time.Millisecond}).Take(t.Context(), b, Info("b")); !errors.As(err, &held) {
		t.Errorf("waiting in vain: %v", err)
	}
	got := make(chan error)
	go func() {
		id, err := store.Locking{LockTimeout: time.Minute}.Take(t.Context(), b, Info("b"))
		got <- errors.Join(err, b.Unlock(t.Context(), id))
	}()
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// testLockRace lets many handles try at once: exactly one gets the lock.
func testLockRace(t *testing.T, h Harness) {
	needsLock(t, h)
	const n = 8
	var won sync.Map
	var wg sync.WaitGroup
	for i := range n {
		m := manager(t, h, store.DefaultWorkspace)
		wg.Go(func() {
			if id, err := m.Lock(t.Context(), Info(fmt.Sprint(i))); err == nil {
				won.Store(id, m)
			} else if held := new(store.LockError); !errors.As(err, &held) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	winners := 0
	for id, m := range won.Range {
		winners++
		if err := m.(store.Manager).Unlock(t.Context(), id.(string)); err != nil {
			t.Error(err)
		}
	}
	if winners != 1 {
		t.Errorf("%d handles hold the lock at once, want 1", winners)
	}
}
