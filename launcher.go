package mayfly

import (
	"context"
	"os"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/builtin"
	"github.com/mayfly-iac/mayfly/internal/provider/keep"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
)

// KeepProvider is the address of the secret manager that is part of the program.
var KeepProvider = mustProvider(keep.Address)

func mustProvider(s string) addr.Provider {
	p, err := addr.ParseProvider(s)
	if err != nil {
		panic(err) // a constant of ours
	}
	return p
}

// Embedded reports whether a provider is part of the program and needs no installation.
func Embedded(p addr.Provider) bool { return p == addr.BuiltinProvider || p == KeepProvider }

// Launcher starts providers: the ones in the program, the ones that are running already, and installed ones.
// The zero value knows only the first kind. It implements provider.Launcher.
type Launcher struct {
	// Executable returns the installed executable of a provider.
	Executable func(addr.Provider) (path string, ok bool)
	// Version returns the version of an installed provider; false for one under development. It may be nil:
	// nothing is known then. A plan of changes has all objects of a provider without a version.
	Version func(addr.Provider) (string, bool)
	// Verify returns an error if an installed provider must not be started, because its executable is not the
	// one that was installed; nil for no check. It is called before every start.
	Verify func(addr.Provider) error
	// Schemas returns the cache of an installed provider's schemas; nil for none. It may be nil itself.
	Schemas func(addr.Provider) SchemaCache
	// Reattach are providers that run already and are only connected to.
	Reattach map[addr.Provider]*ReattachConfig
	// Recorded are schemas of providers that are not started: those have their catalogs, and fail at
	// everything else.
	Recorded map[addr.Provider]Recording
	// Log is called with each line that a provider process writes to standard error; nil drops them.
	Log func(p addr.Provider, line string)
	// Dir is the directory that relative paths of built-in data sources start from.
	Dir string
	// ReadState reads the states that built-in data sources ask for, and CheckBackend checks where from; nil
	// for unencrypted ones of the local backend.
	ReadState    ReadState
	CheckBackend CheckBackend
	// Env is the environment of provider processes, nil for this process's.
	Env []string
	// Plain leaves connections to provider processes without encryption, for finding faults of providers.
	Plain bool
}

// Types of packages that other programs cannot import, of providers and their starts. Their fields and
// methods may change in a minor version.
type (
	// Provider is a running provider. Launcher starts the ones that a project needs.
	Provider = provider.Provider
	// ProviderLauncher starts providers by address.
	ProviderLauncher = provider.Launcher
	// SchemaCache keeps the answer of a provider that was asked for its schemas.
	SchemaCache = plugin.SchemaCache
	// ReattachConfig says where a provider runs that is only connected to.
	ReattachConfig = plugin.ReattachConfig
	// Recording has the schemas of a provider that need not run.
	Recording = provider.Recording
	// ReadState reads the state that the built-in data source terraform_remote_state asks for.
	ReadState = builtin.ReadState
	// CheckBackend checks the arguments of that data source.
	CheckBackend = builtin.CheckBackend
)

// inProject returns a launcher for the project in a directory, whose providers take the program for an
// engine. It looks at the launcher at each start, because the launcher's owner may change it until then.
func inProject(l provider.Launcher, dir string, engine Engine) provider.Launcher {
	ours, ok := l.(*Launcher)
	if !ok || ours == nil {
		return l
	}
	return projectLauncher{ours, dir, engine}
}

// projectLauncher is a launcher whose providers have a directory of their own, and take the program for an
// engine.
type projectLauncher struct {
	*Launcher
	dir    string
	engine Engine
}

// Launch implements provider.Launcher.
func (l projectLauncher) Launch(ctx context.Context, p addr.Provider) (Provider, diag.List) {
	return l.launch(ctx, p, l.dir, l.engine)
}

// Launch implements provider.Launcher.
func (l *Launcher) Launch(ctx context.Context, p addr.Provider) (Provider, diag.List) {
	return l.launch(ctx, p, "", Engine{})
}

// launch starts a provider. The default store of the provider keep is in dir; "" is the process's directory.
// The provider takes the program for the engine, the default one if there is none.
func (l *Launcher) launch(ctx context.Context, p addr.Provider, dir string, engine Engine) (provider.Provider, diag.List) {
	if r, ok := l.Recorded[p]; ok {
		return plugin.Recorded(p.String(), r)
	}
	if cfg := l.Reattach[p]; cfg != nil {
		return plugin.Reattach(ctx, p.String(), engine, cfg)
	}
	switch p {
	case addr.BuiltinProvider:
		return builtin.New(builtin.Options{Dir: l.Dir, ReadState: l.ReadState, CheckBackend: l.CheckBackend}), nil
	case KeepProvider:
		if l.Executable != nil {
			if path, ok := l.Executable(p); ok { // a development build takes the place of the embedded one
				return l.start(ctx, p, path, engine)
			}
		}
		return keep.New(keep.Options{Dir: dir}), nil
	}
	if l.Executable != nil {
		if path, ok := l.Executable(p); ok {
			return l.start(ctx, p, path, engine)
		}
	}
	return nil, diag.Errorf("Provider not installed", "The provider %s is not installed in this directory. Run \"mayfly init\" to install it.", p.ForDisplay())
}

// start starts a provider's program. It is verified just before, since it may have been replaced since the
// last start.
func (l *Launcher) start(ctx context.Context, p addr.Provider, path string, engine Engine) (provider.Provider, diag.List) {
	if l.Verify != nil {
		if err := l.Verify(p); err != nil {
			return nil, diag.Errorf("Provider was not started", "Provider %s was not started: %s.", p.ForDisplay(), err)
		}
	}
	env := l.Env
	if env == nil {
		env = os.Environ()
	}
	cmd := plugin.Command{Path: path, Name: p.String(), Env: trace.Environ(ctx, env), Engine: engine, Plain: l.Plain}
	if l.Log != nil {
		cmd.Stderr = func(line string) { l.Log(p, line) }
	}
	if l.Schemas != nil {
		cmd.Schemas = l.Schemas(p)
	}
	return plugin.Start(ctx, cmd)
}
