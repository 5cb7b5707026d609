package changed

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/state"
)

// addTarget adds the objects that a target selects. Objects that nothing declares are due anyway.
func (w *Work) addTarget(t addr.Target) {
	m := w.cfg.Modules[t.Module.Module()]
	if m == nil {
		return
	}
	in := w.place(t.Module)
	switch {
	case t.Resource == nil:
		for _, b := range resourcesBelow(m) {
			w.addBlock(b, in)
		}
	case t.Key != addr.NoKey && in == t.Module:
		w.addUnit(state.UnitOf(addr.Instance{Module: in, Resource: *t.Resource, Key: t.Key}), nil)
	default:
		w.addBlock(state.BlockOf(addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}), in)
	}
}

// place returns the module instance that has all instances of a declared module which an address names:
// without the key of a repeated call, it means all of them.
func (w *Work) place(m addr.ModuleInstance) addr.ModuleInstance {
	in := addr.RootInstance
	for _, step := range m.Path() {
		_, name, key := step.Parent()
		if key == addr.NoKey && blocks.FormOf(w.cfg.Modules[in.Module()].Calls[name].Repeat).Keyed() {
			return in
		}
		in = in.Child(name, key)
	}
	return in
}

// Missing returns the targets to be refreshed that select nothing of a state, of which all that planning has
// looked for was read.
func (w *Work) Missing(read *state.State) (out []addr.Target) {
	if w == nil {
		return nil
	}
	targets := w.attempt.asked.Refresh
	found, set := make([]bool, len(targets)), addr.NewTargetSet(targets)
	for a := range read.AllInstances() {
		set.Selecting(a, func(i int) { found[i] = true })
	}
	for i, t := range targets {
		if !found[i] {
			out = append(out, t)
		}
	}
	return out
}
