package install

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// MirrorPlatforms saves the packages of all required providers for the platforms in a directory. The
// directory is then a filesystem mirror and, thanks to its index files, a network mirror when offered by a
// web server. It takes versions from the lock, which may be nil. Other content of the directory is kept.
func (i *Installer) MirrorPlatforms(ctx context.Context, reqs map[addr.Provider]*Requirement, lock *lockfile.Lock, platforms []Platform, dir string, obs PlatformObserver) diag.List {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.Errorf("Cannot create the mirror", "The directory of the mirror could not be created: %s.", err)
	}
	changed := map[release]bool{}
	ours, _ := adopt(reqs, lock)
	diags := i.each(ctx, reqs, ours, platforms, dir, obs, func(c choice, platform Platform, pkg Package, hashes []lockfile.Hash, archive *temporary) error {
		p, v := c.req.Provider, c.version
		if archive == nil {
			return fmt.Errorf("it is not an archive, as a mirror requires")
		}
		if err := checkRepublished(c.locked, pkg.Sums, hashes); err != nil {
			return err
		}
		changed[release{p, v}] = true
		name := fmt.Sprintf("terraform-provider-%s_%s_%s.zip", p.Type, v, platform)
		return save(archive.File, filepath.Join(dir, providerPath(p), name))
	})
	for r := range changed {
		if err := writeIndexes(dir, r.provider, r.version); err != nil {
			diags = append(diags, diag.Errorf("Cannot write the mirror's index", "The index of provider %s in the mirror could not be written: %s.", r.provider.ForDisplay(), err)...)
		}
	}
	return diags
}

// save copies a file to a path, where it appears atomically and complete. A web server that offers the
// directory meanwhile sees the old file or the new one.
func save(file *os.File, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	// After the rename, there is nothing to remove.
	defer func() { _ = os.Remove(out.Name()) }()
	info, err := file.Stat()
	if err == nil {
		_, err = io.Copy(out, io.NewSectionReader(file, 0, info.Size()))
	}
	if err == nil {
		err = out.Chmod(0o644)
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}

// writeIndexes writes the documents of the network mirror protocol for the content of the directory.
//
//	index.json   {"versions": {"3.7.2": {}}}
//	3.7.2.json   {"archives": {"linux_amd64": {"hashes": ["h1:…", "zh:…"], "url": "terraform-provider-….zip"}}}
func writeIndexes(dir string, p addr.Provider, v versions.Version) error {
	type archive struct {
		Hashes []lockfile.Hash `json:"hashes"`
		URL    string          `json:"url"`
	}
	index, err := (&mirror{Dir: dir}).index(p)
	if err != nil {
		return err
	}
	all, archives := map[string]struct{}{}, map[string]archive{}
	for b, pkg := range index {
		if !pkg.Packed {
			continue
		}
		all[b.version.String()] = struct{}{}
		if b.version != v {
			continue
		}
		hashes, err := fileHashes(pkg.Path)
		if err != nil {
			return err
		}
		archives[b.platform.String()] = archive{Hashes: hashes, URL: filepath.Base(pkg.Path)}
	}
	base := filepath.Join(dir, providerPath(p))
	if err := writeJSON(filepath.Join(base, v.String()+".json"), map[string]any{"archives": archives}); err != nil {
		return err
	}
	return writeJSON(filepath.Join(base, "index.json"), map[string]any{"versions": all})
}

// fileHashes returns the h1 and the zh hash of a packed package.
func fileHashes(path string) ([]lockfile.Hash, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return archiveHashes(file)
}

// writeJSON writes a document so that it appears complete.
func writeJSON(path string, doc any) error {
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Replace(path, append(text, '\n'))
}
