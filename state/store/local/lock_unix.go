//go:build unix

package local

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the same lock as other engines: an exclusive record lock on the whole file. It lasts until
// f is closed. It does not wait, and returns errHeld if another process has the lock.
func tryLock(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), setLock, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errHeld
	}
	return err
}

// canReplaceOpen reports whether an open file can be replaced by a rename.
const canReplaceOpen = true
