package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDirs creates a directory, and those above it, that do not exist yet, and returns those that it created,
// the deepest last. When it returns, their names are durable, without which a power cut would take away even
// durable files in them. It fails as os.MkdirAll does.
func MakeDirs(dir string, perm fs.FileMode) (made []string, err error) {
	dir = filepath.Clean(dir)
	err = os.Mkdir(dir, perm)
	if above := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && above != dir {
		if made, err = MakeDirs(above, perm); err == nil {
			err = os.Mkdir(dir, perm)
		}
	}
	if err == nil {
		return append(made, dir), SyncDir(filepath.Dir(dir))
	}
	if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
		return made, nil
	}
	return made, err
}
