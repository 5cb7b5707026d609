package install

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// Installer installs providers for one working directory. Its fields must not change while it is in use.
// Several processes may use the same data directory and the same plugin cache at the same time.
type Installer struct {
	// DataDir is the data directory, usually ".terraform".
	DataDir string
	// Config has the plugin cache and the development overrides; nil means the defaults.
	Config *cliconfig.Config
	// Sources are the places to take packages from; see Network.Sources and MirrorDirs.
	Sources []Source
	// Platform is the one to install for; the zero value means the platform of this program.
	Platform Platform
	// Embedded are the providers, apart from the built-in one, that are part of the program.
	Embedded []addr.Provider
	// Reattached reports whether the provider is already running under the control of another program; nil
	// means none is.
	Reattached func(addr.Provider) bool
	// Verified are packages that this process has verified before. They are not hashed again unless one of
	// their files may have changed since. It may be nil.
	Verified Selections
	// Observer receives the steps of Ensure, one call at a time and in the order of the providers, even if
	// several are installed at once. It may be nil.
	Observer Observer
	// Downloading is called before each download; several may run at once. It returns the callback for the
	// progress, and a function that is called at the end. It may be nil.
	Downloading func(p addr.Provider, v versions.Version) (Progress, func())
}

// Observer receives the progress of an installation. Providers are reported one after another, so an
// observer needs no state for each.
type Observer interface {
	// Finding precedes the search for the newest version; constraints is "" if any will do.
	Finding(p addr.Provider, constraints string)
	// Reusing reports that the version in the lock file will be used.
	Reusing(p addr.Provider, v versions.Version)
	// Installing precedes the installation from a source; cached if it goes to the plugin cache.
	Installing(p addr.Provider, v versions.Version, cached bool)
	// Installed follows it. proof says in a few words why the package can be trusted, or that this cannot
	// be verified.
	Installed(p addr.Provider, v versions.Version, proof string)
	// Using reports that an installed package is used; cached if it is linked from the plugin cache, where
	// it may have been installed just before.
	Using(p addr.Provider, v versions.Version, cached bool)
}

// Selection is an installed provider that can be run. Paths are absolute.
type Selection struct {
	Version    versions.Version // unspecified for a development override
	Dir        string
	Executable string
	Hash       lockfile.Hash // h1 of the package, "" for a development override
	Dev        bool          // a development override
	traces     string        // of the package's files, from before it was hashed; "" if they are not known
}

// Selections are the installed providers. Providers that are built in, embedded or reattached are not
// included.
type Selections map[addr.Provider]Selection

// Options change the behaviour of Ensure.
type Options struct {
	// Upgrade selects the newest versions that the constraints allow, rather than the ones in the lock file.
	Upgrade bool
	// Readonly forbids changes of the lock file.
	Readonly bool
}

// quiet is an observer that does nothing.
type quiet struct{}

func (quiet) Finding(addr.Provider, string)                     {}
func (quiet) Reusing(addr.Provider, versions.Version)           {}
func (quiet) Installing(addr.Provider, versions.Version, bool)  {}
func (quiet) Installed(addr.Provider, versions.Version, string) {}
func (quiet) Using(addr.Provider, versions.Version, bool)       {}

// observer returns the observer, which may be one that does nothing.
func (i *Installer) observer() Observer {
	if i.Observer == nil {
		return quiet{}
	}
	return i.Observer
}

// platform returns the platform to install for.
func (i *Installer) platform() Platform {
	if i.Platform == (Platform{}) {
		return CurrentPlatform()
	}
	return i.Platform
}

// cacheDir returns the directory of the plugin cache, or "" if there is none.
func (i *Installer) cacheDir() string {
	if i.Config == nil {
		return ""
	}
	return i.Config.PluginCacheDir
}

// providersDir returns the directory of the installed packages.
func (i *Installer) providersDir() string { return filepath.Join(i.DataDir, "providers") }

// packageDir returns the directory of a version's package below base, which is in the data directory or the
// plugin cache.
func (i *Installer) packageDir(base string, p addr.Provider, v versions.Version) string {
	return filepath.Join(base, providerPath(p), v.String(), i.platform().String())
}

// within reports whether a provider is part of the program.
func (i *Installer) within(p addr.Provider) bool {
	return p.IsBuiltIn() || slices.Contains(i.Embedded, p)
}

// running reports whether another program controls the running provider.
func (i *Installer) running(p addr.Provider) bool { return i.Reattached != nil && i.Reattached(p) }

// override returns the directory of a provider under development.
func (i *Installer) override(p addr.Provider) (string, bool) {
	if i.Config == nil || i.Config.Installation == nil {
		return "", false
	}
	dir, ok := i.Config.Installation.DevOverrides[p]
	return dir, ok
}

// local selects the providers that need no installation and returns the other requirements in order.
func (i *Installer) local(reqs map[addr.Provider]*Requirement) (Selections, []*Requirement, diag.List) {
	sel := Selections{}
	var rest []*Requirement
	var diags diag.List
	var overrides []string
	for _, r := range sorted(reqs) {
		dir, dev := i.override(r.Provider)
		switch {
		case i.within(r.Provider):
			diags = append(diags, r.checkWithin()...)
		case i.running(r.Provider):
		case dev:
			s, ds := useOverride(r, dir)
			diags = append(diags, ds...)
			sel[r.Provider] = s
			overrides = append(overrides, "\n  - "+r.Provider.ForDisplay()+" in "+dir)
		default:
			rest = append(rest, r)
		}
	}
	if overrides != nil {
		diags = append(diags, diag.Warnf("Provider development overrides are in effect",
			"The following provider development overrides are set in the CLI configuration:%s\n\nThe behavior may therefore not match any released version of the provider, "+
				"and applying changes may cause the state to become incompatible with published releases.", strings.Join(overrides, ""))...)
	}
	return sel, rest, diags
}

// checkWithin checks the requirements for a provider that is part of the program.
func (r *Requirement) checkWithin() diag.List {
	if r.Provider.IsBuiltIn() && r.Provider != addr.BuiltinProvider {
		return r.errorf("Invalid built-in provider", "There is no built-in provider %s. The only one is %s.", r.Provider, addr.BuiltinProvider)
	}
	if len(r.Constraints) > 0 {
		return diag.At(r.Constraints[0].Range, "Version constraint without effect",
			"Provider %s is part of Mayfly and has no version of its own. Remove the constraint.", r.Provider).AsWarnings()
	}
	return nil
}

// useOverride selects the program in a directory of a provider under development. It has neither version
// nor checksum.
func useOverride(r *Requirement, dir string) (Selection, diag.List) {
	const summary = "Invalid provider development override"
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Selection{Dev: true}, r.errorf(summary, "The override of provider %s: %s.", r.Provider.ForDisplay(), err)
	}
	exe, err := findExecutable(abs, r.Provider)
	if err != nil {
		return Selection{Dev: true}, r.errorf(summary,
			"The CLI configuration overrides provider %s: %s. Build the provider there, or remove the override.", r.Provider.ForDisplay(), err)
	}
	return Selection{Dir: abs, Executable: exe, Dev: true}, nil
}
