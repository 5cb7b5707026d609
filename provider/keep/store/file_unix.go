//go:build !windows

package store

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// readsNeedLock is false: after a rename, open readers keep their old file, so reading needs neither a lock
// nor write permission for the directory.
const readsNeedLock = false

// replaceFile replaces the file at path as a whole. When it returns, both the file and its name survive a
// power failure.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o600)); err != nil {
		return err
	}
	return syncFolder(dir)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
