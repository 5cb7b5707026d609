//go:build !windows

package store

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// readsNeedLock: a rename leaves open readers their old file, so reading needs no lock, and no right to write
// the folder.
const readsNeedLock = false

// replaceFile puts data at path as a whole; afterwards both the file and its name survive a power cut.
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
