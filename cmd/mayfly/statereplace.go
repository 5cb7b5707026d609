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

// stateReplaceProviderCommand returns the command state replace-provider, for providers that have moved to
// another source address.
func (a *app) stateReplaceProviderCommand() *cli.Command {
	f := &replaceFlags{}
	flags := append(f.stateFlags.flags(), f.lockFlags.flags()...)
	flags = append(flags, f.inputFlag.flags(a)...)
	flags = append(flags, boolFlag("auto-approve", "Don't ask for approval.", &f.autoApprove))
	return a.messageCommand("replace-provider", "Replace provider in the state", "FROM_PROVIDER TO_PROVIDER",
		"Assigns the objects of one provider to another in all modules, for example after a provider has moved to another source address. The objects are not changed, so the other provider must support them.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) != 2 {
				return a.argsError("state replace-provider", "two arguments, the source addresses of the old provider and of the new one")
			}
			var ps [2]addr.Provider
			for i, which := range []string{"from", "to"} {
				p, err := addr.ParseProvider(args[i])
				if err != nil {
					return a.fail(fmt.Sprintf("Invalid %q provider %q", which, args[i]), "It is not a provider source address: %s.", err)
				}
				ps[i] = p
			}
			return a.changeState(ctx, "state-replace-provider", f.stamped(), f.lockFlags, func(c *stateChange) (bool, int) {
				if c.Operation.File == nil {
					return false, a.fail("No state file was found", "There is no state in which a provider could be replaced. Run this command in the directory of a configuration that was applied, or name a state file with -state.")
				}
				return c.replaceProvider(ctx, ps[0], ps[1], f)
			})
		})
}

// replaceProvider assigns the resources of one provider to another after approval. It reports whether the
// state is to be stored, and the exit status.
func (c *stateChange) replaceProvider(ctx context.Context, from, to addr.Provider, f *replaceFlags) (write bool, code int) {
	a := c.app
	names, found := edit.UsersOf(c.state, from)
	if len(found) == 0 {
		a.say("No matching resources found.")
		return false, exitOK
	}
	announcement := fmt.Sprintf("%s will replace provider from %s to %s for %d resources", a.view.Program, from, to, len(names))
	for _, s := range a.streams() {
		s.ReplaceProvider(from, to, names, announcement)
	}
	if a.stream == nil {
		fmt.Fprintf(a.env.Stdout, "%s will perform the following actions:\n\n  ~ Updating provider:\n    - %s\n    + %s\n\nChanging %d resources:\n\n  %s\n\n", a.view.Program, from, to, len(names), strings.Join(names, "\n  "))
	}
	if !f.autoApprove {
		const hint = "To replace the provider without being asked, use -auto-approve."
		if !f.input {
			return false, a.fail("Approval required", "With -input=false, Mayfly does not ask. %s", hint)
		}
		yes, asked := a.approved(ctx, term.Question{Title: "Do you want to make these changes?", Text: "Only 'yes' will be accepted to continue."}, hint)
		switch {
		case !asked:
			return false, exitError
		case !yes:
			a.say("Cancelled replacing providers.")
			return false, exitOK
		}
	}
	for _, i := range found {
		pc := c.state.Instance(i).Provider
		pc.Provider = to
		c.state.SetProvider(i, pc)
	}
	a.say("Successfully replaced provider for %d resources.", len(names))
	return true, exitOK
}
