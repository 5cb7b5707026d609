package filetest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSources leaves out what a run leaves in the tree.
func TestSources(t *testing.T) {
	example := t.TempDir()
	files := map[string]string{
		"main.tf": "m", "mod/mod.tf": "n", "a.tfvars": "a", "README.md": "r", "keep.age": "k", "terraform.tfstate": "s",
		"terraform.tfstate.d/x/terraform.tfstate": "t", ".terraform/modules/a/main.tf": "u", ".terraform.lock.hcl": "l",
	}
	Lay(t, example, files)
	for name, text := range files {
		files[name] = strings.ToUpper(text)
	}
	maps.DeleteFunc(files, func(name, _ string) bool {
		return !slices.Contains([]string{"main.tf", "mod/mod.tf", "a.tfvars"}, name)
	})
	copied, got := Sources(t, example, strings.ToUpper), map[string]string{}
	err := fs.WalkDir(os.DirFS(copied), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(copied, path))
		got[path] = string(text)
		return err
	})
	if diff := cmp.Diff(files, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
