package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/edit"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// stateCommand returns the command state, whose subcommands work on the stored state without planning. Those
// by which people edit it keep a backup with a time stamp.
func (a *app) stateCommand() *cli.Command {
	return a.group("state", "Advanced state management", "Shows the state, and changes it without a plan. Real objects are never touched.",
		a.stateDiffCommand(), alias(a.stateListCommand(), "ls"), alias(a.stateMvCommand(), "move"), a.statePullCommand(), a.statePushCommand(), a.stateRekeyCommand(), a.stateReplaceProviderCommand(),
		alias(a.stateRmCommand(), "remove"), stateSensitiveCommand(a), a.stateShowCommand())
}

// stateListCommand returns the command state list. It needs no providers, and its output is one address per
// line: scripts pass them on.
func (a *app) stateListCommand() *cli.Command {
	var files stateFlags
	id, long := "", false
	return a.messageCommand("list", "List resources in the state", "[ADDRESS...]", "Lists the addresses of resource instances, all or those that the given addresses select.",
		[]cli.Flag{
			stringFlag("state", "Read the state from `FILE`. For the local backend.", &files.State),
			stringFlag("id", "List only instances whose attribute \"id\" is `ID`.", &id),
			boolFlag("long", "Write a table with the provider of each instance, how many others depend on it, and whether it is tainted.", &long),
		},
		func(ctx context.Context, args []string) int {
			targets, ok := a.targets(args)
			if !ok {
				return exitError
			}
			file, diags := a.directory().ReadState(ctx, files.StateFiles)
			if !a.report(diags) {
				return exitError
			}
			if file == nil {
				if name, _, diags := a.directory().Workspace(); files.State == "" && !diags.HasErrors() {
					return a.fail("No state file was found!", "The workspace %q has no state yet. \"mayfly apply\" creates one; \"mayfly workspace list\" lists the others.", name)
				}
				return a.fail("No state file was found!", "The file of the option -state does not exist.")
			}
			// Without targets, everything is selected.
			found, missing := edit.Select(file.State, targets)
			if missing != nil {
				return a.fail("Unknown resource", "The state has nothing at %s.%s Resources that are new in the configuration are added by the next \"mayfly apply\".", missing, selection.InState(file.State.AllInstances(), *missing))
			}
			a.verbatim = false // addresses are messages of their own
			var lines []string
			var listed []addr.Instance
			for _, i := range inDocumentOrder(found) {
				if id == "" || file.State.Instance(i).Current.ID() == id {
					lines, listed = append(lines, i.String()), append(listed, i)
					for _, s := range a.streams() {
						s.Address(i)
					}
				}
			}
			if long && a.stream == nil {
				return a.wrote(view.StateList(a.env.Stdout, file.State, listed))
			}
			if len(lines) > 0 {
				a.say("%s", strings.Join(lines, "\n")) // at once: there may be many
			}
			return exitOK
		})
}

// stateShowCommand returns the command state show. It looks up the schemas only to know which attributes are
// sensitive.
func (a *app) stateShowCommand() *cli.Command {
	var files stateFlags
	show, dependents := false, false
	m := &machineFlags{}
	return a.command("show", "Show a resource in the state", "ADDRESS", "Shows the attributes of one resource instance as the state has them.",
		append(m.flags("a JSON document, with sensitive values,"),
			stringFlag("state", "Read the state from `FILE`. For the local backend.", &files.State),
			boolFlag("show-sensitive", "Show sensitive values.", &show),
			boolFlag("dependents", "Also list what depends on it, as of the last apply.", &dependents),
		),
		func(ctx context.Context, args []string) int {
			a.view.ShowSensitive = show
			if !m.beginMessages(a) {
				return exitError
			}
			if len(args) != 1 {
				return a.argsError("state show", "the address of one resource instance")
			}
			i, err := addr.ParseInstance(args[0])
			if err != nil {
				return a.fail("Error parsing instance address", "%q is not the address of a resource instance: %s.", args[0], err)
			}
			file, diags := a.directory().ReadState(ctx, files.StateFiles)
			if !a.report(diags) {
				return exitError
			}
			if file == nil {
				file = &state.File{State: state.New()}
			}
			if file.State.Instance(i) == nil {
				return a.fail("No instance found for the given address!", "The state has no %s.%s List what it has with: mayfly state list", i, selection.InState(file.State.AllInstances(), only(i)))
			}
			s, diags := a.reader(ctx, file.State)
			defer s.close()
			if !a.report(diags) {
				return exitError
			}
			if done, code := a.documented(m, func() ([]byte, error) { return document.StateInstance(file.State, i, s.Schemas(ctx), a.versions()) }); done {
				return code
			}
			err = view.StateInstance(a.env.Stdout, file.State, i, s.Schemas(ctx), a.view)
			if err == nil && dependents {
				err = view.StateDependents(a.env.Stdout, file.State, i)
			}
			return a.wrote(err)
		})
}

// statePullCommand returns the command state pull. It writes the decoded state, so an older format is
// upgraded and an encrypted state is not encrypted any more.
func (a *app) statePullCommand() *cli.Command {
	return a.command("pull", "Pull current state and output to stdout", "", "Writes the state file of the selected workspace to standard output, in the current format. It holds sensitive values unencrypted.",
		nil, func(ctx context.Context, args []string) int {
			a.document = true
			if len(args) > 0 {
				return a.argsError("state pull", "no arguments")
			}
			file, diags := a.directory().ReadState(ctx, workdir.StateFiles{})
			if !a.report(diags) {
				return exitError
			}
			if file == nil {
				return exitOK
			}
			return a.wrote(state.Encode(a.env.Stdout, file))
		})
}

// stateRmCommand returns the command state rm.
func (a *app) stateRmCommand() *cli.Command {
	var files stateFlags
	var lock lockFlags
	dryRun := false
	flags := append(files.flags(), lock.flags()...)
	flags = append(flags, boolFlag("dry-run", "Only show what would be removed.", &dryRun))
	return a.messageCommand("rm", "Remove instances from the state", "ADDRESS...", "Makes Mayfly forget objects, which continue to exist. The address of a module or resource stands for everything in it.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) == 0 {
				return a.argsError("state rm", "at least one address")
			}
			targets, ok := a.targets(args)
			if !ok {
				return exitError
			}
			return a.changeState(ctx, "state-rm", files.stamped(), lock, func(c *stateChange) (bool, int) { return a.stateRm(c.state, targets, dryRun) })
		})
}

// stateRm removes the instances that targets select from st, which the caller stores if write is true. With
// dryRun, an address of nothing is not a mistake: it shows that nothing would be removed.
func (a *app) stateRm(st *state.State, targets []addr.Target, dryRun bool) (write bool, code int) {
	found, missing := edit.Select(st, targets)
	if missing != nil && !dryRun {
		return false, a.fail("Invalid target address", "The state has nothing at %s.%s List what it has with: mayfly state list", missing, selection.InState(st.AllInstances(), *missing))
	}
	verb := "Removed"
	if dryRun {
		verb = "Would remove"
	}
	n := len(found)
	for _, i := range found {
		a.say("%s %s", verb, i)
		st.RemoveInstance(i)
	}
	if dryRun {
		if n == 0 {
			a.say("Would have removed nothing.")
		}
		return false, exitOK
	}
	a.say("Successfully removed %d resource instance(s).", n)
	return true, exitOK
}
