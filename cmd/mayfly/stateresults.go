package main

import (
	"context"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// subjectsAt returns the subjects that an address may name: an instance, and an output or a check if it looks
// like output.a or module.m.check.b. Types of resources may have these names, too.
func subjectsAt(i addr.Instance) []state.Subject {
	out := []state.Subject{state.InstanceSubject(i)}
	switch r := i.Resource; {
	case r.Mode != addr.Managed || i.Key != addr.NoKey:
	case r.Type == "output" && i.Module.IsRoot():
		out = append(out, state.Subject{Kind: state.OneOutput, Addr: r.Name})
	case r.Type == "check":
		out = append(out, state.Subject{Kind: state.OneCheck, Addr: i.Config().String()})
	}
	return out
}

// listing returns the command that lists a state, as far as an address looks like a part of that.
func listing(i addr.Instance) string {
	for _, s := range subjectsAt(i) {
		if s.Kind == state.OneOutput {
			return "output"
		}
	}
	return "state list"
}

// changesAt returns the versions of the objects of an instance, or else of an output or a check with this
// address.
func changesAt(ctx context.Context, h store.Historian, i addr.Instance) (versions []store.ObjectVersion, err error) {
	for _, s := range subjectsAt(i) {
		if versions, err = h.Versions(ctx, s); err != nil || len(versions) > 0 {
			break
		}
	}
	return versions, err
}

// showResult shows the output or the check that a state has at an address. shown is false if there is none.
func (c *stateCommands) showResult(m *machineFlags, st *state.State, i addr.Instance) (shown bool, code int) {
	found := state.New()
	for _, s := range subjectsAt(i) {
		if o := st.Outputs[s.Addr]; s.Kind == state.OneOutput && o != nil {
			found.Outputs[s.Addr] = o
		}
		for _, r := range st.Checks {
			if s.Kind == state.OneCheck && r.Config == s.Addr {
				found.Checks = append(found.Checks, r)
			}
		}
	}
	if len(found.Outputs)+len(found.Checks) == 0 {
		return false, exitOK
	}
	if done, code := c.out.documented(m, func() ([]byte, error) { return document.Results(found, c.out.versions()) }); done {
		return true, code
	}
	return true, c.out.wrote(view.Results(c.out.env.Stdout, found, c.out.view))
}
