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

// completionCommand returns the command completion. It only writes to standard output; packages of the
// program put the output where their system looks for completions.
func completionCommand(a *app) *cli.Command {
	out := a.out
	shell := func(name string) *cli.Command {
		return a.command(name, "Write the functions for "+name, "", "Writes the functions with which "+name+" completes commands, options, addresses and workspaces. The option -install-autocomplete has the shell read them.",
			nil, func(_ context.Context, args []string) int {
				if len(args) > 0 {
					return out.argsError("completion "+name, "no arguments")
				}
				_, err := fmt.Fprint(out.env.Stdout, complete.Functions(name, out.env.Called))
				return out.wrote(err)
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
func setUpShells(out *output, remove bool) int {
	code := exitOK
	out.setUpView()
	program, err := complete.Program(out.env.Called)
	if err != nil || out.env.home() == "" {
		return out.fail("Cannot set up completion", "The path of this program or the home directory is not known. Add the output of \"mayfly completion SHELL\" to the files of your shell instead.")
	}
	shells := complete.SetUps(out.env.vars, out.env.home(), program)
	if len(shells) == 0 {
		return out.fail("No shell found", "There is no .bashrc, .zshrc or fish configuration in %s, and SHELL names none of these shells. Create the file and try again, or run \"mayfly completion\" for what to add to it.", out.env.home())
	}
	for _, s := range shells {
		changed, err := s.Apply(remove)
		switch {
		case err != nil:
			out.report(diag.Errorf("Cannot set up completion", "The file %s could not be changed: %s.", s.Path, diag.Reason(err)))
			code = exitError
		case changed && remove:
			out.say("Removed completion from %s.", s.Path)
		case changed:
			out.say("Added completion to %s. It works in each %s that is started from now on.", s.Path, s.Shell)
		case remove:
			out.say("There is no completion in %s.", s.Path)
		default:
			out.say("Completion is in %s already.", s.Path)
		}
	}
	return code
}

// home is the user's home directory, "" if unknown.
func (e environment) home() string {
	if home := e.vars["HOME"]; home != "" {
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
	q, asked := complete.Asked(args, a.out.env.vars)
	if asked {
		c := &complete.Completer{Root: root, Home: a.out.env.home(), Open: func() complete.Directory { return a.wd.dir().Glance() }}
		fmt.Fprint(a.out.env.Stdout, c.Answer(q))
	}
	return asked
}
