package remote

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// dirParts keeps the parts of journals in a directory of this machine, for services that have no room for
// them.
type dirParts struct{ dir string }

// journalDir returns the directory for the journals of one state. Its name has nothing of the state's path,
// which may be long and have any characters.
func journalDir(base, path string) string {
	return filepath.Join(base, fmt.Sprintf("%x", sha256.Sum256([]byte(path)))[:16])
}

// List implements Parts.
func (d dirParts) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // left by a process that was killed
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Get implements Parts.
func (d dirParts) Get(_ context.Context, name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Put implements Parts.
func (d dirParts) Put(_ context.Context, name string, data []byte) error {
	if _, err := safefile.MakeDirs(d.dir, 0o700); err != nil {
		return err
	}
	return safefile.ReplacePrivate(filepath.Join(d.dir, name), data)
}

// Remove implements Parts.
func (d dirParts) Remove(_ context.Context, names []string) error {
	var errs []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(d.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	_ = os.Remove(d.dir) // if it is empty now
	return errors.Join(errs...)
}
