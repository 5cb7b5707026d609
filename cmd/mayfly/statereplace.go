package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/internal/engine/edit"
)

// replaceFlags are the options of state replace-provider.
type replaceFlags struct {
	stateFlags
	lockFlags
	inputFlag
	autoApprove bool
}

// replaceProviderCommand returns the command state replace-provider, for providers that have moved to
// another source address.
func (c *stateCommands) replaceProviderCommand(a *app) *cli.Command {
	f := &replaceFlags{}
	flags := append(f.stateFlags.flags(), f.lockFlags.flags()...)
	flags = append(flags, f.inputFlag.flags(c.out.env.vars)...)
	flags = append(flags, boolFlag("auto-approve", "Don't ask for approval.", &f.autoApprove))
	return a.messageCommand("replace-provider", "Replace provider in the state", "FROM_PROVIDER TO_PROVIDER",
		"Assigns the objects of one provider to another in all modules, for example after a provider has moved to another source address. The objects are not changed, so the other provider must support them.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) != 2 {
				return c.out.argsError("state replace-provider", "two arguments, the source addresses of the old provider and of the new one")
			}
			var ps [2]addr.Provider
			for i, which := range []string{"from", "to"} {
				p, err := addr.ParseProvider(args[i])
				if err != nil {
					return c.out.fail(fmt.Sprintf("Invalid %q provider %q", which, args[i]), "It is not a provider source address: %s.", err)
				}
				ps[i] = p
			}
			return c.changeState(ctx, "state-replace-provider", f.stamped(), f.lockFlags, func(s *stateChange) (bool, int) {
				if s.Operation.File == nil {
					return false, c.out.fail("No state file was found", "There is no state in which a provider could be replaced. Run this command in the directory of a configuration that was applied, or name a state file with -state.")
				}
				return c.replaceProvider(ctx, s, ps[0], ps[1], f)
			})
		})
}

// replaceProvider assigns the resources of one provider in a state to another after approval. It reports
// whether the state is to be stored, and the exit status.
func (c *stateCommands) replaceProvider(ctx context.Context, s *stateChange, from, to addr.Provider, f *replaceFlags) (write bool, code int) {
	st := s.state
	names, found := edit.UsersOf(st, from)
	if len(found) == 0 {
		c.out.say("No matching resources found.")
		return false, exitOK
	}
	announcement := fmt.Sprintf("%s will replace provider from %s to %s for %d resources", c.out.view.Program, from, to, len(names))
	for _, stream := range c.out.streams() {
		stream.ReplaceProvider(from, to, names, announcement)
	}
	if c.out.stream == nil {
		fmt.Fprintf(c.out.env.Stdout, "%s will perform the following actions:\n\n  ~ Updating provider:\n    - %s\n    + %s\n\nChanging %d resources:\n\n  %s\n\n", c.out.view.Program, from, to, len(names), strings.Join(names, "\n  "))
	}
	if !f.autoApprove {
		const hint = "To replace the provider without being asked, use -auto-approve."
		if !f.input {
			return false, c.out.fail("Approval required", "With -input=false, Mayfly does not ask. %s", hint)
		}
		yes, asked := c.in.approved(ctx, term.Question{Title: "Do you want to make these changes?", Text: "Only 'yes' will be accepted to continue."}, hint)
		switch {
		case !asked:
			return false, exitError
		case !yes:
			c.out.say("Cancelled replacing providers.")
			return false, exitOK
		}
	}
	for _, i := range found {
		pc := st.Instance(i).Provider
		pc.Provider = to
		st.SetProvider(i, pc)
	}
	s.done = append(s.done, fmt.Sprintf("Successfully replaced provider for %d resources.", len(names)))
	return true, exitOK
}
