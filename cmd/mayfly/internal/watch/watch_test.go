package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/watch"
)

func TestBelow(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"a/b/c", "a/.git/objects", ".terraform/modules/m/sub", "d"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("a/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink("..", "a/up") // a system without links has nothing to follow
	for _, c := range []struct{ dirs, want []string }{
		{[]string{"."}, []string{".", "a", "d", "a/b", "a/b/c"}},
		{[]string{"a/b", "a"}, []string{"a/b", "a", "a/b/c"}},
		{[]string{".terraform/modules/m", "gone"}, []string{".terraform/modules/m", "gone", ".terraform/modules/m/sub"}},
		{[]string{"../" + filepath.Base(mustWd(t)) + "/d"}, []string{"../" + filepath.Base(mustWd(t)) + "/d"}},
	} {
		if got := watch.Below(c.dirs); !slices.Equal(got, c.want) {
			t.Errorf("below %q: got %q, want %q", c.dirs, got, c.want)
		}
	}
}

func mustWd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBelowIsBounded checks that a tree of very many directories ends, without its deepest ones.
func TestBelowIsBounded(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 2500 {
		if err := os.MkdirAll(fmt.Sprintf("%d/deep", i), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got := watch.Below([]string{"."})
	if len(got) != 2000 || slices.ContainsFunc(got, func(dir string) bool { return filepath.Base(dir) == "deep" }) {
		t.Errorf("got %d directories, the last is %s, want 2000 without a deep one", len(got), got[len(got)-1])
	}
}
