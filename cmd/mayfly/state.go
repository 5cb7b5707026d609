package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/edit"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/workdir"
)

// stateCommands are the commands that work on the stored state: the subcommands of state, taint and untaint.
type stateCommands struct{ dependencies }

// group returns the command state, whose subcommands work on the stored state without planning. Commands that
// edit it keep a backup with a time stamp.
func (c *stateCommands) group(a *app) *cli.Command {
	return a.group("state", "Advanced state management", "Shows the state, and changes it without a plan. Real objects are never touched.",
		c.diffCommand(a), c.historyCommand(a), alias(c.listCommand(a), "ls"), alias(c.mvCommand(a), "move"), c.pullCommand(a), c.pushCommand(a), c.queryCommand(a), c.rekeyCommand(a), c.replaceProviderCommand(a),
		alias(c.rmCommand(a), "remove"), c.rollbackCommand(a), c.runsCommand(a), c.sensitiveCommand(a), c.showCommand(a))
}

// listCommand returns the command state list. It needs no providers, and its output is one address per
// line: scripts pass them on.
func (c *stateCommands) listCommand(a *app) *cli.Command {
	var files stateFlags
	id, long := "", false
	return a.messageCommand("list", "List resources in the state", "[ADDRESS...]", "Lists the addresses of resource instances, all or those that the given addresses select.",
		[]cli.Flag{
			stringFlag("state", "Read the state from `FILE`. For the local backend.", &files.State),
			stringFlag("id", "List only instances whose attribute \"id\" is `ID`.", &id),
			boolFlag("long", "Write a table with the provider of each instance, how many others depend on it, and whether it is tainted.", &long),
		},
		func(ctx context.Context, args []string) int {
			targets, ok := parseTargets(c.out, args)
			if !ok {
				return exitError
			}
			file, diags := c.list(ctx, files.StateFiles, long, id != "")
			if !c.out.report(diags) {
				return exitError
			}
			if file == nil {
				if name, _, diags := c.wd.dir().Workspace(); files.State == "" && !diags.HasErrors() {
					return c.out.fail("No state file was found!", "The workspace %q has no state yet. \"mayfly apply\" creates one; \"mayfly workspace list\" lists the others.", name)
				}
				return c.out.fail("No state file was found!", "The file of the option -state does not exist.")
			}
			// Without targets, everything is selected.
			found, missing := edit.Select(file.State, targets)
			if missing != nil {
				return c.out.fail("Unknown resource", "The state has nothing at %s.%s Resources that are new in the configuration are added by the next \"mayfly apply\".", missing, selection.InState(file.State.AllInstances(), *missing))
			}
			c.out.verbatim = false // addresses are messages of their own
			var lines []string
			var listed []addr.Instance
			for _, i := range inDocumentOrder(found) {
				if id == "" || file.State.Instance(i).Current.ID() == id {
					lines, listed = append(lines, i.String()), append(listed, i)
					for _, s := range c.out.streams() {
						s.Address(i)
					}
				}
			}
			if long && c.out.stream == nil {
				return c.out.wrote(view.StateList(c.out.env.Stdout, file.State, listed))
			}
			if len(lines) > 0 {
				c.out.say("%s", strings.Join(lines, "\n")) // at once: there may be many
			}
			return exitOK
		})
}

// list reads as much of the state as a list needs: of each object the address, its other entries in a long
// list, or its attributes, which have IDs.
func (c *stateCommands) list(ctx context.Context, files workdir.StateFiles, long, ids bool) (*state.File, diag.List) {
	switch b := c.wd.dir().Backend; {
	case ids:
		return b.ReadState(ctx, files)
	case long:
		return b.ReadOutline(ctx, files, store.Entries)
	default:
		return b.ReadOutline(ctx, files, store.Addresses)
	}
}

