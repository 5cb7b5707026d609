//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func makePipe(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestStateThatIsNoFile shows that nothing but a regular file is ever replaced by a state, and that this is
// found out before anything is changed.
func TestStateThatIsNoFile(t *testing.T) {
	for name, opts := range map[string]Options{
		"state": {State: "pipe"}, "output": {StateOut: "pipe"}, "link": {State: "link"}, "default": {Path: "pipe"},
		"directory": {StateOut: "dir"}, "backup": {Backup: "dir"}, "piped backup": {Backup: "pipe"}, "backup in nowhere": {Backup: "nowhere/backup"},
	} {
		t.Run(name, func(t *testing.T) {
			opts.Dir = t.TempDir()
			makePipe(t, filepath.Join(opts.Dir, "pipe"))
			err := errors.Join(os.Symlink("pipe", filepath.Join(opts.Dir, "link")), os.Mkdir(filepath.Join(opts.Dir, "dir"), 0o755))
			if err != nil {
				t.Fatal(err)
			}
			before := names(t, opts.Dir)
			m := open(t, opts)
			if err := m.CheckWritable(); err == nil || !strings.Contains(err.Error(), opts.Dir) {
				t.Errorf("check: %v", err)
			}
			if _, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0"); err == nil || !strings.Contains(err.Error(), opts.Dir) {
				t.Errorf("journal: %v", err)
			}
			if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err == nil || !strings.Contains(err.Error(), opts.Dir) {
				t.Errorf("write: %v", err)
			}
			if fi, err := os.Stat(filepath.Join(opts.Dir, "pipe")); err != nil || fi.Mode() != fs.ModeNamedPipe|fi.Mode().Perm() {
				t.Errorf("mode of the pipe: got %v, %v, want it still a pipe", fi.Mode(), err)
			}
			if got := names(t, opts.Dir); strings.Join(got, " ") != strings.Join(before, " ") {
				t.Errorf("folder: got %q, want %q", got, before)
			}
		})
	}
}

// TestPipedState reads a state that comes through a pipe, with its lock, which locks nothing.
func TestPipedState(t *testing.T) {
	dir := t.TempDir()
	makePipe(t, filepath.Join(dir, "pipe"))
	f := storetest.File(t, "l", 1, 2)
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(filepath.Join(dir, "pipe"), []byte(encoded(t, f)), 0) }()
	m := open(t, Options{Dir: dir, State: "pipe"})
	unlock := mustLock(t, m)
	for range 2 {
		if got, err := m.Read(t.Context()); err != nil || encoded(t, got) != encoded(t, f) {
			t.Errorf("Read: got %v, %v, want %s", got, err, encoded(t, f))
		}
	}
	unlock()
	if err := <-written; err != nil || len(names(t, dir)) != 1 {
		t.Errorf("writing to the pipe: got %v, and the folder with %q, want nothing but the pipe", err, names(t, dir))
	}
}

func TestPermissions(t *testing.T) {
	for _, test := range []struct{ state, backup, wantState, wantBackup fs.FileMode }{
		{0o600, 0, 0o600, 0o600},
		{0o644, 0, 0o644, 0o600},
		{0o640, 0o644, 0o640, 0o640},
		{0o600, 0o644, 0o600, 0o600},
		{0o400, 0o644, 0o400, 0o400},
		{0o644, 0o600, 0o644, 0o600},
	} {
		for _, locked := range []bool{true, false} {
			dir := t.TempDir()
			path := filepath.Join(dir, DefaultPath)
			write := func(path string, mode fs.FileMode) {
				if err := errors.Join(os.WriteFile(path, []byte(encoded(t, storetest.File(t, "l", 1, 1))), 0o600), os.Chmod(path, mode)); err != nil {
					t.Fatal(err)
				}
			}
			write(path, test.state)
			if test.backup != 0 {
				write(path+backupSuffix, test.backup)
			}
			m := open(t, Options{Dir: dir})
			if locked {
				id, err := m.Lock(t.Context(), storetest.Info("a"))
				if err != nil {
					continue // for others than root, a file that may not be written cannot be locked
				}
				defer func() { _ = m.Unlock(t.Context(), id) }()
			}
			if err := m.Write(t.Context(), storetest.File(t, "l", 2, 2)); err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]fs.FileMode{path: test.wantState, path + backupSuffix: test.wantBackup} {
				if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != want {
					t.Errorf("%+v, locked %v: got %v, %v for %s, want %v", test, locked, fi.Mode(), err, filepath.Base(path), want)
				}
			}
		}
	}
}

// TestLockInfoIsReplaced shows that what lies under the name of the lock's information is neither written
// through nor waited for.
func TestLockInfoIsReplaced(t *testing.T) {
	for _, kind := range []string{"link", "pipe"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			m := open(t, Options{Dir: dir})
			other := filepath.Join(dir, "other")
			if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
			if kind == "pipe" {
				makePipe(t, m.at.paths.info)
			} else if err := os.Symlink(other, m.at.paths.info); err != nil {
				t.Fatal(err)
			}
			if m.at.holder() != nil {
				t.Error("a pipe or a link to something else names a holder")
			}
			unlock := mustLock(t, m)
			if fi, err := os.Lstat(m.at.paths.info); err != nil || fi.Mode() != 0o600 || content(t, other) != "mine" {
				t.Errorf("lock's info: got %v, %v, and the other file with %q, want permissions -rw-------, and \"mine\"", fi, err, content(t, other))
			}
			if m.at.holder() == nil {
				t.Error("the holder is not known")
			}
			unlock()
		})
	}
}

func TestPipedJournalIsRefused(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	makePipe(t, m.at.paths.journal)
	defer mustLock(t, m)()
	if _, err := m.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Error(err)
	}
}

// TestLinkedStatesShareEverything lets a run die that reached the state through a link in one folder. A run
// that comes through another link, from another folder, must find the lock and the journal.
func TestLinkedStatesShareEverything(t *testing.T) {
	shared, one, two := t.TempDir(), t.TempDir(), t.TempDir()
	target := filepath.Join(shared, "s.tfstate")
	for dir, to := range map[string]string{one: target, two: filepath.Join(one, DefaultPath)} {
		if err := os.Symlink(to, filepath.Join(dir, DefaultPath)); err != nil {
			t.Fatal(err)
		}
	}
	want := interrupted(t, one) // also makes the target, to which the link leads before there is one
	if !exists(target) || !exists(target+journalSuffix) {
		t.Fatalf("the shared folder has %q", names(t, shared))
	}
	m := open(t, Options{Dir: two})
	unlock := mustLock(t, m)
	held := new(store.LockError)
	if _, err := open(t, Options{Dir: one}).Lock(t.Context(), storetest.Info("b")); !errors.As(err, &held) || held.Info == nil || held.Info.Who != "a" {
		t.Errorf("locking through the other link: got %v, want it held by a", err)
	}
	f, err := m.Read(t.Context())
	if err != nil || encoded(t, f) != encoded(t, want) || content(t, target) != encoded(t, want) {
		t.Errorf("Read: got %v, %v, and %s in the target, want %s in both", f, err, content(t, target), encoded(t, want))
	}
	unlock()
	if got := names(t, shared); len(got) != 1 {
		t.Errorf("shared folder: got %q, want the state alone", got)
	}
}
