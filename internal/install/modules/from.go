package modules

import (
	"context"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/fetch"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// CopyTo copies a module into an existing directory, in the newest version if it comes from a registry.
// Sibling modules in its package are not copied. If there is an error before copying begins, nothing is
// copied.
func (i *Installer) CopyTo(ctx context.Context, source, dir string) diag.List {
	const summary = "Cannot copy the module"
	a, err := parseText(source, false)
	if err != nil {
		return diag.Errorf("Invalid module source address", "The address %q cannot be used: %s.", fetch.Show(source), err)
	}
	from := filepath.FromSlash(a.local)
	if a.local == "" {
		temp, err := os.MkdirTemp("", "mayfly-module-")
		if err != nil {
			return diag.Errorf(summary, "%s", diag.Sentence(err))
		}
		defer os.RemoveAll(temp)
		r := &run{Installer: i, ctx: ctx, temp: temp, packages: map[string]*pack{}, listed: map[string]*listing{}}
		t := &task{call: &config.ModuleCall{Name: filepath.Base(dir), Source: source}, address: a, key: "-from-module"}
		if from = r.single(t); from == "" {
			for n := range r.diags {
				r.diags[n].Subject = nil // the call is in no file
			}
			return r.diags
		}
	}
	if err := copyInto(from, dir); err != nil {
		return diag.Errorf(summary, "%s", diag.Sentence(err))
	}
	return nil
}

// single downloads the package of one task and returns the module's directory in it, or "" after a failure.
func (r *run) single(t *task) string {
	r.locate([]*task{t})
	if t.err == nil {
		t.pack = &pack{temp: filepath.Join(r.temp, "package")}
		t.err = r.Fetcher.Fetch(r.ctx, t.source.Package, t.pack.temp, nil)
	}
	if t.err == nil {
		t.dir, t.err = inside(filepath.ToSlash(t.pack.temp), t.source.Subdir)
	}
	if t.err != nil && t.err != errReported {
		r.errorf(nil, "Failed to download module", "%q could not be downloaded: %s.", fetch.Show(t.address.String()), reason(t.err))
	}
	return filepath.FromSlash(t.dir)
}

// copyInto copies the content of a directory into another.
func copyInto(from, to string) error {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	return fetch.CopyInto(from, to)
}
