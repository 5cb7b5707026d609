package safefile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRewrite(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("as root, files that may not be written are written all the same")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("a longer text\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Skip(err)
	}
	if err := Rewrite(link, []byte("new\n")); err != nil {
		t.Fatal(err)
	}
	has := func(path, want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("content of %s: got %q, %v, want %q", path, got, err, want)
		}
	}
	has(path, "new\n")
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("mode: got %v, %v, want 0640", info, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is none any more")
	}
	second := filepath.Join(dir, "b")
	if err := os.Link(path, second); err != nil {
		t.Skip(err)
	}
	if err := Rewrite(path, []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	has(second, "x\n")
	if err := Rewrite(filepath.Join(dir, "missing"), nil); err == nil {
		t.Error("a file that does not exist was rewritten")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("directory: got %v, %v, want 3 entries", entries, err)
	}
}
