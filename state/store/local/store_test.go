package local

import (
	"crypto/sha256"
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

// TestWorkspaceDirectories makes, lists and removes workspaces beside other things.
func TestWorkspaceDirectories(t *testing.T) {
	for _, opts := range []Options{{}, {WorkspaceDir: "spaces/of"}, {WorkspaceDir: filepath.Join(t.TempDir(), "absolute")}} {
		opts.Dir = t.TempDir()
		dir := opts.WorkspaceDir
		if dir == "" {
			dir = DefaultWorkspaceDir
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(opts.Dir, dir)
		}
		s := New(opts)
		list := func(want ...string) {
			t.Helper()
			if got, err := s.Workspaces(t.Context()); err != nil || !slices.Equal(got, append([]string{store.DefaultWorkspace}, want...)) {
				t.Errorf("Workspaces: got %q, %v, want default and %q", got, err, want)
			}
		}
		list()
		if err := s.CreateWorkspace(t.Context(), store.DefaultWorkspace); !errors.Is(err, store.ErrWorkspaceExists) || exists(dir) {
			t.Errorf("creating the workspace that is always there: %v", err)
		}
		for _, name := range []string{"b", "a", "ab"} {
			if err := s.CreateWorkspace(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		filetest.Write(t, filepath.Join(dir, "file"), "")
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "not valid"), 0o700), os.Mkdir(filepath.Join(dir, store.DefaultWorkspace), 0o700)); err != nil {
			t.Fatal(err)
		}
		list("a", "ab", "b")
		for name, want := range map[string]error{"a": store.ErrWorkspaceExists, store.DefaultWorkspace: store.ErrWorkspaceExists, "../x": nil} {
			if err := s.CreateWorkspace(t.Context(), name); err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("creating %q: %v", name, err)
			}
		}
		m, err := s.Manager("a")
		if err == nil {
			err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
		}
		if _, other := s.Manager("../x"); err != nil || other == nil || !exists(filepath.Join(dir, "a", DefaultPath)) {
			t.Errorf("%v, and a manager of a name that is not valid: %v", err, other)
		}
		if m, err = s.Manager("b"); err == nil {
			err = m.Write(t.Context(), storetest.File(t, "l", 1, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, filepath.Join(opts.Dir, "x", DefaultPath), "")
		for name, want := range map[string]error{"a": store.ErrNotEmpty, "none": store.ErrNoWorkspace, store.DefaultWorkspace: store.ErrDefault, "../x": nil, "../../x": nil} {
			if err := s.DeleteWorkspace(t.Context(), name, false); err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("deleting %q: %v", name, err)
			}
		}
		for name, force := range map[string]bool{"a": true, "b": false} {
			if err := s.DeleteWorkspace(t.Context(), name, force); err != nil {
				t.Errorf("deleting %q: %v", name, err)
			}
		}
		list("ab")
		if !exists(filepath.Join(opts.Dir, "x", DefaultPath)) {
			t.Error("what is in another directory was removed")
		}
	}
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, DefaultWorkspaceDir), "")
	if got, err := New(Options{Dir: dir}).Workspaces(t.Context()); err == nil {
		t.Errorf("a file in place of the directory has the workspaces %q", got)
	}
}

// TestNamesOfALinkedState has the files beside a state that a link leads to, and the backup beside the link.
func TestNamesOfALinkedState(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	filetest.Write(t, at("real/state"), "")
	if err := os.Symlink(at("real/state"), at("link")); err != nil {
		t.Skip(err)
	}
	got := open(t, Options{Dir: dir, Path: "link", Stamp: "123"}).at.paths
	want := paths{
		read: at("real/state"), write: at("real/state"), backup: at("link.123.backup"), journal: at("real/state.journal"),
		info: at("real/.state.lock.info"), infoByName: at(".link.lock.info"),
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestFoldedBeforeReplaced looks at the journal of an interrupted run, whose last write was cut off, when the
// state is about to be replaced: it names the new state, durably.
func TestFoldedBeforeReplaced(t *testing.T) {
	for _, broken := range []string{"", "write", "sync"} {
		dir := t.TempDir()
		interrupted(t, dir)
		path := filepath.Join(dir, DefaultPath)
		journal := path + journalSuffix
		filetest.Write(t, journal, content(t, journal)+"12345678 000000ff [{\"begin\"")
		before := content(t, path)
		s := New(Options{Dir: dir, Backup: noBackup})
		synced, replaced := "", false
		fails := func(f *os.File, how string) error {
			if f.Name() == journal && how == broken {
				return errors.New("broken")
			}
			return nil
		}
		s.disk.writeAt = func(f *os.File, b []byte, off int64) (int, error) {
			if err := fails(f, "write"); err != nil {
				return 0, err
			}
			return f.WriteAt(b, off)
		}
		s.disk.sync = func(f *os.File) error {
			if f.Name() == journal {
				synced = content(t, journal)
			}
			return errors.Join(fails(f, "sync"), f.Sync())
		}
		s.disk.rename = func(from, to string) error {
			if to == path && !replaced {
				replaced = true
				j, err := state.ParseJournal([]byte(synced), nil)
				if err != nil || j.Torn || j.Folded == nil || j.Folded.Sum != sha256.Sum256([]byte(content(t, from))) {
					t.Errorf("journal: got %q, %v, want it whole, with the sum of the folded state", synced, err)
				}
			}
			return os.Rename(from, to)
		}
		got, err := s.Manager(store.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		unlock := mustLock(t, got.(*Manager))
		f, err := got.Read(t.Context())
		if ok := broken == ""; (err == nil) != ok || (f != nil) != ok || replaced != ok || exists(journal) == ok || (content(t, path) == before) == ok {
			t.Errorf("%q fails: got %v, %v, the state replaced: %v, want success %t, with the journal kept otherwise", broken, f, err, replaced, ok)
		}
		unlock()
	}
}
