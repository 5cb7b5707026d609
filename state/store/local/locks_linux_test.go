package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestLocksOfOthers finds files that another process has locked. A lock of another open file stands for it.
func TestLocksOfOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	filetest.Write(t, path, "content")
	other, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = tryLock(other)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	before := descriptors(t)
	if _, err := locks.lock(path); !errors.Is(err, errHeld) {
		t.Errorf("locking: %v", err)
	}
	if _, err := locks.take(path); !errors.Is(err, errHeld) {
		t.Errorf("taking: %v", err)
	}
	if after := descriptors(t); !slices.Equal(before, after) {
		t.Errorf("left open: %q, before: got %q, want %q", after, before, after)
	}
	created := filepath.Join(dir, "created")
	f, err := locks.create(created)
	if err != nil {
		t.Fatal(err)
	}
	if free(t, created) {
		t.Error("a new file is not locked")
	}
	if err := locks.close(f); err != nil || !free(t, created) {
		t.Errorf("a file that was closed is locked: %v", err)
	}
}

// TestLockedFilesAreOpenedOnce reads and locks files that this process has locked, where no more files can be
// opened: on other systems, closing a second descriptor would release the lock.
func TestLockedFilesAreOpenedOnce(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"locked", "taken", "new"} {
		filetest.Write(t, at(name), name)
	}
	h, err := locks.lock(at("locked"))
	taken, takenErr := locks.take(at("taken"))
	created, createdErr := locks.create(at("created"))
	adopted, adoptedErr := os.OpenFile(at("new"), os.O_RDWR, 0)
	if err := errors.Join(err, takenErr, createdErr, adoptedErr); err != nil {
		t.Fatal(err)
	}
	locks.adopt(h, adopted)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what other tests have forgotten
	runtime.GC()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Skip(err)
	}
	few := unix.Rlimit{Cur: 256, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Skip(err)
	}
	var fill []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		fill = append(fill, f)
	}
	got, read := map[string][]error{}, map[string]string{}
	for _, name := range []string{"locked", "taken", "created", "new"} {
		_, lockErr := locks.lock(at(name))
		_, takeErr := locks.take(at(name))
		text, readErr := locks.read(at(name))
		got[name], read[name] = []error{lockErr, takeErr, readErr}, string(text)
	}
	for _, f := range fill {
		f.Close()
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	for name, errs := range got {
		if errs[0] != errHeld || errs[1] != errHeld || errs[2] != nil || read[name] != name && name != "created" {
			t.Errorf("%s: got %v, and %q read, want it held twice, then free, and its own content", name, errs, read[name])
		}
	}
	if err := errors.Join(locks.unlock(h, at("new")), locks.close(taken), locks.remove(at("created"), created)); err != nil {
		t.Error(err)
	}
}

// TestOnlyOwnFilesAreRemoved replaces files of a run by those of another one, before the run removes them.
func TestOnlyOwnFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	state, journal := filepath.Join(dir, "a", "b", "state"), filepath.Join(dir, "journal")
	h, err := locks.lock(state) // which makes its directories
	f, createErr := locks.create(journal)
	if err := errors.Join(err, createErr); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{state, journal} {
		filetest.Write(t, path+".other", "")
		if err := os.Rename(path+".other", path); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(locks.unlock(h, state), locks.remove(journal, f)); err != nil {
		t.Error(err)
	}
	for _, path := range []string{state, journal} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestInformationThatCannotBeWritten finds a directory in place of the information about the lock.
func TestInformationThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	m := open(t, Options{Dir: dir})
	filetest.Write(t, filepath.Join(m.at.paths.info, "file"), "")
	if _, err := m.Lock(t.Context(), storetest.Info("x")); err == nil {
		t.Error("the state is locked")
	}
	if left := names(t, dir); !slices.Equal(left, []string{filepath.Base(m.at.paths.info)}) {
		t.Errorf("files left behind: got %q, want %s alone", left, filepath.Base(m.at.paths.info))
	}
	if _, err := os.Stat(m.at.paths.write); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestOpeningsThatCannotBeRecorded goes on without a record, and says so at the end, once.
func TestOpeningsThatCannotBeRecorded(t *testing.T) {
	o := NewOpenings("/proc/self") // where the system creates all files
	for range 2 {
		id := opening(t, o, "x")
		if err := o.Closed(id); id != 0 || err != nil {
			t.Errorf("recorded as: got %d, want 0: %v", id, err)
		}
	}
	if err := o.Close(); err == nil {
		t.Error("no error")
	}
	if err := o.Close(); err != nil {
		t.Errorf("the error is told twice: %v", err)
	}
}

// TestFollow follows links to files and pipes, and not the names of open pipes.
func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	makePipe(t, at("pipe"))
	filetest.Write(t, at("sub/file"), "")
	r, w, err := os.Pipe()
	if err := errors.Join(err, os.Symlink("sub/file", at("relative")), os.Symlink(at("relative"), at("absolute")), os.Symlink("pipe", at("link"))); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	open := fmt.Sprintf("/dev/fd/%d", r.Fd())
	for path, want := range map[string]string{at("relative"): at("sub/file"), at("absolute"): at("sub/file"), at("link"): at("pipe"), at("none"): at("none"), open: open} {
		if got := follow(path); got != want && path != open || path == open && !isStream(got) {
			t.Errorf("follow(%s): got %s, want %s", path, got, want)
		}
	}
}

func TestWriteDevice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	filetest.Write(t, path, "")
	before := descriptors(t)
	if err := writeDevice(path, []byte("text")); err != nil || content(t, path) != "text" {
		t.Errorf("writeDevice: got %q, %v, want \"text\"", content(t, path), err)
	}
	if err := writeDevice("/dev/full", []byte("text")); err == nil {
		t.Error("a full device is no error")
	}
	if after := descriptors(t); !slices.Equal(before, after) {
		t.Errorf("left open: %q, before: got %q, want %q", after, before, after)
	}
	if err := open(t, Options{Dir: t.TempDir(), Backup: os.DevNull}).CheckWritable(); err != nil {
		t.Error(err)
	}
}

// TestReserveTooMuch asks for more room than any disk has.
func TestReserveTooMuch(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n, ok := range map[int64]bool{4096: true, 1 << 43: false, 1<<63 - 1: false} {
		if err := reserve(f, 0, n); (err == nil) != ok {
			t.Errorf("reserve(%d bytes): got %v, want success %t", n, err, ok)
		}
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("size of the file: got %d, %v, want 0", info.Size(), err)
	}
}
