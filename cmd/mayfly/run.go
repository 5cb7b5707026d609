package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"
	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/profile"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
)

// run executes one command line, given without the program's name, and returns the exit status. Output is
// closed before the status is decided: output that could not be delivered is an error.
func run(ctx context.Context, args []string, env environment) int {
	a := newApp(env)
	stdout, stderr := a.out.outlets()
	p := &a.in.prompt
	p.Stdin, p.In, p.Out = env.Stdin, a.in.stdin, stdout
	p.Bold = func(text string) string { return a.out.view.Bold(text) } // the view is set up later
	// Last, since errors of standard output are written there.
	defer stderr.Close()
	cli.HelpPrinter = a.out.env.usage
	stop, err := profile.Start(a.out.env.vars)
	if err == nil {
		err = cmp.Or(a.interpret(ctx, a.root(), args), stop())
	}
	if missing := stdout.Close(); missing != nil && err == nil && (a.code != exitError || errors.Is(missing, term.ErrUnread)) {
		err = fmt.Errorf("The end of the output is missing: %w", missing)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s\n", a.out.env.commands(err.Error()))
		return exitError
	}
	return a.code
}

// interpret interprets the command line by a table of commands and runs the command. The steps before the
// command are in this order for a reason: completion must answer for unfinished command lines, global options
// change the directory that later steps look at, and options from the environment can be inserted only once
// the command is known.
func (a *app) interpret(ctx context.Context, root *cli.Command, args []string) error {
	if a.completes(root, args) {
		return nil
	}
	if remove, asked := setUpAsked(args); asked {
		a.code = setUpShells(a.out, remove)
		return nil
	}
	rest, err := a.global(usage.HelpAsOption(args))
	if asked, ok := usage.VersionAsked(args); ok {
		rest = asked
	}
	if err == nil {
		rest, err = a.withEnvironmentArgs(root, rest)
	}
	if err == nil {
		err = known(root, rest)
	}
	if err == nil {
		rest = usage.OnlyHelp(root, rest)
		leaveOnly(root, rest)
		err = root.Run(ctx, append([]string{"mayfly"}, rest...))
	}
	return err
}

// root returns the table of commands, in the order of the help. It is built anew for each run, because the
// options write into variables of the run.
func (a *app) root() *cli.Command {
	install := &installCommands{a.dependencies}
	changes := &changeCommands{a.dependencies}
	states := &stateCommands{a.dependencies}
	show := &showCommand{a.out, a.wd}
	explain := &explainCommand{a.dependencies}
	test := &testCommand{a.dependencies}
	root := &cli.Command{
		Name: "mayfly", HideHelpCommand: true, HideVersion: true,
		Usage:          "Infrastructure as code in which secrets stay ephemeral.",
		OnUsageError:   usage.Error,
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		Action: func(_ context.Context, c *cli.Command) error {
			a.out.env.usage(a.out.env.Stdout, "", c)
			a.code = exitNoVerb
			return nil
		},
		Writer: a.out.env.Stdout, ErrWriter: a.out.env.Stderr,
		Commands: []*cli.Command{
			install.initCommand(a), install.getCommand(a), validateCommand(a), changes.planCommand(a), changes.applyCommand(a), changes.destroyCommand(a),
			doctorCommand(a), fmtCommand(a), metadataCommand(a), completionCommand(a), consoleCommand(a), queryCommand(a),
			changes.importCommand(a), outputCommand(a), providersCommand(a), changes.refreshCommand(a), show.command(a), states.group(a),
			states.taintCommand(a), states.untaintCommand(a), versionCommand(a), workspaceCommand(a),
			forceUnlockCommand(a), graphCommand(a), explain.command(a), loginCommand(a), logoutCommand(a), test.command(a),
		},
	}
	a.share(root, "")
	return root
}

