package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// descriptors returns those that the process has open.
func descriptors(t *testing.T) []string {
	t.Helper()
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(0)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestDescriptorsAreClosed calls every function, with and without success, and counts what is left open.
func TestDescriptorsAreClosed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what was forgotten
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	closing := func(open func(string) (*os.File, error)) func(string) error {
		return func(path string) error {
			f, err := open(path)
			if err == nil {
				err = f.Close()
			}
			return err
		}
	}
	readers := map[string]func(path string) error{
		"Open":        closing(Open),
		"Read":        func(path string) error { _, err := Read(path, 100); return err },
		"Read little": func(path string) error { _, err := Read(path, 2); return err },
	}
	calls := map[string]func(path string) error{
		"Create": closing(Create), "Append": closing(Append), "CheckWritable": CheckWritable,
		"Replaceable": func(path string) error { _, err := Replaceable(path); return err },
		"SyncDir":     SyncDir,
	}
	for name, w := range writers {
		calls[name] = w.write
	}
	check := func(name, path string, call func(string) error) {
		t.Helper()
		before := descriptors(t)
		_ = call(path)
		if after := descriptors(t); !slices.Equal(before, after) {
			t.Errorf("%s of %s leaves open: %q, before: got %q, want %q", name, path, after, before, after)
		}
	}
	file := filepath.Join(dir, "first")
	if err := CreateNew(file, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file, 100); err != nil { // what is opened once and kept is open now
		t.Fatal(err)
	}
	for name, call := range readers {
		for _, path := range []string{file, pipe, dir, filepath.Join(dir, "none"), os.DevNull, "/dev/zero"} {
			check(name, path, call)
		}
	}
	for name, call := range calls {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		old, link := filepath.Join(at, "old"), filepath.Join(at, "new.link")
		if err := errors.Join(os.WriteFile(old, []byte("content"), 0o644), os.Symlink("new", link), os.Link(old, filepath.Join(at, "alias"))); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{old, link, filepath.Join(at, "new"), filepath.Join(at, "none", "file"), at} {
			check(name, path, call)
		}
	}
}
