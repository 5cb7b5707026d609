package remote_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestForeignJournal refuses a journal whose state is gone, and names what would be lost.
func TestForeignJournal(t *testing.T) {
	t.Parallel()
	f := prepared(t)
	b := &blob{f, store.DefaultWorkspace}
	data, err := state.Write(storetest.File(t, "another", 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	_, v, _ := b.Get(t.Context())
	if _, err := b.Put(t.Context(), data, v); err != nil {
		t.Fatal(err)
	}
	before := f.snapshot()
	r := newRun(t, f, "a")
	if !errors.Is(r.err, state.ErrJournalForeign) || !strings.Contains(r.err.Error(), "test_thing.dead[0]") {
		t.Errorf("reading beside a foreign journal: %v", r.err)
	}
	if err := r.m.Unlock(t.Context(), r.lock); err != nil {
		t.Fatal(err)
	}
	if after := f.snapshot(); after != before {
		t.Errorf("got %s, want it as before: %s", after, before)
	}
}

// TestJournalWithoutLock includes the results of another run in what is read, and leaves its journal alone.
func TestJournalWithoutLock(t *testing.T) {
	t.Parallel()
	f := prepared(t)
	before := f.snapshot()
	m, err := remote.New(f, remote.Options{}).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	file, err := m.Read(t.Context())
	if err != nil || file.State.Object(storetest.Address("dead", operations-1)) == nil {
		t.Errorf("the results in the journal are not read: %v", err)
	}
	var held *store.LockError
	if _, err := m.BeginRun(t.Context(), file, "1.0.0"); !errors.As(err, &held) {
		t.Errorf("a journal beside the one of another run: %v", err)
	}
	if after := f.snapshot(); after != before {
		t.Errorf("got %s, want it as before: %s", after, before)
	}
}

// TestSeveralJournals finds the journals of two runs, where the second one continues what the first one has
// done.
func TestSeveralJournals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := prepared(t)
		c := f.at(store.DefaultWorkspace)
		data, version, parts := c.data, c.version, maps.Clone(c.parts)
		time.Sleep(time.Minute) // journals are in order of time
		second := newRun(t, f, "second")
		second.work(t, "second")
		if err := errors.Join(second.err, second.m.(store.Recoverer).ForceUnlock(t.Context(), "id-second")); err != nil {
			t.Fatal(err)
		}
		c.data, c.version = data, version
		maps.Copy(c.parts, parts)
		checkComplete(t, f, map[string]int{"first": operations, "dead": operations, "second": operations})
	})
}

// TestJournalWithoutChanges finds the journals of two runs that began without a state. The first one has
// changed nothing, so there is nothing that the second one would have to continue.
func TestJournalWithoutChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		first := newRun(t, f, "first")
		journal, err := first.m.BeginRun(t.Context(), first.file, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Begin(storetest.Address("first", 0), "create"); err != nil {
			t.Fatal(err)
		}
		parts := maps.Clone(f.at(store.DefaultWorkspace).parts)
		if err := first.m.(store.Recoverer).ForceUnlock(t.Context(), "id-first"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		second := newRun(t, f, "second")
		second.file = storetest.File(t, "another", 0, 0)
		second.work(t, "second")
		if err := errors.Join(second.err, second.m.(store.Recoverer).ForceUnlock(t.Context(), "id-second")); err != nil {
			t.Fatal(err)
		}
		maps.Copy(f.at(store.DefaultWorkspace).parts, parts)
		checkComplete(t, f, map[string]int{"second": operations})
	})
}

// TestRunEndsWhileRead lets the run of a journal end after the journal was found and before it is read.
func TestRunEndsWhileRead(t *testing.T) {
	t.Parallel()
	f := prepared(t)
	data, err := state.Write(storetest.File(t, "l", 9, 3))
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	f.fault = func(_ int, request string) fault {
		if c := f.at(store.DefaultWorkspace); request == "get part" && !ended {
			ended, c.data, c.version = true, data, "9"
			clear(c.parts)
		}
		return none
	}
	m, err := remote.New(f, remote.Options{}).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	if file, err := m.Read(t.Context()); err != nil || !ended || file.Serial != 9 {
		t.Errorf("Read: got %v, %v, ended: %t, want serial 9, ended", file, err, ended)
	}
}

// TestUnreadableParts tells what to do about a journal that lacks a part, and not about one that cannot be
// fetched now.
func TestUnreadableParts(t *testing.T) {
	t.Parallel()
	const remedy = "remove what is in fake://default.journal"
	f := prepared(t)
	f.fault = func(_ int, request string) fault {
		if request == "get part" {
			return refused
		}
		return none
	}
	if r := newRun(t, f, "a"); !errors.Is(r.err, errRefused) || strings.Contains(r.err.Error(), remedy) {
		t.Errorf("a part cannot be fetched: %v", r.err)
	}
	f = prepared(t)
	parts := f.at(store.DefaultWorkspace).parts
	for name, text := range maps.Clone(parts) {
		delete(parts, name)
		parts[strings.TrimSuffix(name, "1")+"2"] = text
	}
	if r := newRun(t, f, "a"); !errors.Is(r.err, state.ErrJournalCorrupt) || !strings.Contains(r.err.Error(), remedy) {
		t.Errorf("the first part is missing: %v", r.err)
	}
}
