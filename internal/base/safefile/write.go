package safefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// private are the permissions of a file that only its owner may read.
const private fs.FileMode = 0o600

// Create opens a file, new or truncated, for writing possibly secret data. A regular file is made private to
// its owner, even if it existed and others could read it. Anything else, such as a pipe or a terminal, is
// opened as it is. It waits for the duration of patience for a reader of a named pipe, and fails with
// ErrNoReader if there is none. Other errors are as in os.OpenFile.
func Create(path string) (*os.File, error) {
	f, err := openPrivate(path, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() {
		if err = errors.Join(err, f.Truncate(0)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Append is Create for a file whose content is kept and extended.
func Append(path string) (*os.File, error) { return openPrivate(path, os.O_APPEND) }

// CheckWritable returns an error if Create would fail for a reason that can be detected beforehand: path is a
// directory, its directory does not exist, or permissions are missing. It leaves nothing behind. It does not
// open pipes, because their reader would then see the end of the file.
func CheckWritable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil // a link to a file that does not exist yet
		}
		f, err := Temp(path)
		if err != nil {
			return withPath(path, err)
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&fs.ModeSocket != 0:
		return &fs.PathError{Op: "write", Path: path, Err: unsuitableError(Kind(info.Mode()))}
	case !info.Mode().IsRegular():
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// withPath returns an error about a temporary file as one about the file that is to be made.
func withPath(path string, err error) error {
	var about *fs.PathError
	var rename *os.LinkError
	switch {
	case errors.As(err, &about):
		return &fs.PathError{Op: about.Op, Path: path, Err: about.Err}
	case errors.As(err, &rename):
		return &fs.PathError{Op: "write", Path: path, Err: rename.Err}
	}
	return err
}

// ErrNoReader is wrapped by errors about pipes without a reader.
var ErrNoReader = errors.New("it is a named pipe that nothing reads")

// openPipe opens a named pipe to write. Without a time limit, opening would wait for a reader forever.
func openPipe(path string) (*os.File, error) {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		switch {
		case err == nil:
			return f, block(f)
		case !errors.Is(err, syscall.ENXIO):
			return nil, err
		case time.Since(begin) >= patience:
			return nil, &fs.PathError{Op: "write", Path: path, Err: ErrNoReader}
		}
	}
}

// openPrivate opens a file for writing that only its owner can read. An existing file with wider
// permissions loses them before anything is written to it, and is replaced if they cannot be taken.
func openPrivate(path string, flag int) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return openPipe(path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, private)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&^private == 0 {
		return f, nil
	}
	if err := f.Chmod(private); err == nil {
		return f, nil
	}
	// The file belongs to another user, or the file system has no permissions: replace it by a new one.
	if err := errors.Join(f.Close(), os.Remove(path)); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|flag, private)
}
