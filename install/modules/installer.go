package modules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-version"
	regaddr "github.com/opentofu/registry-address/v2"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install/fetch"
	"github.com/mayfly-iac/mayfly/install/web"
)

// Registry tells what registries have of modules. Implementations are safe for concurrent use.
type Registry interface {
	// ModuleVersions lists the versions of a module.
	ModuleVersions(ctx context.Context, m regaddr.ModulePackage) ([]*version.Version, error)
	// ModuleLocation returns the address of the package of a version, which is written as the registry does.
	ModuleLocation(ctx context.Context, m regaddr.ModulePackage, version string) (string, error)
}

// Fetcher gets packages. Implementations are safe for concurrent use.
type Fetcher interface {
	// Fetch gets a package into dir, which does not exist. After an error dir may hold a part of it. The
	// error tells no secret of the address.
	Fetch(ctx context.Context, pkg, dir string, progress web.Progress) error
}

// Observer is told what an installation does, by the goroutine that called Install.
type Observer interface {
	// Downloading precedes getting a package. source may be shown; version is "" but for modules of
	// registries.
	Downloading(key, source, version string)
	// Installed says that a module is new in the manifest, or in another place than before.
	Installed(key, dir string)
}

// Installer installs modules for one working directory. It must be used by one goroutine at a time.
type Installer struct {
	// DataDir is the directory of installed things, usually ".terraform".
	DataDir string
	// Loader reads modules; its ModuleDir is not used.
	Loader   *config.Loader
	Registry Registry
	Fetcher  Fetcher
	Observer Observer
}

// parallel is how many packages are got at the same time.
const parallel = 4

// Install puts all modules in place that the configuration in rootDir calls, and writes the manifest. What
// the manifest has already is kept, unless it doesn't fit any more, or upgrade is set. The tree holds what
// was read, for showing sources; loading it properly is left to the caller. After an error every module in
// the manifest is complete, and nothing of the others is left.
func (i *Installer) Install(ctx context.Context, rootDir string, upgrade bool) (*config.Tree, diag.List) {
	r := &run{Installer: i, ctx: ctx, upgrade: upgrade, walk: i.Loader.Walk(), packages: map[string]*pack{}, listed: map[string]*listing{}}
	old, diags := Read(i.DataDir)
	r.old, r.diags = byKey(old), diags
	root, ds := r.walk.Root(rootDir)
	r.diags = append(r.diags, config.Formal(ds)...)
	if r.diags.HasErrors() {
		return r.walk.Tree(), r.diags
	}
	r.records = []Record{{Dir: root.Dir}}
	for level := []*installed{{module: root}}; len(level) > 0; {
		level = r.level(level)
	}
	if err := Write(i.DataDir, r.manifest()); err != nil {
		r.errorf(nil, "Cannot register modules", "%s", diag.Sentence(err))
	}
	r.cleanUp()
	return r.walk.Tree(), r.diags
}

// run is the state of one call of Install. Modules are installed level by level: all that are called from the
// root, all that these call, and so on, those of a level at the same time.
type run struct {
	*Installer
	ctx      context.Context
	upgrade  bool
	walk     *config.Walk
	old      map[string]Record
	records  []Record
	diags    diag.List
	temp     string           // "" until something is downloaded
	useless  []string         // directories to remove at the end
	packages map[string]*pack // by address
	listed   map[string]*listing
}

// installed is a module that is in place.
type installed struct {
	module *config.Module
	pkg    string // the directory of the package that it is part of, "" for what belongs to the configuration
	source string // its address, "" for a local one
	parent *installed
}

// maxRepeats is how often a module may call itself in one chain, as one with a source that depends on
// variables could. Without a bound, one that always does would fill the disk.
const maxRepeats = 3

func (i *installed) repeats(source string) (n int) {
	for ; i != nil; i = i.parent {
		if i.source == source {
			n++
		}
	}
	return n
}

func (r *run) errorf(call *config.ModuleCall, summary, format string, args ...any) {
	d := diag.Errorf(summary, format, args...)
	if call != nil {
		d[0].Subject = call.SrcRange.Ptr()
	}
	r.diags = append(r.diags, d...)
}

