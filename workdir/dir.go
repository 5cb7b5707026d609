package workdir

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/modules"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/kinds"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

// maxRecord bounds the small files that are kept beside a configuration, in bytes.
const maxRecord = 16 << 20

// Options say how to use a working directory.
type Options struct {
	// Root is the directory of the root module; the working directory if empty. State, variable files,
	// modules and providers always belong to the working directory.
	Root string
	// Environ has the environment variables, in the form of os.Environ; nil stands for the process's.
	Environ []string
	// Settings give values to variables, in order of rising precedence. They take precedence over the
	// environment and over the files that are read without being named.
	Settings []Setting
	// Asker is asked for missing values; nil if input is not possible.
	Asker Asker
	// Version is the version of the program, which saved plans record; CompatibleVersion if empty.
	Version string
	// User has the user's settings; nil for those that the environment leads to.
	User *User
	// Testing permits ephemeral outputs in the root module, as for a module under test.
	Testing bool
	// ProviderLog is called with each line that a provider that keeps states writes to standard error, which
	// may contain secrets; nil drops them.
	ProviderLog func(p addr.Provider, line string)
	// Leaks remembers secrets: ephemeral values, and the keys and passphrases of the encryption. If it is
	// nil, the directory has a guard of its own.
	Leaks *mayfly.Guard
}

// Dir is the working directory of a configuration. It belongs to one goroutine.
type Dir struct {
	// Backend is where the states are, Packages the modules and providers that are installed, Variables the
	// values that variables are given, and Plans the saved plans.
	Backend   *Backend
	Packages  *Packages
	Variables *Variables
	Plans     *Plans

	opt   Options
	files *files

	queries config.Queries // that Load reads

	tree *config.Tree   // the tree loaded last, nil if none was
	root *config.Module // of tree; nil also if there are no configuration files
}

// New returns the working directory of the process. It reads nothing yet.
func New(opt Options) *Dir {
	if opt.Leaks == nil {
		opt.Leaks = leak.New()
	}
	opt.Root = cmp.Or(opt.Root, ".")
	if opt.Environ == nil {
		opt.Environ = os.Environ()
	}
	opt.Version = cmp.Or(opt.Version, mayfly.CompatibleVersion)
	f := filesIn(opt.Environ)
	if opt.User == nil {
		opt.User = NewUser(opt.Environ)
	}
	d := &Dir{opt: opt, files: f}
	d.Backend = &Backend{dir: d, locations: &locations{files: f, kinds: kinds.All(), stores: newStateStores(d)}}
	d.Packages = &Packages{dir: d}
	d.Variables = &Variables{dir: d, answers: map[string]candidate{}}
	d.Plans = &Plans{dir: d}
	return d
}

// filesIn returns the files that belong to a working directory, by environment variables.
func filesIn(environ []string) *files {
	f := &files{vars: map[string]string{}}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			f.vars[name] = value
		}
	}
	f.dataDir = cmp.Or(f.vars["TF_DATA_DIR"], ".terraform")
	return f
}

// HasConfig reports whether there are configuration files.
func (d *Dir) HasConfig() bool { return (&config.Loader{Queries: d.queries}).IsConfigDir(d.opt.Root) }

// ReadQueries has Load and LoadDeclarations read the query files of the root module too. If they are needed,
// it is an error that there are none.
func (d *Dir) ReadQueries(needed bool) {
	d.queries = config.AnyQueries
	if needed {
		d.queries = config.SomeQueries
	}
}

// Load reads the configuration, which is empty if there are no configuration files. Sources of modules may
// depend on variables, which may be asked for until ctx ends. With errors, Tree and Sources serve to show
// them.
func (d *Dir) Load(ctx context.Context) diag.List {
	tree, diags := d.loader(ctx).Load(d.opt.Root)
	d.useOwn(tree)
	return diags
}

// LoadDeclarations is Load for callers that only need the modules and providers that the configuration
// declares: it does not report that something is used in a wrong way.
func (d *Dir) LoadDeclarations(ctx context.Context) diag.List { return config.Formal(d.Load(ctx)) }

// LoadRoot reads the root module alone, which is enough to find the state: modules that it calls may not be
// installed yet. It reports errors that the state cannot be found with; Load reports the others.
func (d *Dir) LoadRoot(ctx context.Context) diag.List {
	if !d.HasConfig() {
		return nil
	}
	walk := d.loader(ctx).Walk()
	_, diags := walk.Root(d.opt.Root)
	d.useOwn(walk.Tree())
	if diags = config.Formal(diags); diags.HasErrors() {
		return diags
	}
	return nil
}

// loadedRoot is LoadRoot unless something was loaded before.
func (d *Dir) loadedRoot(ctx context.Context) diag.List {
	if d.tree != nil {
		return nil
	}
	return d.LoadRoot(ctx)
}

// useOwn makes a tree of the directory's files its configuration.
func (d *Dir) useOwn(tree *config.Tree) {
	var root *config.Module
	if d.HasConfig() {
		root = tree.Root
	}
	d.use(tree, root, nil)
}

// use makes a tree the configuration of the directory. It is from a saved plan, or from files if that is nil.
func (d *Dir) use(tree *config.Tree, root *config.Module, saved *planned) {
	d.tree, d.root, d.Plans.loaded, d.Backend.encrypted = tree, root, saved, nil
}

// Tree returns the configuration that was loaded last; nil if none was.
func (d *Dir) Tree() *mayfly.Tree { return d.tree }

// loader returns a loader for the configuration files and the modules that are installed now.
func (d *Dir) loader(ctx context.Context) *config.Loader {
	e := d.opt.User.engine()
	return &config.Loader{
		ModuleDir: modules.Installed(d.files.dataDir), Static: mayfly.Static(d.staticOptions(ctx)), StaticMarked: mayfly.StaticMarked(d.staticOptions(ctx)),
		Version: e.Version, Terraform: e.Name == compat.Terraform, EphemeralRootOutputs: d.opt.Testing, Queries: d.queries,
	}
}

// absolute returns the absolute path of the working directory, "." if it is not known.
func absolute() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return filepath.ToSlash(dir)
}

// emptyTree is the configuration of a directory without any.
func emptyTree() *config.Tree {
	root := &config.Module{Dir: "."}
	return &config.Tree{Root: root, Modules: map[addr.Module]*config.Module{addr.RootModule: root}, Sources: map[string][]byte{}}
}

// LoadModule reads the module in one directory by itself. Nothing needs to be installed for it.
func (d *Dir) LoadModule(ctx context.Context, dir string) (*config.Module, diag.List) {
	return d.loader(ctx).LoadModule(dir, addr.RootModule)
}

// environment returns the environment in which the user's settings are looked for.
func (f *files) environment() cliconfig.Environment {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return cliconfig.Environment{Vars: maps.Clone(f.vars), Home: home, GOOS: runtime.GOOS}
}
