package store

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
)

// Recovered tells of a journal that a run left which did not end as it should.
type Recovered struct {
	Path       string // of the journal
	Changes    int    // results that were only in the journal and are now part of the state
	Unfinished []state.Unfinished
	Torn       bool // the last write was cut off; nothing that anyone was told is missing
	// Saved reports that the state file now holds the results and the journal is gone. It is false for reading without a lock, which changes
	// nothing; the run may then still be going on.
	Saved bool
}

// Recoverer is implemented by managers whose Read takes journals into account.
type Recoverer interface {
	// Recovered returns what the last Read, or the Journal or Write that had to make up for it, recovered; nil if nothing.
	Recovered() *Recovered
}

// RecoveredBy returns what m recovered, nil if nothing or if it never does.
func RecoveredBy(m Manager) *Recovered {
	if r, ok := m.(Recoverer); ok {
		return r.Recovered()
	}
	return nil
}

// Diags returns what the user must know: that results were recovered, and for which objects it is not known what an operation did.
// It is empty for a nil r and for one that was not saved, whose run may be alive.
func (r *Recovered) Diags() diag.List {
	if r == nil || !r.Saved {
		return nil
	}
	var l diag.List
	if r.Changes > 0 {
		l = append(l, diag.Warnf("An interrupted run was recovered", "The last run did not end properly. Its %d completed changes were found in %s and are now part of the state.",
			r.Changes, r.Path)...)
	}
	if len(r.Unfinished) > 0 {
		var sb strings.Builder
		for _, u := range r.Unfinished {
			fmt.Fprintf(&sb, "\n  - %s (%s)", u.Object, u.Action)
		}
		l = append(l, diag.Warnf("Operations were interrupted", "The last run ended while these operations were under way, so it is not known what became of them:%s\n\n"+
			"Look at the real objects. An object that was created without being recorded must be imported or deleted by hand.", sb.String())...)
	}
	return l
}
