package moves

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// PutBack puts moved objects of a state back to where they were before, with the provider configuration of
// that time. It leaves those whose place another object has taken. It takes linear time: an object that goes
// back makes room for one other at most.
func PutBack(st, before *state.State, moved Moved) {
	cameFrom := make(map[addr.Instance]addr.Instance, len(moved)) // the same moves by their beginnings
	for to, from := range moved {
		cameFrom[from] = to
	}
	for to := range moved {
		for from, waits := moved[to]; waits && st.Move(to, from) == nil; from, waits = moved[to] {
			st.SetProvider(from, before.Instance(from).Provider)
			delete(moved, to)
			to = cameFrom[to]
		}
	}
}
