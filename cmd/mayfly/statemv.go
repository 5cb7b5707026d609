package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
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

func (a *app) stateMvCommand() *cli.Command {
	f := &mvFlags{}
	flags := append(f.stateFlags.flags(), f.lockFlags.flags()...)
	flags = append(flags,
		stringFlag("backup-out", "Keep the previous content of the -state-out file in `FILE`.", &f.backupOut),
		boolFlag("dry-run", "Only show what would be moved.", &f.dryRun))
	return a.messageCommand("mv", "Move an item in the state", "SOURCE DESTINATION",
		"Gives a module, a resource or an instance another address, or, with -state-out, moves it to another state file. Mayfly then treats the object as the one of the new address.",
		flags, func(ctx context.Context, args []string) int {
			if len(args) != 2 {
				return a.argsError("state mv", "two addresses, the source and the destination")
			}
			targets, ok := a.targets(args)
			if !ok {
				return exitError
			}
			from := stateFlags{workdir.StateFiles{State: f.State, Backup: f.Backup}}.stamped()
			return a.changeState(ctx, "state-mv", from, f.lockFlags, func(c *stateChange) (bool, int) {
				if f.Out == "" || f.Out == f.State {
					return a.stateMv(c.state, c.state, targets[0], targets[1], f.dryRun)
				}
				return a.mvToFile(ctx, c, targets, f)
			})
		})
}

// mvToFile moves to another state file. That one is stored first: should storing the other fail, the objects
// are in both rather than in none.
func (a *app) mvToFile(ctx context.Context, c *stateChange, targets []addr.Target, f *mvFlags) (write bool, code int) {
	code = a.changeState(ctx, "state-mv", stateFlags{workdir.StateFiles{State: f.Out, Backup: f.backupOut}}.stamped(), f.lockFlags, func(to *stateChange) (bool, int) {
		write, code = a.stateMv(c.state, to.state, targets[0], targets[1], f.dryRun)
		return write, code
	})
	return write && code == exitOK, code
}

func (a *app) stateMv(from, to *state.State, source, dest addr.Target, dryRun bool) (write bool, code int) {
	moves, err := planMoves(from, source, dest)
	if err == nil && len(moves) == 0 {
		err = fmt.Errorf("cannot move %s: does not match anything in the current state", source)
	}
	for _, m := range moves {
		if err == nil && to.Instance(m.to) != nil {
			err = fmt.Errorf("cannot move to %s: there is already a resource instance at that address in the current state", m.to)
		}
	}
	if err != nil {
		return false, a.fail("Invalid state move", "%s", diag.Sentence(err))
	}
	verb := "Move"
	if dryRun {
		verb = "Would move"
	}
	for _, m := range moves {
		a.say("%s %q to %q", verb, m.from.String(), m.to.String())
	}
	if dryRun {
		return false, exitOK
	}
	for _, m := range moves {
		if err := move(from, to, m); err != nil {
			return false, a.fail("Invalid state move", "%s", diag.Sentence(err))
		}
	}
	a.say("Successfully moved %d object(s).", len(moves))
	return true, exitOK
}

// instanceMove is one instance's old and new address.
type instanceMove struct{ from, to addr.Instance }

func move(from, to *state.State, m instanceMove) error {
	if from == to {
		return from.Move(m.from, m.to)
	}
	i := from.Instance(m.from)
	if i.Current != nil {
		to.SetObject(addr.Object{Instance: m.to}, i.Current, i.Provider)
	}
	for _, key := range i.DeposedKeys() {
		to.SetObject(addr.Object{Instance: m.to, Deposed: key}, i.Deposed[key], i.Provider)
	}
	from.RemoveInstance(m.from)
	return nil
}

// planMoves finds the instances that a move is about, and their new addresses.
func planMoves(st *state.State, source, dest addr.Target) ([]instanceMove, error) {
	if dest.Resource != nil && source.Resource == nil {
		return nil, errors.New("a module cannot be moved to the address of a resource")
	}
	if source.Resource != nil && dest.Resource != nil && (source.Resource.Mode != dest.Resource.Mode || source.Resource.Type != dest.Resource.Type) {
		return nil, fmt.Errorf("cannot move %s to %s: an object keeps its resource type", source, dest)
	}
	var out []instanceMove
	found, _ := selected(st, []addr.Target{source})
	for _, i := range found {
		if to, ok := destination(i, source, dest); ok {
			out = append(out, instanceMove{i, to})
		}
	}
	return out, nil
}

// destination returns the new address of an instance that the source selects. It reports false for one that
// the destination has no place for: a destination with a key is for the one instance without.
func destination(i addr.Instance, source, dest addr.Target) (addr.Instance, bool) {
	to := i
	switch {
	case source.Resource == nil:
		m, ok := moveModule(i.Module, source, dest)
		to.Module = m
		return to, ok
	case dest.Resource == nil:
		to.Module = dest.Module
		return to, i.Module == source.Module
	}
	to.Module, to.Resource = dest.Module, *dest.Resource
	if source.Key != addr.NoKey || dest.Key != addr.NoKey {
		to.Key = dest.Key
	}
	return to, i.Module == source.Module && (source.Key != addr.NoKey || dest.Key == addr.NoKey || i.Key == addr.NoKey)
}

// moveModule replaces the module that the source names, at the beginning of m, by that of the destination.
func moveModule(m addr.ModuleInstance, source, dest addr.Target) (addr.ModuleInstance, bool) {
	path := m.Path()
	depth := len(source.Module.Path())
	if depth == 0 || depth > len(path) || len(dest.Module.Path()) == 0 {
		return m, false
	}
	_, _, key := path[depth-1].Parent()
	out := dest.Module
	switch {
	case source.ModuleKeyless && dest.ModuleKeyless:
		parent, name, _ := dest.Module.Parent()
		out = parent.Child(name, key)
	case source.ModuleKeyless && key != addr.NoKey:
		return m, false
	}
	for _, step := range path[depth:] {
		_, name, key := step.Parent()
		out = out.Child(name, key)
	}
	return out, true
}
