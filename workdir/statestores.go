package workdir

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/provided"
)

// stateStores are the state stores of providers that a directory uses or has used. Their processes run until
// Backend.Close.
type stateStores struct {
	dir       *Dir
	processes *provided.Processes
	selected  install.Selections // the providers that were verified
	kinds     map[stateStoreType]*backend.Kind
}

// stateStoreType is a type of state store.
type stateStoreType struct {
	provider addr.Provider
	name     string
}

func newStateStores(d *Dir) *stateStores {
	s := &stateStores{dir: d, selected: install.Selections{}, kinds: map[stateStoreType]*backend.Kind{}}
	s.processes = provided.NewProcesses(s.launch)
	return s
}

// Close ends the processes of providers that keep states, after which no state may be used. It is safe to
// call more than once, and necessary for directories with a state_store block only.
func (b *Backend) Close() { b.locations.stores.processes.Close() }

// declared returns the kind of a state_store block.
func (s *stateStores) declared(ctx context.Context, block *config.Backend) (*backend.Kind, diag.List) {
	kind, diags := s.kind(ctx, stateStoreType{block.Store.Source, block.Type})
	for i := range diags {
		if diags[i].Subject == nil {
			diags[i].Subject = block.Range.Ptr()
		}
	}
	return kind, diags
}

// kind returns a kind. Its provider must be installed in the version that the lock file has.
func (s *stateStores) kind(ctx context.Context, t stateStoreType) (*backend.Kind, diag.List) {
	if k := s.kinds[t]; k != nil {
		return k, nil
	}
	sel, diags := s.dir.Packages.installedOne(s.dir.tree, t.provider)
	if diags.HasErrors() {
		return nil, diags
	}
	version := ""
	if one, ok := sel[t.provider]; ok {
		s.selected[t.provider] = one
		if !one.Dev {
			version = one.Version.String()
		}
	}
	// Warnings about the installation come with all providers that the configuration needs.
	kind, diags := s.processes.Kind(ctx, t.provider, version, t.name)
	if diags.HasErrors() {
		return nil, diags
	}
	s.kinds[t] = kind
	return kind, diags
}

// forget has the kinds determined anew, after other versions of providers may have been installed.
func (s *stateStores) forget() {
	s.processes.Close()
	s.processes = provided.NewProcesses(s.launch)
	clear(s.kinds)
}

// launch starts the process of a provider that keeps states.
func (s *stateStores) launch(ctx context.Context, p addr.Provider) (provider.Provider, diag.List) {
	d := s.dir
	environ := providerEnviron(d.opt.Environ, d.root)
	l := &mayfly.Launcher{
		Executable: func(p addr.Provider) (string, bool) {
			sel, ok := s.selected[p]
			return sel.Executable, ok
		},
		Verify:   func(p addr.Provider) error { return s.selected[p].Verify() },
		Reattach: d.Packages.running, Log: d.opt.ProviderLog, Dir: ".", Env: environ,
		Schemas: schemaCaches(d.files, environ, func(p addr.Provider) install.Selection { return s.selected[p] }),
		Plain:   d.files.vars["TF_DISABLE_PLUGIN_TLS"] != "",
	}
	return l.Launch(ctx, p)
}

// installedOne verifies one installed provider. The lock file selects its version, whether or not the
// configuration still requires it.
func (ps *Packages) installedOne(tree *config.Tree, p addr.Provider) (install.Selections, diag.List) {
	ins, diags := ps.Installer()
	if diags.HasErrors() {
		return nil, diags
	}
	needed, lock, ds := required(tree, nil)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, diags
	}
	one := needed[p]
	if one == nil {
		one = &install.Requirement{Provider: p}
	}
	sel, ds := ins.Selected(map[addr.Provider]*install.Requirement{p: one}, lock)
	return sel, append(diags, ds...)
}

// InstallStateStore installs the provider of the state store of the loaded configuration, and adds it to the
// dependency lock file: it is needed to read the state, which says which other providers are. It does nothing
// for a configuration without a state_store block. It returns the selections as they were before and as they
// are now.
func (ps *Packages) InstallStateStore(ctx context.Context, opt ProviderOptions) (before, after *lockfile.Lock, diags diag.List) {
	if !ps.dir.Backend.HasStateStore() {
		return lockfile.New(), lockfile.New(), nil
	}
	p := ps.dir.root.Backend.Store.Source
	ins, diags := ps.Installer()
	if diags.HasErrors() {
		return nil, nil, diags
	}
	if len(opt.PluginDirs) > 0 {
		ins.Sources = install.MirrorDirs(opt.PluginDirs...)
	}
	ins.Observer, ins.Downloading = opt.Observer, opt.Downloading
	needed, before, ds := required(ps.dir.tree, nil)
	if diags = append(diags, ds...); ds.HasErrors() || needed[p] == nil {
		return before, before, diags
	}
	own, rest := lockfile.New(), lockfile.New()
	for e := range before.All() {
		if e.Provider.Namespace == p.Namespace && e.Provider.Type == p.Type { // also at the host of another registry
			own.Set(e)
		} else {
			rest.Set(e)
		}
	}
	_, chosen, ds := ins.Ensure(ctx, map[addr.Provider]*install.Requirement{p: needed[p]}, own, opt.Options)
	if diags = append(diags, ds...); ds.HasErrors() || chosen.SameSelections(own) {
		return before, before, diags
	}
	for e := range chosen.All() {
		rest.Set(e)
	}
	if err := lockfile.Write(lockfile.FileName, rest); err != nil {
		diags = append(diags, diag.Errorf("Failed to write the dependency lock file", "%s", diag.Sentence(err))...)
	}
	ps.dir.Backend.locations.stores.forget()
	return before, rest, diags
}

// accepts has a provider validate the configuration of its state store, if a location is one.
func (b *Backend) accepts(ctx context.Context, l location) diag.List {
	if l.kind.Provided == nil {
		return nil
	}
	l, diags := b.locations.unseal(l)
	if diags.HasErrors() {
		return diags
	}
	if _, err := l.kind.Complete(l.cfg, b.dir.files.lookup); err != nil {
		return nil // as is reported when the store is opened
	}
	block := b.dir.root.Backend
	return l.kind.Provided.Accepts(ctx, l.cfg, block.Body, block.Store.Body)
}

// checkStore checks the configuration of a state store and of its provider as far as it is known without the
// values of variables.
func (b *Backend) checkStore(ctx context.Context, kind *backend.Kind, block *config.Backend, partial config.Static, shape hcl.Body) diag.List {
	provider := block.Store.Shape(b.dir.root, partial)
	diags := kind.Provided.CheckProvider(provider)
	if diags.HasErrors() || kind.Check(shape).HasErrors() {
		return diags
	}
	return append(diags, kind.Provided.AcceptsShape(ctx, shape, provider)...)
}

// HasStateStore reports whether the loaded root module has a state_store block.
func (b *Backend) HasStateStore() bool {
	return b.dir.root != nil && b.dir.root.Backend != nil && b.dir.root.Backend.Store != nil
}
