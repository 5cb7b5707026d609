// Package storetest is the conformance suite that every state store passes.
//
// It may import state, state/store, the packages that these may import, and the testing package.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Harness gives the suite access to one new, empty storage place.
type Harness struct {
	// Open returns another handle to the place, as another process would have.
	Open func() store.Store
	// Corrupt replaces the stored bytes of a workspace's state, whatever they are.
	Corrupt func(workspace string, data []byte) error
	// Stored returns the stored bytes of a workspace's state.
	Stored func(workspace string) ([]byte, error)
	// Large is the number of instances of the large state; 0 means 2000.
	Large int
	// Histories is the number of random histories of runs; 0 means 4.
	Histories int
	// NoWorkspaces is set for a place that has room for the state of the default workspace only.
	NoWorkspaces bool
	// NoLock is set for a place that is configured without locking.
	NoLock bool
	// OwnHolder is set for a place that describes holders of locks in its own words: of the information for a
	// lock, it is given the operation alone.
	OwnHolder bool
	// Volatile is set for a place that is lost with the process, and so keeps nothing of a run that does not
	// end.
	Volatile bool
}

// Run runs the suite. setup is called once for each test in it.
func Run(t *testing.T, setup func(t *testing.T) Harness) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"empty", testEmpty},
		{"round trip", testRoundTrip},
		{"large", testLarge},
		{"lock", testLock},
		{"unlock with a foreign ID", testUnlockForeign},
		{"lock waits", testLockWaits},
		{"lock race", testLockRace},
		{"updates do not interleave", testUpdates},
		{"workspaces", testWorkspaces},
		{"workspaces apart", testWorkspacesApart},
		{"corrupted", testCorrupted},
		{"journal", testJournal},
		{"lineage and serial", testLineage},
		{"written after cancel", testCancelled},
		{"stale base", testStaleBase},
		{"after the end", testAfterEnd},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, setup(t)) })
	}
	t.Run("rows", func(t *testing.T) { testRows(t, setup) })
}

func needsWorkspaces(t *testing.T, h Harness) {
	t.Helper()
	if h.NoWorkspaces {
		t.Skip("this store has no workspaces")
	}
}

func needsLock(t *testing.T, h Harness) {
	t.Helper()
	if h.NoLock {
		t.Skip("this store is configured without locking")
	}
}

// testEmpty requires that a store without content has no state, also after it was locked. An object that
// exists and is empty counts as none: other engines leave such objects when they lock.
func testEmpty(t *testing.T, h Harness) {
	if got := read(t, h, store.DefaultWorkspace); got != "" {
		t.Errorf("state of a new store: got %s, want none", got)
	}
	m := manager(t, h, store.DefaultWorkspace)
	lock(t, m, "a")()
	if got := read(t, h, store.DefaultWorkspace); got != "" {
		t.Errorf("state after locking: got %s, want none", got)
	}
	if err := h.Corrupt(store.DefaultWorkspace, nil); err != nil {
		t.Fatal(err)
	}
	if got := read(t, h, store.DefaultWorkspace); got != "" {
		t.Errorf("state after nothing was stored: got %s, want none", got)
	}
	if err := m.Write(t.Context(), File(t, "l", 1, 1)); err != nil {
		t.Errorf("writing over nothing: %v", err)
	}
}

// testRoundTrip writes states of growing and shrinking size, and reads each as it was written.
func testRoundTrip(t *testing.T, h Harness) {
	m := manager(t, h, store.DefaultWorkspace)
	unlock := lock(t, m, "a")
	for serial := range uint64(4) {
		// Shrinking and growing detects stores that keep the rest of earlier content.
		f := File(t, "l", serial+1, []int{30, 2, 0, 5}[serial])
		if err := m.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		got, err := m.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text(t, f), text(t, got)); diff != "" {
			t.Error(diff)
		}
	}
	unlock()
	if diff := cmp.Diff(text(t, File(t, "l", 4, 5)), read(t, h, store.DefaultWorkspace)); diff != "" {
		t.Error(diff)
	}
}

// testLarge writes a state that needs more than one request, or more than one value, where the service has
// a limit.
func testLarge(t *testing.T, h Harness) {
	n := h.Large
	if n == 0 {
		n = 2000
	}
	f := File(t, "l", 1, n)
	m := manager(t, h, store.DefaultWorkspace)
	defer lock(t, m, "a")()
	if err := m.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if read(t, h, store.DefaultWorkspace) != text(t, f) {
		t.Error("a large state is not read as it was written")
	}
}

