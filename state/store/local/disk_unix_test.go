//go:build unix

package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestFailedWriteLeavesNothing replaces a file on disks on which a step fails. The file then has its old
// content, or the new one in full, and nothing lies beside it.
func TestFailedWriteLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	ways := map[string]func(d *disk, path string){
		"no write": func(d *disk, _ string) {
			d.writeAt = func(*os.File, []byte, int64) (int, error) { return 0, broken }
		},
		"no sync":   func(d *disk, _ string) { d.sync = func(*os.File) error { return broken } },
		"no rename": func(d *disk, _ string) { d.rename = func(string, string) error { return broken } },
		"no link":   func(d *disk, _ string) { d.link = func(string, string) error { return broken } },
		"no second rename": func(d *disk, path string) {
			d.rename = func(from, to string) error {
				if from == path+keepSuffix {
					return broken
				}
				return os.Rename(from, to)
			}
		},
		"no rename over what is open": func(d *disk, path string) {
			d.swap, d.rename = false, func(from, to string) error {
				if to == path {
					return broken
				}
				return os.Rename(from, to)
			}
		},
		"no rename at all": func(d *disk, _ string) {
			d.swap, d.rename = false, func(string, string) error { return broken }
		},
	}
	succeeds := map[string][]string{"replace": {"no link", "no second rename"}, "replaceHeld": {"no link", "no second rename", "no rename over what is open"}}
	for name, way := range ways {
		for what, write := range map[string]func(d disk, path string) error{
			"replace": func(d disk, path string) error { return d.replace(path, []byte("new"), 0o600) },
			"replaceHeld": func(d disk, path string) error {
				h, err := locks.lock(path)
				if err != nil {
					return err
				}
				err = d.replaceHeld(path, []byte("new"), h)
				if !sameFile(path, h.current()) || free(t, path) {
					t.Errorf("%s: the state file is not locked", name)
				}
				return errors.Join(err, locks.unlock(h, path))
			},
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "state")
			filetest.Write(t, path, "the old state")
			d := systemDisk
			way(&d, path)
			err := write(d, path)
			want, ok := "the old state", slices.Contains(succeeds[what], name)
			if ok {
				want = "new"
			}
			if (err == nil) != ok || content(t, path) != want {
				t.Errorf("%s, %s: got %v and the content %q, want success %t and %q", what, name, err, content(t, path), ok, want)
			}
			if left := names(t, dir); !slices.Equal(left, []string{"state"}) {
				t.Errorf("%s, %s: left behind: got %q, want %q", what, name, left, []string{"state"})
			}
		}
	}
}

// free reports whether another process could lock a file.
func free(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return tryLock(f) == nil
}

// TestSecondNameIsTaken finds a directory where the second name of the state is to be: nothing is changed.
func TestSecondNameIsTaken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	filetest.Write(t, path, "the old state")
	filetest.Write(t, filepath.Join(path+keepSuffix, "file"), "")
	h, err := locks.lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := systemDisk.replaceHeld(path, []byte("new"), h); err == nil {
		t.Error("no error")
	}
	if err := locks.unlock(h, path); err != nil {
		t.Error(err)
	}
	if left := names(t, dir); content(t, path) != "the old state" || !slices.Equal(left, []string{"state", "state" + keepSuffix}) {
		t.Errorf("got the content %q and the files %q, want \"the old state\", and the new one kept beside it", content(t, path), left)
	}
}

// TestBackupToWhatIsThere follows a link, and writes to a device directly. The disk of the second case would
// notice a file beside the device.
func TestBackupToWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "other", "file")
	filetest.Write(t, file, "old")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := systemDisk.backUp(link, []byte("new"), file); err != nil || content(t, file) != "new" {
		t.Errorf("backUp to %s: got %q, %v, want \"new\"", file, content(t, file), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is none any more")
	}
	d := systemDisk
	d.writeAt = func(*os.File, []byte, int64) (int, error) { return 0, errors.New("a file is written") }
	if err := d.backUp(os.DevNull, []byte("new"), file); err != nil {
		t.Errorf("a backup to the null device: %v", err)
	}
}
