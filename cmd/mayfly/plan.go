package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/workdir"
)

// planFlags are the options that only plan has. What it saves with -out is what show and apply are given.
type planFlags struct {
	changeFlags
	out      string
	detailed bool
}

// planCommand returns the command plan. CI systems decide by the exit status of -detailed-exitcode whether an
// approval is needed.
func (a *app) planCommand() *cli.Command {
	f := &planFlags{}
	flags := append(f.changeFlags.flags(a),
		stringFlag("out", "Save the plan to `FILE`, for apply.", &f.out),
		boolFlag("detailed-exitcode", "Exit with status 0 if there are no changes, 1 on errors, 2 if there are changes.", &f.detailed),
		stringFlag("generate-config-out", "Write resource blocks for imported objects that no block declares to `FILE`, which must not exist.", &f.generate),
	)
	return a.command("plan", "Show changes required by the current configuration", "",
		"Compares the configuration with the state and the real objects, and shows what apply would do. Nothing is changed.",
		flags, func(ctx context.Context, args []string) int { return a.plan(ctx, f, args) })
}

// plan checks the options and the target of -out before the work begins: a plan that cannot be saved may
// have taken hours.
func (a *app) plan(ctx context.Context, f *planFlags, args []string) int {
	if !f.setUp(a, fileOption{"-out", f.out, false}) {
		return exitError
	}
	if len(args) > 0 {
		return a.argsError("plan", "no arguments; to plan for another directory, use -chdir")
	}
	diags := f.check()
	if f.out != "" {
		diags = append(diags, workdir.CheckSavable(f.out)...)
	}
	if !a.report(diags) {
		return exitError
	}
	return a.watched(&f.changeFlags, "Plan", func() int { return a.makePlan(ctx, f) })
}

// makePlan makes, shows and saves a plan, and returns the exit status. A plan with errors is saved too, for
// show; apply refuses it.
func (a *app) makePlan(ctx context.Context, f *planFlags) int {
	hard, soft, stop := a.interruptible(ctx)
	defer stop()
	f.reads = true
	r, ok := a.start(hard, soft, &f.changeFlags, "plan", "")
	defer r.end()
	if !ok {
		return exitError
	}
	p, ok := r.plan()
	if !ok {
		if p != nil && p.Errored && f.out != "" { // for show; apply refuses it
			a.report(r.Save(p, f.out))
		}
		return exitError
	}
	if f.out != "" && !a.report(r.Save(p, f.out)) {
		return exitError
	}
	// The note is about what a person may do next.
	if a.stream == nil && p.Changed() && a.vars["TF_IN_AUTOMATION"] == "" {
		if code := a.wroteText(view.PlanFooter(a.env.Stdout, f.out, r.written, a.view)); code != exitOK {
			return code
		}
	}
	// Results of data sources go with a destroy: applying such a plan does something, though no object
	// changes.
	if f.detailed && (p.Changed() || p.RemovesData()) {
		return exitChanges
	}
	return exitOK
}
