package main

import (
	"context"
	"runtime"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/logs"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/show/telemetry"
)

// command returns a command for the table. f gets the arguments that are not options and returns the exit
// status. All commands are made here so that none forgets the shared options or the closing of its streams.
//
// summary is the line in the list of commands, argsUsage the arguments after the options in its usage, and
// description a text of sentences.
func (a *app) command(name, summary, argsUsage, description string, flags []cli.Flag, f func(ctx context.Context, args []string) int) *cli.Command {
	return &cli.Command{
		Name: name, Usage: summary, ArgsUsage: argsUsage, Description: description, OnUsageError: usage.Error, DisableSliceFlagSeparator: true,
		Flags: append(flags, usage.Grouped(usage.OutputGroup, boolFlag("no-color", "Write without color.", &a.out.noColor))...),
		Action: func(ctx context.Context, c *cli.Command) error {
			compatible, diags := a.wd.user.Compatible()
			a.out.env.compatible = compatible
			a.out.setUpView()
			if !a.out.report(append(diags, a.out.applyShared()...)) {
				a.code = exitError
				return nil
			}
			a.code = a.out.finish(a.traced(ctx, c, f))
			return nil
		},
	}
}

// traced calls a command, shows its progress, exports telemetry if the environment asks for any, and returns
// the exit status. A failure of telemetry is a warning, even with -pedantic: it does not concern the
// command's own work.
func (a *app) traced(ctx context.Context, c *cli.Command, f func(ctx context.Context, args []string) int) int {
	watch, stop := a.out.showActivity(a.in.prompt.Asking)
	defer stop()
	opt := telemetry.Options{Vars: a.out.env.vars, Version: version, Stderr: a.out.env.Stderr, Redact: a.out.leaks.Redact, Watch: []telemetry.Watcher{watch}}
	core, stopLog := a.out.logs().Core()
	defer stopLog()
	if a.wd.log = core; core != nil {
		core("[INFO] Mayfly " + version + ", made with " + runtime.Version() + ", on " + install.CurrentPlatform().String())
		run := logs.Run{Log: core}
		opt.Watch, opt.Noted = append(opt.Watch, run), run.Noted
	}
	t := telemetry.New(opt)
	ctx, span := t.Begin(ctx, c.FullName())
	defer a.wd.close() // also after a panic
	code := f(ctx, c.Args().Slice())
	span.SetNumber(trace.Status, int64(code))
	span.Finish(code == exitOK || code == exitChanges)
	stop()
	if problems := t.Close(); len(problems) > 0 {
		a.out.pedantic, a.out.document = false, true
		a.out.report(diag.Warnf("Telemetry is incomplete", "%s\n\nThe command itself is not affected.", strings.Join(problems, "\n")))
	}
	return code
}

// group returns a command that only has subcommands.
func (a *app) group(name, summary, description string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name: name, Usage: summary, Description: description, OnUsageError: usage.Error, Commands: commands,
		Action: func(_ context.Context, c *cli.Command) error {
			usage.Print(a.out.env.Stdout, "", c)
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

// messageCommand makes a command that reports its work as lines of text, or as messages to programs with
// -json. The lines are written by say and item, which f need not distinguish from the messages.
func (a *app) messageCommand(name, summary, argsUsage, description string, flags []cli.Flag, f func(ctx context.Context, args []string) int) *cli.Command {
	m := &machineFlags{}
	return a.command(name, summary, argsUsage, description, append(flags, m.streamFlags()...), func(ctx context.Context, args []string) int {
		if !m.beginMessages(a.out) {
			return exitError
		}
		a.out.verbatim = true
		return f(ctx, args)
	})
}
