package install

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// Verify returns an error if the package is no longer the one that was selected. It is cheap enough to be
// called before every start of the provider: the package is hashed again only if one of its files is another
// file than before, or was written to, which other users than root cannot hide. Development overrides are not
// verified.
func (s Selection) Verify() error {
	if s.Dev {
		return nil
	}
	if now, err := traces(s.Dir); err == nil && now == s.traces {
		return nil
	}
	hash, err := lockfile.HashDir(s.Dir)
	if err != nil {
		return fmt.Errorf("its package in %s can no longer be read: %w", s.Dir, err)
	}
	if hash != s.Hash {
		return fmt.Errorf("its package in %s was changed while this command was running, and no longer matches the dependency lock file. This may be an attack; "+
			"if not, install the provider again with \"mayfly init\"", s.Dir)
	}
	return nil
}

// traces describes the files of a package without reading them. If they have not changed, neither has the
// content.
func traces(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	err = filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		one, err := fileTrace(path)
		fmt.Fprintf(&all, "%q %s\n", path, one)
		return err
	})
	return all.String(), err
}
