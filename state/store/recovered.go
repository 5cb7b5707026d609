package store

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
)

// Recovered says what reading a state found that a run left which did not end as it should.
type Recovered struct {
	Path       string // of the journal
	Changes    int    // results that were only in the journal and are now part of the state
	Unfinished []state.Unfinished
	Torn       bool // the last write was cut off; no result that was confirmed is missing
	// Saved reports that the state file now holds the results and the journal is gone. It is false for
	// reading without a lock, which changes nothing; the run may then still be going on.
	Saved bool

	Unreadable string // where a journal without any record that can be read was put; "" for none
	Empty      string // a state file that is there and has no content; "" for none
}

// Recoverer is implemented by managers whose Read takes journals into account.
type Recoverer interface {
	// Recovered returns what the last Read, or the Journal or Write that had to make up for it, recovered;
	// nil if nothing.
	Recovered() *Recovered
}

// RecoveredBy returns what m recovered, nil if nothing or if it never does.
func RecoveredBy(m Manager) *Recovered {
	if r, ok := m.(Recoverer); ok {
		return r.Recovered()
	}
	return nil
}

// Diags returns what the user must know: that results were recovered, for which objects it is not known what
// an operation did, and what was found that should not be. It is empty for a nil r. The run of a journal that
// was not saved may be alive, and nothing is said of it.
func (r *Recovered) Diags() diag.List {
	if r == nil {
		return nil
	}
	var l diag.List
	if r.Empty != "" {
		l = append(l, diag.Warnf("State file is empty", "The file %s is empty, so Mayfly assumes that there is no state. If there should be one, restore it before you apply anything.", r.Empty)...)
	}
	if r.Unreadable != "" {
		l = append(l, diag.Warnf("Unreadable journal was set aside", "A run that ended abnormally left a journal without a readable record. The journal is kept as %s, and the state was not changed. Normally, such a run has not changed any objects yet. Compare the plan with the real objects, and then delete the file.",
			r.Unreadable)...)
	}
	if r.Saved {
		l = append(l, r.journalDiags()...)
	}
	return l
}

func (r *Recovered) journalDiags() diag.List {
	var l diag.List
	if r.Changes > 0 {
		l = append(l, diag.Warnf("An interrupted run was recovered", "The last run ended abnormally. Its %d completed changes were found in %s, and are now part of the state.",
			r.Changes, r.Path)...)
	}
	if len(r.Unfinished) > 0 {
		var sb strings.Builder
		for _, u := range r.Unfinished {
			fmt.Fprintf(&sb, "\n  - %s (%s)", u.Object, u.Action)
		}
		l = append(l, diag.Warnf("Operations were interrupted", "The last run ended while these operations were under way, so their results are not known:%s\n\n"+
			"Check the real objects. Import or delete any object that was created without being recorded.", sb.String())...)
	}
	return l
}
