package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/complete"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

func (a *app) completionCommand() *cli.Command {
	shell := func(name string) *cli.Command {
		return a.command(name, "Write the functions for "+name, "", "Writes the functions with which "+name+" completes commands, options, addresses and workspaces. The option -install-autocomplete has the shell read them.",
			nil, func(_ context.Context, args []string) int {
				if len(args) > 0 {
					return a.argsError("completion "+name, "no arguments")
				}
				_, err := fmt.Fprint(a.env.Stdout, complete.Functions(name))
				return a.wrote(err)
			})
	}
	return a.group("completion", "Write functions for a shell that complete commands", "Writes functions with which a shell completes what is typed after \"mayfly\". To set up a shell permanently: mayfly -install-autocomplete",
		shell("bash"), shell("zsh"), shell("fish"))
}

// setUpAsked reports whether the command line is -install-autocomplete or its opposite.
func setUpAsked(args []string) (remove, asked bool) {
	if len(args) != 1 || !strings.HasPrefix(args[0], "-") {
		return false, false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-")
	return name == "uninstall-autocomplete", name == "install-autocomplete" || name == "uninstall-autocomplete"
}

// setUpShells carries out -install-autocomplete, or -uninstall-autocomplete if remove is set.
func (a *app) setUpShells(remove bool) int {
	a.setUpView()
	program, err := complete.Program()
	if err != nil || a.home() == "" {
		return a.fail("Cannot set up completion", "The path of this program or the home directory is not known. Add the output of \"mayfly completion SHELL\" to the files of your shell instead.")
	}
	shells := complete.SetUps(a.vars, a.home(), program)
	if len(shells) == 0 {
		return a.fail("No shell found", "There is no .bashrc, .zshrc or fish configuration in %s, and SHELL names none of these shells. Create the file and try again, or run \"mayfly completion\" for what to add to it.", a.home())
	}
	for _, s := range shells {
		changed, err := s.Apply(remove)
		switch {
		case err != nil:
			a.report(diag.Errorf("Cannot set up completion", "The file %s could not be changed: %s.", s.Path, diag.Reason(err)))
			a.code = exitError
		case changed && remove:
			a.say("Removed completion from %s.", s.Path)
		case changed:
			a.say("Added completion to %s. It works in each %s that is started from now on.", s.Path, s.Shell)
		case remove:
			a.say("There is no completion in %s.", s.Path)
		default:
			a.say("Completion is in %s already.", s.Path)
		}
	}
	return a.code
}

// home is the user's home directory, "" if unknown.
func (a *app) home() string {
	if home := a.vars["HOME"]; home != "" {
		return home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// completes answers a shell that asks for words, and reports whether one did.
func (a *app) completes(root *cli.Command, args []string) bool {
	q, asked := complete.Asked(args, a.vars)
	if asked {
		c := &complete.Completer{Root: root, Home: a.home(), Open: func() complete.Directory { return glance{a.directory()} }}
		fmt.Fprint(a.env.Stdout, c.Answer(q))
	}
	return asked
}

// glance implements complete.Directory.
type glance struct{ dir *directory }

// Root implements complete.Directory.
func (g glance) Root() *config.Module {
	root, _ := g.dir.loader.LoadModule(".", addr.RootModule)
	return root
}

// store finds the local backend: the one that init has recorded, or that of the configuration.
func (g glance) store(file string) store.Store {
	record, recorded, diags := g.dir.recorded()
	if diags.HasErrors() {
		return nil
	}
	b := record.backendConfig
	if root := g.Root(); !recorded && root != nil {
		if b, diags = declaredBackend(root, nil); diags.HasErrors() {
			return nil
		}
	}
	return b.store(stateFlags{state: file})
}

// Workspaces implements complete.Directory.
func (g glance) Workspaces() []string {
	s := g.store("")
	if s == nil {
		return nil
	}
	names, _ := s.Workspaces(context.Background())
	return names
}

// State implements complete.Directory.
func (g glance) State(file string) *state.State {
	name, _, diags := g.dir.workspace()
	if s := g.store(file); s != nil && !diags.HasErrors() {
		if m, err := s.Manager(name); err == nil {
			if f, err := m.Read(context.Background()); err == nil && f != nil {
				return f.State
			}
		}
	}
	return state.New()
}
