package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// die ends a run as a kill would: nothing is written or removed any more, and the system gives up its lock.
func die(t *testing.T, m *Manager) {
	t.Helper()
	locks.mu.Lock()
	open := slices.Clone(locks.open)
	locks.mu.Unlock()
	for _, f := range open {
		if f.Name() == m.at.paths.journal {
			if err := locks.close(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if m.at.held != nil {
		m.at.held.created = false
		if err := locks.unlock(m.at.held, m.at.paths.write); err != nil {
			t.Fatal(err)
		}
	}
}

// interrupted leaves a state of one object, and a run that added a second and died while adding a third.
func interrupted(t *testing.T, dir string) *state.File {
	t.Helper()
	m := open(t, Options{Dir: dir})
	mustLock(t, m)
	base := storetest.File(t, "l", 1, 1)
	if err := m.Write(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	j, err := m.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, j, "a", 1, "object 1")
	if _, err := j.Begin(storetest.Address("a", 2), "create"); err != nil {
		t.Fatal(err)
	}
	die(t, m)
	return storetest.File(t, "l", 2, 2)
}

func TestRecovery(t *testing.T) {
	dir := t.TempDir()
	want := interrupted(t, dir)
	path := filepath.Join(dir, DefaultPath)
	before := content(t, path)

	m := open(t, Options{Dir: dir})
	f, err := m.Read(t.Context())
	if err != nil || encoded(t, f) != encoded(t, want) {
		t.Fatalf("Read without a lock: got %v, %v, want %s", f, err, encoded(t, want))
	}
	if r := m.Recovered(); r == nil || r.Saved || r.Changes != 1 || len(r.Diags()) != 0 {
		t.Errorf("Recovered: got %+v, want one change that is not saved yet, and no diagnostics", r)
	}
	if content(t, path) != before || !exists(path+journalSuffix) {
		t.Error("reading without a lock changed files")
	}

	unlock := mustLock(t, m)
	if f, err = m.Read(t.Context()); err != nil || encoded(t, f) != encoded(t, want) {
		t.Fatalf("Read with the lock: got %v, %v, want %s", f, err, encoded(t, want))
	}
	r := m.Recovered()
	wantR := &store.Recovered{
		Path: path + journalSuffix, Changes: 1, Saved: true,
		Unfinished: []state.Unfinished{{Object: storetest.Address("a", 2), Action: "create"}},
	}
	if r == nil || r.Path != wantR.Path || r.Changes != 1 || !r.Saved || len(r.Unfinished) != 1 || r.Unfinished[0] != wantR.Unfinished[0] {
		t.Errorf("recovered %+v, want %+v", r, wantR)
	}
	diags := r.Diags()
	if len(diags) != 2 || !strings.Contains(diags[1].Detail, "test_thing.a[2] (create)") {
		t.Errorf("got diagnostics %v, want two, the second about the unfinished test_thing.a[2]", diags)
	}
	unlock()
	if content(t, path) != encoded(t, want) || exists(path+journalSuffix) {
		t.Error("the journal was not folded in")
	}
	if content(t, path+backupSuffix) != before {
		t.Error("the state before the recovery was not kept")
	}
	next := open(t, Options{Dir: dir})
	if _, err := next.Read(t.Context()); err != nil || next.Recovered() != nil {
		t.Errorf("recovered twice: %+v, %v", next.Recovered(), err)
	}
}

func TestFirstRunDiesBeforeAnyState(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	mustLock(t, m)
	j, err := m.BeginRun(t.Context(), storetest.File(t, "new", 0, 0), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, j, "a", 0, "object 0")
	die(t, m)
	m = open(t, Options{Dir: dir})
	defer mustLock(t, m)()
	f, err := m.Read(t.Context())
	if err != nil || encoded(t, f) != encoded(t, storetest.File(t, "new", 1, 1)) {
		t.Errorf("Read: got %v, %v, want %s", f, err, encoded(t, storetest.File(t, "new", 1, 1)))
	}
}

func TestWriteDoesNotForgetWhatWasNotRead(t *testing.T) {
	dir := t.TempDir()
	want := interrupted(t, dir)
	m := open(t, Options{Dir: dir})
	unlock := mustLock(t, m)
	if err := m.Write(t.Context(), storetest.File(t, "l", 5, 0)); err == nil {
		t.Error("a write threw recovered results away")
	}
	if content(t, m.at.paths.write) != encoded(t, want) {
		t.Error("the results are not in the state")
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 5, 0)); err != nil {
		t.Errorf("the second write: %v", err)
	}
	unlock()
}

func TestJournalOfUnlockedRun(t *testing.T) {
	dir := t.TempDir()
	want := interrupted(t, dir)
	m := open(t, Options{Dir: dir})
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	holder := open(t, Options{Dir: dir})
	unlock := mustLock(t, holder)
	held := new(store.LockError)
	if _, err := m.BeginRun(t.Context(), f, "1.0.0"); !errors.As(err, &held) {
		t.Errorf("a journal that may belong to a living run: %v", err)
	}
	unlock()
	j, err := m.BeginRun(t.Context(), f, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if content(t, m.at.paths.write) != encoded(t, want) {
		t.Error("the old journal was not folded in first")
	}
	commit(t, j, "a", 2, "object 2")
	got, err := open(t, Options{Dir: dir}).Read(t.Context())
	if err != nil || encoded(t, got) != encoded(t, storetest.File(t, "l", 3, 3)) {
		t.Errorf("Read: got %v, %v, want %s", got, err, encoded(t, storetest.File(t, "l", 3, 3)))
	}
}

func TestStaleBaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	if err := m.Write(t.Context(), storetest.File(t, "l", 3, 1)); err != nil {
		t.Fatal(err)
	}
	for _, base := range []*state.File{storetest.File(t, "l", 2, 1), storetest.File(t, "k", 3, 1), storetest.File(t, "l", 0, 0)} {
		if _, err := m.BeginRun(t.Context(), base, "1.0.0"); err == nil {
			t.Errorf("a journal for the base %+v", base.Meta)
		}
	}
	if _, err := m.BeginRun(t.Context(), storetest.File(t, "l", 3, 1), "1.0.0"); err != nil {
		t.Error(err)
	}
	if _, err := m.BeginRun(t.Context(), storetest.File(t, "l", 3, 1), "1.0.0"); err == nil {
		t.Error("two journals at once")
	}
}

func TestForeignJournalIsKept(t *testing.T) {
	for name, f := range map[string]*state.File{
		"other serial": storetest.File(t, "l", 9, 1), "other lineage": storetest.File(t, "k", 1, 1), "state gone": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			interrupted(t, dir)
			path := filepath.Join(dir, DefaultPath)
			journal, text := content(t, path+journalSuffix), ""
			if f != nil {
				text = encoded(t, f)
			}
			filetest.Write(t, path, text)
			m := open(t, Options{Dir: dir})
			unlock := mustLock(t, m)
			_, readErr := m.Read(t.Context())
			writeErr := m.Write(t.Context(), storetest.File(t, "l", 10, 1))
			for _, err := range []error{readErr, writeErr} {
				if !errors.Is(err, state.ErrJournalForeign) {
					t.Errorf("got %v", err)
					continue
				}
				for _, part := range []string{"about these objects:\n  - test_thing.a[1]", moveAway(path + journalSuffix), "mayfly state push " + store.RescueName} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("no %q in %v", part, err)
					}
				}
			}
			unlock()
			if content(t, path) != text || content(t, path+journalSuffix) != journal {
				t.Error("files were changed")
			}
			if err := os.Rename(path+journalSuffix, path+journalSuffix+".old"); err != nil {
				t.Fatal(err)
			}
			m = open(t, Options{Dir: dir})
			if got, err := m.Read(t.Context()); err != nil || (got == nil) != (f == nil) {
				t.Errorf("Read without the journal: got %v, %v, want as before: %v", got, err, f)
			}
			if got := moveAway(path + journalSuffix); !strings.HasSuffix(got, ".old2") {
				t.Errorf("the advice would replace a file: %s", got)
			}
		})
	}
}

