package mayfly_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKeepInProject applies a project that is elsewhere than the process: the store that no path is given for
// is made beside the configuration, and nothing in the process's directory.
func TestKeepInProject(t *testing.T) {
	const config = `
resource "keep_note" "n" {
  name = "n"
  text = "t"
}

terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}
`
	for _, name := range []string{"KEEP_PATH", "KEEP_KEY_FILE", "KEEP_PASSPHRASE"} {
		t.Setenv(name, "")
	}
	parent := t.TempDir()
	process, project := filepath.Join(parent, "process"), filepath.Join(parent, "project")
	for _, dir := range []string{process, project} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(process)
	if err := os.WriteFile(filepath.Join(project, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := apply(t.Context(), filepath.Join("..", "project")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"keep.age", "keep.age.key"} {
		if _, err := os.Stat(filepath.Join(project, name)); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(process); err != nil || len(left) > 0 {
		t.Errorf("in the process's directory: %v, %v", left, err)
	}
}
