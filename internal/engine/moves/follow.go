package moves

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// follow lets every object follow the moves that concern it, one after the other. An object stops before an
// address that another object had before any move: that object may move on, but the two must not be mistaken
// for one.
func (m *mover) follow(moves []move) {
	index := newIndex(moves)
	if diags := index.cyclic(moves); diags != nil {
		m.report(diags)
		return
	}
	taken := map[addr.Instance]struct{}{}
	for a := range m.state.AllInstances() {
		taken[a] = struct{}{}
	}
	for _, start := range slices.SortedFunc(maps.Keys(taken), addr.Instance.Compare) {
		at, end := start, addr.Instance{} // end is where the moves stop, once they meet another object
		for step := 0; ; step++ {
			next, mv, ok := index.next(at)
			if !ok || next == at {
				break
			}
			if step == len(moves) { // some move has come twice, which happens with keys that no single move names
				m.report(cyclicMoves(index.cycle(start, len(moves), map[addr.Instance]struct{}{})))
				return
			}
			if _, there := taken[next]; there && next != start && end == (addr.Instance{}) {
				end = at
				m.warnBlocked(start, at, next, &mv.rng)
			}
			at = next // also beyond the end, or a cycle would go unnoticed
		}
		if end != (addr.Instance{}) {
			at = end
		}
		if at != start && m.convertible(start, at) {
			m.rename(start, at)
		}
	}
}

// convertible reports whether an object can take the type that a move gives it. Only an instance that is
// planned is converted to another type; an object that no block declares, or that a plan to destroy removes,
// keeps its type.
func (m *mover) convertible(from, to addr.Instance) bool {
	if from.Resource.Type == to.Resource.Type {
		return true
	}
	declaring := m.tree.Modules[to.Module.Module()]
	return m.mode != plan.Destroy && declaring != nil && declaring.Resources[to.Resource] != nil
}

// rename renames an object, unless its new place is taken.
func (m *mover) rename(from, to addr.Instance) {
	if m.state.Instance(to) != nil {
		m.warnBlocked(m.moved.From(from), from, to, nil)
		return
	}
	if err := m.state.Move(from, to); err != nil {
		m.report(diag.Errorf("Cannot move object", "%s could not become %s: %s.", from, to, err))
		return
	}
	m.moved[to] = from
	if orig, ok := m.moved[from]; ok {
		m.moved[to] = orig
		delete(m.moved, from)
	}
}

// warnBlocked warns of an object that stays at its address because the place it should move to is taken, and
// of its fate. The state has it at start; rng is the moved block, nil if there is none.
func (m *mover) warnBlocked(start, from, to addr.Instance, rng *hcl.Range) {
	declaring := m.tree.Modules[from.Module.Module()]
	fate := fmt.Sprintf("%s stays where it is.", from)
	switch {
	case m.mode != plan.Normal:
	case declaring == nil || declaring.Resources[from.Resource] == nil:
		fate = fmt.Sprintf("%s stays where it is, and since the configuration does not declare it any more, this plan destroys it.", from)
	case m.implied(from) != from:
		fate = fmt.Sprintf("%s stays where it is, and since the configuration declares no instance with that key, this plan destroys it.", from)
	case from.Key != addr.NoKey:
		fate = fmt.Sprintf("%s stays where it is, and unless the configuration still declares this instance, this plan destroys it.", from)
	}
	diags := diag.Warnf("Move to an occupied address",
		"%s cannot become %s, because the state already has an object there. %s\n\nTo keep both objects, give one of them another address, or take one out of the state, and plan again:\n  mayfly state mv '%s' ADDRESS\n  mayfly state rm '%s'",
		from, to, fate, start, m.moved.From(to))
	diags[0].Subject = rng
	m.report(diags)
}
