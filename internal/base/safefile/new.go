package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Temp creates a file for data that is to replace the content of another: beside it, under a name of its own
// that begins with a dot and the other's name and ends with ".tmp", and readable only by its owner.
func Temp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+strings.TrimPrefix(filepath.Base(path), ".")+".*.tmp")
}

// CreatePrivate creates a file that only its owner may read, with all of content or, after an error or a
// crash, not at all. It fails with fs.ErrExist if the file exists, also if another process creates it at the
// same time.
func CreatePrivate(path string, content []byte) error {
	f, err := Temp(path)
	if err != nil {
		return withPath(path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // the link remains
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return withPath(path, err)
	}
	// Unlike a rename, a link never replaces a file.
	if os.Link(f.Name(), path) != nil {
		return CreateNew(path, content, private) // the file exists, or the file system has no links
	}
	return keepIfDurable(path)
}

// keepIfDurable makes the name of a new file durable, or removes the file.
func keepIfDurable(path string) error {
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// CreateNew creates a file with all of content or, after an error, not at all. After a crash it may have a
// part of it. It fails with fs.ErrExist if the file exists.
func CreateNew(path string, content []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return keepIfDurable(path)
}
