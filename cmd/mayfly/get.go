package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/internal/install/fetch"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// getCommand returns the command get. Without a configuration it does nothing, and succeeds.
func (a *app) getCommand() *cli.Command {
	update, tests := false, testsFlag{}
	flags := append(a.variableFlags(), boolFlag("update", "Install the newest versions of modules that the constraints allow.", &update),
		tests.dirFlag())
	return a.messageCommand("get", "Install or upgrade the modules of the configuration", "",
		"Installs the modules that the configuration calls, and those that they call. Modules that are already installed are kept. \"mayfly init\" does the same.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) > 0 {
				return a.argsError("get", "no arguments; for another directory, use -chdir")
			}
			d := a.directory()
			if !d.HasConfig() {
				return exitOK
			}
			files, diags := tests.files(ctx, d)
			if !a.report(diags) || !a.installModules(ctx, update, files, "") || !a.report(d.LoadDeclarations(ctx)) {
				return exitError
			}
			return exitOK
		})
}

// initModules installs modules. The title is written only if there is progress to report.
func (a *app) initModules(ctx context.Context, upgrade bool, tests []*config.TestFile) bool {
	title := "Initializing modules..."
	if upgrade {
		title = "Upgrading modules..."
	}
	return a.installModules(ctx, upgrade, tests, "\n"+a.view.Bold(title))
}

// installModules installs the modules that the configuration and the test files call, and reports whether
// that succeeded. title precedes the first line of progress; "" for none.
func (a *app) installModules(ctx context.Context, upgrade bool, tests []*config.TestFile, title string) bool {
	_, soft, stop := a.interruptible(ctx)
	defer stop()
	return a.report(a.directory().InstallModules(soft, upgrade, tests, &moduleLines{a, title}))
}

// moduleLines reports the progress of installing modules, with a title before the first line.
type moduleLines struct {
	*app
	title string
}

// Downloading implements modules.Observer.
func (l *moduleLines) Downloading(key, source, version string) {
	if version != "" {
		source += " " + version
	}
	l.line("Downloading %s for %s...", source, key)
}

// Installed implements modules.Observer. Messages and text differ here as they do in other engines.
func (l *moduleLines) Installed(key, dir string) {
	if l.stream != nil {
		l.line("installing %s in %s", key, dir)
		return
	}
	l.line("- %s in %s", key, dir)
}

// line writes a line of progress.
func (l *moduleLines) line(format string, args ...any) {
	if l.title != "" {
		l.say("%s", l.title)
		l.title = ""
	}
	l.say(format, args...)
}

// copyModule copies a module into the empty working directory and reports whether that succeeded. source is
// an address as in a module block.
func (a *app) copyModule(ctx context.Context, source string) bool {
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) > 0 {
		a.fail("Can't populate non-empty directory", "With -from-module, the directory must be empty, so that nothing in it is overwritten. Use an empty one with -chdir.")
		return false
	}
	_, soft, stop := a.interruptible(ctx)
	defer stop()
	ins, diags := a.directory().Modules(soft, &moduleLines{a, ""})
	if !a.report(diags) {
		return false
	}
	a.say("%s %q...", a.view.Bold("Copying configuration from"), fetch.Show(source))
	return a.report(ins.CopyTo(soft, source, "."))
}
