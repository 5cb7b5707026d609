package moves

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// followImplied follows resources and module calls that gained or lost their count: an instance without a key
// is instance 0 then, and the other way round. It does so after moved blocks, which may have taken an object
// elsewhere.
func (m *mover) followImplied() {
	type pair struct{ from, to addr.Instance }
	var pairs []pair
	for a := range m.state.AllInstances() {
		if to := m.implied(a); to != a && a.Resource.Mode == addr.Managed {
			pairs = append(pairs, pair{a, to})
		}
	}
	for _, x := range pairs {
		m.rename(x.from, x.to)
	}
}

// implied returns the address that an object has with the repetition that the configuration now gives to its
// resource and the modules around it. An undeclared object keeps its key.
func (m *mover) implied(a addr.Instance) addr.Instance {
	modules, at := m.tree.Modules, addr.RootInstance
	for _, step := range a.Module.Path() {
		_, name, key := step.Parent()
		if declaring := modules[at.Module()]; declaring != nil && declaring.Calls[name] != nil {
			key = impliedKey(declaring.Calls[name].Repeat, key)
		}
		at = at.Child(name, key)
	}
	key := a.Key
	if declaring := modules[at.Module()]; declaring != nil && declaring.Resources[a.Resource] != nil {
		key = impliedKey(declaring.Resources[a.Resource].Repeat, key)
	}
	return addr.AbsResource{Module: at, Resource: a.Resource}.Instance(key)
}

// impliedKey returns the key that an instance has under the present repetition, if it is one of the two
// changes that need no moved block: count was added, so the object without a key becomes number 0, or count
// was removed, so number 0 loses its key. In all other cases it returns the key as it is.
func impliedKey(r config.Repetition, key addr.Key) addr.Key {
	switch {
	case r.Count != nil && key == addr.NoKey:
		return addr.IntKey(0)
	case r.Count == nil && r.ForEach == nil && key == addr.IntKey(0):
		return addr.NoKey
	}
	return key
}
