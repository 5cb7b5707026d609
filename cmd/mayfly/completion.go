package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/complete"
	"github.com/mayfly-iac/mayfly/diag"
)

// completionCommand returns the command completion. It only writes to standard output; for what it writes,
// packages of the program put it where their system looks for completions.
func (a *app) completionCommand() *cli.Command {
	shell := func(name string) *cli.Command {
		return a.command(name, "Write the functions for "+name, "", "Writes the functions with which "+name+" completes commands, options, addresses and workspaces. The option -install-autocomplete has the shell read them.",
			nil, func(_ context.Context, args []string) int {
				if len(args) > 0 {
					return a.argsError("completion "+name, "no arguments")
				}
				_, err := fmt.Fprint(a.env.Stdout, complete.Functions(name, a.env.Called))
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
	program, err := complete.Program(a.env.Called)
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

// completes answers a shell that asks for completions, and reports whether one did.
func (a *app) completes(root *cli.Command, args []string) bool {
	q, asked := complete.Asked(args, a.vars)
	if asked {
		c := &complete.Completer{Root: root, Home: a.home(), Open: func() complete.Directory { return a.directory().Glance() }}
		fmt.Fprint(a.env.Stdout, c.Answer(q))
	}
	return asked
}
