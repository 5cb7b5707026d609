package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestReason looks for the names of files in texts that must not have them.
func TestReason(t *testing.T) {
	const name = "name-that-is-secret"
	path := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	link := &os.LinkError{Op: "rename", Old: name, New: name, Err: fs.ErrPermission}
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("something else"), "something else"},
		{path, fs.ErrNotExist.Error()},
		{link, fs.ErrPermission.Error()},
		{fmt.Errorf("copying %s: %w", name, path), fs.ErrNotExist.Error()},
		{&fs.PathError{Op: "read", Path: name, Err: link}, fs.ErrPermission.Error()},
		{&os.LinkError{Op: "link", Old: name, New: name, Err: path}, fs.ErrNotExist.Error()},
		{unsuitable(name, fs.ModeNamedPipe), "it is a named pipe, not a regular file"},
	} {
		if got := Reason(test.err); got != test.want || strings.Contains(got, name) {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}
