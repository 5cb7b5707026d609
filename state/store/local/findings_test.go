package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestReadDuringARun reads with the journal of the same run under way, with and without the lock.
func TestReadDuringARun(t *testing.T) {
	for _, locked := range []bool{true, false} {
		m := open(t, Options{Dir: t.TempDir()})
		base := storetest.File(t, "l", 1, 1)
		if err := m.Write(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		if locked {
			defer mustLock(t, m)()
		}
		j, err := m.BeginRun(t.Context(), base, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		commit(t, j, "a", 1, "object 1")
		if f, err := m.Read(t.Context()); err != nil || f.Serial != 2 || f.State.Object(storetest.Address("a", 1)) == nil {
			t.Errorf("locked %v: got %v, %v, want serial 2 with the object of the journal", locked, f, err)
		}
		if r := m.Recovered(); r != nil {
			t.Errorf("locked %v: the run's own results count as recovered: %+v", locked, r)
		}
		if err := m.Write(t.Context(), storetest.File(t, "l", 2, 2)); err != nil {
			t.Error(err)
		}
	}
}

// TestNothingIsFound has nothing to tell about a directory without a state.
func TestNothingIsFound(t *testing.T) {
	for _, locked := range []bool{true, false} {
		m := open(t, Options{Dir: t.TempDir()})
		if locked {
			defer mustLock(t, m)()
		}
		if f, err := m.Read(t.Context()); f != nil || err != nil || m.Recovered() != nil {
			t.Errorf("locked %v: %v, %v, %+v", locked, f, err, m.Recovered())
		}
	}
}

// TestWriteOverOthers writes a state that something else has changed since it was read, with and without the
// lock. What lies elsewhere may have changed.
func TestWriteOverOthers(t *testing.T) {
	for _, locked := range []bool{true, false} {
		dir := t.TempDir()
		path := filepath.Join(dir, DefaultPath)
		filetest.Write(t, path, encoded(t, storetest.File(t, "l", 1, 1)))
		m := open(t, Options{Dir: dir})
		if locked {
			defer mustLock(t, m)()
		}
		if _, err := m.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		other := encoded(t, storetest.File(t, "l", 2, 5))
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := m.Write(t.Context(), storetest.File(t, "l", 2, 2)); err == nil || content(t, path) != other {
			t.Errorf("locked %v: %v, and the state: got %s, want %s", locked, err, content(t, path), other)
		}
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	filetest.Write(t, in, encoded(t, storetest.File(t, "l", 1, 1)))
	m := open(t, Options{Dir: dir, State: "in", StateOut: "out"})
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, in, encoded(t, storetest.File(t, "l", 2, 5)))
	if err := m.Write(t.Context(), f); err != nil || content(t, out) != encoded(t, f) {
		t.Errorf("Write: got %v, and %s at the path of writing, want %s", err, content(t, out), encoded(t, f))
	}
	same := open(t, Options{Dir: dir, State: "in", StateOut: "same"})
	if f, err = same.Read(t.Context()); err == nil {
		err = same.Write(t.Context(), f)
	}
	if err != nil || content(t, filepath.Join(dir, "same")) != content(t, in) {
		t.Errorf("same content at another place: got %v, want a copy of the state there", err)
	}
}

// TestJournaledError fails to write a state: the error says whether all results are in the journal.
func TestJournaledError(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name string
		do   func(t *testing.T, m *Manager, j state.Journal, lose *bool)
		want bool
	}{
		{"all results", func(*testing.T, *Manager, state.Journal, *bool) {}, true},
		{"a result is lost", func(t *testing.T, _ *Manager, j state.Journal, lose *bool) {
			id, err := j.Begin(storetest.Address("a", 2), "create")
			*lose = true
			if commit := j.Commit(id); err != nil || commit == nil {
				t.Errorf("%v, %v", err, commit)
			}
		}, false},
		{"the journal is gone", func(t *testing.T, m *Manager, _ state.Journal, _ *bool) {
			if err := os.Remove(m.at.paths.journal); err != nil {
				t.Error(err)
			}
		}, false},
	} {
		s := New(Options{Dir: t.TempDir()})
		lose := false
		s.disk.rename = func(string, string) error { return broken }
		s.disk.writeAt = func(f *os.File, b []byte, off int64) (int, error) {
			if lose {
				return 0, broken
			}
			return f.WriteAt(b, off)
		}
		got, err := s.Manager(store.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		m := got.(*Manager)
		j, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		commit(t, j, "a", 1, "object 1")
		test.do(t, m, j, &lose)
		var journaled *store.JournaledError
		if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, broken) || errors.As(err, &journaled) != test.want {
			t.Errorf("%s: got %v, want an error that is %v, in a JournaledError: %t", test.name, err, broken, test.want)
		}
		die(t, m)
	}
}

// TestNothingWasChanged finds the journal of a run that had begun an operation and ended none.
func TestNothingWasChanged(t *testing.T) {
	for _, serial := range []uint64{0, 1} {
		dir := t.TempDir()
		dead := open(t, Options{Dir: dir})
		base := storetest.File(t, "l", serial, int(serial))
		if serial > 0 {
			if err := dead.Write(t.Context(), base); err != nil {
				t.Fatal(err)
			}
		}
		j, err := dead.BeginRun(t.Context(), base, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.Begin(storetest.Address("a", 2), "create"); err != nil {
			t.Fatal(err)
		}
		die(t, dead)
		f, err := open(t, Options{Dir: dir}).Read(t.Context())
		if err != nil || (f == nil) != (serial == 0) {
			t.Errorf("serial %d: got %v, %v, want a state unless the serial is 0", serial, f, err)
		}
		m := open(t, Options{Dir: dir})
		if err := m.Write(t.Context(), storetest.File(t, "l", serial+1, 1)); err != nil || len(m.Recovered().Unfinished) != 1 {
			t.Errorf("serial %d: got %v, %+v, want a write, and one unfinished operation", serial, err, m.Recovered())
		}
	}
}

// TestFirstResultsBesideABackup recovers results of a first run, although a backup and an empty state look as
// if a state had been lost.
func TestFirstResultsBesideABackup(t *testing.T) {
	dir := t.TempDir()
	dead := open(t, Options{Dir: dir})
	mustLock(t, dead)
	j, err := dead.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, j, "a", 1, "object 1")
	die(t, dead)
	filetest.Write(t, filepath.Join(dir, DefaultPath+backupSuffix), encoded(t, storetest.File(t, "k", 1, 1)))
	if err := os.Remove(dead.at.paths.info); err != nil {
		t.Fatal(err)
	}
	if f, err := open(t, Options{Dir: dir}).Read(t.Context()); err != nil || f == nil || f.State.Object(storetest.Address("a", 1)) == nil {
		t.Errorf("read %v, %v", f, err)
	}
}

// TestOddCopies finds copies beside states that are empty, or that only one of them is.
func TestOddCopies(t *testing.T) {
	want := encoded(t, storetest.File(t, "l", 2, 9))
	for _, test := range []struct{ state, copied string }{{want, ""}, {"", want}} {
		dir := t.TempDir()
		path := filepath.Join(dir, DefaultPath)
		filetest.Write(t, path, test.state)
		filetest.Write(t, path+copySuffix, test.copied)
		if f, err := open(t, Options{Dir: dir}).Read(t.Context()); err != nil || f == nil || encoded(t, f) != want {
			t.Errorf("%q and %q: got %v, %v, want %s", test.state, test.copied, f, err, want)
		}
	}
	// What is read from elsewhere is not finished, and nothing is without the lock.
	dir := t.TempDir()
	path, out := filepath.Join(dir, DefaultPath), filepath.Join(dir, "out")
	filetest.Write(t, path, want[:40])
	filetest.Write(t, path+copySuffix, want)
	m := open(t, Options{Dir: dir, State: DefaultPath, StateOut: "out"})
	unlock := mustLock(t, m)
	if f, err := m.Read(t.Context()); err != nil || encoded(t, f) != want || content(t, out) != "" {
		t.Errorf("got %v, %v, and the other file with %q, want %s, and the other file empty", f, err, content(t, out), want)
	}
	unlock()
	m = open(t, Options{Dir: dir})
	next := storetest.File(t, "l", 3, 1)
	if err := m.Write(t.Context(), next); err != nil || content(t, path) != encoded(t, next) || !exists(path+copySuffix) {
		t.Errorf("writing without the lock: got %v and %q, want %q, and the copy kept", err, content(t, path), encoded(t, next))
	}
}

// TestCopyThatCannotBeFinished keeps the copy if what its writer died doing cannot be done now either.
func TestCopyThatCannotBeFinished(t *testing.T) {
	broken := errors.New("broken")
	dir := t.TempDir()
	path, want := filepath.Join(dir, DefaultPath), encoded(t, storetest.File(t, "l", 2, 9))
	filetest.Write(t, path, want[:40])
	filetest.Write(t, path+copySuffix, want)
	s := New(Options{Dir: dir})
	s.disk.rename = func(string, string) error { return broken }
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	defer mustLock(t, m.(*Manager))()
	if f, err := m.Read(t.Context()); !errors.Is(err, broken) || content(t, path+copySuffix) != want {
		t.Errorf("got %v, %v, and the copy %q, want %v, and the copy %q", f, err, content(t, path+copySuffix), broken, want)
	}
}

// TestOpeningsOfOthers leaves other files in the directory of the records alone.
func TestOpeningsOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	others := []string{"other.openings", "mayfly-notes.txt"}
	for _, name := range others {
		filetest.Write(t, filepath.Join(dir, name), strings.Repeat("no journal\n", 10))
	}
	o := NewOpenings(dir)
	if found, err := o.Left(); len(found) > 0 || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if err := errors.Join(o.Close(), o.Close()); err != nil {
		t.Error(err)
	}
	for _, name := range others {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s is gone", name)
		}
	}
	late := NewOpenings(filepath.Join(dir, "late"))
	if err := late.Close(); err != nil {
		t.Error(err)
	}
	if id := opening(t, late, "x"); id != 0 || exists(late.dir) {
		t.Errorf("after the end, an opening is recorded as: got %d, want 0", id)
	}
}
