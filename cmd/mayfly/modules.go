package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v3"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install/fetch"
	"github.com/mayfly-iac/mayfly/install/modules"
	"github.com/mayfly-iac/mayfly/plan/planfile"
)

func (a *app) getCommand() *cli.Command {
	update, ignored := false, ""
	var vars variableFlags
	flags := append(vars.flags(), boolFlag("update", "Install the newest versions of modules that the constraints allow.", &update),
		stringFlag("test-directory", "Has no effect. Accepted, with a `DIR`, for compatibility.", &ignored))
	return a.messageCommand("get", "Install or upgrade the modules of the configuration", "",
		"Installs the modules that the configuration calls, and those that they call. Modules that are already installed are kept. \"mayfly init\" does the same.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) > 0 {
				return a.argsError("get", "no arguments; for another directory, use -chdir")
			}
			d := a.directory()
			if !d.loader.IsConfigDir(".") {
				return exitOK
			}
			if !a.installModules(ctx, d, update, "") || !a.report(d.loadFormal()) {
				return exitError
			}
			return exitOK
		})
}

// beginLoad reads the root module alone: that is enough for the backend, and the modules that it calls may
// not be there yet.
func (a *app) beginLoad(d *directory) bool {
	walk := d.loader.Walk()
	root, diags := walk.Root(".")
	diags = config.Formal(diags)
	d.root, d.tree = root, walk.Tree()
	a.useTree(d.tree)
	if !diags.HasErrors() {
		diags = nil // warnings come when all is loaded
	}
	return a.report(diags)
}

// initModules installs modules, under a title if there is something to tell.
func (a *app) initModules(ctx context.Context, d *directory, upgrade bool) bool {
	title := "Initializing modules..."
	if upgrade {
		title = "Upgrading modules..."
	}
	return a.installModules(ctx, d, upgrade, "\n"+a.bold(title))
}

func (a *app) installModules(ctx context.Context, d *directory, upgrade bool, title string) bool {
	_, soft, stop := a.interruptible(ctx)
	defer stop()
	ins, diags := d.moduleInstaller(title)
	if !a.report(diags) {
		return false
	}
	tree, diags := ins.Install(soft, ".", upgrade)
	a.useTree(tree)
	if diags.HasErrors() && !a.report(diags) {
		return false
	}
	d.loader.ModuleDir = modules.Installed(d.dataDir)
	return true
}

func (d *directory) moduleInstaller(title string) (*modules.Installer, diag.List) {
	diags := d.userConfig()
	if diags.HasErrors() {
		return nil, diags
	}
	registry, fetcher, ds := d.network().Modules()
	diags = append(diags, ds...)
	return &modules.Installer{DataDir: d.dataDir, Loader: d.loader, Registry: registry, Fetcher: fetcher, Observer: &moduleLines{d.app, title}}, diags
}

// moduleLines tells what the installer of modules does, the title before the first line.
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

// Installed implements modules.Observer.
func (l *moduleLines) Installed(key, dir string) {
	if l.stream != nil {
		l.line("installing %s in %s", key, dir)
		return
	}
	l.line("- %s in %s", key, dir)
}

func (l *moduleLines) line(format string, args ...any) {
	if l.title != "" {
		l.progress("%s", l.title)
		l.title = ""
	}
	l.progress(format, args...)
}

// copyModule copies a module into the empty working directory.
func (a *app) copyModule(ctx context.Context, d *directory, source string) bool {
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) > 0 {
		a.fail("Can't populate non-empty directory", "With -from-module, the directory must be empty, so that nothing in it is overwritten. Use an empty one with -chdir.")
		return false
	}
	_, soft, stop := a.interruptible(ctx)
	defer stop()
	ins, diags := d.moduleInstaller("")
	if !a.report(diags) {
		return false
	}
	a.progress("%s %q...", a.bold("Copying configuration from"), fetch.Show(source))
	return a.report(ins.CopyTo(soft, source, "."))
}

