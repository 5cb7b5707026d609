package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// installCommands are the commands init and get.
type installCommands struct{ dependencies }

// initFlags are the options of the init command.
type initFlags struct {
	inputFlag
	lockFlags
	backend, get                         bool
	upgrade, reconfigure, migrate, force bool
	lockfile, fromModule                 string
	backendConfig, pluginDirs            []string
	machineFlags
	tests testsFlag

	warned    diag.List // warnings about test files that were shown already
	installed diag.List // diagnostics about the provider of the state store that were shown already
}

// initCommand returns the command init. Tools run it before every other command, so it changes nothing that
// is right already.
func (c *installCommands) initCommand(a *app) *cli.Command {
	f := &initFlags{backend: true, get: true}
	flags := []cli.Flag{
		&cli.BoolFlag{Name: "backend", Aliases: []string{"cloud"}, Usage: "Don't configure the backend; use what an earlier init recorded.", Destination: &f.backend, Value: f.backend, Local: true},
		listFlag("backend-config", "Merge `SETTING`, either name=value or a file of such lines, into the backend block.", &f.backendConfig),
		boolFlag("reconfigure", "Ignore the backend that was recorded before. The state stays where it is.", &f.reconfigure),
		boolFlag("migrate-state", "Copy the state from the backend that was recorded before.", &f.migrate),
		boolFlag("force-copy", "Answer \"yes\" to questions about migrating the state.", &f.force),
		boolFlag("get", "Don't install modules; use those that are installed.", &f.get),
		boolFlag("upgrade", "Install the newest versions of providers and modules that the constraints allow.", &f.upgrade),
		stringFlag("lockfile", "With the `MODE` \"readonly\", fail rather than change the dependency lock file.", &f.lockfile),
		listFlag("plugin-dir", "Install providers only from `DIR`.", &f.pluginDirs),
		stringFlag("from-module", "First copy the module at `ADDRESS` into the working directory, which must be empty.", &f.fromModule),
	}
	flags = append(flags, f.machineFlags.streamFlags()...)
	flags = append(append(flags, f.tests.dirFlag()), f.inputFlag.flags(c.out.env.vars)...)
	flags = append(flags, f.lockFlags.flags()...)
	flags = append(flags, c.in.variableFlags()...)
	return a.command("init", "Prepare your working directory for other commands", "",
		"Installs the modules and providers that the configuration needs, and records the backend. It is safe to run again.",
		flags, func(ctx context.Context, args []string) int { return c.initialize(ctx, f, args) })
}

// initialize prepares the working directory. The backend comes first because the state names providers too,
// and modules come before providers because they have requirements of their own.
func (c *installCommands) initialize(ctx context.Context, f *initFlags, args []string) int {
	f.input = f.input && !f.json
	if !f.beginMessages(c.out) {
		return exitError
	}
	c.out.verbatim = true
	if len(args) > 0 {
		return c.out.argsError("init", "no arguments; to initialize another directory, use -chdir")
	}
	if !c.out.report(f.check()) {
		return exitError
	}
	ctx, stop := c.signals.Once(ctx)
	defer stop()
	d := c.wd.dirOf("", f.input)
	d.ReadQueries(false) // whose providers are installed too
	if f.fromModule != "" && !c.copyModule(ctx, f.fromModule) {
		return exitError
	}
	if !d.HasConfig() {
		c.out.say("%s initialized in an empty directory!\n\nThere is no configuration here yet. Write one in files whose names end in .tf\nor .tofu, or copy one that works:\n    mayfly init -from-module=github.com/mayfly-iac/mayfly//examples/quickstart", c.out.view.Program)
		return exitOK
	}
	if !c.out.report(d.LoadRoot(ctx)) {
		return exitError
	}
	if d.Backend.HasStateStore() && !c.initStateStore(ctx, f) {
		return exitError
	}
	var st *state.State
	if f.backend {
		ok := trace.Do(ctx, "initialize backend", func(ctx context.Context) (ok bool) {
			st, ok = c.initBackend(ctx, f)
			return ok
		})
		if !ok {
			return exitError
		}
	}
	if f.get && !d.Backend.HasStateStore() {
		files, diags := f.tests.files(ctx, d)
		f.warned = diags
		if !c.out.report(diags) || !trace.Do(ctx, "install modules", func(ctx context.Context) bool { return c.initModules(ctx, f.upgrade, files) }) {
			return exitError
		}
	}
	if !c.out.report(d.LoadDeclarations(ctx)) {
		return exitError
	}
	if st != nil {
		// A state that another engine wrote may have providers at the host of that engine.
		st = st.AtDefaultHost(d.Tree().Requires)
	}
	if !trace.Do(ctx, "install providers", func(ctx context.Context) bool { return c.initProviders(ctx, f, st) }) {
		return exitError
	}
	c.out.say("\n%s", c.out.view.Success(c.out.view.Program+" has been successfully initialized!"))
	// No person reads the advice if a program runs this one.
	if c.out.env.vars["TF_IN_AUTOMATION"] == "" {
		c.out.say("\nTo see what would change, run \"mayfly plan\".\n\nRun this command again after changing the modules, providers or backend of the\nconfiguration; other commands tell you when that is needed.")
	}
	return exitOK
}

// check reports contradictory options before anything is read.
func (f *initFlags) check() diag.List {
	switch {
	case f.lockfile != "" && f.lockfile != "readonly":
		return diag.Errorf("Invalid option", "The only value of -lockfile is \"readonly\", not %q.", f.lockfile)
	case f.migrate && f.reconfigure:
		return diag.Errorf("Invalid init options", "The -migrate-state and -reconfigure options are mutually-exclusive.")
	}
	return nil
}

