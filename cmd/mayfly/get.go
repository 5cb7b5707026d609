package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/internal/install/fetch"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// getCommand returns the command get. Without a configuration it does nothing, and succeeds.
func (c *installCommands) getCommand(a *app) *cli.Command {
	update, tests := false, testsFlag{}
	flags := append(c.in.variableFlags(), boolFlag("update", "Install the newest versions of modules that the constraints allow.", &update),
		tests.dirFlag())
	return a.messageCommand("get", "Install or upgrade the modules of the configuration", "",
		"Installs the modules that the configuration calls, and those that they call. Modules that are already installed are kept. \"mayfly init\" does the same.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) > 0 {
				return c.out.argsError("get", "no arguments; for another directory, use -chdir")
			}
			d := c.wd.dir()
			if !d.HasConfig() {
				return exitOK
			}
			files, diags := tests.files(ctx, d)
			if !c.out.report(diags) || !c.installModules(ctx, update, files, "") || !c.out.report(d.LoadDeclarations(ctx)) {
				return exitError
			}
			return exitOK
		})
}

// initModules installs modules. The title is written only if there is progress to report.
func (c *installCommands) initModules(ctx context.Context, upgrade bool, tests []*config.TestFile) bool {
	title := "Initializing modules..."
	if upgrade {
		title = "Upgrading modules..."
	}
	return c.installModules(ctx, upgrade, tests, "\n"+c.out.view.Bold(title))
}

// installModules installs the modules that the configuration and the test files call, and reports whether
// that succeeded. title precedes the first line of progress; "" for none.
func (c *installCommands) installModules(ctx context.Context, upgrade bool, tests []*config.TestFile, title string) bool {
	_, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	return c.out.report(c.wd.dir().Packages.InstallModules(soft, upgrade, tests, &moduleLines{c.out, title}))
}

// moduleLines reports the progress of installing modules, with a title before the first line.
type moduleLines struct {
	*output
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
func (c *installCommands) copyModule(ctx context.Context, source string) bool {
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) > 0 {
		c.out.fail("Can't populate non-empty directory", "With -from-module, the directory must be empty, so that nothing in it is overwritten. Use an empty one with -chdir.")
		return false
	}
	_, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	ins, diags := c.wd.dir().Packages.Modules(soft, &moduleLines{c.out, ""})
	if !c.out.report(diags) {
		return false
	}
	c.out.say("%s %q...", c.out.view.Bold("Copying configuration from"), fetch.Show(source))
	return c.out.report(ins.CopyTo(soft, source, "."))
}