// showCommand returns the command state show. It looks up the schemas only to know which attributes are
// sensitive.
func (c *stateCommands) showCommand(a *app) *cli.Command {
	var files stateFlags
	show, dependents, at := false, false, ""
	m := &machineFlags{}
	return a.command("show", "Show a resource in the state", "ADDRESS", "Shows the attributes of one resource instance as the state has them, the value of an output such as output.a, or the results of a check such as check.a.",
		append(m.flags("a JSON document, with sensitive values,"),
			stringFlag("state", "Read the state from `FILE`. For the local backend.", &files.State),
			boolFlag("show-sensitive", "Show sensitive values.", &show),
			boolFlag("dependents", "Also list what depends on it, as of the last apply.", &dependents),
			stringFlag("at", "Show it as it was at a `MOMENT`: "+momentUsage+". For backends that keep a history.", &at),
		),
		func(ctx context.Context, args []string) int {
			c.out.view.ShowSensitive = show
			if !m.beginMessages(c.out) {
				return exitError
			}
			if len(args) != 1 {
				return c.out.argsError("state show", "the address of one resource instance, output or check")
			}
			i, err := addr.ParseInstance(args[0])
			if err != nil {
				return c.out.fail("Error parsing instance address", "%q is not the address of a resource instance: %s.", args[0], err)
			}
			file, ok := c.read(ctx, files, at, i, dependents)
			if !ok {
				return exitError
			}
			if file.State.Instance(i) == nil {
				if shown, code := c.showResult(m, file.State, i); shown {
					return code
				}
				if at != "" {
					return c.out.fail("No instance found for the given address!", "At that time, the state had no %s. Show its changes with: mayfly state history %s", i, diag.Argument(i.String()))
				}
				return c.out.fail("No instance found for the given address!", "The state has no %s.%s List what it has with: mayfly %s", i, selection.InState(file.State.AllInstances(), only(i)), listing(i))
			}
			s, diags := c.wd.reader(ctx, file.State)
			defer s.close()
			if !c.out.report(diags) {
				return exitError
			}
			if done, code := c.out.documented(m, func() ([]byte, error) {
				return document.StateInstance(file.State, i, s.Schemas(ctx), s.out.versions())
			}); done {
				return code
			}
			err = view.StateInstance(c.out.env.Stdout, file.State, i, s.Schemas(ctx), c.out.view)
			if err == nil && dependents {
				err = view.StateDependents(c.out.env.Stdout, file.State, i)
			}
			return c.out.wrote(err)
		})
}

// read reads the state, as far as one instance of it is concerned, or the former content at its address
// unless the moment is "". If the instance is not there, the whole state is read: the address may name an
// output or a check, and messages name other instances. ok is false after an error, which was reported.
func (c *stateCommands) read(ctx context.Context, files stateFlags, at string, i addr.Instance, dependents bool) (file *state.File, ok bool) {
	if at != "" {
		p, ok := c.past(ctx, at, subjectsAt(i)...)
		if !ok {
			return nil, false
		}
		return fileOf(p), true
	}
	b := c.wd.dir().Backend
	file, diags := b.ReadPart(ctx, files.StateFiles, state.Part{Subjects: []state.Subject{state.InstanceSubject(i)}})
	if file != nil && (dependents || file.State.Instance(i) == nil) {
		file, diags = b.ReadState(ctx, files.StateFiles)
	}
	if file == nil {
		file = &state.File{State: state.New()}
	}
	return file, c.out.report(diags)
}

// pullCommand returns the command state pull. It writes the decoded state, so an older format is
// upgraded and an encrypted state is not encrypted any more.
func (c *stateCommands) pullCommand(a *app) *cli.Command {
	return a.command("pull", "Pull current state and output to stdout", "", "Writes the state file of the selected workspace to standard output, in the current format. It holds sensitive values unencrypted.",
		nil, func(ctx context.Context, args []string) int {
			c.out.document = true
			if len(args) > 0 {
				return c.out.argsError("state pull", "no arguments")
			}
			file, diags := c.wd.dir().Backend.ReadState(ctx, workdir.StateFiles{})
			if !c.out.report(diags) {
				return exitError
			}
			if file == nil {
				return exitOK
			}
			return c.out.wrote(state.Encode(c.out.env.Stdout, file))
		})
}

// rmCommand returns the command state rm.
func (c *stateCommands) rmCommand(a *app) *cli.Command {
	var files stateFlags
	var lock lockFlags
	dryRun := false
	flags := append(files.flags(), lock.flags()...)
	flags = append(flags, boolFlag("dry-run", "Only show what would be removed.", &dryRun))
	return a.messageCommand("rm", "Remove instances from the state", "ADDRESS...", "Makes Mayfly forget objects, which continue to exist. The address of a module or resource stands for everything in it.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) == 0 {
				return c.out.argsError("state rm", "at least one address")
			}
			targets, ok := parseTargets(c.out, args)
			if !ok {
				return exitError
			}
			return c.changeState(ctx, "state-rm", files.stamped(), lock, func(s *stateChange) (bool, int) { return c.remove(s, targets, dryRun) })
		})
}

// remove removes the instances that targets select from the state of s, which the caller stores if write is
// true. With dryRun, an address of nothing is not a mistake: it shows that nothing would be removed.
func (c *stateCommands) remove(s *stateChange, targets []addr.Target, dryRun bool) (write bool, code int) {
	st := s.state
	found, missing := edit.Select(st, targets)
	if missing != nil && !dryRun {
		return false, c.out.fail("Invalid target address", "The state has nothing at %s.%s List what it has with: mayfly state list", missing, selection.InState(st.AllInstances(), *missing))
	}
	verb := "Removed"
	if dryRun {
		verb = "Would remove"
	}
	n := len(found)
	for _, i := range found {
		s.done = append(s.done, fmt.Sprintf("%s %s", verb, i))
		st.RemoveInstance(i)
	}
	if dryRun {
		if n == 0 {
			c.out.say("Would have removed nothing.")
		}
		return false, exitOK
	}
	s.done = append(s.done, fmt.Sprintf("Successfully removed %d resource instance(s).", n))
	return true, exitOK
}