// initBackend records the configured backend and, if asked to, migrates the state. It returns the state of
// the selected workspace, nil if there is none: the providers of its objects are installed too. ok is false
// after an error.
func (c *installCommands) initBackend(ctx context.Context, f *initFlags) (*state.State, bool) {
	c.out.say("\n%s", c.out.view.Bold("Initializing the backend..."))
	d := c.wd.dir()
	change, diags := d.Backend.Init(ctx, workdir.BackendOptions{Settings: f.backendConfig, Reconfigure: f.reconfigure, Migrate: f.migrate, ForceCopy: f.force, Locking: f.locking(c.out)})
	if !c.out.report(diags) {
		return nil, false
	}
	c.sayCopied(change)
	switch {
	case change.Before != "" && change.After == "":
		c.out.say("\n%s", c.out.view.Success(fmt.Sprintf("Successfully unset the %s %q. %s will now operate locally.", placeNoun(change.WasStateStore), change.Before, c.out.view.Program)))
	case change.After != "" && change.Changed:
		noun := placeNoun(change.IsStateStore)
		c.out.say("\n%s", c.out.view.Success(fmt.Sprintf("Successfully configured the %s %q! %s will automatically\nuse this %[1]s unless the %[1]s configuration changes.", noun, change.After, c.out.view.Program)))
	}
	if change.State == nil {
		return nil, true
	}
	return change.State.State, true
}

// placeNoun is the word for a backend or a state store.
func placeNoun(stateStore bool) string {
	if stateStore {
		return "state store"
	}
	return "backend"
}

// sayCopied says which states have been copied, and which are left behind.
func (c *installCommands) sayCopied(change workdir.BackendChange) {
	if len(change.Copied) == 0 {
		return
	}
	c.out.say("\nCopied %d state(s), of workspace %s:\n  from %s\n  to   %s", len(change.Copied), diag.Names(change.Copied), change.From, change.To)
	if len(change.Left) == 0 {
		c.out.say("\nWhat was there before stays there, and is not used any more.")
		return
	}
	c.out.say("\nThese files stay where they are and are not used any more. They may have secrets\nin them: delete them when all is as you want it.\n  %s", strings.Join(change.Left, "\n  "))
}

// initProviders installs the providers that the configuration, its test files and the state need, and writes
// the lock file. It reports whether that succeeded. st is nil if there is no state.
func (c *installCommands) initProviders(ctx context.Context, f *initFlags, st *state.State) bool {
	lines := installLines{c.out}
	tests, diags := c.wd.dir().LoadTests(ctx, f.tests.dir, nil)
	if !c.out.report(config.Formal(diags).Except(f.warned)) {
		return false
	}
	before, after, diags := c.wd.dir().Packages.InstallProviders(ctx, st, workdir.ProviderOptions{
		Options: install.Options{Upgrade: f.upgrade, Readonly: f.lockfile == "readonly"}, PluginDirs: f.pluginDirs,
		Observer: lines, Downloading: c.out.downloading(), Start: lines.start, Tests: tests,
	})
	return c.out.report(diags.Except(f.installed)) && c.sayLocked(before, after)
}

// sayLocked says that the dependency lock file has changed, if it has, and reports incomplete entries. It
// returns false if that is an error.
func (c *installCommands) sayLocked(before, after *lockfile.Lock) bool {
	switch {
	// The file may have got checksums; that is not worth a message.
	case after.SameSelections(before):
	case before.Len() == 0:
		c.out.say("\n%s has created a lock file %s to record the provider\nselections it made above. Keep it in version control: later runs, also on other\nmachines, then make the same selections.", c.out.view.Program, c.out.view.Bold(lockfile.FileName))
	default:
		c.out.say("\n%s has made some changes to the provider dependency selections recorded\nin the %s file. Review them before you commit the file.", c.out.view.Program, c.out.view.Bold(lockfile.FileName))
	}
	return c.out.report(install.Incomplete(before, after))
}

// installLines reports the progress of installing providers. Its lines are the same as in other engines:
// scripts look for them.
type installLines struct{ *output }

// start precedes the installation of the providers that are needed.
func (l installLines) start(needed map[addr.Provider]*install.Requirement) {
	l.say("\n%s", l.view.Bold("Initializing provider plugins..."))
	for _, p := range slices.SortedFunc(maps.Keys(needed), lockfile.CompareProviders) {
		if mayfly.Embedded(p) {
			l.item("%s is built in to %s", p, l.view.Program)
		}
	}
}

// Finding implements install.Observer.
func (l installLines) Finding(p addr.Provider, constraints string) {
	if constraints == "" {
		l.item("Finding latest version of %s...", p.ForDisplay())
		return
	}
	l.item("Finding %s versions matching %q...", p.ForDisplay(), constraints)
}

// Reusing implements install.Observer.
func (l installLines) Reusing(p addr.Provider, _ versions.Version) {
	l.item("Reusing previous version of %s from the dependency lock file", p.ForDisplay())
}

// Installing implements install.Observer.
func (l installLines) Installing(p addr.Provider, v versions.Version, cached bool) {
	if cached {
		l.item("Installing %s v%s to the shared cache directory...", p.ForDisplay(), v)
		return
	}
	l.item("Installing %s v%s...", p.ForDisplay(), v)
}

// Installed implements install.Observer.
func (l installLines) Installed(p addr.Provider, v versions.Version, proof string) {
	l.item("Installed %s v%s (%s)", p.ForDisplay(), v, proof)
}

// Using implements install.Observer.
func (l installLines) Using(p addr.Provider, v versions.Version, cached bool) {
	if cached {
		l.item("Using %s v%s from the shared cache directory", p.ForDisplay(), v)
		return
	}
	l.item("Using previously-installed %s v%s", p.ForDisplay(), v)
}
