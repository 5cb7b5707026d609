package state

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// Reads are the objects about which a plan has asked their providers.
type Reads struct {
	// At is a time before the first of them was read, by the clock of the store.
	At time.Time
	// All says that all objects of the state were read. Otherwise Instances has the ones that were, and the
	// ones that the plan creates.
	All       bool
	Instances []addr.Instance
}

// ReadNoter is implemented by runs of stores that note when objects were read last.
type ReadNoter interface {
	// NoteReads notes reads by the plan that the run applies. It takes effect when the run ends, and is
	// called at most once.
	NoteReads(r Reads)
}
