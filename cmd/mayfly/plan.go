package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/workdir"
)

// planFlags are the options that only plan has. show and apply are given the file that it saves with -out.
type planFlags struct {
	changeFlags
	out      string
	detailed bool
}

// planCommand returns the command plan. CI systems decide by the exit status of -detailed-exitcode whether an
// approval is needed.
func (c *changeCommands) planCommand(a *app) *cli.Command {
	f := &planFlags{}
	flags := append(f.changeFlags.flags(c.in, c.wd),
		stringFlag("out", "Save the plan to `FILE`, for apply.", &f.out),
		boolFlag("detailed-exitcode", "Exit with status 0 if there are no changes, 1 on errors, 2 if there are changes or deferred changes.", &f.detailed),
		stringFlag("generate-config-out", "Write resource blocks for imported objects that no block declares to `FILE`, which must not exist.", &f.generate),
	)
	return a.command("plan", "Show changes required by the current configuration", "",
		"Compares the configuration with the state and the real objects, and shows what apply would do. Nothing is changed.",
		flags, func(ctx context.Context, args []string) int { return c.plan(ctx, f, args) })
}

// plan checks the options and the target of -out before the work begins: a plan that cannot be saved may
// have taken hours.
func (c *changeCommands) plan(ctx context.Context, f *planFlags, args []string) int {
	if !f.setUp(c.out, c.in, fileOption{"-out", f.out, false}) {
		return exitError
	}
	if len(args) > 0 {
		return c.out.argsError("plan", "no arguments; to plan for another directory, use -chdir")
	}
	diags := f.check()
	if f.out != "" {
		diags = append(diags, workdir.CheckSavable(f.out)...)
	}
	if !c.out.report(diags) {
		return exitError
	}
	return c.out.watched(&f.changeFlags, "Plan", func() int { return c.makePlan(ctx, f) })
}

// makePlan makes, shows and saves a plan, and returns the exit status. A plan with errors is saved too, for
// show; apply refuses it.
func (c *changeCommands) makePlan(ctx context.Context, f *planFlags) int {
	hard, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	f.reads = true
	r, ok := c.start(hard, soft, &f.changeFlags, "plan", "")
	defer r.end()
	if !ok {
		return exitError
	}
	p, ok := r.plan()
	if !ok {
		if p != nil && p.Errored && f.out != "" { // for show; apply refuses it
			c.out.report(r.Save(p, f.out))
		}
		return exitError
	}
	if f.out != "" && !c.out.report(r.Save(p, f.out)) {
		return exitError
	}
	// The note advises a person on the next command.
	if c.out.stream == nil && p.Changed() && c.out.env.vars["TF_IN_AUTOMATION"] == "" {
		if code := c.out.wroteText(view.PlanFooter(c.out.env.Stdout, p, f.out, r.written, c.out.view)); code != exitOK {
			return code
		}
	}
	// Results of data sources go with a destroy: applying such a plan does something, though no object
	// changes. Something deferred is still to be done.
	if f.detailed && (p.Changed() || p.RemovesData() || !p.Complete()) {
		return exitChanges
	}
	return exitOK
}