// findsState are the commands, or subcommands, without options of their own for variables that need to find
// the state, which may depend on variables.
var findsState = []string{"list", "show", "mv", "rm", "pull", "push", "replace-provider", "new", "select", "delete", "taint", "untaint", "force-unlock"}

// noteVariables keeps the values that the options of a command give to variables, for whatever must be known
// to load the configuration.
func (a *app) noteVariables(command string, flags []cli.Flag) []cli.Flag {
	found := false
	for _, f := range flags {
		g, ok := f.(*cli.GenericFlag)
		if !ok || g.Name != "var" && g.Name != "var-file" {
			continue
		}
		found = true
		inner := g.Value
		g.Value = setter(func(s string) error {
			a.given = append(a.given, givenVariable{file: g.Name == "var-file", text: s})
			return inner.Set(s)
		})
	}
	if !found && slices.Contains(findsState, command) {
		flags = append(flags, a.noteVariables(command, new(variableFlags).flags())...)
	}
	return flags
}

// withoutKeys returns the sources of a configuration for showing parts of them: passwords and keys in the
// addresses of modules are covered up.
func withoutKeys(t *config.Tree) map[string][]byte {
	out, cloned := t.Sources, false
	for _, m := range t.Modules {
		for _, c := range m.Calls {
			file := c.SrcRange.Filename
			for _, secret := range fetch.SecretsOf(c.Source) {
				if !bytes.Contains(out[file], []byte(secret)) {
					continue
				}
				if !cloned {
					out, cloned = maps.Clone(out), true
				}
				out[file] = bytes.ReplaceAll(out[file], []byte(secret), bytes.Repeat([]byte("*"), len(secret)))
			}
		}
	}
	return out
}

// mayAsk lets loading ask for the values of variables.
func (d *directory) mayAsk(ctx context.Context, ask bool) {
	if ask {
		d.ask = func(q term.Question) (string, error) { return d.app.ask(ctx, q) }
	}
}

// static evaluates what must be known to load the configuration.
func (d *directory) static() config.Static {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	var in *inputs
	return mayfly.Static(mayfly.StaticOptions{
		RootDir: ".", WorkDir: filepath.ToSlash(dir),
		Variable: func(root *config.Module, v *config.Variable) (cty.Value, diag.List) {
			if in == nil {
				var diags diag.List
				if in, diags = d.app.gather(root, d.app.given); diags.HasErrors() {
					return cty.NilVal, diags // warnings come with the values for the plan
				}
			}
			return d.staticValue(in, v)
		},
		Workspace: func() (string, diag.List) {
			name, _, diags := d.workspace()
			return name, diags
		},
	})
}

func (d *directory) staticValue(in *inputs, v *config.Variable) (cty.Value, diag.List) {
	if c := in.candidates[v.Name]; c != nil {
		return c(v)
	}
	if !v.Required() || d.ask == nil {
		return cty.NilVal, nil
	}
	text, err := d.ask(variableQuestion(v))
	if errors.Is(err, term.ErrNoAnswer) {
		return cty.NilVal, nil
	}
	if err != nil {
		return cty.NilVal, unanswered(v, err)
	}
	c := textCandidate(text, "the prompt")
	if d.app.answers == nil {
		d.app.answers = map[string]candidate{}
	}
	d.app.answers[v.Name], in.candidates[v.Name] = c, c
	return c(v)
}

// plannedStatic evaluates what must be known to load the configuration of a saved plan, with the values that
// the plan was made with.
func plannedStatic(f *planfile.File) config.Static {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return mayfly.Static(mayfly.StaticOptions{
		RootDir: f.RootDir, WorkDir: filepath.ToSlash(dir),
		Variable: func(_ *config.Module, v *config.Variable) (cty.Value, diag.List) {
			d, ok := f.Plan.Variables[v.Name]
			if !ok {
				return cty.NilVal, nil
			}
			val, err := d.Unmarked()
			if err != nil {
				return cty.NilVal, diag.Errorf("Failed to load plan file", "The value of the variable %q in the saved plan cannot be read: %s.", v.Name, err)
			}
			return val, nil
		},
		Workspace: func() (string, diag.List) { return f.Backend.Workspace, nil },
	})
}
