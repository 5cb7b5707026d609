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

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/fetch"
	"github.com/mayfly-iac/mayfly/internal/install/web"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Registry has information about modules in registries. Implementations are safe for concurrent use.
type Registry interface {
	// ModuleVersions lists the versions of a module.
	ModuleVersions(ctx context.Context, m regaddr.ModulePackage) ([]*version.Version, error)
	// ModuleLocation returns the address of a version's package. version is written as in the registry.
	ModuleLocation(ctx context.Context, m regaddr.ModulePackage, version string) (string, error)
}

// Fetcher downloads packages. Implementations are safe for concurrent use.
type Fetcher interface {
	// Fetch downloads a package into dir, which does not exist. After an error, dir may contain part of it.
	// The error reveals no secrets of the address.
	Fetch(ctx context.Context, pkg, dir string, progress web.Progress) error
}

// Observer receives the progress of an installation, on the goroutine that called Install.
type Observer interface {
	// Downloading precedes a download. source may be shown; version is "" except for modules of registries.
	Downloading(key, source, version string)
	// Installed reports that a module is new in the manifest, or in a new place.
	Installed(key, dir string)
}

// Installer installs modules for one working directory. It must be used by one goroutine at a time.
type Installer struct {
	// DataDir is the data directory, usually ".terraform".
	DataDir string
	// Loader reads modules; its ModuleDir is not used.
	Loader   *config.Loader
	Registry Registry
	Fetcher  Fetcher
	Observer Observer
	// More are calls to install besides those of the root module, by their keys in the manifest: the calls of
	// test files. Local sources start from the working directory. The modules may be the root module, or call
	// it.
	More map[string]*config.ModuleCall
}

// parallel is how many packages are downloaded at the same time.
const parallel = 4

// Install installs all modules that the configuration in rootDir calls, and writes the manifest. It keeps
// modules in the manifest unless they no longer fit or upgrade is set. The tree contains the files that were
// read, for showing sources; the caller loads it again. After an error, every module in the manifest is
// complete, and the others have left nothing behind.
func (i *Installer) Install(ctx context.Context, rootDir string, upgrade bool) (*config.Tree, diag.List) {
	r := &run{Installer: i, ctx: ctx, upgrade: upgrade, walk: i.Loader.Walk(), packages: map[string]*pack{}, listed: map[string]*listing{}}
	old, diags := read(i.DataDir)
	r.old, r.diags = byKey(old), diags
	root, ds := r.walk.Root(rootDir)
	r.diags = append(r.diags, config.Formal(ds)...)
	if r.diags.HasErrors() {
		return r.walk.Tree(), r.diags
	}
	// The caller of the others has no directory of its own, so chains of calls begin below it.
	more := &config.Module{Calls: i.More, Children: map[string]*config.Module{}}
	r.records = []Record{{Dir: root.Dir}}
	for level := []*installed{{module: root}, {module: more}}; len(level) > 0; {
		level = r.level(level)
	}
	if err := write(i.DataDir, r.manifest()); err != nil {
		r.errorf(nil, "Cannot register modules", "%s", diag.Sentence(err))
	}
	r.cleanUp()
	return r.walk.Tree(), r.diags
}

// run is the state of one call of Install. Modules are installed by level: first those called by the root
// module, then those called by these, and so on. Modules of one level are installed concurrently.
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

// installed is an installed module.
type installed struct {
	module *config.Module
	pkg    string // directory of its package; "" if the module is part of the configuration
	source string // its address, "" for a local one
	parent *installed
}

// maxRepeats is how often a module may call itself in one chain, which is possible if its source depends on
// variables. Without a bound, endless recursion would fill the disk.
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

// level installs the modules that the modules of one level call, and returns the next level.
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
			if len(r.records)+len(tasks) >= config.MaxModules {
				r.diags = append(r.diags, config.TooManyCalls(call)...)
				return nil
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

// enter records the directory of a call's module, and reads it.
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

// manifest returns the records of installed modules. After errors, it includes modules from before that were
// not reached.
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

const (
	tempPrefix = ".download-"
	// abandoned is the age at which a directory of downloads is considered left behind by a killed process.
	abandoned = 24 * time.Hour
)

// tempDir creates the directory for downloads, on the same file system as their destination, so that they
// can be renamed.
func (r *run) tempDir() (string, error) {
	if r.temp != "" {
		return r.temp, nil
	}
	dir := filepath.Join(r.DataDir, "modules")
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
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // a leftover directory does no harm
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

// reason returns the cause of a failed file operation or of an interrupt, as part of a sentence.
func reason(err error) string {
	if errors.Is(err, context.Canceled) {
		return "it was interrupted"
	}
	return strings.TrimSuffix(fmt.Sprint(err), ".")
}
