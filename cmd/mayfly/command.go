package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
)

// command returns a command for the table. f gets the arguments that are not options and returns the exit
// status. All commands are made here so that none forgets the shared options or the closing of its streams.
//
// summary is the line in the list of commands, argsUsage what follows the options in its usage, and
// description a text of sentences.
func (a *app) command(name, summary, argsUsage, description string, flags []cli.Flag, f func(ctx context.Context, args []string) int) *cli.Command {
	return &cli.Command{
		Name: name, Usage: summary, ArgsUsage: argsUsage, Description: description, OnUsageError: usage.Error, DisableSliceFlagSeparator: true,
		Flags: append(flags, usage.Grouped(usage.OutputGroup, boolFlag("no-color", "Write without color.", &a.noColor))...),
		Action: func(ctx context.Context, c *cli.Command) error {
			a.setUpView()
			if !a.report(a.applyShared()) {
				a.code = exitError
				return nil
			}
			a.code = a.finish(f(ctx, c.Args().Slice()))
			return nil
		},
	}
}

// group returns a command that only has subcommands.
func (a *app) group(name, summary, description string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name: name, Usage: summary, Description: description, OnUsageError: usage.Error, Commands: commands,
		Action: func(_ context.Context, c *cli.Command) error {
			usage.Print(a.env.Stdout, "", c)
			a.code = exitError
			return nil
		},
	}
}

// alias gives a command a second name.
func alias(c *cli.Command, name string) *cli.Command {
	c.Aliases = append(c.Aliases, name)
	return c
}

// messageCommand makes a command that writes what it does as lines of text, or as messages to programs with
// -json. The lines are written by say and item, which f need not distinguish from the messages.
func (a *app) messageCommand(name, summary, argsUsage, description string, flags []cli.Flag, f func(ctx context.Context, args []string) int) *cli.Command {
	m := &machineFlags{}
	return a.command(name, summary, argsUsage, description, append(flags, m.streamFlags()...), func(ctx context.Context, args []string) int {
		if !m.beginMessages(a) {
			return exitError
		}
		a.verbatim = true
		return f(ctx, args)
	})
}
