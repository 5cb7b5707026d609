package safefile

import (
	"errors"
	"os"
)

// private are the permissions of a file that only its owner may read.
const private = 0o600

// Create opens a file, new or truncated, for writing possibly secret data. A regular file is made private
// to its owner, even if it existed and others could read it. Anything else, such as a pipe or a terminal,
// is opened as it is. Errors are those of os.OpenFile.
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

func openPrivate(path string, flag int) (*os.File, error) {
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
