package install

import (
	"context"
	"errors"
	"os"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
)

// archive opens a packed package. If it isn't on disk, archive first downloads it to a temporary file in
// dir. The caller closes the file.
func (i *Installer) archive(ctx context.Context, c choice, pkg Package, dir string) (*temporary, error) {
	if pkg.Download == nil {
		file, err := os.Open(pkg.Path)
		return &temporary{File: file, name: pkg.Path}, err
	}
	file, err := newTemporary(dir)
	if err != nil {
		return nil, err
	}
	file.name = "the package"
	progress, done := i.progress(c.req.Provider, c.version)
	err = pkg.Download(ctx, file.File, progress)
	done()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// progress returns the callback for the progress of a download, and a function to call after it.
func (i *Installer) progress(p addr.Provider, v versions.Version) (Progress, func()) {
	if i.Downloading == nil {
		return nil, func() {}
	}
	return i.Downloading(p, v)
}

// temporary is a file that is removed when it is closed, unless it belongs to a source.
type temporary struct {
	*os.File
	name   string // in messages
	remove string // "" for nothing
}

// newTemporary creates a file that even a killed process doesn't leave behind, if the system permits that.
// Where open files can be removed, it has no name from the start.
func newTemporary(dir string) (*temporary, error) {
	file, err := os.CreateTemp(dir, ".download-")
	if err != nil {
		return nil, err
	}
	t := &temporary{File: file, remove: file.Name()}
	if os.Remove(file.Name()) == nil {
		t.remove = ""
	}
	return t, nil
}

// Close closes the file and removes it if it still exists.
func (t *temporary) Close() error {
	err := t.File.Close()
	if t.remove != "" {
		err = errors.Join(err, os.Remove(t.remove))
	}
	return err
}
