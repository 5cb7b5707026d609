//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// replaceFile replaces a file by a new one with its mode and owner. After an error the old file is
// unchanged.
func replaceFile(path string, old fs.FileInfo, content []byte) error {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink != 1 {
		return errors.New("the file has other names")
	}
	t, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(old.Mode().Perm()))
	if err != nil {
		return err
	}
	defer func() { _ = t.Cleanup() }() // does nothing after success
	if err := t.Chown(int(st.Uid), int(st.Gid)); err != nil {
		return err
	}
	if _, err := t.Write(content); err != nil {
		return err
	}
	return t.CloseAtomicallyReplace()
}
