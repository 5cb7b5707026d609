package local

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestConformance(t *testing.T) {
	noLink := systemDisk
	noLink.link = func(string, string) error { return errors.ErrUnsupported }
	inPlace := systemDisk
	inPlace.swap = false
	for name, d := range map[string]disk{"swap": systemDisk, "no hard links": noLink, "overwrite in place": inPlace} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Harness { return harness(t, d) })
		})
	}
}

func harness(t *testing.T, d disk) storetest.Harness {
	dir := t.TempDir()
	path := func(workspace string) string {
		if workspace == store.DefaultWorkspace {
			return filepath.Join(dir, DefaultPath)
		}
		return filepath.Join(dir, DefaultWorkspaceDir, workspace, DefaultPath)
	}
	return storetest.Harness{
		Open: func() store.Store {
			s := New(Options{Dir: dir})
			s.disk = d
			return s
		},
		Corrupt: func(workspace string, data []byte) error { return os.WriteFile(path(workspace), data, 0o600) },
		Stored:  func(workspace string) ([]byte, error) { return os.ReadFile(path(workspace)) },
	}
}

// open returns a manager of the default workspace in dir.
func open(t *testing.T, opts Options) *Manager {
	t.Helper()
	m, err := New(opts).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Manager)
}

func mustLock(t *testing.T, m *Manager) (unlock func()) {
	t.Helper()
	id, err := m.Lock(t.Context(), storetest.Info("a"))
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := m.Unlock(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

func encoded(t *testing.T, f *state.File) string {
	t.Helper()
	b, err := state.Write(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFilesOfARun(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	unlock := mustLock(t, m)
	if diff := cmp.Diff([]string{".terraform.tfstate.lock.info", "terraform.tfstate"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	info := content(t, filepath.Join(dir, ".terraform.tfstate.lock.info"))
	want := `{"ID":"id-a","Operation":"test","Info":"There was no state yet when this run began.","Who":"a","Version":"1.0.0","Created":"2030-01-02T03:04:05Z","Path":"` +
		filepath.Join(dir, DefaultPath) + `"}`
	if diff := cmp.Diff(want, info); diff != "" {
		t.Error(diff)
	}
	unlock()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("files left by a run that stored nothing: got %q, want none", got)
	}

	unlock = mustLock(t, m)
	for serial := range uint64(3) {
		if err := m.Write(t.Context(), storetest.File(t, "l", serial+1, int(serial))); err != nil {
			t.Fatal(err)
		}
	}
	unlock()
	if diff := cmp.Diff([]string{"terraform.tfstate"}, names(t, dir)); diff != "" {
		t.Errorf("a first run has nothing to back up: %s", diff)
	}
	m = open(t, Options{Dir: dir})
	unlock = mustLock(t, m)
	for serial := range uint64(3) {
		if err := m.Write(t.Context(), storetest.File(t, "l", serial+4, int(serial))); err != nil {
			t.Fatal(err)
		}
	}
	unlock()
	if diff := cmp.Diff([]string{"terraform.tfstate", "terraform.tfstate.backup"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if got := content(t, filepath.Join(dir, "terraform.tfstate.backup")); got != encoded(t, storetest.File(t, "l", 3, 2)) {
		t.Errorf("backup: got %s, want the state that the run found: %s", got, encoded(t, storetest.File(t, "l", 3, 2)))
	}
	fi, err := os.Stat(filepath.Join(dir, DefaultPath))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("permissions of a new state: got %v, %v, want -rw-------", fi.Mode(), err)
	}
}

func TestUnchangedIsNotRewritten(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	f := storetest.File(t, "l", 1, 3)
	if err := m.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(dir, DefaultPath))
	if err != nil {
		t.Fatal(err)
	}
	m = open(t, Options{Dir: dir})
	if err := m.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(dir, DefaultPath))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("file after an equal write: got %v, %v, want it as before: %v", after, err, before)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("got the files %q, want 1", got)
	}
}

func TestPathFlags(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	old, changed := storetest.File(t, "l", 1, 1), storetest.File(t, "l", 2, 2)
	if err := os.WriteFile(at("in"), []byte(encoded(t, old)), 0o644); err != nil {
		t.Fatal(err)
	}
	m := open(t, Options{Dir: dir, State: "in", StateOut: "out", Backup: "back"})
	unlock := mustLock(t, m)
	got, err := m.Read(t.Context())
	if err != nil || encoded(t, got) != encoded(t, old) {
		t.Fatalf("Read: got %v, %v, want %s", got, err, encoded(t, old))
	}
	if err := m.Write(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if got, err = m.Read(t.Context()); err != nil || encoded(t, got) != encoded(t, changed) {
		t.Errorf("Read after writing: got %v, %v, want %s", got, err, encoded(t, changed))
	}
	unlock()
	for name, want := range map[string]*state.File{"in": old, "out": changed, "back": old} {
		if content(t, at(name)) != encoded(t, want) {
			t.Errorf("%s: got %s, want %s", name, content(t, at(name)), encoded(t, want))
		}
	}
	m = open(t, Options{Dir: dir, State: "in", Backup: noBackup})
	if err := m.Write(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"back", "in", "out"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if fi, err := os.Stat(at("in")); err != nil || fi.Mode().Perm() != 0o644 {
		t.Errorf("permissions of an old state: got %v (%v), want -rw-r--r--", fi.Mode(), err)
	}
}

func TestSymbolicLinkStays(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "real")
	filetest.Write(t, target, encoded(t, storetest.File(t, "l", 1, 1)))
	link := filepath.Join(dir, DefaultPath)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for serial, locked := range []bool{true, false} {
		m := open(t, Options{Dir: dir})
		unlock := func() {}
		if locked {
			unlock = mustLock(t, m)
		}
		f := storetest.File(t, "l", uint64(serial)+2, 4)
		if err := m.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		unlock()
		if fi, err := os.Lstat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", fi, err)
		}
		if content(t, target) != encoded(t, f) {
			t.Error("the link's target was not written")
		}
	}
}

func TestLockLost(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	unlock := mustLock(t, m)
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	other := encoded(t, storetest.File(t, "other", 1, 1))
	path := filepath.Join(dir, DefaultPath)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte(other), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 1)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("writing: %v", err)
	}
	if _, err := m.BeginRun(t.Context(), storetest.File(t, "l", 1, 1), "1.0.0"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("starting a journal: %v", err)
	}
	if content(t, path) != other {
		t.Error("the other file was overwritten")
	}
	unlock()
}

func TestCopyOfInterruptedOverwrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, DefaultPath)
	want := encoded(t, storetest.File(t, "l", 2, 9))
	err := errors.Join(os.WriteFile(path, []byte(want[:40]), 0o600), os.WriteFile(path+copySuffix, []byte(want), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(t, Options{Dir: dir}).Read(t.Context())
	if err != nil || encoded(t, f) != want {
		t.Errorf("Read: got %v, %v, want %s", f, err, want)
	}
	// What is half overwritten may look like a state.
	hybrid := encoded(t, storetest.File(t, "l", 2, 3))
	filetest.Write(t, path, hybrid)
	if f, err := open(t, Options{Dir: dir}).Read(t.Context()); err != nil || encoded(t, f) != want || content(t, path) != hybrid {
		t.Errorf("Read: got %v, %v, and %s in the file, want %s, and still %s in the file", f, err, content(t, path), want, hybrid)
	}
	// Another engine may have stored a state since.
	newer := encoded(t, storetest.File(t, "l", 3, 4))
	for _, other := range []string{newer, encoded(t, storetest.File(t, "k", 1, 4))} {
		filetest.Write(t, path, other)
		if f, err := open(t, Options{Dir: dir}).Read(t.Context()); err != nil || encoded(t, f) != other {
			t.Errorf("Read: got %v, %v, want %s", f, err, other)
		}
	}
	filetest.Write(t, path, hybrid)
	m := open(t, Options{Dir: dir})
	unlock := mustLock(t, m)
	if _, err := m.Read(t.Context()); err != nil || content(t, path) != want || exists(path+copySuffix) {
		t.Errorf("run with the lock: got %v, and %s in the file, want %s and no copy left", err, content(t, path), want)
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 3, 4)); err != nil || content(t, path) != newer || content(t, path+backupSuffix) != want {
		t.Errorf("Write after it: got %v, %s and the backup %s, want %s and the backup %s", err, content(t, path), content(t, path+backupSuffix), newer, want)
	}
	unlock()
	filetest.Write(t, path, want[:40])
	filetest.Write(t, path+copySuffix, want[:50])
	if f, err := open(t, Options{Dir: dir}).Read(t.Context()); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("with a damaged copy: %v, %v", f, err)
	}
}

