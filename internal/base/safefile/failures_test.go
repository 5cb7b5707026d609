package safefile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

// failed runs a writer in which one call on its files fails, counted from 1, or with 0 each. Only those that
// fails selects count. It returns the directory, the call that failed last, which is the zero Call if there
// was none, and whether the writer succeeded.
func (w writer) failed(t *testing.T, name string, at int, fails func(sysfault.Call) bool, errno syscall.Errno) (dir string, struck sysfault.Call, ok bool) {
	t.Helper()
	dir, cmd := w.prepare(t, name)
	var said strings.Builder
	cmd.Stderr = &said
	calls := 0
	err := sysfault.Run(cmd, func(c sysfault.Call) syscall.Errno {
		if !strings.HasPrefix(c.Path, filepath.Join(dir, "root")) || !fails(c) {
			return 0
		}
		if calls++; at > 0 && calls != at {
			return 0
		}
		struck = c
		return errno
	})
	if exit := (*exec.ExitError)(nil); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if strings.Contains(said.String(), leftOpen) {
		t.Errorf("%s: %s fails: %s", name, struck.Name, said.String())
	}
	if strings.Contains(said.String(), "/.file") && struck.Name != "unlink" {
		t.Errorf("%s fails: got an error that names a temporary file: %s, want the name only if it cannot be removed", struck.Name, said.String())
	}
	return dir, struck, err == nil
}

// left returns the content of the file of a writer, "" if it does not exist, and the names beside it that it
// should not have left there.
func (w writer) left(t *testing.T, dir string) (content string, more []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "root"), func(path string, d os.DirEntry, err error) error {
		rel, relErr := filepath.Rel(filepath.Join(dir, "root"), path)
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case d.IsDir() || d.Name() == "file.link":
			return nil
		case filepath.ToSlash(rel) == w.below+"file":
			text, err := os.ReadFile(path)
			content = string(text)
			return err
		}
		more = append(more, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return content, more
}

// TestFailures lets each system call of each function that writes a file fail. After an error, the file is as
// before, and nothing lies beside it.
func TestFailures(t *testing.T) {
	for name, w := range writers {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				dir, call, ok := w.failed(t, name, at, func(sysfault.Call) bool { return true }, syscall.EIO)
				if call.Name == "" {
					if at < 4 {
						t.Errorf("%d calls failed", at-1)
					}
					return
				}
				what := fmt.Sprintf("%s %s fails", call.Name, filepath.Base(call.Path))
				content, more := w.left(t, dir)
				switch {
				case ok && content != newContent:
					t.Errorf("%s: no error, and the file has %q", what, content)
				case !ok && w.fresh && content != "" && name != "Save by a link" || !ok && !w.fresh && content != oldContent && !w.parts:
					// When only the names could not be made durable, the new content is in place.
					if call.Name != "fsync" || !strings.HasSuffix(call.Path, "root") || content != newContent || w.fresh {
						t.Errorf("%s: got an error, and the content %q, want the old content, or the new one with names that are not durable", what, content)
					}
				}
				if len(more) > 0 && call.Name != "unlink" {
					t.Errorf("%s: got %q left behind, want nothing", what, more)
				}
			}
		})
	}
}

// TestNamesThatCannotBeSynchronized lets the synchronization of a directory fail. That is accepted only where
// the file system has no such thing.
func TestNamesThatCannotBeSynchronized(t *testing.T) {
	for errno, want := range map[syscall.Errno]bool{syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.EIO: false, syscall.ENOSPC: false} {
		for name, w := range writers {
			ofDir := func(c sysfault.Call) bool {
				return c.Name == "fsync" && !strings.Contains(filepath.Base(c.Path), "file")
			}
			if _, call, ok := w.failed(t, name, 1, ofDir, errno); call.Name != "" && ok != want {
				t.Errorf("%s, and the synchronization fails with %s: got success %t, want %t", name, errno, ok, want)
			}
		}
	}
}

// TestWithoutLinks creates a file on a file system that has no links.
func TestWithoutLinks(t *testing.T) {
	w := writers["CreatePrivate"]
	dir, call, ok := w.failed(t, "CreatePrivate", 0, func(c sysfault.Call) bool { return c.Name == "link" }, syscall.EPERM)
	if content, more := w.left(t, dir); !ok || call.Name != "link" || content != newContent || len(more) > 0 {
		t.Errorf("CreatePrivate without links: got success %t, the content %q and %q beside it, want success, the new content and nothing beside it", ok, content, more)
	}
	w.fresh = false
	dir, _, ok = w.failed(t, "CreatePrivate", 0, func(c sysfault.Call) bool { return c.Name == "link" }, syscall.EPERM)
	if content, _ := w.left(t, dir); ok || content != oldContent {
		t.Errorf("%v: the file that exists has %q, want %q", ok, content, oldContent)
	}
}

// TestOtherWays lets calls fail that are not the only way to write the file.
func TestOtherWays(t *testing.T) {
	for _, test := range []struct {
		name, call, of, want string
		errno                syscall.Errno
	}{
		{"Save", "rename", "file", newContent, syscall.EBUSY},        // the file is mounted
		{"Save", "open", ".tmp", newContent, syscall.EACCES},         // the directory is not writable
		{"Rewrite", "fchown", "file", newContent, syscall.EPERM},     // the file belongs to someone else
		{"Create", "fchmod", "file", newContent, syscall.EPERM},      // the same, and it is not private
		{"Append", "fchmod", "file", newContent, syscall.EPERM},      // it cannot be kept then
		{"Create", "fchmod", "file", newContent, syscall.ENOTSUP},    // the file system has no permissions
		{"Append", "none", "", oldContent + newContent, syscall.EIO}, // nothing fails
	} {
		w, ok := writers[test.name]
		if !ok {
			w = openers[test.name]
		}
		dir, call, ok := w.failed(t, test.name, 0, func(c sysfault.Call) bool {
			return c.Name == test.call && strings.Contains(filepath.Base(c.Path), test.of)
		}, test.errno)
		what := fmt.Sprintf("%s, and %s fails with %s", test.name, test.call, test.errno)
		if call.Name == "" && test.call != "none" {
			t.Errorf("%s: got no such call (%v), want %s called", what, call, test.call)
		}
		if content, more := w.left(t, dir); !ok || content != test.want || len(more) > 0 {
			t.Errorf("%s: got success %t, the content %q and %q beside it, want success, %q and nothing beside it", what, ok, content, more, test.want)
		}
		if info, err := os.Stat(filepath.Join(dir, "root", "file")); err != nil || info.Mode() != private {
			t.Errorf("%s: got the file %v, %v, want the mode %v", what, info, err, private)
		}
	}
}

// TestTruncationFails leaves the file as it was.
func TestTruncationFails(t *testing.T) {
	w := writers["Create"]
	if w.write == nil {
		w = openers["Create"]
	}
	dir, call, ok := w.failed(t, "Create", 0, func(c sysfault.Call) bool { return c.Name == "ftruncate" }, syscall.EIO)
	if content, more := w.left(t, dir); call.Name == "" || ok || content != oldContent || len(more) > 0 {
		t.Errorf("ftruncate fails (%v): got success %t, the content %q and %q beside it, want a failure, the old content and nothing beside it", call, ok, content, more)
	}
}
