package funcs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestOncePerDepthFindsTheSame compares what patterns of all kinds of segments find with what is found for
// what they are reduced to.
func TestOncePerDepthFindsTheSame(t *testing.T) {
	tree := fstest.MapFS{}
	for _, name := range []string{"a", "b", "d/a", "d/b", "d/e/a", "d/e/ab", "d/e/f/b", "a.d/a", "**/b", "**/d/a", "d/**/a"} {
		tree[name] = &fstest.MapFile{}
	}
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.SampledFrom([]string{"**", "**", "*", "a", "b", "d", "e", "a**", "{a,d}", "{**", "b}", "[ab]", `\**`}), 1, 5).Draw(t, "segments")
		pattern := strings.Join(segments, "/")
		before, err := doublestar.Glob(tree, pattern, doublestar.WithFilesOnly())
		if err != nil {
			return
		}
		after, err := doublestar.Glob(tree, oncePerDepth(pattern), doublestar.WithFilesOnly())
		slices.Sort(before)
		slices.Sort(after)
		if before, after = slices.Compact(before), slices.Compact(after); err != nil || !slices.Equal(before, after) {
			t.Errorf("glob(%q): got %q, %v, want as with %q: %q", oncePerDepth(pattern), after, err, pattern, before)
		}
	})
}

// deep is a tree in which each ** that is tried for itself multiplies the work.
func deep(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, filepath.Join(slices.Repeat([]string{"d"}, 60)...), "z"), "")
	return dir
}

func TestStarsInARowAreOne(t *testing.T) {
	dir := deep(t)
	f := files{base: dir}
	for _, pattern := range []string{"**/z", "**/**/**/**/**/**/**/**/z", "d/**/**/**/**/**/**/**/z"} {
		got, err := f.glob(dir, pattern)
		if err != nil || len(got) != 1 {
			t.Errorf("glob(%s): got %v, %v, want one file", pattern, got, err)
		}
	}
}

// TestFilesetIsBounded has directories that lead back to themselves in two ways, which are 2^40 paths.
func TestFilesetIsBounded(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.Symlink(".", filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	s := &search{fsys: os.DirFS(dir), left: 10_000}
	err := doublestar.GlobWalk(s, "**/z", func(string, os.DirEntry) error { return nil })
	if err != nil || s.over == nil || !strings.Contains(s.over.Error(), "files and directories to look at") {
		t.Errorf("%v, %v", err, s.over)
	}
	interrupted := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(interrupted) })
	if _, err := (files{base: dir, interrupted: interrupted}).glob(dir, "**/z"); !errors.Is(err, bounds.ErrInterrupted) {
		t.Errorf("not interrupted: %v", err)
	}
}

func TestHashOfAFileIsInterrupted(t *testing.T) {
	dir := filetest.Tree(t, map[string]string{"f": "x"})
	interrupted := make(chan struct{})
	close(interrupted)
	_, err := evalIn(t, Options{BaseDir: dir, Interrupted: interrupted}, `filesha256("f")`)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
}
