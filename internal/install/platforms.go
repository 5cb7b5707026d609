package install

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// PlatformObserver receives the progress for packages of several platforms.
type PlatformObserver interface {
	// Fetching precedes the download of a package.
	Fetching(p addr.Provider, v versions.Version, platform Platform)
	// Fetched follows it. proof says in a few words why the package can be trusted, or that this cannot be
	// verified.
	Fetched(p addr.Provider, v versions.Version, platform Platform, proof string)
}

// ParsePlatform parses the form OS_ARCH.
func ParsePlatform(s string) (Platform, error) {
	p, ok := parsePlatform(s)
	if !ok {
		return p, fmt.Errorf("%q is not a platform such as linux_amd64", s)
	}
	return p, nil
}

// LockPlatforms returns the lock with checksums for the platforms of all required providers that are not
// part of the program. Existing selections and checksums are kept. The packages are verified and not kept.
func (i *Installer) LockPlatforms(ctx context.Context, reqs map[addr.Provider]*Requirement, lock *lockfile.Lock, platforms []Platform, obs PlatformObserver) (*lockfile.Lock, diag.List) {
	ours, from := adopt(reqs, lock)
	next := lockfile.New()
	for e := range ours.All() {
		next.Set(e)
	}
	dir, err := os.MkdirTemp("", "mayfly-lock-")
	if err != nil {
		return lock, diag.Errorf("Failed to lock providers", "The directory for downloads could not be created: %s.", err)
	}
	defer os.RemoveAll(dir)
	var all []obtained
	diags := i.each(ctx, reqs, ours, platforms, dir, obs, func(c choice, platform Platform, pkg Package, hashes []lockfile.Hash, _ *temporary) error {
		if err := checkRepublished(c.locked, pkg.Sums, hashes); err != nil {
			return err
		}
		all = append(all, obtained{c, platform, pkg, hashes})
		e, ok := next.Entry(c.req.Provider)
		if !ok || e.Version != c.version {
			e = lockfile.Entry{Provider: c.req.Provider, Version: c.version}
		}
		e.Constraints = c.req.Text()
		e.Hashes = slices.Concat(e.Hashes, pkg.Sums, hashes)
		next.Set(e)
		return nil
	})
	if diags.HasErrors() {
		return lock, diags
	}
	for _, o := range all {
		if err := i.checkUnexplained(ctx, o, all); err != nil {
			diags = append(diags, o.req.errorf("Could not lock provider", "The package of provider %s %s for %s was not recorded: %s.", o.req.Provider.ForDisplay(), o.version, o.platform, err)...)
		}
	}
	if diags.HasErrors() {
		return lock, diags
	}
	return next, append(diags, from.warn(next, lock)...)
}

// checkRepublished returns an error if a version shares no checksum with the lock: a package must not be
// replaced by another under the same version. sums are the checksums of all archives, hashes the
// checksums of the package at hand.
func checkRepublished(locked lockfile.Entry, sums, hashes []lockfile.Hash) error {
	if !locked.HasArchives() || len(sums) == 0 || locked.Matches(sums...) || locked.Matches(hashes...) {
		return nil
	}
	return fmt.Errorf("none of the checksums that its publisher now gives is in the lock file: the version was published again with other content, which may be an attack. "+
		"If you trust it, remove the provider's block from %s first", lockfile.FileName)
}

// visit is called with a verified package and its hashes, one at a time in any order. archive is nil for a
// directory.
type visit func(c choice, platform Platform, pkg Package, hashes []lockfile.Hash, archive *temporary) error

// each gets the package of each required provider for each platform, from the first source that has it.
// Downloads go to dir. Versions are chosen once, for the first platform, so that all platforms get the
// same.
func (i *Installer) each(ctx context.Context, reqs map[addr.Provider]*Requirement, lock *lockfile.Lock, platforms []Platform, dir string, obs PlatformObserver, f visit) diag.List {
	rest := slices.DeleteFunc(sorted(reqs), func(r *Requirement) bool { return i.within(r.Provider) })
	first := *i
	first.Platform = platforms[0]
	plan, diags := first.choose(ctx, rest, lock, Options{})
	if diags.HasErrors() {
		return diags
	}
	var visiting sync.Mutex
	alone := func(c choice, platform Platform, pkg Package, hashes []lockfile.Hash, archive *temporary) error {
		visiting.Lock()
		defer visiting.Unlock()
		return f(c, platform, pkg, hashes, archive)
	}
	return append(diags, atOnce(ctx, len(plan)*len(platforms), func(k int, say func(func())) diag.List {
		c, platform := plan[k/len(platforms)], platforms[k%len(platforms)]
		if err := i.one(ctx, c, platform, dir, platformsInTurn{obs, say}, alone); err != nil {
			return c.req.errorf("Could not retrieve provider", "The package of provider %s %s for %s could not be retrieved: %s.",
				c.req.Provider.ForDisplay(), c.version, platform, err)
		}
		return nil
	})...)
}

// one gets one package and calls f with it.
func (i *Installer) one(ctx context.Context, c choice, platform Platform, dir string, obs PlatformObserver, f visit) error {
	p, v := c.req.Provider, c.version
	on := *i
	on.Platform = platform
	pkg, err := on.find(ctx, p, v)
	if err != nil {
		return err
	}
	obs.Fetching(p, v, platform)
	var hashes []lockfile.Hash
	var archive *temporary
	if !pkg.Packed {
		h, err := lockfile.HashDir(pkg.Path)
		if err != nil {
			return err
		}
		hashes = []lockfile.Hash{h}
	} else {
		archive, err = on.archive(ctx, c, pkg, dir)
		if err != nil {
			return err
		}
		defer archive.Close()
		if hashes, err = archiveHashes(archive.File); err != nil {
			return err
		}
	}
	if err := (demand{given: pkg.Hashes}).check(hashes...); err != nil {
		return err
	}
	if err := f(c, platform, pkg, hashes, archive); err != nil {
		return err
	}
	obs.Fetched(p, v, platform, proof(pkg, lockfile.Entry{}))
	return nil
}

// archiveHashes returns the h1 and the zh hash of an archive.
func archiveHashes(file *os.File) ([]lockfile.Hash, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	zh, err := lockfile.HashArchive(file, info.Size())
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("the package is not a zip archive: %w", err)
	}
	if err := packageLimits.check(archive); err != nil {
		return nil, err
	}
	h1, err := lockfile.HashContent(archive)
	return []lockfile.Hash{h1, zh}, err
}

// check refuses archives whose stated size is too large. If the statement is false, reading the archive
// fails.
func (l limits) check(archive *zip.Reader) error {
	if len(archive.File) > l.files {
		return fmt.Errorf("the archive has %d files; at most %d are accepted", len(archive.File), l.files)
	}
	left := uint64(l.bytes)
	for _, f := range archive.File {
		if err := checkEntry(f); err != nil {
			return err
		}
		if f.UncompressedSize64 > left {
			return fmt.Errorf("the archive unpacks to more than %d bytes", l.bytes)
		}
		left -= f.UncompressedSize64
	}
	return nil
}
