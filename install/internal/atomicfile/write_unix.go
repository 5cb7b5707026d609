//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces the content of the file at path, so that at every moment, also after a crash, it is the old or the new content in full.
// The directory must exist.
func Write(path string, content []byte) error {
	if err := renameio.WriteFile(path, content, 0o644); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
