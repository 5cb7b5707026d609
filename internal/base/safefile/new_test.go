//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestNewFiles(t *testing.T) {
	for name, create := range map[string]func(string, []byte) error{
		"CreatePrivate": CreatePrivate,
		"CreateNew":     func(path string, content []byte) error { return CreateNew(path, content, 0o600) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "new")
		if err := create(path, []byte("first")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := create(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s of a file that exists: %v", name, err)
		}
		if err := create(filepath.Join(dir, "none", "new"), nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s in no directory: %v", name, err)
		}
		holds(t, path, "first")
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: got %v, %v in the directory, want the file alone", name, entries, err)
		}
	}
}

// holds checks that a file is private and has a content.
func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("content of %s: got %q, %v, want %q", path, got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode of %s: got %v, %v, want 0600", path, info, err)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("old"), []byte("a longer text"), 0o644), os.Symlink("old", at("link")), os.Symlink("other", at("dangling")))
	if err != nil {
		t.Skip(err)
	}
	for given, file := range map[string]string{"link": "old", "dangling": "other", "new": "new"} {
		if err := Save(at(given), []byte("content")); err != nil {
			t.Error(err)
		}
		holds(t, at(file), "content")
	}
	for _, link := range []string{"link", "dangling"} {
		if info, err := os.Lstat(at(link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	if err := Save(os.DevNull, []byte("content")); err != nil {
		t.Error(err)
	}
	if err := Save(at("none/new"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file in no directory: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
		t.Errorf("directory: got %v, %v, want 5 entries", entries, err)
	}
}
