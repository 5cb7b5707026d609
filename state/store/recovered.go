package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
)

// Recovered describes the traces of a run that did not end properly, as found when reading a state. Paths are
// as the store names them.
type Recovered struct {
	Path       string // of the journal
	Changes    int    // results that were only in the journal and are now part of the state
	Unfinished []state.Unfinished
	Open       []state.Opening // ephemeral instances that were left open
	Torn       bool            // the last write was cut off; no acknowledged result is missing
	// Saved reports that the state file now contains the results and the journal is gone. It is false when
	// reading without a lock, which changes nothing; the run may then still be alive.
	Saved bool

	// Late are results that the state does not have, because they came after their runs had lost their
	// claims. They are kept until a plan that has shown them has a new result for the object, or until the
	// object is imported or pushed. Diags does not mention them: a plan does.
	Late []LateResult
	// Freed are operations that had not ended when their runs were freed by force, as long as no result of
	// them has come and no run after that has claimed anything. A plan mentions them too.
	Freed []FreedOperation

	// Clear is how many rows of the state are not encrypted, although the configuration asks for that: each
	// run encrypts the rows that it changes. An apply mentions them.
	Clear int

	Unreadable string // new path of a journal without any readable record; "" for none
	Empty      string // path of an existing state file without content; "" for none
}

// LateResult is the result of an operation that came after its run had lost its claims.
type LateResult struct {
	Change state.ObjectChange
	Run    LockInfo
	At     time.Time
}

// FreedOperation is an operation that had not ended when its run was freed by force.
type FreedOperation struct {
	state.Unfinished
	Run   LockInfo
	Began time.Time
}

// RecoveredBy returns the recovery by m; nil if m recovered nothing or never does.
func RecoveredBy(m Manager) *Recovered {
	if r, ok := m.(Recoverer); ok {
		return r.Recovered()
	}
	return nil
}

// Diags returns messages for the user: that results were recovered, which operations have an unknown effect,
// and other findings. It is empty for a nil r. It does not mention a journal that was not saved, because its
// run may be alive.
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

// journalDiags returns the warnings about a journal that is now part of the state.
func (r *Recovered) journalDiags() diag.List {
	var l diag.List
	if r.Changes > 0 {
		l = append(l, diag.Warnf("An interrupted run was recovered", "The last run ended abnormally. Its %d completed changes were found in %s, and are now part of the state.",
			r.Changes, r.Path)...)
	}
	l = append(l, interrupted(r.Unfinished)...)
	return append(l.Once(), LeftOpen(r.Open)...)
}

// FreedDiags returns the warning about freed operations on the instances for which about returns true, in the
// words that Diags has for operations that did not end. It is empty if there are none.
func (r *Recovered) FreedDiags(about func(addr.Instance) bool) diag.List {
	var unfinished []state.Unfinished
	for _, o := range r.Freed {
		if about(o.Object.Instance) {
			unfinished = append(unfinished, o.Unfinished)
		}
	}
	return interrupted(unfinished).Once()
}

// ClearDiags returns the warning about rows that are stored in clear although the configuration asks for
// encryption, after a run that has changed the given number of rows. It is empty if the run has changed all
// of them, or if r is nil.
func (r *Recovered) ClearDiags(changed int) diag.List {
	if r == nil || r.Clear <= changed {
		return nil
	}
	return diag.Warnf("Parts of the state are not encrypted", "The configuration asks for encryption, and this run has encrypted the objects and outputs that it has changed. Others are still stored in clear, as before the encryption was turned on. To encrypt all of them, and their history, run:\n  mayfly state rekey")
}

// LeftDiags returns the warning that late results stay where they are when the state of a workspace is copied
// to another place. It is empty if there are none, or if r is nil.
func (r *Recovered) LeftDiags(workspace string) diag.List {
	if r == nil || len(r.Late) == 0 {
		return nil
	}
	var objects []addr.Object
	for _, l := range r.Late {
		objects = append(objects, l.Change.Object)
	}
	return diag.Warnf("Late results were not copied", "The previous backend has results for these objects of the workspace %q that came after their runs had lost their claims:%s\n\n"+
		"They are not part of the state, and the new backend has no place for them. Compare the next plan with the real objects. The previous backend keeps the results: a plan there shows them in full.", workspace, ListObjects(objects)).Once()
}

// interrupted returns the warning about operations that began and did not end. It is empty if there are none.
func interrupted(unfinished []state.Unfinished) diag.List {
	if len(unfinished) == 0 {
		return nil
	}
	var sb strings.Builder
	var provisioned []addr.Object // whose provisioners ran: they were recorded before
	for _, u := range unfinished {
		fmt.Fprintf(&sb, "\n  - %s (%s)", u.Object, u.Action)
		if u.Action == state.ProvisionAction {
			provisioned = append(provisioned, u.Object)
		}
	}
	advice := ""
	if len(provisioned) < len(unfinished) {
		advice += "\n\nCheck the real objects. Import or delete any object that was created without being recorded."
	}
	if len(provisioned) > 0 {
		advice += fmt.Sprintf("\n\nAn object whose provisioners were interrupted is in the state. One that was just created is tainted, so that the next apply replaces it. To keep it instead, complete its setup by hand and run: mayfly untaint %s. "+
			"The provisioners of an object that was to be destroyed run again with the next apply.", diag.Argument(provisioned[0].Instance.String()))
	}
	return diag.Warnf("Operations were interrupted", "The last run ended while these operations were under way, so their results are not known:%s%s", sb.String(), advice)
}

// WithoutListed returns the given openings that Diags has not listed. An opening that an apply could not
// close is recorded in two places for a moment.
func (r *Recovered) WithoutListed(open []state.Opening) []state.Opening {
	if r == nil || !r.Saved {
		return open
	}
	listed := map[state.Opening]struct{}{}
	for _, o := range r.Open {
		o.Since = o.Since.UTC()
		listed[o] = struct{}{}
	}
	return slices.DeleteFunc(open, func(o state.Opening) bool {
		o.Since = o.Since.UTC()
		_, is := listed[o]
		return is
	})
}

// LeftOpen returns the warning about ephemeral instances that were left open by runs which ended abnormally.
// It is empty if there are none.
func LeftOpen(open []state.Opening) diag.List {
	if len(open) == 0 {
		return nil
	}
	var sb strings.Builder
	for _, o := range open {
		fmt.Fprintf(&sb, "\n  - %s, since %s (provider %s)", o.Instance, o.Since.Local().Format(time.DateTime), o.Provider)
	}
	return diag.Warnf("Ephemeral resources were left open", "An earlier run ended abnormally while these ephemeral resources were open or being opened, and could not close them:%s\n\n"+
		"What they stand for (a lease, a token, a tunnel) may exist until it expires by itself. If that takes too long, revoke it where the provider has obtained it.", sb.String()).Once()
}

// ListObjects returns the first of some objects as lines of a message.
func ListObjects(objects []addr.Object) string {
	const most = 20
	var sb strings.Builder
	for _, o := range objects[:min(len(objects), most)] {
		sb.WriteString("\n  - " + o.String())
	}
	if more := len(objects) - most; more > 0 {
		fmt.Fprintf(&sb, "\n  and %d more", more)
	}
	return sb.String()
}
