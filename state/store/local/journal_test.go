package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestRunsWithoutLock starts two runs that change one state without its lock. The second must neither take
// the journal of the first for one that was left behind nor change anything, and a later one must not
// write over what the other has written.
func TestRunsWithoutLock(t *testing.T) {
	dir := t.TempDir()
	base := storetest.File(t, "l", 1, 1)
	if err := open(t, Options{Dir: dir}).Write(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	start := func() (*Manager, state.Journal) {
		m := open(t, Options{Dir: dir})
		if _, err := m.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		j, err := m.BeginRun(t.Context(), base, "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		return m, j
	}
	late, lateJournal := start()
	first, firstJournal := start()
	commit(t, firstJournal, "a", 1, "object 1")

	second := open(t, Options{Dir: dir})
	held := new(store.LockError)
	if f, err := second.Read(t.Context()); err != nil || f.Serial != 2 {
		t.Errorf("reading beside it: got %v, %v, want serial 2", f, err)
	}
	if _, err := second.BeginRun(t.Context(), storetest.File(t, "l", 2, 2), "1.0.0"); !errors.As(err, &held) {
		t.Errorf("a second journal: %v", err)
	}
	unlock := mustLock(t, second)
	if _, err := second.Read(t.Context()); !errors.As(err, &held) || !strings.Contains(err.Error(), "-lock=false") {
		t.Errorf("reading with the lock: %v", err)
	}
	unlock()
	if _, err := lateJournal.Begin(storetest.Address("a", 5), "create"); !errors.Is(err, errJournalTaken) {
		t.Errorf("an operation beside another journal: %v", err)
	}
	if err := late.Write(t.Context(), storetest.File(t, "l", 2, 3)); !errors.As(err, &held) {
		t.Errorf("writing beside another journal: %v", err)
	}

	if err := first.Write(t.Context(), storetest.File(t, "l", 2, 2)); err != nil || exists(first.at.paths.journal) {
		t.Errorf("the first run: %v", err)
	}
	if _, err := lateJournal.Begin(storetest.Address("a", 5), "create"); err == nil || !strings.Contains(err.Error(), "changed by another run") {
		t.Errorf("an operation on a state that has changed: %v", err)
	}
	if err := late.Write(t.Context(), storetest.File(t, "l", 2, 3)); err == nil || !strings.Contains(err.Error(), "changed by another run") {
		t.Errorf("writing over what another run has written: %v", err)
	}
	if got := content(t, first.at.paths.write); got != encoded(t, storetest.File(t, "l", 2, 2)) {
		t.Errorf("state on the disk: got %s, want %s", got, encoded(t, storetest.File(t, "l", 2, 2)))
	}
}

func TestUnreadableJournalIsKept(t *testing.T) {
	for name, text := range map[string]string{"zeros": strings.Repeat("\x00", 4096), "first write cut off": `1234abcd 000000ff {"format":"mayfly`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			m := open(t, Options{Dir: dir})
			base := storetest.File(t, "l", 1, 1)
			if err := errors.Join(m.Write(t.Context(), base), os.WriteFile(m.at.paths.journal, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
			m = open(t, Options{Dir: dir})
			defer mustLock(t, m)()
			f, err := m.Read(t.Context())
			if err != nil || encoded(t, f) != encoded(t, base) {
				t.Fatalf("Read: got %v, %v, want %s", f, err, encoded(t, base))
			}
			r := m.Recovered()
			if r == nil || content(t, r.Unreadable) != text || exists(m.at.paths.journal) {
				t.Fatalf("Recovered: got %+v and the folder %q, want the journal kept as unreadable and replaced", r, names(t, dir))
			}
			if l := r.Diags(); len(l) != 1 || !strings.Contains(l[0].Detail, r.Unreadable) {
				t.Errorf("got diagnostics %v, want one that names %s", l, r.Unreadable)
			}
		})
	}
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	if err := os.WriteFile(m.at.paths.journal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer mustLock(t, m)()
	if _, err := m.Read(t.Context()); err != nil || m.Recovered() != nil || exists(m.at.paths.journal) {
		t.Errorf("a journal without a byte: %v, %+v", err, m.Recovered())
	}
}

// fullFor returns a disk that has no room for what full says.
func fullFor(full func(f *os.File) bool) disk {
	d := systemDisk
	noRoom := func(f *os.File) error { return &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC} }
	d.writeAt = func(f *os.File, b []byte, off int64) (int, error) {
		if full(f) {
			return 0, noRoom(f)
		}
		return f.WriteAt(b, off)
	}
	d.reserve = func(f *os.File, _, _ int64) error {
		if full(f) {
			return noRoom(f)
		}
		return nil
	}
	return d
}

// TestFullDisk fills the disk before and during a run. What cannot be recorded does not begin, and what has
// ended is in the journal.
func TestFullDisk(t *testing.T) {
	full := false
	d := fullFor(func(f *os.File) bool { return full && !strings.HasSuffix(f.Name(), journalSuffix) })
	dir := t.TempDir()
	base := storetest.File(t, "l", 1, 1)
	s := New(Options{Dir: dir})
	s.disk = d
	m := s.manager(filepath.Join(dir, DefaultPath))
	if err := m.Write(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	unlock := mustLock(t, m)
	if _, err := m.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	j, err := m.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, j, "a", 1, "object 1")
	full = true
	var journaled *store.JournaledError
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 2)); !errors.As(err, &journaled) || !errors.Is(err, syscall.ENOSPC) || !exists(journaled.Journal) {
		t.Errorf("writing: %v", err)
	}
	unlock()
	f, err := open(t, Options{Dir: dir}).Read(t.Context())
	if err != nil || encoded(t, f) != encoded(t, storetest.File(t, "l", 2, 2)) {
		t.Errorf("the next run reads: got %v, %v, want %s", f, err, encoded(t, storetest.File(t, "l", 2, 2)))
	}

	dir = t.TempDir()
	s = New(Options{Dir: dir})
	s.disk = fullFor(func(*os.File) bool { return true })
	m = s.manager(filepath.Join(dir, DefaultPath))
	unlock = mustLock(t, m)
	if j, err = m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Begin(storetest.Address("a", 1), "create"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("beginning on a full disk: %v", err)
	}
	unlock()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("files left by a run that could not begin: got %q, want none", got)
	}
}

// TestFolderRemoved removes the folder under a run: its open files can be written, and are gone with the
// process.
func TestFolderRemoved(t *testing.T) {
	if !canReplaceOpen {
		t.Skip("open files cannot be removed on this system")
	}
	dir := filepath.Join(t.TempDir(), "dir")
	base := storetest.File(t, "l", 1, 1)
	m := open(t, Options{Path: filepath.Join(dir, DefaultPath)})
	if err := m.Write(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	j, err := m.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	id, err := j.Begin(storetest.Address("a", 1), "create")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := j.Commit(id, state.ObjectChange{Object: storetest.Address("a", 1), Provider: storetest.Provider, New: storetest.Object(t, "x")}); err == nil || !strings.Contains(err.Error(), "removed") {
		t.Errorf("a result in a file without a name: %v", err)
	}
	var journaled *store.JournaledError
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 2)); err == nil || errors.As(err, &journaled) {
		t.Errorf("writing: %v", err)
	}
	if exists(dir) {
		t.Error("the folder is there again")
	}
}