// testUpdates lets several handles add to the state in turn under the lock: no addition is lost.
func testUpdates(t *testing.T, h Harness) {
	needsLock(t, h)
	const handles, rounds = 3, 2
	var wg sync.WaitGroup
	for i := range handles {
		m := manager(t, h, store.DefaultWorkspace)
		wg.Go(func() {
			for j := range rounds {
				if err := addOne(t, m, i, j); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f, err := manager(t, h, store.DefaultWorkspace).Read(t.Context())
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	for i := range handles {
		for j := range rounds {
			if f.State.Object(Address(fmt.Sprint("h", i), j)) == nil {
				t.Errorf("the addition %d of handle %d is lost", j, i)
			}
		}
	}
	if f.Serial != handles*rounds {
		t.Errorf("serial: got %d, want %d after as many writes", f.Serial, handles*rounds)
	}
}

// addOne adds an object to the state under the lock, as a run would. Rounds that interleave would lose
// objects.
func addOne(t *testing.T, m store.Manager, handle, round int) (err error) {
	id, err := store.Locking{LockTimeout: time.Minute}.Take(t.Context(), m, Info(fmt.Sprint(handle)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Unlock(t.Context(), id)) }()
	f, err := m.Read(t.Context())
	if err != nil {
		return err
	}
	if f == nil {
		f = File(t, "l", 0, 0)
	}
	f.State.SetObject(Address(fmt.Sprint("h", handle), round), Object(t, "x"), Provider)
	return m.Write(t.Context(), f.Next(f.State, "1.0.0"))
}

// testWorkspaces creates, lists and deletes workspaces. The default one always exists and cannot be
// deleted.
func testWorkspaces(t *testing.T, h Harness) {
	needsWorkspaces(t, h)
	ctx := t.Context()
	s := h.Open()
	wantNames := func(want ...string) {
		t.Helper()
		got, err := h.Open().Workspaces(ctx)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("workspaces %q, %v; want %q", got, err, want)
		}
	}
	wantNames("default")
	for _, name := range []string{"prod", "blue-1"} {
		if err := s.CreateWorkspace(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	wantNames("default", "blue-1", "prod")
	for _, name := range []string{"prod", "default"} {
		if err := s.CreateWorkspace(ctx, name); !errors.Is(err, store.ErrWorkspaceExists) {
			t.Errorf("creating %q twice: %v", name, err)
		}
	}
	for _, name := range []string{"", "..", "a/b", "a b", "é"} {
		if _, err := s.Manager(name); err == nil {
			t.Errorf("the workspace name %q is accepted", name)
		}
		if err := s.CreateWorkspace(ctx, name); err == nil {
			t.Errorf("the workspace %q is created", name)
		}
	}
	if err := manager(t, h, "prod").Write(ctx, File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteWorkspace(ctx, "prod", false); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("deleting a workspace with resources: %v", err)
	}
	onlyData := File(t, "l", 1, 0)
	data := Address("a", 0)
	data.Resource.Mode = addr.Data
	onlyData.State.SetObject(data, Object(t, "read"), Provider)
	if err := errors.Join(manager(t, h, "blue-1").Write(ctx, onlyData), s.DeleteWorkspace(ctx, "blue-1", false), s.CreateWorkspace(ctx, "blue-1")); err != nil {
		t.Errorf("deleting a workspace that has only what was read: %v", err)
	}
	for name, want := range map[string]error{"default": store.ErrDefault, "nope": store.ErrNoWorkspace} {
		if err := s.DeleteWorkspace(ctx, name, true); !errors.Is(err, want) {
			t.Errorf("deleting %q: %v", name, err)
		}
	}
	if err := errors.Join(s.DeleteWorkspace(ctx, "prod", true), s.DeleteWorkspace(ctx, "blue-1", false)); err != nil {
		t.Fatal(err)
	}
	wantNames("default")
	if got := read(t, h, "prod"); got != "" {
		t.Errorf("state of a deleted workspace: got %s, want none", got)
	}
}

// testWorkspacesApart requires that workspaces have states and locks of their own.
func testWorkspacesApart(t *testing.T, h Harness) {
	needsWorkspaces(t, h)
	if err := h.Open().CreateWorkspace(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	a, b := manager(t, h, store.DefaultWorkspace), manager(t, h, "other")
	defer lock(t, a, "a")()
	defer lock(t, b, "b")()
	for i, m := range []store.Manager{a, b} {
		if err := m.Write(t.Context(), File(t, fmt.Sprint("lineage", i), 1, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(text(t, File(t, "lineage0", 1, 1)), read(t, h, store.DefaultWorkspace)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(text(t, File(t, "lineage1", 1, 2)), read(t, h, "other")); diff != "" {
		t.Error(diff)
	}
}

// testCorrupted requires an error for content that is not a state. Nothing may be written over it: it may be
// all that is left.
func testCorrupted(t *testing.T, h Harness) {
	m := manager(t, h, store.DefaultWorkspace)
	unlock := lock(t, m, "a")
	if err := m.Write(t.Context(), File(t, "l", 1, 3)); err != nil {
		t.Fatal(err)
	}
	unlock()
	whole, err := h.Stored(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	damaged := whole[:len(whole)/2]
	if err := h.Corrupt(store.DefaultWorkspace, damaged); err != nil {
		t.Fatal(err)
	}
	if _, err := manager(t, h, store.DefaultWorkspace).Read(t.Context()); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("reading half a state: %v", err)
	}
	if err := manager(t, h, store.DefaultWorkspace).Write(t.Context(), File(t, "l", 2, 1)); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("writing over half a state: %v", err)
	}
	left, err := h.Stored(store.DefaultWorkspace)
	if err != nil || string(left) != string(damaged) {
		t.Errorf("damaged state: got %s, %v, want it unchanged: %s", left, err, damaged)
	}
}

// testJournal commits changes from several goroutines and then loses the run. The next one must find all
// of them.
func testJournal(t *testing.T, h Harness) {
	m := manager(t, h, store.DefaultWorkspace)
	unlock := lock(t, m, "a")
	base := File(t, "l", 0, 0)
	j, err := m.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 10 {
		change := state.ObjectChange{Object: Address("a", i), Provider: Provider, New: Object(t, fmt.Sprint("object ", i))}
		wg.Go(func() {
			id, err := j.Begin(change.Object, "create")
			if err != nil {
				t.Error(err)
			}
			end := j.Commit
			if i%3 == 0 {
				end = j.Fail
			}
			if err := end(id, change); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := j.Commit(99); err == nil {
		t.Error("an operation that never began can end")
	}
	if err := m.Write(t.Context(), File(t, "l", 1, 10)); err != nil {
		t.Fatal(err)
	}
	unlock()
	again := manager(t, h, store.DefaultWorkspace)
	got, err := again.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text(t, File(t, "l", 1, 10)), text(t, got)); diff != "" {
		t.Error(diff)
	}
	if r := store.RecoveredBy(again); r != nil {
		t.Errorf("a run that ended properly is recovered: %+v", r)
	}
}

// testLineage shows that stores keep whatever they receive; CheckPush checks states that users push.
func testLineage(t *testing.T, h Harness) {
	m := manager(t, h, store.DefaultWorkspace)
	defer lock(t, m, "a")()
	first := File(t, "one", 7, 1)
	if err := m.Write(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	stored, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if stored.Lineage != "one" || stored.Serial != 7 || stored.Version != "1.0.0" {
		t.Errorf("got %+v, want lineage one, serial 7, version 1.0.0", stored.Meta)
	}
	for _, test := range []struct {
		next *state.File
		ok   bool
	}{
		{File(t, "one", 8, 2), true},
		{File(t, "one", 7, 1), true},
		{File(t, "one", 7, 2), false},
		{File(t, "one", 6, 1), false},
		{File(t, "two", 9, 1), false},
	} {
		if err := store.CheckPush(stored, test.next); (err == nil) != test.ok {
			t.Errorf("CheckPush(%+v): got %v, want success %t", test.next.Meta, err, test.ok)
		}
	}
	if err := m.Write(t.Context(), File(t, "two", 1, 1)); err != nil {
		t.Errorf("a forced push: %v", err)
	}
}

// testCancelled requires that an interrupt keeps a run from locking, but not from storing its results and
// unlocking.
func testCancelled(t *testing.T, h Harness) {
	m := manager(t, h, store.DefaultWorkspace)
	id, err := m.Lock(t.Context(), Info("a"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Write(ctx, File(t, "l", 1, 1)); err != nil {
		t.Errorf("writing after an interrupt: %v", err)
	}
	if err := m.Unlock(ctx, id); err != nil {
		t.Errorf("unlocking after an interrupt: %v", err)
	}
	if _, err := m.Lock(ctx, Info("b")); !errors.Is(err, context.Canceled) {
		t.Errorf("locking after an interrupt: %v", err)
	}
}
