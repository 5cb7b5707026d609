package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"golang.org/x/sync/errgroup"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// Selected returns the installed providers and changes nothing. It hashes every package and compares it
// with the lock, so that only locked programs run. The errors list every problem and the command that
// solves it. Packages are hashed in parallel.
func (i *Installer) Selected(reqs map[addr.Provider]*Requirement, lock *lockfile.Lock) (Selections, diag.List) {
	sel, rest, diags := i.local(reqs)
	if diags.HasErrors() {
		return sel, diags
	}
	if ds := i.consistent(rest, lock); ds.HasErrors() {
		return sel, append(diags, ds...)
	}
	found := make([]Selection, len(rest))
	problems := make([]string, len(rest))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n, r := range rest {
		entry, _ := lock.Entry(r.Provider)
		group.Go(func() error {
			var err error
			if found[n], err = i.verify(entry); err != nil {
				problems[n] = fmt.Sprintf("\n  - %s: %s", r.Provider, err)
			}
			return nil
		})
	}
	// The tasks collect problems and never return errors.
	_ = group.Wait()
	if all := strings.Join(problems, ""); all != "" {
		return sel, append(diags, diag.Errorf("Required plugins are not installed",
			"The installed provider plugins are not consistent with the packages selected in the dependency lock file:%s\n\nTo install the plugins required for this configuration, run:\n  mayfly init", all)...)
	}
	for n, r := range rest {
		sel[r.Provider] = found[n]
	}
	return sel, diags
}

// consistent checks that the lock has an allowed version for every requirement.
func (i *Installer) consistent(reqs []*Requirement, lock *lockfile.Lock) diag.List {
	var missing, other strings.Builder
	var namesakes string
	for _, r := range reqs {
		entry, ok := lock.Entry(r.Provider)
		switch {
		case !ok && r.Address != "":
			fmt.Fprintf(&missing, "\n  - provider %s: required by %s in the state but no version is selected", r.Provider, r.Address)
		case !ok:
			fmt.Fprintf(&missing, "\n  - provider %s: required by this configuration but no version is selected%s", r.Provider, r.at())
			namesakes += i.namesakes(r.Provider, nil)
			if r.meant != "" {
				fmt.Fprintf(&missing, ". Did you mean the provider %q?", r.meant)
			}
		case !r.allows().Has(entry.Version):
			fmt.Fprintf(&other, "\n  - provider %s: locked version selection %s doesn't match the version constraints %q:%s",
				r.Provider, entry.Version, r.Text(), strings.ReplaceAll(r.sources(), "\n", "\n    "))
		}
	}
	if missing.Len()+other.Len() == 0 {
		return nil
	}
	hint := "To make the initial dependency selections that will initialize the dependency lock file, run:\n  mayfly init"
	switch {
	case other.Len() > 0:
		hint = "To update the locked dependency selections to match a changed configuration, run:\n  mayfly init -upgrade"
	case lock.Len() > 0:
		hint = "To update the locked dependency selections to match a changed configuration, run:\n  mayfly init"
	}
	return diag.Errorf("Inconsistent dependency lock file",
		"The following dependency selections recorded in the lock file are inconsistent with the current configuration:%s%s%s\n\n%s",
		missing.String(), other.String(), namesakes, hint)
}

// verify checks the installed package of a lock entry.
func (i *Installer) verify(entry lockfile.Entry) (Selection, error) {
	dir := i.packageDir(i.providersDir(), entry.Provider, entry.Version)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return Selection{}, fmt.Errorf("there is no package for %s %s cached in %s", entry.Provider, entry.Version, i.providersDir())
	}
	before, err := traces(dir)
	if s, ok := i.Verified[entry.Provider]; ok && err == nil && s.traces == before && entry.Matches(s.Hash) {
		return s, nil
	}
	var hash lockfile.Hash
	if err == nil {
		hash, err = lockfile.HashDir(dir)
	}
	if err != nil {
		return Selection{}, fmt.Errorf("the package can't be read: %w", err)
	}
	if !entry.Matches(hash) {
		return Selection{}, fmt.Errorf("the cached package for %s %s (in %s) does not match any of the checksums recorded in the dependency lock file",
			entry.Provider, entry.Version, i.providersDir())
	}
	s, err := selection(entry.Provider, entry.Version, dir, hash)
	s.traces = before
	return s, err
}

// selection describes an installed package, with absolute paths.
func selection(p addr.Provider, v versions.Version, dir string, hash lockfile.Hash) (Selection, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Selection{}, err
	}
	exe, err := findExecutable(dir, p)
	return Selection{Version: v, Dir: dir, Executable: exe, Hash: hash}, err
}
