package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-version"
	"golang.org/x/sync/errgroup"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install/fetch"
	"github.com/mayfly-iac/mayfly/internal/install/registry"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// task is the installation of the module of one call.
type task struct {
	parent  *installed
	call    *config.ModuleCall
	address address
	key     string

	version *version.Version // of a module in a registry
	source  fetch.Source     // address of the package, and the directory within it
	pack    *pack
	err     error

	// The results: the directories of module and package; "" after a failure.
	dir, pkg string
	fetched  bool
}

// pack is a package that is downloaded once per run, however many calls use it.
type pack struct {
	temp string // where it is downloaded to
	dir  string // its final directory; "" until the first call takes it
	err  error
}

// listing is a registry's information about a module.
type listing struct {
	versions []*version.Version
	err      error
}

// download installs the packages of tasks that are not installed yet.
func (r *run) download(tasks []*task) {
	var wanted []*task
	for _, t := range tasks {
		if t.address.local == "" && !r.reuse(t) {
			wanted = append(wanted, t)
		}
	}
	if len(wanted) == 0 {
		return
	}
	r.locate(wanted)
	r.fetch(wanted)
	if err := r.forget(wanted); err != nil {
		r.errorf(nil, "Cannot register modules", "%s", diag.Sentence(err))
		return
	}
	for _, t := range wanted {
		if t.err == nil {
			t.err = r.place(t)
		}
		if t.err != nil && !errors.Is(t.err, errReported) && r.ctx.Err() == nil {
			r.errorf(t.call, "Failed to download module", "Module %q could not be downloaded from %q: %s.", t.call.Name, fetch.Show(t.source.String()), reason(t.err))
		}
	}
	if r.ctx.Err() != nil {
		r.errorf(nil, "Installation interrupted", "Not all modules were installed. Run \"mayfly init\" to install the rest.")
	}
}

// reuse takes the entry of the manifest if it still fits.
func (r *run) reuse(t *task) bool {
	old, ok := r.old[t.key]
	if r.upgrade || !ok || old.Source != t.address.String() || !isDir(old.Dir) {
		return false
	}
	if t.address.registry != nil {
		if !old.satisfies(t.call) {
			return false
		}
		t.version, _ = version.NewVersion(old.Version) // satisfies has parsed it
	}
	t.dir, t.pkg = old.Dir, r.packageDir(t.key)
	return true
}

// packageDir returns the directory for a call's package.
func (r *run) packageDir(key string) string {
	return path.Join(filepath.ToSlash(r.DataDir), "modules", key)
}

// locate determines the addresses of packages. Modules in registries need several requests, which are made
// concurrently.
func (r *run) locate(tasks []*task) {
	results := make(chan func(), 2*len(tasks))
	var group errgroup.Group
	group.SetLimit(parallel)
	asked := map[string]bool{}
	for _, t := range tasks {
		reg := t.address.registry
		if reg == nil || asked[reg.Package.String()] || r.listed[reg.Package.String()] != nil {
			continue
		}
		asked[reg.Package.String()] = true
		group.Go(func() error {
			l := &listing{}
			l.versions, l.err = r.Registry.ModuleVersions(r.ctx, reg.Package)
			results <- func() { r.listed[reg.Package.String()] = l }
			return nil
		})
	}
	_ = group.Wait() // its functions never return errors
	drain(results)
	for _, t := range tasks {
		if t.address.remote != nil {
			t.source = *t.address.remote
			continue
		}
		if t.version, t.err = r.choose(t); t.err != nil {
			continue
		}
		group.Go(func() error {
			location, err := r.Registry.ModuleLocation(r.ctx, t.address.registry.Package, t.version.Original())
			var src fetch.Source
			if err == nil {
				src, err = fetch.Parse(location)
				src.Subdir = path.Join(src.Subdir, t.address.registry.Subdir)
			}
			results <- func() { t.source, t.err = src, err }
			return nil
		})
	}
	_ = group.Wait()
	drain(results)
	for _, t := range tasks {
		r.reportLookup(t)
	}
}

func drain(results chan func()) {
	for len(results) > 0 {
		(<-results)()
	}
}

// errReported means that the task's problem has been reported.
var errReported = errors.New("reported")

// choose selects the version of a module in a registry.
func (r *run) choose(t *task) (*version.Version, error) {
	l := r.listed[t.address.registry.Package.String()]
	if l.err != nil {
		return nil, l.err
	}
	v := newest(l.versions, t.call.Version.Text)
	if v != nil {
		return v, nil
	}
	if t.call.Version.Text == "" {
		r.errorf(t.call, "Module has no versions", "The registry has only versions of module %q (%s) that must be requested exactly, such as pre-releases: %s.", t.call.Name, t.address, versionsText(l.versions))
	} else {
		r.errorf(t.call, "Unresolvable module version constraint", "No available version of module %q (%s) matches its constraint %q. Available are %s.", t.call.Name, t.address, t.call.Version.Text, versionsText(l.versions))
	}
	return nil, errReported
}

