package moves

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Moved has the previous address of each object that was moved, by its new one.
type Moved map[addr.Instance]addr.Instance

// From returns the address that an object at a had before any move.
func (m Moved) From(a addr.Instance) addr.Instance {
	if from, moved := m[a]; moved {
		return from
	}
	return a
}

// Apply renames the objects of st as the moved blocks of the configuration ask, and as repetition with count
// has changed. It changes st, and returns the moves and the errors in the blocks. The mode of the plan
// decides about objects that cannot move.
func Apply(tree *config.Tree, st *state.State, mode plan.Mode) (Moved, diag.List) {
	m := &mover{tree: tree, state: st, mode: mode, moved: Moved{}}
	moves, diags := parseAll(tree)
	m.report(diags)
	if len(moves) > 0 {
		m.follow(moves)
	}
	m.followImplied()
	return m.moved, m.diags
}

// mover applies the moves of one configuration to one state.
type mover struct {
	tree  *config.Tree
	state *state.State
	mode  plan.Mode
	moved Moved
	diags diag.List
}

func (m *mover) report(diags diag.List) { m.diags = append(m.diags, diags...) }
