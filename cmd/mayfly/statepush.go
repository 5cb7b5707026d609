package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// pushCommand returns the command state push. The file is read and decoded before the state is locked,
// so that standard input may come from a person or a slow program.
func (c *stateCommands) pushCommand(a *app) *cli.Command {
	var lock lockFlags
	force := false
	flags := append(lock.flags(), boolFlag("force", "Write the state even if it is older, or of another lineage.", &force))
	return a.messageCommand("push", "Update remote state from a local state file", "FILE", "Replaces the state of the selected workspace by a state file, or by standard input if the file is \"-\".",
		flags, func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return c.out.argsError("state push", "one argument, a state file or \"-\"")
			}
			src, err := c.in.readFileOrStdin(args[0])
			if err != nil {
				return c.out.fail("Failed to read the state to push", "The file %s could not be read: %s.", args[0], diag.Reason(err))
			}
			file, err := c.wd.dir().ReadStateFile(ctx, src)
			if err != nil {
				return c.out.fail("Failed to read the state to push", "The file %s cannot be read as a state: %s.", args[0], err)
			}
			if file == nil {
				return c.out.fail("Failed to read the state to push", "The file %s is empty.", args[0])
			}
			return c.changeState(ctx, pushOperation, stateFlags{}, lock, func(s *stateChange) (bool, int) { return false, s.push(ctx, file, force) })
		})
}

// push stores a state file with its own serial and lineage, in place of the present state. Without force, it
// must be newer and of the same lineage.
func (s *stateChange) push(ctx context.Context, file *state.File, force bool) int {
	if !force {
		if err := store.CheckPush(s.Operation.File, file); err != nil {
			return s.out.fail("Failed to write state", "%s\n\nIf you are sure that the new state is the right one, use -force.", diag.Sentence(err))
		}
	}
	if err := s.Manager.Write(ctx, file); err != nil {
		return s.out.fail("Failed to write state", "%s", diag.Sentence(err))
	}
	return exitOK
}
