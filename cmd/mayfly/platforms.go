package main

import (
	"context"
	"maps"
	"slices"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// platformFlags is the option -platform of commands that fetch packages for other platforms.
type platformFlags struct{ platforms []install.Platform }

// flag returns the option. It may be given several times; each platform counts once.
func (f *platformFlags) flag() cli.Flag {
	return genericFlag("platform", "Get the packages for `OS_ARCH`, such as linux_amd64. The default is the platform of this machine.", func(s string) error {
		p, err := install.ParsePlatform(s)
		if err == nil && !slices.Contains(f.platforms, p) {
			f.platforms = append(f.platforms, p)
		}
		return err
	})
}

// list returns the platforms that were asked for, in that order, or else this machine's platform.
func (f *platformFlags) list() []install.Platform {
	if len(f.platforms) == 0 {
		return []install.Platform{install.CurrentPlatform()}
	}
	return f.platforms
}

// lockProvidersFlags are the options of the providers lock command.
type lockProvidersFlags struct {
	platformFlags
	fsMirror, netMirror, ociMirror string
}

// lockCommand returns the command providers lock, for lock files that are shared between machines of
// different platforms.
func (c *packageCommands) lockCommand(a *app) *cli.Command {
	f := &lockProvidersFlags{}
	flags := append(c.in.variableFlags(), f.flag(),
		stringFlag("fs-mirror", "Take the packages from the filesystem mirror in `DIR`.", &f.fsMirror),
		stringFlag("net-mirror", "Take the packages from the network mirror at `URL`.", &f.netMirror),
		stringFlag("oci-mirror", "Take the packages from the OCI registry in which `TEMPLATE` gives the repository of a provider, such as example.com/{namespace}/{type}, with {hostname} too.", &f.ociMirror))
	return a.messageCommand("lock", "Write checksums for several platforms to the dependency lock file", "[PROVIDER...]",
		"Adds the checksums of the packages for all platforms given to the dependency lock file, so that a project can be used on different platforms. "+
			"Packages come from the providers' own registries, or from the mirror of -fs-mirror, -net-mirror or -oci-mirror, regardless of the CLI configuration. Without arguments, all providers that the configuration needs are locked.",
		flags, func(ctx context.Context, args []string) int { return c.lock(ctx, f, args) })
}

// lock records the hashes of packages for several platforms in the lock file. Its sources replace the ones in
// the CLI configuration: the hashes come from the providers' own registries unless an option names a mirror.
func (c *packageCommands) lock(ctx context.Context, f *lockProvidersFlags, args []string) int {
	ctx, stop := c.signals.Once(ctx)
	defer stop()
	mirrors := 0
	for _, given := range []string{f.fsMirror, f.netMirror, f.ociMirror} {
		if given != "" {
			mirrors++
		}
	}
	if mirrors > 1 {
		return c.out.fail("Invalid options", "Only one of the options -fs-mirror, -net-mirror and -oci-mirror can be used: packages come from one place.")
	}
	t, ok := c.packages(ctx, args, func(n *install.Network, needed []addr.Provider) (install.Source, diag.List) {
		switch {
		case f.fsMirror != "":
			return install.MirrorDirs(f.fsMirror)[0], nil
		case f.netMirror != "":
			return n.Mirror(f.netMirror)
		case f.ociMirror != "":
			return n.OCIMirror(f.ociMirror, needed)
		}
		return n.Direct()
	})
	if !ok {
		return exitError
	}
	next, diags := t.installer.LockPlatforms(ctx, t.reqs, t.lock, f.list(), platformLines{c.out})
	if !c.out.report(diags) {
		return exitError
	}
	if next.Equal(t.lock) {
		c.out.say("\n%s %s has validated the lock file and found no need for changes.", c.out.view.Success("Success!"), c.out.view.Program)
		return exitOK
	}
	if err := lockfile.Write(lockfile.FileName, next); err != nil {
		return c.out.fail("Failed to write the dependency lock file", "%s", diag.Sentence(err))
	}
	c.out.say("\n%s %s has updated the lock file.\n\nReview the changes in %s before you commit it.", c.out.view.Success("Success!"), c.out.view.Program, lockfile.FileName)
	return exitOK
}

// mirrorCommand returns the command providers mirror, for machines without access to registries.
func (c *packageCommands) mirrorCommand(a *app) *cli.Command {
	var f platformFlags
	return a.messageCommand("mirror", "Save the providers that the configuration needs in a directory", "DIRECTORY",
		"Saves the packages of all providers that the configuration needs in a directory, which then serves as a filesystem mirror, or, offered by a web server, as a network mirror. "+
			"Packages come from the providers' own registries whatever the CLI configuration says, in the versions of the dependency lock file.",
		append(c.in.variableFlags(), f.flag()), func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return c.out.argsError("providers mirror", "one argument, the directory")
			}
			return c.mirror(ctx, &f, args[0])
		})
}

