package store

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/powercut"
)

// TestPowerCutInNewFolder cuts the power before each system call of the first write to a store whose folder
// does not exist. Once the write has returned, the store can be read with its key.
func TestPowerCutInNewFolder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join("new", "keep")
	cmd := writerCommand(t, "first", filepath.Join(root, folder, "keep.age"), filepath.Join(root, folder, "keep.key"), 1)
	marks := t.TempDir()
	cmd.Args = append(cmd.Args, marks)
	cuts, err := powercut.Watched{Root: root, Done: powercut.Files(marks)}.Cuts(cmd)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, c := range cuts {
		if !c.Has("written") {
			continue
		}
		done++
		left := t.TempDir()
		if err := c.Lay(left); err != nil {
			t.Fatal(err)
		}
		s := newStore(t, Options{Path: filepath.Join(left, folder, "keep.age"), KeyFile: filepath.Join(left, folder, "keep.key")})
		if _, value, err := s.Reveal(t.Context(), "common"); err != nil || string(value) != "first" {
			t.Errorf("%s: got %q, %v, want \"first\"", c.At, value, err)
		}
	}
	if done == 0 || done == len(cuts) {
		t.Errorf("of %d cuts, %d are after the write", len(cuts), done)
	}
}
