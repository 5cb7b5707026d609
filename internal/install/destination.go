package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/gofrs/flock"

	"github.com/mayfly-iac/mayfly/addr"
)

// destination has the directory of a package, and the one in which it is prepared.
type destination struct {
	dir   string // of the package
	name  string // of the package among all whose locks are beside its own
	locks string // the directory of the lock
	root  string // the directory of all packages
}

// installed returns the destination of a version in the data directory. Before a package is complete, nothing
// of it is in the directory of providers, since other programs take that for a sign that the working
// directory has been initialized.
func (i *Installer) installed(p addr.Provider, v versions.Version) destination {
	name := strings.Join([]string{p.Hostname.ForDisplay(), p.Namespace, p.Type, v.String(), i.platform().String()}, "_")
	return destination{i.packageDir(i.providersDir(), p, v), name, filepath.Join(i.DataDir, "installing"), i.providersDir()}
}

// cached returns the destination of a version in the plugin cache, which other engines lock by the same file.
func (i *Installer) cached(p addr.Provider, v versions.Version) destination {
	dir := i.packageDir(i.cacheDir(), p, v)
	return destination{dir, filepath.Base(dir), filepath.Dir(dir), filepath.Dir(dir)}
}

// lock runs f while no other process works on the package.
func (d destination) lock(ctx context.Context, f func() error) (err error) {
	if err := os.MkdirAll(d.locks, 0o755); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(d.locks, d.name+".lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return fmt.Errorf("waiting for another process that installs the same provider: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := d.sweep(); err != nil {
		return err
	}
	return f()
}

// work returns the directory for unfinished packages: the root if there is one already, because it may be on
// another file system, to which nothing can be renamed.
func (d destination) work() string {
	if info, err := os.Stat(d.root); err == nil && info.IsDir() {
		return d.root
	}
	return d.locks
}

// unfinished begins the names of directories that are being filled for the package.
func (d destination) unfinished() string { return ".new-" + d.name + "-" }

// sweep removes unfinished directories that killed processes left for the package, whose lock is held.
func (d destination) sweep() error {
	for _, dir := range []string{d.locks, d.work()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), d.unfinished()) {
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