// level installs what the modules of one level call, and returns the modules of the next.
func (r *run) level(parents []*installed) []*installed {
	var tasks []*task
	for _, p := range parents {
		for _, call := range r.walk.Calls(p.module) {
			ds := r.Loader.Resolve(p.module, call)
			r.diags = append(r.diags, ds...)
			if ds.HasErrors() || !call.SourceSet {
				continue
			}
			a, ds := parse(call)
			if r.diags = append(r.diags, ds...); ds.HasErrors() {
				continue
			}
			if a.local == "" && p.repeats(a.String()) > maxRepeats {
				r.errorf(call, "Module calls itself", "The module %q comes from %s, like a module that contains this call, so the calls would never end. A module cannot contain itself.", call.Name, fetch.Show(a.String()))
				continue
			}
			tasks = append(tasks, &task{parent: p, call: call, address: a, key: key(p.module, call)})
		}
	}
	r.download(tasks)
	var next []*installed
	for _, t := range tasks {
		if m := r.enter(t); m != nil {
			next = append(next, m)
		}
	}
	return next
}

// enter records where the module of a call is, and reads it.
func (r *run) enter(t *task) *installed {
	record := Record{Key: t.key, Source: t.address.String(), Dir: t.dir}
	pkg := t.pkg
	if t.address.local != "" {
		pkg = t.parent.pkg
		record.Dir = path.Join(t.parent.module.Dir, filepath.ToSlash(t.address.local))
		if pkg != "" && record.Dir != pkg && !strings.HasPrefix(record.Dir, pkg+"/") {
			r.errorf(t.call, "Local module path escapes module package",
				"The source %q points outside of the package that the calling module came with, so it may be missing on other machines. Call the other module by an address of its own.", t.call.Source)
			return nil
		}
	}
	if record.Dir == "" {
		return nil // the download has failed
	}
	if t.version != nil {
		record.Version = t.version.String()
	}
	if r.old[t.key] != record || t.fetched {
		r.Observer.Installed(t.key, record.Dir)
	}
	m, diags := r.walk.Child(t.parent.module, t.call, record.Dir)
	r.diags = append(r.diags, config.Formal(diags)...)
	if m == nil {
		return nil
	}
	r.records = append(r.records, record)
	i := &installed{module: m, pkg: pkg, parent: t.parent}
	if t.address.local == "" {
		i.source = record.Source
	}
	return i
}

// manifest is what is installed now. After errors, what was installed before and not reached is still there.
func (r *run) manifest() []Record {
	out := r.records
	if !r.diags.HasErrors() {
		return out
	}
	have := byKey(out)
	for k, old := range r.old {
		if _, again := have[k]; !again {
			out = append(out, old)
		}
	}
	return out
}

func (r *run) modulesDir() string { return filepath.Join(r.DataDir, "modules") }

const (
	tempPrefix = ".download-"
	// abandoned is the age from which on a directory of downloads is taken for what a killed process has
	// left.
	abandoned = 24 * time.Hour
)

// tempDir makes the directory for downloads: on the same file system as their destination, so that they can
// be put there at once.
func (r *run) tempDir() (string, error) {
	if r.temp != "" {
		return r.temp, nil
	}
	dir := r.modulesDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), tempPrefix) && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // it is in nobody's way
		}
	}
	r.temp, err = os.MkdirTemp(dir, tempPrefix)
	return r.temp, err
}

func (r *run) cleanUp() {
	if r.temp != "" {
		r.useless = append(r.useless, r.temp)
	}
	for _, dir := range r.useless {
		if err := os.RemoveAll(dir); err != nil {
			r.diags = append(r.diags, diag.Warnf("Cannot remove temporary files", "The directory %s could not be removed: %s. Remove it by hand.", dir, err)...)
		}
	}
}

// reason is the cause of a failed file operation or of an interrupt, as part of a sentence.
func reason(err error) string {
	if errors.Is(err, context.Canceled) {
		return "it was interrupted"
	}
	return strings.TrimSuffix(fmt.Sprint(err), ".")
}
