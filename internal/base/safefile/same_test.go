package safefile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSameFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, err := range []error{
		os.WriteFile("a", nil, 0o600), os.WriteFile("b", nil, 0o600), os.Link("a", "hard"), os.Symlink("a", "soft"),
		os.Symlink("new", "dangling"), os.Mkdir("sub", 0o700), os.Symlink("sub", "alias"),
		os.Symlink("fresh", filepath.Join("sub", "link")), os.Symlink(filepath.Join(dir, "fresh"), "absolute"),
	} {
		if err != nil {
			t.Skip("the file system has no links: ", err)
		}
	}
	tests := []struct {
		a, b string
		want bool
	}{
		{"", "", false},
		{"a", "", false},
		{".", "", false},
		{"a", "b", false},
		{"a", "new", false},
		{"a", "./sub/../a", true},
		{"a", filepath.Join(dir, "a"), true},
		{"a", "hard", true},
		{"a", "soft", true},
		{"new", "./new", true},
		{"new", filepath.Join(dir, "new"), true},
		{"new", "dangling", true},
		{"sub/new", "alias/new", true},
		{"sub/link", "sub/fresh", true},
		{"sub/link", "fresh", false},
		{"absolute", "fresh", true},
		{"new", "sub/new", false},
		{"absent/new", "absent/new", true},
		{"absent/new", "new", false},
		{os.DevNull, os.DevNull, false},
	}
	for _, test := range tests {
		if got := Same(test.a, test.b); got != test.want {
			t.Errorf("Same(%q, %q): got %v, want %v", test.a, test.b, got, test.want)
		}
		if got := Same(test.b, test.a); got != test.want {
			t.Errorf("Same(%q, %q): got %v, want %v", test.b, test.a, got, test.want)
		}
	}
}
