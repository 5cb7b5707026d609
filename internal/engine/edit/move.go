package edit

import (
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// Move is one instance's old and new address.
type Move struct{ From, To addr.Instance }

// PlanMoves returns the moves of everything that source selects in one state to dest in another, which may
// be the same. It fails if there is nothing, or if there is something already: an instance with a new
// address, or any of the resource or module that a whole resource or module is to become, since the two would
// be one from then on. Nothing is changed. Planning all moves first means that either all of them happen or
// none.
func PlanMoves(from, to *state.State, source, dest addr.Target) ([]Move, error) {
	moves, err := matches(from, source, dest)
	switch {
	case err != nil:
		return nil, err
	case len(moves) == 0:
		return nil, fmt.Errorf("the state has nothing at %s", source)
	}
	places := map[string]bool{}
	for _, m := range moves {
		places[place(m.To, source, dest)] = true
	}
	for i := range to.AllInstances() {
		switch at := place(i, source, dest); {
		case !places[at]:
		case at == i.String():
			return nil, fmt.Errorf("the state already has an object at %s: move that one elsewhere first, or remove it from the state", i)
		default:
			return nil, fmt.Errorf("the state already has objects in %s, such as %s: move them elsewhere first, or remove them from the state", at, i)
		}
	}
	return moves, nil
}

// place returns the address of the module, resource or instance that the source becomes and that an instance
// belongs to after the move.
func place(i addr.Instance, source, dest addr.Target) string {
	switch path := i.Module.Path(); {
	case source.Resource == nil && len(path) >= len(dest.Module.Path()):
		return path[len(dest.Module.Path())-1].String()
	case source.Resource != nil && source.Key == addr.NoKey && dest.Key == addr.NoKey:
		i.Key = addr.NoKey
		return addr.Target{Module: i.Module, Resource: &i.Resource}.String()
	}
	return i.String()
}

// Apply carries out a move from one state to another, which may be the same. The move must come from
// PlanMoves for these states, with no change in between.
func (m Move) Apply(from, to *state.State) error {
	if from == to {
		return from.Move(m.From, m.To)
	}
	i := from.Instance(m.From)
	to.AddSalts(from.SaltsOf(i)...)
	if i.Current != nil {
		to.SetObject(addr.Object{Instance: m.To}, i.Current, i.Provider)
	}
	for _, key := range i.DeposedKeys() {
		to.SetObject(addr.Object{Instance: m.To, Deposed: key}, i.Deposed[key], i.Provider)
	}
	from.RemoveInstance(m.From)
	return nil
}

// matches returns the instances that a move is about, and their new addresses.
func matches(st *state.State, source, dest addr.Target) ([]Move, error) {
	if dest.Resource != nil && source.Resource == nil {
		return nil, errors.New("a module cannot be moved to the address of a resource")
	}
	if source.Resource != nil && dest.Resource != nil && (source.Resource.Mode != dest.Resource.Mode || source.Resource.Type != dest.Resource.Type) {
		return nil, fmt.Errorf("cannot move %s to %s: an object keeps its resource type", source, dest)
	}
	var out []Move
	found, _ := Select(st, []addr.Target{source})
	for _, i := range found {
		if to, ok := destination(i, source, dest); ok {
			out = append(out, Move{i, to})
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

// moveModule replaces the module that the source names, at the beginning of m, by the destination's.
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
