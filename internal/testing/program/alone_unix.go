//go:build linux || darwin

package program

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// alone waits until no other process is between a call of alone and one of the function that it returns, for
// the same copy of the module. The lock is on the module's directory, which needs no file, and ends with the
// process. It saves time only: where there can be none, nothing waits.
func alone() (release func()) {
	f, err := os.Open(moduleDir())
	if err != nil {
		return func() {}
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	return func() { _ = f.Close() }
}

// moduleDir returns the directory of the module that the tests are of; the root of all files if they are of
// none.
func moduleDir() string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
