package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestInterruptedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	for name, call := range map[string]func() error{
		"Lock":    func() error { _, err := m.Lock(ctx, storetest.Info("a")); return err },
		"Read":    func() error { _, err := m.Read(ctx); return err },
		"Journal": func() error { _, err := m.BeginRun(ctx, storetest.File(t, "l", 0, 0), "1.0.0"); return err },
		"Rekey":   func() error { _, err := m.Rekey(ctx); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("the directory has %q", left)
	}
}

// TestLockIsTakenOnce uses a lock twice, and after its end.
func TestLockIsTakenOnce(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	refused := func(what string, err error) {
		t.Helper()
		if held := new(store.LockError); !errors.As(err, &held) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("unlocking what is not locked", m.Unlock(t.Context(), "id"))
	for range 2 {
		id, err := m.Lock(t.Context(), store.LockInfo{Who: "someone"})
		if err != nil || id == "" {
			t.Fatalf("%q, %v", id, err)
		}
		_, err = m.Lock(t.Context(), store.LockInfo{Who: "someone"})
		refused("locking twice", err)
		refused("another ID", m.Unlock(t.Context(), id+"x"))
		f, err := m.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			f = storetest.File(t, "l", 0, 0)
		}
		j, err := m.BeginRun(t.Context(), f, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.BeginRun(t.Context(), f, "1.0.0"); err == nil {
			t.Error("a run has two journals")
		}
		if err := m.Unlock(t.Context(), id); err != nil {
			t.Error(err)
		}
		refused("unlocking twice", m.Unlock(t.Context(), id))
		if _, err := j.Begin(storetest.Address("a", 0), "create"); err == nil {
			t.Error("the journal goes on without the lock")
		}
		if err := m.Write(t.Context(), f.Next(f.State.Copy(), "1.0.0")); err != nil {
			t.Errorf("writing without the lock: %v", err)
		}
	}
	for range 2 { // each lock has its own journal
		unlock := mustLock(t, m)
		f, err := m.Read(t.Context())
		if err == nil {
			_, err = m.BeginRun(t.Context(), f, "1.0.0")
		}
		if err != nil {
			t.Error(err)
		}
		unlock()
	}
	if left := names(t, dir); !slices.Equal(left, []string{DefaultPath, DefaultPath + backupSuffix}) && !slices.Equal(left, []string{DefaultPath}) {
		t.Errorf("directory: got %q, want the state and at most its backup", left)
	}
}

// TestSweep removes what a writer of the same state has left, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	stay := []string{".other.1.tmp", ".terraform.tfstate.1.txt", "terraform.tfstate.1.tmp", "terraform.tfstate.keep2", "x.tmp"}
	for _, name := range append(slices.Clone(stay), ".terraform.tfstate.1.tmp", "terraform.tfstate.keep") {
		filetest.Write(t, filepath.Join(dir, name), "")
	}
	mustLock(t, open(t, Options{Dir: dir}))()
	if left := names(t, dir); !slices.Equal(left, stay) {
		t.Errorf("the directory has %q, want %q", left, stay)
	}
}

// TestNewStateBesideABackup begins anew after the state was removed, and writes to a new place.
func TestNewStateBesideABackup(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, DefaultPath+backupSuffix), encoded(t, storetest.File(t, "l", 1, 1)))
	mustLock(t, open(t, Options{Dir: dir}))()
	filetest.Write(t, filepath.Join(dir, DefaultPath), "")
	filetest.Write(t, filepath.Join(dir, "out"), "")
	filetest.Write(t, filepath.Join(dir, "in"), encoded(t, storetest.File(t, "l", 1, 1)))
	filetest.Write(t, filepath.Join(dir, "in"+backupSuffix), encoded(t, storetest.File(t, "l", 1, 1)))
	mustLock(t, open(t, Options{Dir: dir, State: "in", StateOut: "out"}))()
}

func TestSamePlace(t *testing.T) {
	m := open(t, Options{Dir: "d", State: "a", StateOut: "b"})
	for _, test := range []struct {
		opts Options
		want bool
	}{
		{Options{Dir: "d", State: "a", StateOut: "b"}, true},
		{Options{Dir: "d", State: "a", StateOut: "c"}, false},
		{Options{Dir: "d", State: "c", StateOut: "b"}, false},
	} {
		if got := m.SamePlace(open(t, test.opts)); got != test.want {
			t.Errorf("%+v: got %v, want %v", test.opts, got, test.want)
		}
	}
}

// TestJournalOfAnotherBase has a run begin with a state that it has not read.
func TestJournalOfAnotherBase(t *testing.T) {
	for _, test := range []struct {
		stored, base *state.File
		ok           bool
	}{
		{nil, storetest.File(t, "l", 0, 0), true},
		{nil, storetest.File(t, "l", 5, 0), false},
		{storetest.File(t, "l", 5, 0), storetest.File(t, "l", 5, 0), true},
		{storetest.File(t, "l", 5, 0), storetest.File(t, "l", 4, 0), false},
		{storetest.File(t, "l", 5, 0), storetest.File(t, "m", 5, 0), false},
		{storetest.File(t, "l", 5, 0), storetest.File(t, "l", 0, 0), false},
	} {
		dir := t.TempDir()
		if test.stored != nil {
			filetest.Write(t, filepath.Join(dir, DefaultPath), encoded(t, test.stored))
		}
		if _, err := open(t, Options{Dir: dir}).BeginRun(t.Context(), test.base, "1.0.0"); (err == nil) != test.ok {
			t.Errorf("stored %v, base %v: got %v, want success %t", test.stored, test.base.Meta, err, test.ok)
		}
	}
}

// TestReserve asks for more room than is needed, and for less if the disk has no more.
func TestReserve(t *testing.T) {
	full := errors.New("full")
	room, calls := int64(10<<20), 0
	d := systemDisk
	d.reserve = func(_ *os.File, off, n int64) error {
		if calls++; off+n > room {
			return full
		}
		return nil
	}
	l := &logFile{path: filepath.Join(t.TempDir(), "journal"), disk: d, check: func() error { return nil }}
	reserve := func(n int64, want error, wantCalls int) {
		t.Helper()
		calls = 0
		if err := l.Reserve(n); !errors.Is(err, want) || calls != wantCalls {
			t.Errorf("%d bytes: %v, after %d calls, want %d", n, err, calls, wantCalls)
		}
	}
	reserve(100, nil, 1)
	reserve(reserveStep, nil, 0)
	reserve(room-100, nil, 2)
	reserve(room-100, nil, 0)
	reserve(room+1, full, 2)
	if err := l.Remove(t.Context(), false); err != nil {
		t.Error(err)
	}
}
