package plan

import (
	"iter"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// Settling has the units that an apply with the scope of a change may settle, besides the instances and
// outputs of the plan, and all that this takes.
type Settling struct {
	// Hashes are made from the configuration. Moment is when the stored hashes were read.
	Hashes state.BlockHashes
	Moment int64
	// Full says that everything was planned, whether it has work or not.
	Full bool
	// Units are the repetitions, checks and values that were evaluated, and units that are gone.
	Units []state.Finding
	// Relied has the stored rows of all units, and of everything that they were evaluated from.
	Relied map[state.Subject]state.RowSet
}

// RowsOf returns the rows that a state has of instances, of outputs and checks, and of read-sets.
func RowsOf(stored *state.State, instances []addr.Instance, results []state.Subject, reads iter.Seq[[]Dep]) map[state.Subject]state.RowSet {
	b := scopeBuilder{claims: state.Claims{}, relied: map[state.Subject]bool{}, sets: newSetBuilder(), opt: ScopeOptions{Stored: stored}, results: stored.Results()}
	for _, a := range instances {
		b.rely(a)
	}
	for _, s := range results {
		b.relied[s] = true
	}
	for deps := range reads {
		b.share(deps)
	}
	return b.scope().Relied
}

// Each yields the instances of the set.
func (s *Instances) Each(yield func(addr.Instance) bool) {
	for r, keys := range s.resources {
		for key := range keys {
			if !yield(r.Instance(key)) {
				return
			}
		}
	}
}
