package place

import (
	"os"
	"path/filepath"
	"testing"
)

func TestName(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "repo", "env", "prod"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "repo", "env", "prod"))
	if got := Name(); got != "prod" {
		t.Errorf("outside of a repository: %q", got)
	}
	if err := os.Mkdir(filepath.Join(dir, "repo", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Name(); got != "repo/env/prod" {
		t.Errorf("in a repository: %q", got)
	}
}
