package moves

import "github.com/mayfly-iac/mayfly/state"

// PutBack puts moved objects of a state back to where they were before, with the provider configuration of
// that time. It leaves those whose place another object has taken.
func PutBack(st, before *state.State, moved Moved) {
	for again := true; again; { // one may make room for another
		again = false
		for to, from := range moved {
			if st.Move(to, from) == nil {
				st.SetProvider(from, before.Instance(from).Provider)
				delete(moved, to)
				again = true
			}
		}
	}
}
