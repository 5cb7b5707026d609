package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// obtained is a package for one platform whose checksum is about to be recorded in the lock file.
type obtained struct {
	choice
	platform Platform
	pkg      Package
	hashes   []lockfile.Hash
}

// checkUnexplained reports a package that has none of the locked checksums, unless these are known to
// belong to other platforms: a lock file does not say which platform a checksum is for, and a changed
// package must not be recorded beside the right one. all are the packages of the same run. If the publisher
// gives the checksums of all platforms, checkRepublished decides instead.
func (i *Installer) checkUnexplained(ctx context.Context, o obtained, all []obtained) error {
	if len(o.locked.Hashes) == 0 || len(o.pkg.Sums) > 0 || o.locked.Matches(o.hashes...) {
		return nil
	}
	elsewhere := map[lockfile.Hash]bool{}
	note := func(hashes []lockfile.Hash) {
		for _, h := range hashes {
			elsewhere[h] = true
		}
	}
	for _, other := range all {
		if other.req.Provider == o.req.Provider && other.platform != o.platform {
			note(other.hashes)
		}
	}
	same := i.hashInstalled(o, note)
	if err := i.hashOffered(ctx, o, note); err != nil {
		return err
	}
	for _, h := range o.locked.Hashes {
		comparable := strings.HasPrefix(string(h), "h1:") || h.Archive() && o.pkg.Packed
		if comparable && (h == same || !elsewhere[h]) {
			return fmt.Errorf("it matches none of the checksums in the lock file, and these may well be for this platform: the package may have been changed, which may be an attack. "+
				"If you trust it, remove the provider's block from %s first", lockfile.FileName)
		}
	}
	return nil
}

// hashInstalled notes the checksums of packages installed for other platforms, and returns the checksum for
// the same platform, or "" if there is none.
func (i *Installer) hashInstalled(o obtained, note func([]lockfile.Hash)) (same lockfile.Hash) {
	dir := filepath.Join(i.providersDir(), providerPath(o.req.Provider), o.version.String())
	entries, _ := os.ReadDir(dir) // a missing directory explains nothing
	for _, e := range entries {
		platform, ok := parsePlatform(e.Name())
		if !ok {
			continue
		}
		h, err := lockfile.HashDir(filepath.Join(dir, e.Name()))
		switch {
		case err != nil:
		case platform == o.platform:
			same = h
		default:
			note([]lockfile.Hash{h})
		}
	}
	return same
}

// hashOffered notes the checksums of packages for other platforms: checksums of packages that the sources
// have on disk, and checksums that they state for downloads.
func (i *Installer) hashOffered(ctx context.Context, o obtained, note func([]lockfile.Hash)) error {
	places, err := i.search(ctx, o.req.Provider)
	if err != nil {
		return err
	}
	for _, s := range places {
		platforms, _, err := s.platforms(ctx, o.req.Provider, o.version)
		if err != nil {
			return err
		}
		for _, platform := range slices.DeleteFunc(slices.Clone(platforms), func(p Platform) bool { return p == o.platform }) {
			pkg, err := s.source.Package(ctx, o.req.Provider, o.version, platform)
			if err != nil {
				return err
			}
			note(pkg.Hashes)
			note(hashesOnDisk(pkg))
		}
	}
	return nil
}

// hashesOnDisk returns the checksums of a package that need not be downloaded, or none if it cannot be
// read.
func hashesOnDisk(pkg Package) []lockfile.Hash {
	if pkg.Path == "" {
		return nil
	}
	if !pkg.Packed {
		h, err := lockfile.HashDir(pkg.Path)
		if err != nil {
			return nil
		}
		return []lockfile.Hash{h}
	}
	file, err := os.Open(pkg.Path)
	if err != nil {
		return nil
	}
	defer file.Close()
	hashes, err := archiveHashes(file)
	if err != nil {
		return nil
	}
	return hashes
}
