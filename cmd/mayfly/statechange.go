package main

import (
	"context"
	"slices"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// stateChange is one run of a command that changes the state by hand.
type stateChange struct {
	*session
	state *state.State // a copy, to be changed
	done  []string     // messages about the change, shown once it is stored
}

// pushOperation is the operation that replaces a state as a whole.
const pushOperation = "state-push"

// changeState locks the state, lets f change a copy of it and stores the copy. If f returns write as false,
// nothing is stored; f has reported why. name is the operation that the lock shows to others.
func (c *stateCommands) changeState(ctx context.Context, name string, files stateFlags, lock lockFlags, f func(*stateChange) (write bool, code int)) int {
	hard, _, stop := interruptible(ctx, c.signals)
	defer stop()
	s, diags := c.wd.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return c.wd.dir().BeginState(hard, name, workdir.BeginOptions{SessionOptions: o, BeginOptions: mayfly.BeginOptions{Locking: lock.locking(c.out), Whole: name == pushOperation}, Files: files.StateFiles})
	})
	defer s.close()
	if !c.out.report(diags) {
		return exitError
	}
	change := &stateChange{session: s, state: s.Operation.State().Copy()}
	write, code := f(change)
	if write && !c.out.report(s.Operation.Write(change.state)) {
		return exitError
	}
	if code == exitOK {
		for _, line := range change.done {
			c.out.say("%s", line)
		}
	}
	return code
}

// parseTargets parses addresses of modules, resources and instances. ok is false if one is invalid, which has
// been reported.
func parseTargets(out *output, args []string) ([]addr.Target, bool) {
	var targets []addr.Target
	for _, s := range args {
		t, err := addr.ParseTarget(s)
		if err != nil {
			out.fail("Invalid address", "%q is not the address of a module, resource or instance: %s.", s, err)
			return nil, false
		}
		targets = append(targets, t)
	}
	return targets, true
}

// only returns the target that selects one instance.
func only(i addr.Instance) addr.Target {
	return addr.Target{Module: i.Module, Resource: &i.Resource, Key: i.Key}
}

// inDocumentOrder sorts addresses in place: those in the root module come first, then those in its children,
// and so on. It is the order of other engines' lists, which scripts compare.
func inDocumentOrder(list []addr.Instance) []addr.Instance {
	slices.SortStableFunc(list, addr.Instance.Compare)
	return document.ByModuleDepth(list, func(i addr.Instance) addr.ModuleInstance { return i.Module })
}
