package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/edit"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// mvFlags are the options of state mv.
type mvFlags struct {
	stateFlags
	lockFlags
	backupOut string
	dryRun    bool
}

// mvCommand returns the command state mv. A moved block does the same with a plan, for all states of a
// configuration; this command is for a single one.
func (c *stateCommands) mvCommand(a *app) *cli.Command {
	f := &mvFlags{}
	flags := append(f.stateFlags.flags(), f.lockFlags.flags()...)
	flags = append(flags,
		stringFlag("backup-out", "Keep the previous content of the -state-out file in `FILE`.", &f.backupOut),
		boolFlag("dry-run", "Only show what would be moved.", &f.dryRun))
	return a.messageCommand("mv", "Move an item in the state", "SOURCE DESTINATION",
		"Gives a module, a resource or an instance another address, or, with -state-out, moves it to another state file. Mayfly then treats the object as belonging to the new address.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) != 2 {
				return c.out.argsError("state mv", "two addresses, the source and the destination")
			}
			targets, ok := parseTargets(c.out, args)
			if !ok {
				return exitError
			}
			// -state-out is where objects go, not where the changed state is written.
			from := stateFlags{workdir.StateFiles{State: f.State, Backup: f.Backup}}.stamped()
			return c.changeState(ctx, "state-mv", from, f.lockFlags, func(s *stateChange) (bool, int) {
				if f.Out == "" || f.Out == f.State {
					return c.move(s, s.state, targets[0], targets[1], f.dryRun)
				}
				return c.moveToFile(ctx, s, targets, f)
			})
		})
}

// moveToFile moves objects to another state file. That file is stored first: if storing the other one fails,
// the objects are in both rather than in none.
func (c *stateCommands) moveToFile(ctx context.Context, from *stateChange, targets []addr.Target, f *mvFlags) (write bool, code int) {
	code = c.changeState(ctx, "state-mv", stateFlags{workdir.StateFiles{State: f.Out, Backup: f.backupOut}}.stamped(), f.lockFlags, func(to *stateChange) (bool, int) {
		write, code = c.move(from, to.state, targets[0], targets[1], f.dryRun)
		return write, code
	})
	return write && code == exitOK, code
}

// move moves objects from the state of s to one that may be the same. All moves are planned before the first,
// so an invalid one changes nothing.
func (c *stateCommands) move(s *stateChange, to *state.State, source, dest addr.Target, dryRun bool) (write bool, code int) {
	from := s.state
	moves, err := edit.PlanMoves(from, to, source, dest)
	if err != nil {
		meant := ""
		if _, missing := edit.Select(from, []addr.Target{source}); missing != nil {
			meant = selection.InState(from.AllInstances(), *missing)
		}
		return false, c.out.fail("Invalid state move", "%s%s List what it has with: mayfly state list", diag.Sentence(err), meant)
	}
	verb := "Move"
	if dryRun {
		verb = "Would move"
	}
	for _, m := range moves {
		c.out.say("%s %q to %q", verb, m.From.String(), m.To.String())
	}
	if dryRun {
		return false, exitOK
	}
	for _, m := range moves {
		if err := m.Apply(from, to); err != nil {
			return false, c.out.fail("Invalid state move", "%s", diag.Sentence(err))
		}
	}
	if from == to {
		from.RenameConsumers(func(yield func(now, before addr.Instance) bool) {
			for _, m := range moves {
				if !yield(m.To, m.From) {
					return
				}
			}
		})
	}
	s.done = append(s.done, fmt.Sprintf("Successfully moved %d object(s).", len(moves)))
	return true, exitOK
}