func TestCorruptNamesBackup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, DefaultPath)
	if err := errors.Join(os.WriteFile(path, []byte(`{"version": 4, "lin`), 0o600), os.WriteFile(path+".backup", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, Options{Dir: dir}).Read(t.Context())
	if !errors.Is(err, state.ErrCorrupt) || !strings.Contains(err.Error(), path+".backup") {
		t.Error(err)
	}
}

// xor is a Cipher for tests.
type xor struct{}

func (xor) flip(b []byte) ([]byte, error) {
	out := bytes.Clone(b)
	for i := range out {
		out[i] ^= 0x5a
	}
	return out, nil
}
func (x xor) Seal(b []byte) ([]byte, error)   { return x.flip(b) }
func (x xor) Unseal(b []byte) ([]byte, error) { return x.flip(b) }
func (xor) CheckPlain() error                 { return nil }

func (x xor) EncryptState(b []byte, _ state.Meta) ([]byte, error) { return x.flip(b) }

func (x xor) DecryptState(b []byte) ([]byte, *state.Meta, error) {
	out, err := x.flip(b)
	return out, nil, err
}

func TestEncryptedFilesShowNothing(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir, Cipher: xor{}})
	base := storetest.File(t, "l", 1, 1)
	if err := m.Write(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	j, err := m.BeginRun(t.Context(), base, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, j, "a", 0, "canary-value")
	for _, name := range names(t, dir) {
		if text := content(t, filepath.Join(dir, name)); strings.Contains(text, "canary") || strings.Contains(text, "object 0") {
			t.Errorf("%s holds text in the clear: %s", name, text)
		}
	}
	f, err := open(t, Options{Dir: dir, Cipher: xor{}}).Read(t.Context())
	if err != nil || !strings.Contains(encoded(t, f), "canary-value") {
		t.Errorf("read %v, %v", f, err)
	}
	if err := os.Remove(filepath.Join(dir, DefaultPath)); err != nil {
		t.Fatal(err)
	}
	if f, err := open(t, Options{Dir: dir}).Read(t.Context()); err == nil {
		t.Errorf("an encrypted journal is read without a key: %v", f)
	}
}

func commit(t *testing.T, j state.Journal, name string, n int, text string) {
	t.Helper()
	a := storetest.Address(name, n)
	id, err := j.Begin(a, "create")
	if err == nil {
		err = j.Commit(id, state.ObjectChange{Object: a, Provider: storetest.Provider, New: storetest.Object(t, text)})
	}
	if err != nil {
		t.Fatal(err)
	}
}
