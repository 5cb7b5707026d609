// Package filetest writes the files that tests begin with, and copies them.
//
// It imports the standard library only. It must not know the use of the files.
package filetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Write writes a file that only its owner may read, with the directories above it. The test ends if that
// fails.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Lay writes files below dir, by their paths with slashes.
func Lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
}

// Tree writes files below a new directory, which goes with the test, and returns it.
func Tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	Lay(t, dir, files)
	return dir
}

// Sources copies the hand-written files of a configuration to a new directory, which goes with the test, and
// returns it: files of the configuration, of values and of Go, each changed by change. Files that runs in the
// tree have left there are not copied, nor are others.
func Sources(t testing.TB, from string, change func(text string) string) string {
	t.Helper()
	dir, found := t.TempDir(), 0
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != from:
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".tf", ".tfvars", ".go"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		Write(t, filepath.Join(dir, rel), change(string(text)))
		found++
		return err
	})
	if err != nil || found == 0 {
		t.Fatalf("%s: %d files: %v", from, found, err)
	}
	return dir
}
