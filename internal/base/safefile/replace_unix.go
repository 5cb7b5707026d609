//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// Replace makes content the whole content of a file, which keeps its permissions. At any moment, also after a
// crash, the file has the complete old or new content. The directory must exist.
func Replace(path string, content []byte) error {
	return replace(path, content, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// ReplacePrivate is Replace for a file that only its owner may read, even if others could read the old one.
func ReplacePrivate(path string, content []byte) error {
	return replace(path, content, renameio.WithStaticPermissions(private))
}

func replace(path string, content []byte, permissions ...renameio.Option) error {
	dir := filepath.Dir(path)
	t, err := renameio.NewPendingFile(path, append(permissions, renameio.WithTempDir(dir))...)
	if err == nil {
		defer func() { _ = t.Cleanup() }() // does nothing after success
		_, err = t.Write(content)
	}
	if err == nil {
		err = t.CloseAtomicallyReplace()
	}
	if err != nil {
		return withPath(path, err)
	}
	return SyncDir(dir)
}

// SyncDir makes renames in a directory durable, if the file system supports this.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

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
