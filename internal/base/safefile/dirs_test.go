package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMakeDirs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		dir  string
		want []string
	}{
		{"", nil},
		{".", nil},
		{"a", []string{"a"}},
		{"a", nil},
		{filepath.Join("a", "b", "c"), []string{filepath.Join("a", "b"), filepath.Join("a", "b", "c")}},
		{filepath.Join("a", "d") + string(filepath.Separator), []string{filepath.Join("a", "d")}},
	} {
		made, err := MakeDirs(test.dir, 0o700)
		if err != nil || !slices.Equal(made, test.want) {
			t.Errorf("MakeDirs(%q): got %q, %v, want %q", test.dir, made, err, test.want)
		}
		for _, dir := range made {
			if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("%s: got %v, %v, want a directory with the permissions 0700", dir, info, err)
			}
		}
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"file", filepath.Join("file", "below")} {
		if made, err := MakeDirs(dir, 0o700); err == nil || len(made) != 0 {
			t.Errorf("MakeDirs(%s): got %q, %v, want an error, and nothing made", dir, made, err)
		}
	}
}