// TestJournalThatIsHeld finds the journal of a run that has saved its state although it could not say so in
// the journal.
func TestJournalThatIsHeld(t *testing.T) {
	dir := t.TempDir()
	want := interrupted(t, dir)
	path := filepath.Join(dir, DefaultPath)
	filetest.Write(t, path, encoded(t, want))
	if f, err := open(t, Options{Dir: dir}).Read(t.Context()); err != nil || encoded(t, f) != encoded(t, want) {
		t.Errorf("Read without a lock: got %v, %v, want %s", f, err, encoded(t, want))
	}
	m := open(t, Options{Dir: dir})
	defer mustLock(t, m)()
	if f, err := m.Read(t.Context()); err != nil || encoded(t, f) != encoded(t, want) {
		t.Fatalf("Read: got %v, %v, want %s", f, err, encoded(t, want))
	}
	if r := m.Recovered(); r == nil || r.Changes != 0 || len(r.Unfinished) != 1 || !r.Saved || exists(path+journalSuffix) {
		t.Errorf("Recovered: got %+v, want no changes, one unfinished operation, saved, and no journal left", r)
	}
}

func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	interrupted(t, dir)
	path := filepath.Join(dir, DefaultPath) + journalSuffix
	whole := content(t, path)
	damaged := strings.Replace(whole, "object 1", "object 9", 1)
	filetest.Write(t, path, damaged)
	m := open(t, Options{Dir: dir})
	defer mustLock(t, m)()
	if _, err := m.Read(t.Context()); !errors.Is(err, state.ErrJournalCorrupt) {
		t.Errorf("got %v", err)
	}
	if content(t, path) != damaged {
		t.Error("the journal was changed")
	}
	// A torn tail is not damage.
	filetest.Write(t, path, whole+whole[:30])
	f, err := m.Read(t.Context())
	if err != nil || encoded(t, f) != encoded(t, storetest.File(t, "l", 2, 2)) || !m.Recovered().Torn {
		t.Errorf("Read: got %v, %v, %+v, want %s, and the journal torn", f, err, m.Recovered(), encoded(t, storetest.File(t, "l", 2, 2)))
	}
}

