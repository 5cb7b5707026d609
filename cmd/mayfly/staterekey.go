package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/workdir"
)

// rekeyCommand returns the command state rekey.
func (c *stateCommands) rekeyCommand(a *app) *cli.Command {
	var lock lockFlags
	return a.messageCommand("rekey", "Encrypt all states again", "",
		"Stores the states of all workspaces and their backups again, encrypted as the configuration says now. The former method must be a fallback. Afterwards, the fallback can be removed. The contents do not change.",
		lock.flags(), func(ctx context.Context, args []string) int {
			if len(args) > 0 {
				return c.out.argsError("state rekey", "no arguments")
			}
			ctx, stop := c.signals.Once(ctx)
			defer stop()
			w, diags := c.wd.dir().Workspaces(ctx)
			if !c.out.report(diags) {
				return exitError
			}
			encrypted, left := 0, 0
			diags = w.Rekey(ctx, lock.locking(c.out), func(f workdir.Rekeyed) {
				if f.Err != nil {
					left++
					c.out.report(diag.Warnf("Backup left as it is", "The backup %s, of the workspace %q, could not be encrypted again: %s.", f.Path, f.Workspace, f.Err))
					return
				}
				encrypted++
				c.out.item("%s (workspace %s)", f.Path, f.Workspace)
			})
			if !c.out.report(diags) {
				return exitError
			}
			c.out.say("Files encrypted again: %d. Left as they are: %d.", encrypted, left)
			return exitOK
		})
}
