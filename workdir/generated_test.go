package workdir

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGeneratedName finds the file that the module reads by whatever path it is named.
func TestGeneratedName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for file, want := range map[string]string{
		"new.tf": "new.tf", "./new.tf": "new.tf", filepath.Join(dir, "new.tf"): "new.tf", filepath.Join("..", filepath.Base(dir), "new.tofu"): "new.tofu",
		"none/new.tf": "new.tf", "new": "new.tf",
	} {
		if got := generatedName(file); got != want {
			t.Errorf("generatedName(%q): got %q, want %q", file, got, want)
		}
	}
	if err := os.WriteFile("new.tf", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := generatedName(filepath.Join(dir, "new.tf")); got != "new.tf" {
		t.Errorf("generatedName of a file that is there: got %q, want new.tf", got)
	}
	if got := generatedName(filepath.Join("none", "new.tf")); got != "generated_new.tf" {
		t.Errorf("generatedName of a file elsewhere: got %q, want generated_new.tf", got)
	}
}
