package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	f, err := beside(target)
	if err != nil {
		return "", err
	}
	return target, errors.Join(f.Close(), os.Remove(f.Name()))
}

// ReplaceBy replaces the content of a file atomically by what write writes, and makes the file private to its
// owner. If write fails, the file is as before. Anything but a regular file, such as a terminal, is written
// to directly.
func ReplaceBy(target string, write func(io.Writer) error) error {
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		f, err := Create(target)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := beside(target)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// beside creates a file in the directory of another, readable only by its owner.
func beside(target string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
}
