// Package filetest writes the files that tests begin with.
//
// It imports the standard library only. It must not know what the files are for.
package filetest

import (
	"os"
	"path/filepath"
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
