package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/usage"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/workdir"
)

// applyFlags are the options of apply, destroy and refresh.
type applyFlags struct {
	changeFlags
	autoApprove bool
}

// newApplyFlags returns the options of apply, destroy and refresh, and where they are stored.
func newApplyFlags(in *input, wd *workingDir) (*applyFlags, []cli.Flag) {
	f := &applyFlags{}
	return f, append(f.changeFlags.flags(in, wd), boolFlag("auto-approve", "Don't ask for approval.", &f.autoApprove),
		boolFlag("converge", "Plan and apply in rounds until nothing is left that cannot be planned yet. Each round is shown and approved.", &f.converge),
		boolFlag("suppress-forget-errors", "Don't fail if objects are left behind because they are only forgotten.", &f.suppressForgetErrors))
}

// applyCommand returns the command apply. It checks the files that options name before it decides between a
// new plan and a saved one, since both write files.
func (c *changeCommands) applyCommand(a *app) *cli.Command {
	f, flags := newApplyFlags(c.in, c.wd)
	return a.command("apply", "Create or update infrastructure", "[PLAN]",
		"Makes a plan, asks for approval and carries it out. Given a saved plan, carries out that plan without asking.",
		flags, func(ctx context.Context, args []string) int {
			var saved fileOption
			if len(args) == 1 {
				saved = fileOption{"the saved plan", args[0], true}
			}
			if !f.setUp(c.out, c.in, saved) {
				return exitError
			}
			switch len(args) {
			case 0:
				return c.apply(ctx, f, "apply")
			case 1:
				return c.applySaved(ctx, f, args[0])
			}
			return c.out.argsError("apply", "at most one argument, a saved plan; to apply another directory, use -chdir")
		})
}

// destroyCommand returns the command destroy: apply with a fixed mode, so it hides the options that choose
// one. It reports as a destroy, which "apply -destroy" doesn't.
func (c *changeCommands) destroyCommand(a *app) *cli.Command {
	f, flags := newApplyFlags(c.in, c.wd)
	flags = usage.Hide(flags, "destroy", "refresh-only", "scope", "refresh-target", "refresh-older", "replace", "invoke", "assume-unchanged", "require-ephemeral")
	return a.command("destroy", "Destroy previously-created infrastructure", "",
		"Destroys everything in the state, after asking for approval. Same as \"apply -destroy\".",
		flags, func(ctx context.Context, args []string) int {
			if !f.setUp(c.out, c.in) {
				return exitError
			}
			if len(args) > 0 {
				return c.out.argsError("destroy", "no arguments")
			}
			f.destroy, f.command = true, "destroy"
			return c.apply(ctx, f, "destroy")
		})
}

// refreshCommand returns the command refresh. It applies without approval, and so hides the options about
// planning and approval.
func (c *changeCommands) refreshCommand(a *app) *cli.Command {
	f, flags := newApplyFlags(c.in, c.wd)
	flags = usage.Hide(flags, "destroy", "refresh-only", "refresh", "scope", "refresh-target", "refresh-older", "replace", "invoke", "assume-unchanged", "require-ephemeral", "auto-approve", "converge", "suppress-forget-errors")
	return a.command("refresh", "Update the state to match remote systems", "",
		"Updates the state to match the real objects, without asking. Same as \"apply -refresh-only -auto-approve\".",
		flags, func(ctx context.Context, args []string) int {
			if !f.setUp(c.out, c.in) {
				return exitError
			}
			if len(args) > 0 {
				return c.out.argsError("refresh", "no arguments")
			}
			f.refreshOnly, f.autoApprove, f.command = true, true, "refresh"
			return c.apply(ctx, f, "refresh")
		})
}

// apply plans and applies. name is the command that was typed, for messages and for the lock. With -json no
// question can be asked, so approval must have been given before.
func (c *changeCommands) apply(ctx context.Context, f *applyFlags, name string) int {
	if f.json && !f.autoApprove {
		return c.out.fail("Plan file or auto-approve required", "With -json, Mayfly cannot ask for approval. %s", f.approvalHint())
	}
	if !c.out.report(f.check()) {
		return exitError
	}
	if f.converge && f.command == "refresh" {
		return c.out.fail("Incompatible options", "refresh does not take -converge, because it leaves nothing to a later plan. To apply in rounds, run:\n\n  mayfly apply -converge")
	}
	if f.converge && f.refreshOnly {
		return c.out.fail("Incompatible options", "-converge cannot be used with -refresh-only, because such a plan leaves nothing to a later one.")
	}
	return c.out.watched(&f.changeFlags, strings.ToUpper(name[:1])+name[1:], func() int { return c.planAndApply(ctx, f, name) })
}

