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
}

// changeState locks the state, lets f change a copy of it and stores the copy. If f returns write as false,
// nothing is stored; f has reported why. name is the operation that the lock shows to others.
func (a *app) changeState(ctx context.Context, name string, files stateFlags, lock lockFlags, f func(c *stateChange) (write bool, code int)) int {
	hard, _, stop := a.interruptible(ctx)
	defer stop()
	s, diags := a.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		return a.directory().BeginState(hard, name, workdir.BeginOptions{SessionOptions: o, BeginOptions: mayfly.BeginOptions{Locking: lock.locking(a)}, Files: files.StateFiles})
	})
	defer s.close()
	if !a.report(diags) {
		return exitError
	}
	c := &stateChange{session: s, state: s.Operation.State().Copy()}
	write, code := f(c)
	if write && !a.report(s.Operation.Write(c.state)) {
		return exitError
	}
	return code
}

// targets parses addresses of modules, resources and instances. ok is false if one is invalid, which has been
// reported.
func (a *app) targets(args []string) ([]addr.Target, bool) {
	var out []addr.Target
	for _, s := range args {
		t, err := addr.ParseTarget(s)
		if err != nil {
			a.fail("Invalid address", "%q is not the address of a module, resource or instance: %s.", s, err)
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
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