// global consumes the options before the command and returns the remaining arguments. They are parsed by
// hand, because the commands and the completion of names depend on the directory that -chdir enters. -help
// there is the command's own option, wherever it stands.
func (a *app) global(args []string) ([]string, error) {
	_, asked := usage.VersionAsked(args)
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
		switch name {
		case "chdir":
			if !given && len(args) > 1 {
				value, args = args[1], args[1:]
			}
			if value == "" {
				return nil, fmt.Errorf("Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example")
			}
			if err := os.Chdir(value); err != nil {
				return nil, fmt.Errorf("Error handling -chdir option: the directory %q cannot be entered: %s. Write the option as -chdir=DIRECTORY, before the command.", value, diag.Reason(err))
			}
		case "pedantic":
			a.out.pedantic = true
		case "help", "h":
			return slices.Concat(args[1:], []string{"-help"}), nil
		case "version", "v", "json":
			if asked {
				break
			}
			fallthrough
		default:
			return nil, fmt.Errorf("Mayfly has no global option %q. Options of a command come after it, as in:\n  mayfly plan -out=FILE\n\nTo see the options, run:\n  mayfly -help", args[0])
		}
		args = args[1:]
	}
	return args, nil
}

// withEnvironmentArgs inserts the content of TF_CLI_ARGS_command and TF_CLI_ARGS between the command and
// the typed options, so that the latter win.
func (a *app) withEnvironmentArgs(root *cli.Command, args []string) ([]string, error) {
	depth, cmd := 0, root
	for depth < len(args) {
		sub := cmd.Command(args[depth])
		if sub == nil {
			break
		}
		cmd = sub
		depth++
	}
	// Without a command there is nothing that the environment could have options for.
	if depth == 0 {
		return args, nil
	}
	path := strings.ReplaceAll(strings.Join(args[:depth], "_"), "-", "_")
	var extra []string
	for _, name := range []string{"TF_CLI_ARGS_" + path, "TF_CLI_ARGS"} {
		words, err := shellwords.Parse(a.out.env.vars[name])
		if err != nil {
			return nil, fmt.Errorf("Error parsing extra CLI args from the environment variable %s: %w", name, err)
		}
		extra = append(extra, words...)
	}
	return slices.Concat(args[:depth], extra, args[depth:]), nil
}

// known returns an error for a command or subcommand that does not exist, with the name that was probably
// meant or, for one of a related program, with its replacement.
func known(root *cli.Command, args []string) error {
	path, cmd := "mayfly", root
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") || len(cmd.Commands) == 0 {
			return nil
		}
		sub := cmd.Command(arg)
		if sub == nil {
			var names []string
			for _, c := range cmd.Commands {
				names = append(names, c.Name)
			}
			if why := unsupported[arg]; cmd == root && why != "" {
				return fmt.Errorf("The command %q is not supported.\n\n%s", arg, why)
			}
			hint := ""
			// People seldom mistype the first letter: another one means another command.
			if near := diag.Nearest(arg, names); near != "" && arg[0] == near[0] {
				hint = fmt.Sprintf(" Did you mean %q?", near)
			}
			return fmt.Errorf("Mayfly has no command named %q.%s\n\nTo see all of the commands, run:\n  %s -help", arg, hint, path)
		}
		cmd = sub
		path += " " + arg
	}
	return nil
}

// leaveOnly takes out of a table the commands that the arguments do not name. The library would set them all
// up, in a tenth of the time of a short command. The command that is run keeps its subcommands, for its help.
func leaveOnly(cmd *cli.Command, args []string) {
	for _, arg := range args {
		sub := cmd.Command(arg)
		if sub == nil {
			return
		}
		cmd.Commands = []*cli.Command{sub}
		cmd = sub
	}
}

// unsupported has the commands of related programs that this one lacks, with their replacements.
var unsupported = map[string]string{
	"env":  "Use \"mayfly workspace\".",
	"push": "Use \"mayfly state push\" to write a state.",
}
