//go:build !windows

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces the content of the file at path, so that at every moment, also after a crash, it is the old
// or the new content in full. The directory must exist.
func Write(path string, content []byte) error {
	if err := renameio.WriteFile(path, content, 0o644); err != nil {
		return about(path, err)
	}
	return syncDir(path)
}

// about makes an error one about the file itself, instead of the temporary file beside it.
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

// WriteSecret is like Write for a file that only its owner may read, whoever could read the one before.
func WriteSecret(path string, content []byte) error {
	f, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o600))
	if err != nil {
		return about(path, err)
	}
	defer func() { _ = f.Cleanup() }() // nothing is left of it after success
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