// failing is a disk that fails from the n-th operation on.
func failing(n int) (disk, *int) {
	d, calls := systemDisk, 0
	count := func() error {
		if calls++; calls > n {
			return errors.New("no space left on device")
		}
		return nil
	}
	d.writeAt = func(f *os.File, b []byte, off int64) (int, error) {
		if err := count(); err != nil {
			half, writeErr := f.WriteAt(b[:len(b)/2], off)
			return half, errors.Join(err, writeErr)
		}
		return f.WriteAt(b, off)
	}
	d.sync = func(f *os.File) error { return errors.Join(count(), f.Sync()) }
	d.link = func(a, b string) error {
		if err := count(); err != nil {
			return err
		}
		return os.Link(a, b)
	}
	d.rename = func(a, b string) error {
		if err := count(); err != nil {
			return err
		}
		return os.Rename(a, b)
	}
	d.reserve = func(*os.File, int64, int64) error { return count() }
	return d, &calls
}

// TestDiskFailsAnywhere runs an apply on a disk that fails at every possible moment, and lets it die there.
// The next run must find every result that was acknowledged, in a valid state.
func TestDiskFailsAnywhere(t *testing.T) {
	for _, swap := range []bool{true, false} {
		for n := 0; ; n++ {
			d, calls := failing(n)
			d.swap = swap
			if !failAfter(t, d) {
				t.Fatalf("with operation %d failing (swap %v)", n, swap)
			}
			if *calls <= n {
				if n < 10 {
					t.Errorf("only %d disk operations were seen", n)
				}
				break
			}
		}
	}
}

func failAfter(t *testing.T, d disk) bool {
	dir := t.TempDir()
	base := storetest.File(t, "l", 1, 1)
	filetest.Write(t, filepath.Join(dir, DefaultPath), encoded(t, base))
	s := New(Options{Dir: dir})
	s.disk = d
	m := s.manager(filepath.Join(dir, DefaultPath))
	mustLock(t, m)
	if _, err := m.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	j, err := m.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	acknowledged, attempted := 1, 1
	for i := 1; i < 4; i++ {
		a := storetest.Address("a", i)
		id, err := j.Begin(a, "create")
		if err != nil {
			break
		}
		attempted++
		change := state.ObjectChange{Object: a, Provider: storetest.Provider, New: storetest.Object(t, "x")}
		if j.Commit(id, change) != nil {
			break
		}
		acknowledged++
	}
	written := m.Write(t.Context(), storetest.File(t, "l", 2, attempted)) == nil
	die(t, m)
	next := open(t, Options{Dir: dir})
	unlock := mustLock(t, next)
	f, err := next.Read(t.Context())
	unlock()
	if err != nil {
		t.Error(err)
		return false
	}
	if written {
		acknowledged = attempted
	}
	for i := range acknowledged {
		if f.State.Object(storetest.Address("a", i)) == nil {
			t.Errorf("object %d of %d is lost: %s", i, acknowledged, encoded(t, f))
			return false
		}
	}
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, keepSuffix) || strings.HasSuffix(name, journalSuffix) {
			t.Errorf("%s was left behind", name)
			return false
		}
	}
	return true
}

func TestReadOnlyFolder(t *testing.T) {
	denied := systemDisk
	denied.rename = func(string, string) error { return os.ErrPermission }
	dir := t.TempDir()
	base := storetest.File(t, "l", 1, 1)
	path := filepath.Join(dir, DefaultPath)
	filetest.Write(t, path, encoded(t, base))
	s := New(Options{Dir: dir, Backup: noBackup})
	s.disk = denied
	m := s.manager(path)
	unlock := mustLock(t, m)
	next := storetest.File(t, "l", 2, 2)
	if err := m.Write(t.Context(), next); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), path) {
		t.Errorf("writing: %v", err)
	}
	unlock()
	if diff := cmp.Diff(encoded(t, base), content(t, path)); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		kept, err := store.Rescue([]string{dir}, next, nil)
		if err != nil || content(t, kept) != encoded(t, next) {
			t.Errorf("Rescue: got %s, %v, want a file with %s", kept, err, encoded(t, next))
		}
	}
}