// mirror saves packages for several platforms in a directory.
func (c *packageCommands) mirror(ctx context.Context, f *platformFlags, dir string) int {
	ctx, stop := c.signals.Once(ctx)
	defer stop()
	t, ok := c.packages(ctx, nil, func(n *install.Network, _ []addr.Provider) (install.Source, diag.List) { return n.Direct() })
	if !ok {
		return exitError
	}
	if !c.out.report(t.installer.MirrorPlatforms(ctx, t.reqs, t.lock, f.list(), dir, platformLines{c.out})) {
		return exitError
	}
	c.out.say("\n%s The providers are in %s.", c.out.view.Success("Success!"), dir)
	return exitOK
}

// packageCommands are the commands that fetch packages of providers: providers lock and providers mirror.
type packageCommands struct{ dependencies }

// packageTask has the data for fetching packages of required providers: the installer, the requirements, and
// the selected versions.
type packageTask struct {
	installer *install.Installer
	reqs      map[addr.Provider]*install.Requirement
	lock      *lockfile.Lock
}

// packages prepares fetching the packages of the required providers from one source, which from returns for
// them. only restricts the providers, unless it is empty. ok is false after an error, which has been
// reported. Only the declarations are loaded: the providers themselves need not be installed.
func (c *packageCommands) packages(ctx context.Context, only []string, from func(*install.Network, []addr.Provider) (install.Source, diag.List)) (t packageTask, ok bool) {
	d := c.wd.dir()
	if !c.out.report(d.LoadDeclarations(ctx)) {
		return t, false
	}
	ins, diags := d.Packages.Installer()
	if !c.out.report(diags) {
		return t, false
	}
	network, diags := d.Packages.Network()
	if !c.out.report(diags) {
		return t, false
	}
	reqs, diags := install.Requirements(d.Tree(), nil)
	if !c.out.report(diags) {
		return t, false
	}
	if reqs, diags = install.Only(reqs, only); !c.out.report(diags) {
		return t, false
	}
	source, diags := from(network, slices.DeleteFunc(slices.Collect(maps.Keys(reqs)), mayfly.Embedded))
	if !c.out.report(diags) {
		return t, false
	}
	ins.Sources, ins.Downloading = []install.Source{source}, c.out.downloading()
	lock, diags := lockfile.Read(lockfile.FileName)
	return packageTask{ins, reqs, lock}, c.out.report(diags)
}

// platformLines reports the progress of fetching packages for several platforms.
type platformLines struct{ *output }

// Fetching implements install.PlatformObserver.
func (l platformLines) Fetching(p addr.Provider, v versions.Version, platform install.Platform) {
	l.item("Fetching %s %s for %s...", p.ForDisplay(), v, platform)
}

// Fetched implements install.PlatformObserver.
func (l platformLines) Fetched(p addr.Provider, v versions.Version, platform install.Platform, proof string) {
	l.item("Retrieved %s %s for %s (%s)", p.ForDisplay(), v, platform, proof)
}