func versionsText(list []*version.Version) string {
	const most = 10
	list = slices.SortedFunc(slices.Values(list), func(a, b *version.Version) int { return b.Compare(a) })
	var texts []string
	for n, v := range list {
		if n == most {
			texts = append(texts, fmt.Sprintf("%d older ones", len(list)-most))
			break
		}
		texts = append(texts, v.String())
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}

func (r *run) reportLookup(t *task) {
	if t.err == nil || errors.Is(t.err, errReported) || r.ctx.Err() != nil {
		return
	}
	if errors.Is(t.err, registry.ErrNoModule) {
		r.errorf(t.call, "Module not found", "The registry %s has no module %s, which module %q has as its source. Check the name; the source of a local directory must start with \"./\" or \"../\".",
			t.address.registry.Package.Host.ForDisplay(), t.address, t.call.Name)
	} else {
		r.errorf(t.call, "Error accessing remote module registry", "The registry could not be queried for module %q (%s): %s.", t.call.Name, t.address, reason(t.err))
	}
	t.err = errReported
}

// fetch downloads packages that this run doesn't have yet.
func (r *run) fetch(tasks []*task) {
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, t := range tasks {
		if t.err != nil {
			continue
		}
		r.announce(t)
		p := r.packages[t.source.Package]
		if t.pack = p; p != nil {
			continue
		}
		temp, err := r.tempDir()
		p = &pack{temp: filepath.Join(temp, strconv.Itoa(len(r.packages))), err: err}
		t.pack, r.packages[t.source.Package] = p, p
		if err != nil {
			continue
		}
		group.Go(func() error {
			ctx, span := trace.Start(r.ctx, "install module") // without its source, which may have a password
			span.Set(trace.Address, t.key)
			p.err = r.Fetcher.Fetch(ctx, t.source.Package, p.temp, nil)
			span.Finish(p.err == nil)
			return nil
		})
	}
	_ = group.Wait() // its functions never return errors
	for _, t := range tasks {
		if t.err == nil {
			t.err = t.pack.err
		}
	}
}

func (r *run) announce(t *task) {
	trace.Note(r.ctx, trace.Info, "module %s: taken from %s", t.key, fetch.Show(t.source.Package))
	if t.address.registry == nil {
		r.Observer.Downloading(t.key, fetch.Show(t.source.Package), "")
		return
	}
	r.Observer.Downloading(t.key, t.address.registry.Package.String(), t.version.String())
}

// forget removes modules that are about to be replaced from the manifest, so that it never lists a missing
// module.
func (r *run) forget(tasks []*task) error {
	changed := false
	for _, t := range tasks {
		if _, had := r.old[t.key]; had && t.err == nil {
			delete(r.old, t.key)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	kept := slices.Clone(r.records)
	have := byKey(kept)
	for k, old := range r.old {
		if _, again := have[k]; !again {
			kept = append(kept, old)
		}
	}
	return write(r.DataDir, kept)
}

// place moves the package of a task to its directory and finds the module in it.
func (r *run) place(t *task) error {
	to := r.packageDir(t.key)
	if _, err := os.Lstat(filepath.FromSlash(to)); err == nil {
		temp, err := r.tempDir()
		if err != nil {
			return err
		}
		if err := os.Rename(filepath.FromSlash(to), filepath.Join(temp, "old-"+t.key)); err != nil {
			return err
		}
	}
	var err error
	if t.pack.dir == "" {
		if err = os.Rename(t.pack.temp, filepath.FromSlash(to)); err == nil {
			t.pack.dir = to
		}
	} else {
		err = fetch.Copy(t.pack.dir, filepath.FromSlash(to))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(filepath.FromSlash(to)))
	}
	dir, err := inside(to, t.source.Subdir)
	if err != nil {
		r.useless = append(r.useless, filepath.FromSlash(to)) // later calls may still use the package there
		return err
	}
	t.dir, t.pkg, t.fetched = dir, to, true
	return nil
}

// inside returns the directory of a module within its package.
func inside(pkg, subdir string) (string, error) {
	if subdir == "" {
		return pkg, nil
	}
	if strings.ContainsAny(subdir, "*?[") {
		matches, err := fetch.Dirs(filepath.FromSlash(pkg), subdir)
		switch {
		case err != nil:
			return "", fmt.Errorf("the pattern %q is malformed", subdir)
		case len(matches) != 1:
			return "", fmt.Errorf("%d directories of the package match the pattern %q, but it must match exactly one", len(matches), subdir)
		}
		subdir = matches[0]
	}
	dir := path.Join(pkg, subdir)
	if info, err := os.Stat(filepath.FromSlash(dir)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return "", fmt.Errorf("the package has no directory %q", subdir)
	}
	return dir, nil
}
