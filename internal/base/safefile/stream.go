package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Replaceable returns the file that a name leads to, through symbolic links, after checking that ReplaceBy
// can write it. The file need not exist. Nothing is left behind.
func Replaceable(name string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	switch info := fs.FileInfo(nil); {
	case errors.Is(err, fs.ErrNotExist):
		target = name
	case err != nil:
		return "", err
	default:
		if info, err = os.Stat(target); err != nil {
			return "", err
		}
		if err := CheckWritable(target); err != nil {
			return "", err
		}
		if !info.Mode().IsRegular() {
			return target, nil
		}
	}
	f, err := Temp(target)
	if err != nil {
		return "", withPath(target, err)
	}
	return target, errors.Join(f.Close(), os.Remove(f.Name()))
}

// ReplaceBy replaces the content of a file atomically by the output of write, and makes the file private to
// its owner. If write fails, the file is as before. Anything but a regular file, such as a terminal, is
// written to directly.
func ReplaceBy(target string, write func(io.Writer) error) error {
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return writeTo(target, write)
	}
	f, err := Temp(target)
	if err != nil {
		return withPath(target, err)
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return errors.Join(withPath(target, err), os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(target))
}

// Save replaces the content of a file that the user has named, and makes the file private to its owner. It
// returns when the content is durable. After an error the file has all of the old or all of the new content,
// unless it can only be overwritten: its directory is not writable, or it is mounted. Links are followed.
// Anything but a regular file is written to directly.
func Save(path string, content []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path
		if _, err := os.Lstat(path); err == nil {
			return writeTo(path, write) // a link to a file that does not exist yet
		}
	}
	err = ReplaceBy(target, write)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) {
		return writeTo(target, write)
	}
	return err
}

// writeTo writes to the file or device at path, or to a new file there. The content of a regular file is
// durable then.
func writeTo(path string, write func(io.Writer) error) error {
	_, missing := os.Stat(path)
	f, err := Create(path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	err = errors.Join(err, write(f))
	if err == nil && info.Mode().IsRegular() {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil || missing == nil {
		return err
	}
	target, err := filepath.EvalSymlinks(path) // path may be a link to the new file
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(target))
}
