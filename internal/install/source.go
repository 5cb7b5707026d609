package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// Source is a place that may have packages. Implementations must be safe for concurrent use.
type Source interface {
	// Allows reports whether the source may be asked for a provider at all.
	Allows(p addr.Provider) bool
	// Versions lists the available versions of a provider with the platforms of each; none if it has no
	// such provider.
	Versions(ctx context.Context, p addr.Provider) (Available, error)
	// Package finds a package that Versions has listed.
	Package(ctx context.Context, p addr.Provider, v versions.Version, platform Platform) (Package, error)
	// String names the source in messages, without secrets.
	String() string
}

// Available maps the versions of a provider to their platforms; nil if the list doesn't say.
type Available map[versions.Version][]Platform

// Package is a provider's package, on disk or to be downloaded.
type Package struct {
	Path   string // a directory or a zip archive; "" if it must be downloaded
	Packed bool
	// Download writes the zip archive of a package that isn't on disk to an empty file, after the checks
	// that the source can make.
	Download func(ctx context.Context, to *os.File, progress Progress) error
	// Hashes are the source's checksums: the package must match one of them; empty if the source has none.
	Hashes []lockfile.Hash
	// Sums are the checksums of the version's packages for all platforms, for the lock file.
	Sums []lockfile.Hash
	// Proof says in a few words why the package can be trusted; "" if the source has no reason.
	Proof string
}

// Progress is called with the number of bytes received and the total; total is negative if it isn't known.
type Progress = web.Progress

// MirrorDirs returns filesystem mirrors for the directories, each for all providers.
func MirrorDirs(dirs ...string) []Source {
	var out []Source
	for _, dir := range dirs {
		out = append(out, &mirror{Dir: dir, Method: cliconfig.Method{Kind: cliconfig.FilesystemMirror, Path: dir}})
	}
	return out
}

// existing returns the directories that exist.
func existing(dirs []string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// mirror is a filesystem mirror: a directory with packages in the packed layout
// HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip, the unpacked one
// HOST/NAMESPACE/TYPE/VERSION/OS_ARCH, or both. Other files are ignored.
type mirror struct {
	Dir    string
	Method cliconfig.Method // which providers it is for
}

// Allows implements Source.
func (m *mirror) Allows(p addr.Provider) bool { return m.Method.Allows(p) }

// String implements Source.
func (m *mirror) String() string { return m.Method.Location() }

// missing reports whether there is no directory of the mirror.
func (m *mirror) missing() bool {
	info, err := os.Stat(m.Dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir()
}

// has reports whether the mirror has a directory for a provider.
func (m *mirror) has(p addr.Provider) bool {
	info, err := os.Stat(filepath.Join(m.Dir, providerPath(p)))
	return err == nil && info.IsDir()
}

// Versions implements Source.
func (m *mirror) Versions(_ context.Context, p addr.Provider) (Available, error) {
	index, err := m.index(p)
	if err != nil {
		return nil, err
	}
	out := Available{}
	for k := range index {
		out[k.version] = append(out[k.version], k.platform)
	}
	return out, nil
}

// Package implements Source.
func (m *mirror) Package(_ context.Context, p addr.Provider, v versions.Version, platform Platform) (Package, error) {
	index, err := m.index(p)
	if err != nil {
		return Package{}, err
	}
	pkg, ok := index[build{v, platform}]
	if !ok {
		return pkg, fmt.Errorf("%s has no package of %s %s for %s", m, p, v, platform)
	}
	return pkg, nil
}

// build is one version for one platform.
type build struct {
	version  versions.Version
	platform Platform
}

// index lists the packages of a provider in both layouts; nil if the mirror has no directory for it.
func (m *mirror) index(p addr.Provider) (map[build]Package, error) {
	dir := filepath.Join(m.Dir, providerPath(p))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", m, err)
	}
	index := map[build]Package{}
	for _, e := range entries {
		full := filepath.Join(dir, e.Name())
		if b, ok := parseArchiveName(e.Name(), p.Type); ok {
			if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && index[b].Path == "" {
				index[b] = Package{Path: full, Packed: true}
			}
			continue
		}
		if v, err := versions.ParseVersion(e.Name()); err == nil && v.String() == e.Name() {
			indexVersion(index, full, v)
		}
	}
	return index, nil
}

// indexVersion adds the unpacked packages of a version. They take precedence over packed ones, which would
// have to be unpacked.
func indexVersion(index map[build]Package, dir string, v versions.Version) {
	// Anything other than a readable directory has no packages.
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		platform, ok := parsePlatform(e.Name())
		full := filepath.Join(dir, e.Name())
		if info, err := os.Stat(full); ok && err == nil && info.IsDir() {
			index[build{v, platform}] = Package{Path: full}
		}
	}
}

// parseArchiveName parses "terraform-provider-TYPE_VERSION_OS_ARCH.zip".
func parseArchiveName(name, typ string) (build, bool) {
	rest, ok := strings.CutPrefix(name, "terraform-provider-"+typ+"_")
	if !ok {
		return build{}, false
	}
	rest, ok = strings.CutSuffix(rest, ".zip")
	versionText, platformText, cut := strings.Cut(rest, "_")
	if !ok || !cut {
		return build{}, false
	}
	v, err := versions.ParseVersion(versionText)
	platform, valid := parsePlatform(platformText)
	return build{v, platform}, err == nil && valid
}

// similar lists a few providers of the same type that the mirror has under another host or namespace. It is
// for an error message, so problems with the directory are ignored.
func (m *mirror) similar(p addr.Provider) []addr.Provider {
	const enough = 5
	var out []addr.Provider
	matches, err := filepath.Glob(filepath.Join(escapeGlob(m.Dir), "*", "*", p.Type))
	if err != nil {
		return nil
	}
	for _, match := range matches {
		rel, err := filepath.Rel(m.Dir, match)
		if err != nil {
			continue
		}
		other, err := addr.ParseProvider(filepath.ToSlash(rel))
		if err == nil && other != p && len(out) < enough {
			out = append(out, other)
		}
	}
	return out
}

var globEscaper = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// escapeGlob returns a pattern that matches the path itself. On Windows, where backslashes are separators,
// escaping is neither possible nor needed.
func escapeGlob(path string) string { return globEscaper.Replace(path) }

// providerPath returns the relative path of a provider in mirrors, caches and the data directory.
func providerPath(p addr.Provider) string {
	return filepath.Join(p.Hostname.ForDisplay(), p.Namespace, p.Type)
}
