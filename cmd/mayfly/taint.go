package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/state"
)

// taintCommand returns the command taint.
func (c *stateCommands) taintCommand(a *app) *cli.Command {
	return c.taintingCommand(a, "taint", "Mark a resource instance as not fully functional", "Marks a resource instance as damaged, so that the next plan replaces it. To get the same result without changing the state, run: mayfly apply -replace=ADDRESS", true,
		"Resource instance %s has been marked as tainted.")
}

// untaintCommand returns the command untaint.
func (c *stateCommands) untaintCommand(a *app) *cli.Command {
	return c.taintingCommand(a, "untaint", "Remove the 'tainted' state from a resource instance", "Removes the mark that a resource instance is damaged, so that the next plan does not replace it.", false,
		"Resource instance %s has been successfully untainted.")
}

// taintingCommand returns the command taint or untaint, which differ in the value of the mark and in their
// texts. done is the message of success.
func (c *stateCommands) taintingCommand(a *app, name, summary, description string, taint bool, done string) *cli.Command {
	var files stateFlags
	var lock lockFlags
	allowMissing := false
	flags := append(files.flags(), lock.flags()...)
	flags = append(flags, c.in.variableFlags()...)
	flags = append(flags, boolFlag("allow-missing", "Succeed even if there is no such instance.", &allowMissing))
	return a.messageCommand(name, summary, "ADDRESS", description, flags, func(ctx context.Context, args []string) int {
		if len(args) != 1 {
			return c.out.argsError(name, "the address of one resource instance")
		}
		i, err := addr.ParseInstance(args[0])
		if err != nil {
			return c.out.fail("Invalid resource address", "%q is not the address of a resource instance: %s.", args[0], err)
		}
		if i.Resource.Mode != addr.Managed {
			return c.out.fail("Invalid resource address", "Only instances of managed resources can be tainted, and %s is not one.", i)
		}
		return c.changeState(ctx, name, files, lock, func(s *stateChange) (bool, int) {
			inst := s.state.Instance(i)
			switch {
			case inst == nil && allowMissing:
				c.out.say("%s: there is no such resource instance; nothing was changed.", i)
				return false, exitOK
			case inst == nil:
				return false, c.out.fail("No such resource instance", "The state has no resource instance %s.%s List what it has with: mayfly state list", i, selection.InState(managed(s.state), only(i)))
			case inst.Current == nil:
				return false, c.out.fail("Resource instance has no current object", "The state has only deposed objects of %s, which the next apply destroys.", i)
			case !taint && !inst.Current.Tainted && !owes(inst.Current):
				return false, c.out.fail("Resource instance is not tainted", "%s is not marked as tainted, so there is nothing to remove.", i)
			}
			// Objects are immutable: the state that was read shares this one.
			o := inst.Current.Clone()
			o.Tainted = taint
			if !taint {
				o.Withheld, _ = state.Deliver(o.Withheld, nil) // the user says that nothing is owed
			}
			s.state.SetObject(addr.Object{Instance: i}, o, inst.Provider)
			s.done = append(s.done, fmt.Sprintf(done, i))
			return true, exitOK
		})
	})
}

// owes reports whether a resource is to get a value of an object and has not got it.
func owes(o *state.Object) bool {
	_, owed := state.Deliver(o.Withheld, nil)
	return owed
}

// managed yields the instances of managed resources in a state.
func managed(st *state.State) iter.Seq2[addr.Instance, *state.Instance] {
	return func(yield func(addr.Instance, *state.Instance) bool) {
		for a, i := range st.AllInstances() {
			if a.Resource.Mode == addr.Managed && !yield(a, i) {
				return
			}
		}
	}
}
