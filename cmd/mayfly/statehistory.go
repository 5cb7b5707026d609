package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/history"
	"github.com/mayfly-iac/mayfly/state/store"
)

// runsShown is how many runs state history shows unless an option says otherwise.
const runsShown = 50

// historyCommand returns the command state history. It reads rows, and locks nothing.
func (c *stateCommands) historyCommand(a *app) *cli.Command {
	most := runsShown
	m := &machineFlags{}
	return a.command("history", "Show the runs that have changed the state", "[ADDRESS]",
		"Lists the runs on the state, the newest first: who, when, with which command, how many objects were changed, and why. With the address of a resource instance, an output such as output.a or a check such as check.a, lists its changes. For backends that keep a history, such as \"postgres\".",
		append(m.flags("a JSON document"), intFlag("limit", "List at most `N` runs; 0 for all.", &most)),
		func(ctx context.Context, args []string) int {
			c.out.document = m.json
			if !m.begin(c.out) {
				return exitError
			}
			if len(args) > 1 || most < 0 {
				return c.out.argsError("state history", "at most one argument, the address of a resource instance, an output or a check, and a -limit that is not negative")
			}
			h, diags := c.wd.dir().Backend.Historian(ctx)
			if !c.out.report(diags) {
				return exitError
			}
			if len(args) == 1 {
				return c.versions(ctx, m, h, args[0])
			}
			runs, err := h.Runs(ctx, most)
			if err != nil {
				return c.out.fail("Error reading the history", "%s", diag.Sentence(err))
			}
			if done, code := c.out.documented(m, func() ([]byte, error) { return history.RunsJSON(runs) }); done {
				return code
			}
			if len(runs) == 0 {
				c.out.say("No run has changed the state of this workspace.")
				return exitOK
			}
			return c.out.wrote(history.Runs(c.out.env.Stdout, runs))
		})
}

// versions shows the versions of the objects of one instance, of an output or of a check.
func (c *stateCommands) versions(ctx context.Context, m *machineFlags, h store.Historian, address string) int {
	i, err := addr.ParseInstance(address)
	if err != nil {
		return c.out.fail("Error parsing instance address", "%q is not the address of a resource instance: %s.", address, err)
	}
	versions, err := changesAt(ctx, h, i)
	if err != nil {
		return c.out.fail("Error reading the history", "%s", diag.Sentence(err))
	}
	if len(versions) == 0 {
		return c.out.fail("No instance found for the given address!", "Neither the state nor its history has %s. List what the state has with: mayfly %s", i, listing(i))
	}
	if done, code := c.out.documented(m, func() ([]byte, error) { return history.VersionsJSON(i.String(), versions) }); done {
		return code
	}
	return c.out.wrote(history.Versions(c.out.env.Stdout, versions))
}

// runsCommand returns the command state runs. A run that does not answer is freed by force-unlock, whose
// command it shows.
func (c *stateCommands) runsCommand(a *app) *cli.Command {
	m := &machineFlags{}
	return a.command("runs", "Show which runs are changing the state now", "",
		"Shows who is changing the state now: the parts that each run has claimed, the operations that it has begun, and the runs that wait. For backends with which several runs may change a state at the same time, such as \"postgres\".",
		m.flags("a JSON document"),
		func(ctx context.Context, args []string) int {
			c.out.document = m.json
			if !m.begin(c.out) {
				return exitError
			}
			if len(args) > 0 {
				return c.out.argsError("state runs", "no arguments")
			}
			h, diags := c.wd.dir().Backend.Historian(ctx)
			if !c.out.report(diags) {
				return exitError
			}
			runs, err := h.Active(ctx)
			if err != nil {
				return c.out.fail("Error reading the runs", "%s", diag.Sentence(err))
			}
			if done, code := c.out.documented(m, func() ([]byte, error) { return history.ActiveJSON(runs) }); done {
				return code
			}
			if len(runs) == 0 {
				c.out.say("No run is changing the state of this workspace.")
				return exitOK
			}
			return c.out.wrote(history.Active(c.out.env.Stdout, runs))
		})
}
