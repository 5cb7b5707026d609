package install

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// errMismatch is returned for a package that the lock file does not accept.
var errMismatch = errors.New("the package does not match any of the checksums recorded in the dependency lock file")

// install ensures that the chosen version is in the data directory and returns its entry for the lock file.
func (i *Installer) install(ctx context.Context, c choice) (Selection, lockfile.Entry, diag.List) {
	ctx, span := trace.Start(ctx, "install provider")
	span.Set(trace.Provider, c.req.Provider.String())
	span.Set(trace.Version, c.version.String())
	s, entry, diags := i.ensure(ctx, c)
	span.Finish(!diags.HasErrors())
	return s, entry, diags
}

// ensure is install without its span.
func (i *Installer) ensure(ctx context.Context, c choice) (Selection, lockfile.Entry, diag.List) {
	p := c.req.Provider
	entry := lockfile.Entry{Provider: p, Version: c.version, Constraints: c.req.Text()}
	dst := i.installed(p, c.version)
	var got placed
	err := dst.lock(ctx, func() (err error) {
		got, err = i.present(ctx, c, dst)
		return err
	})
	if err == nil {
		var s Selection
		s, err = selection(c.req.Provider, c.version, dst.dir, got.hash)
		entry.Hashes = slices.Concat(c.locked.Hashes, got.sums, []lockfile.Hash{got.hash})
		if err == nil {
			return s, entry, nil
		}
	}
	if errors.Is(err, errMismatch) {
		return Selection{}, entry, c.req.errorf("Failed to install provider",
			"Provider %s %s: %s. Either the package was changed, which may be an attack, or the lock file was made on another platform and has no checksum for %s.\n\n"+
				"If you trust this package, remove the provider's block from %s and run \"mayfly init\" again.", p.ForDisplay(), c.version, err, i.platform(), lockfile.FileName)
	}
	return Selection{}, entry, c.req.errorf("Failed to install provider", "Provider %s %s could not be installed: %s.", p.ForDisplay(), c.version, diag.Problem(err))
}

// placed is a package in its place.
type placed struct {
	hash lockfile.Hash   // h1
	sums []lockfile.Hash // further checksums for the lock file
}

// present ensures that dst is the package: as it is, from the plugin cache, or from a source. A package
// unknown to the lock file is taken from a source again, since nothing says that an installed one is right,
// unless the user accepts the plugin cache.
func (i *Installer) present(ctx context.Context, c choice, dst destination) (placed, error) {
	p, v := c.req.Provider, c.version
	if h, ok := intact(dst.dir, c.locked); ok {
		trace.Note(ctx, trace.Info, "provider %s: %s is installed in %s", p, v, dst.dir)
		i.observer().Using(p, v, false)
		return placed{hash: h}, nil
	}
	if i.cacheDir() == "" {
		return i.fetch(ctx, c, dst)
	}
	if info, err := os.Stat(i.cacheDir()); err != nil || !info.IsDir() {
		return placed{}, fmt.Errorf("the plugin cache directory %s can't be opened; create it, or correct the setting plugin_cache_dir", i.cacheDir())
	}
	cached := i.cached(p, v)
	var got placed
	err := cached.lock(ctx, func() error {
		h, ok := intact(cached.dir, c.locked)
		if i.Config.PluginCacheMayBreakLockFile && len(c.locked.Hashes) == 0 {
			var err error
			h, err = lockfile.HashDir(cached.dir)
			ok = err == nil
		}
		if ok {
			trace.Note(ctx, trace.Info, "provider %s: %s is in the plugin cache as %s", p, v, cached.dir)
			got = placed{hash: h}
		} else {
			var err error
			if got, err = i.fetch(ctx, c, cached); err != nil {
				return err
			}
		}
		i.observer().Using(p, v, true)
		return link(cached.dir, dst)
	})
	return got, err
}

// intact returns the h1 hash of an installed package if the lock file has it.
func intact(dir string, locked lockfile.Entry) (lockfile.Hash, bool) {
	if len(locked.Hashes) == 0 {
		return "", false
	}
	h, err := lockfile.HashDir(dir)
	return h, err == nil && locked.Matches(h)
}

// fetch takes the package from the first source that has it and, after verifying it, puts it at dst.
func (i *Installer) fetch(ctx context.Context, c choice, dst destination) (placed, error) {
	p, v := c.req.Provider, c.version
	pkg, err := i.find(ctx, p, v)
	if err != nil {
		return placed{}, err
	}
	i.observer().Installing(p, v, i.cacheDir() != "")
	got, err := i.put(ctx, c, pkg, dst)
	if err != nil {
		return placed{}, err
	}
	trace.Note(ctx, trace.Info, "provider %s: %s is installed in %s, %s", p, v, dst.dir, proof(pkg, c.locked))
	i.observer().Installed(p, v, proof(pkg, c.locked))
	return got, nil
}

// find returns the package of a version from the first source that has it.
func (i *Installer) find(ctx context.Context, p addr.Provider, v versions.Version) (Package, error) {
	places, err := i.search(ctx, p)
	if err != nil {
		return Package{}, err
	}
	names := ""
	for _, s := range places {
		ok, err := s.mayHave(ctx, p, v, i.platform())
		if err != nil {
			return Package{}, err
		}
		if ok {
			trace.Note(ctx, trace.Info, "provider %s: %s is taken from %s", p, v, s.source)
			return s.source.Package(ctx, p, v, i.platform())
		}
		names += "\n  - " + s.source.String()
	}
	return Package{}, fmt.Errorf("no package of this version for %s is in any of the search locations:%s", i.platform(), names)
}

// verifiedChecksum is the proof of a package with a checksum from a trusted place.
const verifiedChecksum = "verified checksum"