// planAndApply plans, asks for approval and applies. The state stays locked meanwhile, so that the plan is
// still true when it is applied. Where several runs change one state, another one may have made the plan
// stale: then it plans again. A plan that could not be shown is never applied without -auto-approve.
func (c *changeCommands) planAndApply(ctx context.Context, f *applyFlags, name string) int {
	hard, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	r, ok := c.start(hard, soft, &f.changeFlags, name, "")
	defer r.end()
	if !ok {
		return exitError
	}
	// The results of checks are shown once: applying evaluates them again.
	r.goesOn = func(p *plan.Plan) bool {
		return p.Mode == plan.Normal && !p.Errored && (f.autoApprove || !p.Changed())
	}
	if f.converge {
		return r.converge(f)
	}
	for left := mostPlans; ; left-- {
		p, ok := r.plan()
		if !ok {
			return exitError
		}
		if code := r.approve(p, f); code != exitOK {
			return code
		}
		switch claimed, stale := r.claim(p, left > 1); {
		case claimed:
			return r.apply(p)
		case !stale:
			return exitError
		}
	}
}

// mostPlans is how many plans an apply makes at most if other runs make one after the other stale.
const mostPlans = 10

// claim claims the parts of the state that applying the plan needs. If the plan is stale, and there may be
// another one, claim reads the state again and reports that as stale.
func (r *changeRun) claim(p *plan.Plan, again bool) (claimed, stale bool) {
	var diags diag.List
	r.out.patience.During(func() { diags = r.Operation.Claim(r.soft, p) })
	changed := mayfly.Stale(diags)
	if changed == nil || !again {
		return r.out.report(diags), false
	}
	text := changed.Error()
	diags = diag.Warnf("Plan is stale", "%s\n\nA new plan is made.", strings.ToUpper(text[:1])+text[1:])
	return false, r.out.report(append(diags, r.Reread(r.soft)...))
}

// approve asks for approval of a plan unless it was given. It returns exitOK if the plan may be applied, and
// the exit status otherwise.
func (r *changeRun) approve(p *plan.Plan, f *applyFlags) int {
	if !f.autoApprove {
		// The question is not asked in vain: without input there can be no answer.
		if p.Changed() && !f.input {
			return r.out.fail("Approval required", "The plan has changes, and with -input=false Mayfly does not ask for approval. %s", f.approvalHint())
		}
		if p.Changed() && r.unseen {
			return r.out.fail("The plan was not seen", "The reader of standard output has ended, so the plan could not be shown, and Mayfly does not ask for approval of a plan that was not seen. %s", r.spared())
		}
		switch yes, asked := r.confirm(p); {
		case !asked:
			return exitError
		case !yes && f.destroy:
			r.out.say("Destroy cancelled.")
			return exitError
		case !yes:
			r.out.say("Apply cancelled.")
			return exitError
		}
	}
	return exitOK
}

// savedConflicts reports options that ask for a different plan than the saved one. -refresh is allowed
// because applying a saved plan never refreshes, and test frameworks give -refresh=false to every apply;
// -refresh-only and -allow-deferral are allowed because they give them with a saved plan too. The latter
// agrees with the plan, which leaves to a later one all that it defers.
func (c *changeFlags) savedConflicts() diag.List {
	if c.destroy || c.lazyEphemeral || c.scopeGiven || c.refreshOlder != nil || len(c.refreshTargets)+len(c.targets)+len(c.targetFiles)+len(c.excludes)+len(c.excludeFiles)+len(c.replace) > 0 {
		return diag.Errorf("Can't change the options of a saved plan", "A saved plan is applied as it is: -destroy, -target, -exclude, -replace, -scope, -refresh-target, -refresh-older and -lazy-ephemeral are options for making a plan. Make a new plan instead.")
	}
	var diags diag.List
	if c.refreshOnly {
		diags = diag.Warnf("Option without effect", "A saved plan is applied as it is, whether or not -refresh-only is given.")
	}
	return append(diags, c.check()...)
}

// applySaved checks the options and applies the saved plan in the file at path. The plan was seen when it was
// made, so it needs no approval.
func (c *changeCommands) applySaved(ctx context.Context, f *applyFlags, path string) int {
	if f.converge {
		return c.out.fail("Can't change the options of a saved plan", "A saved plan is one round and is applied as it is, and -converge makes plans until nothing is left. Use one or the other.")
	}
	if !c.out.report(f.savedConflicts()) {
		return exitError
	}
	return c.out.watched(&f.changeFlags, "Apply", func() int { return c.carryOutSaved(ctx, f, path) })
}

// carryOutSaved applies a saved plan and returns the exit status. Configuration, variables and backend come
// from the plan file; only the values of ephemeral variables have to be given again, since no plan has them.
func (c *changeCommands) carryOutSaved(ctx context.Context, f *applyFlags, path string) int {
	hard, soft, stop := interruptible(ctx, c.signals)
	defer stop()
	r := &changeRun{out: c.out, in: c.in, wd: c.wd, flags: &f.changeFlags, hard: hard, soft: soft, saved: true}
	// r gets its session later.
	defer func() { r.end() }()
	d := c.wd.dirOf("", f.input)
	saved, diags := d.Plans.Open(ctx, path)
	if !c.out.report(diags) {
		return exitError
	}
	if !r.begin(func(o workdir.BeginOptions) (*workdir.Session, diag.List) {
		return d.Plans.Resume(soft, saved, operationName("apply"), o)
	}) {
		return exitError
	}
	r.putPlan(hard, saved.Plan)
	for _, s := range c.out.streams() {
		s.Saved(saved.Plan)
	}
	return r.apply(saved.Plan)
}
