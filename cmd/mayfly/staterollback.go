package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/edit"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
)

// rollbackFlags are the options of state rollback.
type rollbackFlags struct {
	lockFlags
	inputFlag
	to                        string
	approved, show, onlyShown bool
}

// rollbackCommand returns the command state rollback. It changes records alone: the next plan shows how
// the real objects differ.
func (c *stateCommands) rollbackCommand(a *app) *cli.Command {
	f := &rollbackFlags{}
	flags := append(f.lockFlags.flags(), f.inputFlag.flags(c.out.env.vars)...)
	flags = append(flags,
		stringFlag("to", "Put the record back to a `MOMENT`: "+momentUsage+".", &f.to),
		boolFlag("auto-approve", "Don't ask for approval.", &f.approved),
		boolFlag("dry-run", "Only show what would change.", &f.onlyShown),
		boolFlag("show-sensitive", "Show sensitive values.", &f.show))
	return a.messageCommand("rollback", "Put the record of objects back to a former moment", "[ADDRESS...]",
		"Makes the record of objects, all or those that the given addresses select, the one that it was at a moment. It shows what changes, and asks. Real objects are not touched: the next plan shows what they need. For backends that keep a history, such as \"postgres\".",
		flags, func(ctx context.Context, args []string) int {
			c.out.view.ShowSensitive = f.show
			if f.to == "" {
				return c.out.argsError("state rollback", "the option -to, a run or a time")
			}
			targets, ok := parseTargets(c.out, args)
			if !ok {
				return exitError
			}
			past, ok := c.past(ctx, f.to)
			if !ok {
				return exitError
			}
			written := false
			code := c.changeState(ctx, "state-rollback", stateFlags{}, f.lockFlags, func(s *stateChange) (write bool, code int) {
				written, code = c.rollback(ctx, s, past.State, targets, f)
				return written, code
			})
			if written && code == exitOK {
				c.out.say("The record has been put back, and real objects were not touched. To see what they need, run:\n  mayfly plan")
			}
			return code
		})
}

// rollback puts the objects of a former state into s, all or the ones that targets select. The caller stores
// s if write is true.
func (c *stateCommands) rollback(ctx context.Context, s *stateChange, former *state.State, targets []addr.Target, f *rollbackFlags) (write bool, code int) {
	present := s.state.Copy()
	for _, t := range targets {
		_, now := edit.Select(present, []addr.Target{t})
		if _, then := edit.Select(former, []addr.Target{t}); now != nil && then != nil {
			return false, c.out.fail("Invalid target address", "Neither the state nor its history at that time has something at %s.%s", t, selection.InState(present.AllInstances(), t))
		}
	}
	for _, change := range restore(present, former, targets) {
		change.Apply(s.state)
	}
	reader, diags := c.wd.reader(ctx, present.With(s.state))
	defer reader.close()
	if !c.out.report(diags) {
		return false, exitError
	}
	diff, err := document.CompareStates(present, s.state, reader.Schemas(ctx))
	if err != nil {
		return false, c.out.fail("States cannot be compared", "%s.", diag.Sentence(err))
	}
	if diff.Empty() {
		c.out.say("The record is as it was at that time. Nothing was changed.")
		return false, exitOK
	}
	if c.out.stream == nil {
		if code := c.out.wrote(view.StateDiff(c.out.env.Stdout, diff, "the present record", f.to, c.out.view)); code != exitOK {
			return false, code
		}
	}
	if f.onlyShown {
		return false, exitOK
	}
	if !f.approved {
		if code := c.approveRollback(ctx, f); code != exitOK {
			return false, code
		}
	}
	return true, exitOK
}

// approveRollback asks for approval. It returns exitOK if that was given.
func (c *stateCommands) approveRollback(ctx context.Context, f *rollbackFlags) int {
	const hint = "To put the record back without being asked, use -auto-approve."
	if !f.input {
		return c.out.fail("Approval required", "With -input=false, Mayfly does not ask. %s", hint)
	}
	yes, asked := c.in.approved(ctx, term.Question{
		Title: "Do you want to put the record of these objects back?",
		Text:  "Real objects are not touched, and the next plan shows what they need. An object that\nleaves the record continues to exist, and no run looks after it any more.\n\nOnly 'yes' will be accepted to confirm.",
	}, hint)
	switch {
	case !asked:
		return exitError
	case !yes:
		c.out.say("Rollback cancelled.")
		return exitError
	}
	return exitOK
}

// restore returns the changes that put the objects of former into present, all or the ones that targets
// select. A stored row that has not changed since then stays.
func restore(present, former *state.State, targets []addr.Target) (out []state.ObjectChange) {
	selected := func(i addr.Instance) bool {
		for _, t := range targets {
			if t.Selects(i) {
				return true
			}
		}
		return len(targets) == 0
	}
	for _, change := range state.Diff(present, former) {
		now := present.Object(change.Object)
		same := now != nil && change.New != nil && now.Version == change.New.Version && now.Version != state.Version{}
		if selected(change.Object.Instance) && !same {
			if change.New != nil {
				change.New = change.New.Clone() // its version belongs to a row of the past
			}
			out = append(out, change)
		}
	}
	return out
}
