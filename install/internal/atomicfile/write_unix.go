//go:build !windows

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces the content of the file at path. At any moment, also after a crash, the file has the
// complete old or new content. The directory must exist.
func Write(path string, content []byte) error {
	if err := renameio.WriteFile(path, content, 0o644); err != nil {
		return about(path, err)
	}
	return syncDir(path)
}

// about converts an error about the temporary file to one about the file itself.
func about(path string, err error) error {
	var link *os.LinkError
	var pe *fs.PathError
	switch {
	case errors.As(err, &link):
		return &fs.PathError{Op: "write", Path: path, Err: link.Err}
	case errors.As(err, &pe):
		return &fs.PathError{Op: "write", Path: path, Err: pe.Err}
	}
	return err
}

// WriteSecret is Write for a file that only its owner may read, even if others could read the old one.
func WriteSecret(path string, content []byte) error {
	f, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o600))
	if err != nil {
		return about(path, err)
	}
	defer func() { _ = f.Cleanup() }() // does nothing after success
	if _, err := f.Write(content); err != nil {
		return about(path, err)
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return about(path, err)
	}
	return syncDir(path)
}

func syncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