// proof says why an installed package can be trusted.
func proof(pkg Package, locked lockfile.Entry) string {
	switch {
	case pkg.Proof != "":
		return pkg.Proof
	case len(locked.Hashes) > 0:
		return verifiedChecksum
	}
	return "unauthenticated"
}

// put installs a package at dst.
func (i *Installer) put(ctx context.Context, c choice, pkg Package, dst destination) (placed, error) {
	if !pkg.Packed {
		h, err := putDir(pkg.Path, dst, c.locked)
		return placed{h, pkg.Sums}, err
	}
	file, err := i.archive(ctx, c, pkg, dst.work())
	if err != nil {
		return placed{}, err
	}
	defer file.Close()
	h1, zh, err := putArchive(file, dst, demand{c.locked.Hashes, pkg.Hashes})
	got := placed{h1, slices.Clone(pkg.Sums)}
	// Of the checksums that a source only claims, this package proves its own.
	if slices.Contains(pkg.Hashes, zh) {
		got.sums = append(got.sums, zh)
	}
	return got, err
}

// demand lists the checksums a package must match: one of each list that isn't empty.
type demand struct{ locked, given []lockfile.Hash }

// check returns an error unless the hashes of a package, in its several forms, meet the demand.
func (d demand) check(hashes ...lockfile.Hash) error {
	matches := func(list []lockfile.Hash) bool {
		return len(list) == 0 || slices.ContainsFunc(hashes, func(h lockfile.Hash) bool { return slices.Contains(list, h) })
	}
	switch {
	case !matches(d.given):
		return errGiven
	case !matches(d.locked):
		return errMismatch
	}
	return nil
}

// errGiven is returned for a package that doesn't match its source's checksums.
var errGiven = errors.New("the package matches none of the checksums that its source gives: it was damaged or changed on the way")

// putDir installs an unpacked package: as a link, to save space, or else as a copy.
func putDir(src string, dst destination, locked lockfile.Entry) (lockfile.Hash, error) {
	h, err := lockfile.HashDir(src)
	if err != nil {
		return "", err
	}
	if len(locked.Hashes) > 0 && !locked.Matches(h) {
		return "", errMismatch
	}
	return h, link(src, dst)
}

// putArchive installs a packed package. Before it becomes visible at dst, it is verified completely: the
// bytes of the archive or its unpacked content.
func putArchive(file *temporary, dst destination, want demand) (hash, archiveHash lockfile.Hash, err error) {
	info, err := file.Stat()
	if err != nil {
		return "", "", err
	}
	archiveHash, err = lockfile.HashArchive(file, info.Size())
	if err != nil {
		return "", "", err
	}
	archive, err := zip.NewReader(file, info.Size())
	if err != nil {
		return "", "", fmt.Errorf("%s is not a zip archive: %w", file.name, err)
	}
	err = replace(dst, func(tmp string) error {
		if err := unpack(archive, tmp, packageLimits); err != nil {
			return fmt.Errorf("unpacking %s: %w", file.name, err)
		}
		if hash, err = lockfile.HashDir(tmp); err != nil {
			return err
		}
		if err := want.check(hash, archiveHash); err != nil {
			return err
		}
		if unchanged(dst.dir, hash) {
			return errors.Join(makeExecutable(dst.dir), errUnchanged)
		}
		return makeExecutable(tmp)
	})
	if errors.Is(err, errUnchanged) {
		return hash, archiveHash, nil
	}
	return hash, archiveHash, err
}

// errUnchanged means that the package in place is already the same. It may be running.
var errUnchanged = errors.New("nothing to do")

// unchanged reports whether dst is a package, not a link, with the given checksum.
func unchanged(dst string, want lockfile.Hash) bool {
	info, err := os.Lstat(dst)
	if err != nil || !info.IsDir() {
		return false
	}
	have, err := lockfile.HashDir(dst)
	return err == nil && have == want
}

// makeExecutable makes the programs of a package executable for everyone: archives made on Windows have no
// permissions.
func makeExecutable(dir string) error {
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "terraform-provider-*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			if err := os.Chmod(name, info.Mode().Perm()|0o111); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace fills a new directory and, if that succeeds, moves it to its destination. The caller holds the
// lock of dst.
func replace(dst destination, fill func(tmp string) error) error {
	tmp, err := os.MkdirTemp(dst.work(), dst.unfinished())
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	content := filepath.Join(tmp, "package")
	if err := os.Mkdir(content, 0o755); err != nil {
		return err
	}
	if err := fill(content); err != nil {
		return err
	}
	return swap(content, dst.dir)
}

// swap renames src to dst, which may exist, and creates the directories that dst is in. If the system
// permits it, programs that run from the old dst are not disturbed.
func swap(src, dst string) error {
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return err
	}
	old := src + ".old"
	if err := os.Rename(dst, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(src, dst)
}

// link puts a symbolic link to the directory src at dst, or a copy where links aren't possible. Nothing
// changes if both are the same directory already, as with a plugin cache that is also a mirror.
func link(src string, dst destination) error {
	abs, err := filepath.Abs(src)
	if err != nil {
		return err
	}
	if same(abs, dst.dir) {
		return nil
	}
	tmp, err := os.MkdirTemp(dst.work(), dst.unfinished())
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	content := filepath.Join(tmp, "package")
	if err := os.Symlink(abs, content); err != nil {
		real, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return err
		}
		if err := os.CopyFS(content, os.DirFS(real)); err != nil {
			return fmt.Errorf("copying the package: %w", err)
		}
	}
	return swap(content, dst.dir)
}

// same reports whether two paths lead to the same file or directory.
func same(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}
