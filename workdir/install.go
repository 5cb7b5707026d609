package workdir

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/modules"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/state"
)

// Packages are the modules and providers that a working directory needs, and where they come from. It belongs
// to the goroutine of its Dir.
type Packages struct {
	dir     *Dir
	user    *cliconfig.Config                        // nil until Network
	running map[addr.Provider]*plugin.ReattachConfig // providers that run already
}

// Network returns access to the places that packages come from, by the user's settings, which are read once.
func (ps *Packages) Network() (*install.Network, diag.List) {
	var diags diag.List
	if ps.user == nil {
		ps.user, diags = ps.dir.opt.User.config()
	}
	return &install.Network{Config: ps.user, Env: ps.dir.files.environment(), Compatible: ps.dir.opt.User.engine()}, diags
}

// host finds a service of a host for backends.
func (ps *Packages) host(ctx context.Context, name, service string) (s backend.HostService, err error) {
	network, diags := ps.Network()
	if !diags.HasErrors() {
		s.Address, s.Token, diags = network.Service(ctx, name, service)
	}
	if !diags.HasErrors() {
		s.Transport, diags = network.UsableTransport()
	}
	return s, diags.Err()
}

// Modules returns the installer of modules.
func (ps *Packages) Modules(ctx context.Context, o modules.Observer) (*modules.Installer, diag.List) {
	network, diags := ps.Network()
	if diags.HasErrors() {
		return nil, diags
	}
	registry, fetcher, ds := network.Modules()
	return &modules.Installer{DataDir: ps.dir.files.dataDir, Loader: ps.dir.loader(ctx), Registry: registry, Fetcher: fetcher, Observer: o}, append(diags, ds...)
}

// noteSettings notes where the user's settings come from, and those that decide where packages come from.
func (ps *Packages) noteSettings(ctx context.Context) {
	if !trace.Noting(ctx) || ps.user == nil {
		return
	}
	files := "no file"
	if len(ps.user.Files) > 0 {
		files = strings.Join(ps.user.Files, ", ")
	}
	trace.Note(ctx, trace.Info, "CLI configuration: %s; provider_installation block: %t; plugin cache: %q", files, ps.user.Installation != nil, ps.user.PluginCacheDir)
	for _, host := range slices.Sorted(maps.Keys(ps.user.TokenOrigins)) {
		trace.Note(ctx, trace.Info, "there are credentials for %s, from %s", host.ForDisplay(), ps.user.TokenOrigins[host])
	}
}

// InstallModules installs the modules that the configuration calls, and those that they call: with upgrade in
// the newest versions that the constraints allow, otherwise only those that are missing. With errors, Tree
// and Sources serve to show them. The modules of runs in test files are installed too.
func (ps *Packages) InstallModules(ctx context.Context, upgrade bool, tests []*config.TestFile, o modules.Observer) diag.List {
	ins, diags := ps.Modules(ctx, o)
	if diags.HasErrors() {
		return diags
	}
	ins.More = testCalls(tests)
	tree, ds := ins.Install(ctx, ".", upgrade)
	if tree != nil {
		ps.dir.useOwn(tree)
	}
	if !ds.HasErrors() {
		ds = nil // Load reports the same warnings
	}
	return append(diags, ds...)
}

// Installer returns the installer of providers, with the sources of the user's settings.
func (ps *Packages) Installer() (*install.Installer, diag.List) {
	network, diags := ps.Network()
	running, err := plugin.ParseReattach(ps.dir.files.vars["TF_REATTACH_PROVIDERS"])
	if err != nil {
		diags = append(diags, diag.Errorf("Invalid TF_REATTACH_PROVIDERS", "The environment variable TF_REATTACH_PROVIDERS could not be understood: %s.", strings.TrimSuffix(err.Error(), "."))...)
	}
	ps.running = running
	sources, ds := network.Sources()
	return &install.Installer{
		DataDir: ps.dir.files.dataDir, Config: ps.user, Embedded: []addr.Provider{mayfly.KeepProvider},
		Reattached: func(p addr.Provider) bool { return ps.running[p] != nil },
		Sources:    sources, Verified: ps.dir.Backend.locations.stores.selected,
	}, append(diags, ds...)
}

// ProviderOptions control Packages.InstallProviders.
type ProviderOptions struct {
	install.Options
	// PluginDirs are the only directories to take packages from; none for the sources of the user's settings.
	PluginDirs []string
	Observer   install.Observer
	// Downloading is called before each download; see install.Installer.
	Downloading func(addr.Provider, versions.Version) (install.Progress, func())
	// Start is called with the providers that are needed before the first is installed; nil for none.
	Start func(needed map[addr.Provider]*install.Requirement)
	Tests *Tests // whose providers are needed too; nil for none
}

// InstallProviders installs the providers that the loaded configuration and the objects in a state, which may
// be nil, need, and writes the dependency lock file. It returns the selections as they were before and as
// they are now.
func (ps *Packages) InstallProviders(ctx context.Context, st *state.State, opt ProviderOptions) (before, after *lockfile.Lock, diags diag.List) {
	ins, diags := ps.Installer()
	if diags.HasErrors() {
		return nil, nil, diags
	}
	if len(opt.PluginDirs) > 0 {
		ins.Sources = install.MirrorDirs(opt.PluginDirs...)
	}
	ins.Observer, ins.Downloading = opt.Observer, opt.Downloading
	tree := ps.dir.tree
	if opt.Tests != nil {
		tree = opt.Tests.together(tree)
	}
	ps.noteSettings(ctx)
	needed, before, ds := required(tree, st)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, nil, diags
	}
	if opt.Start != nil {
		opt.Start(needed)
	}
	_, after, ds = ins.Ensure(ctx, needed, before, opt.Options)
	if diags = append(diags, ds...); ds.HasErrors() || after.SameSelections(before) {
		return before, before, diags
	}
	if err := lockfile.Write(lockfile.FileName, after); err != nil {
		diags = append(diags, diag.Errorf("Failed to write the dependency lock file", "%s", diag.Sentence(err))...)
	}
	return before, after, diags
}

// required returns the providers that a configuration and a state, which may be nil, need, and the dependency
// lock file.
func required(tree *config.Tree, st *state.State) (map[addr.Provider]*install.Requirement, *lockfile.Lock, diag.List) {
	needed, diags := install.Requirements(tree, st)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	lock, ds := lockfile.Read(lockfile.FileName)
	return needed, lock, append(diags, ds...)
}

// installed verifies the installed providers that a configuration and a state, which may be nil, need. It
// changes nothing.
func (ps *Packages) installed(tree *config.Tree, st *state.State) (install.Selections, diag.List) {
	ins, diags := ps.Installer()
	if diags.HasErrors() {
		return nil, diags
	}
	needed, lock, ds := required(tree, st)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, diags
	}
	sel, ds := ins.Selected(needed, lock)
	return sel, append(diags, ds...)
}
