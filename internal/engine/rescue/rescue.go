// Package rescue keeps the results of a run that could not be stored, and tells the user where they are and
// how they get into the state.
//
// It may import addr, diag and the model. It must not know the purpose of the run, nor where the state is.
package rescue

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Results are the results of a run that could not be stored.
type Results struct {
	File   *state.File  // the state with the results
	Before *state.State // as it was read
	Part   bool         // File and Before have only a part of the state
	Store  store.Manager
	Cipher store.Cipher // nil for none
	Dir    string       // of the configuration
	// Label returns text that follows the address of the new object of a change and tells people which one it
	// is; "" for none.
	Label func(state.ObjectChange) string
}

// Keep keeps the state: in a file beside the configuration, else in the journal if that has all results, else
// in a file elsewhere. The returned error says where, and why the state could not be stored. If nothing can
// be written at all, the error itself lists the results.
func (r *Results) Keep(cause error) diag.List {
	const summary = "Failed to save the state"
	if unsaved, is := errors.AsType[*store.UnsavedError](cause); is {
		return diag.Errorf(summary, "%s\n\n%s", diag.Sentence(cause), r.unsaved(unsaved))
	}
	if r.Part { // stored in place of the rows, it would remove all others
		return diag.Errorf(summary, "%s\n\n%s", diag.Sentence(cause), r.list(r.File.State))
	}
	journaled, is := errors.AsType[*store.JournaledError](cause)
	kept := r.File
	if is {
		// The journal becomes a state of the next serial, over which it must be possible to push this one.
		kept = r.File.Next(r.File.State, r.File.Version)
	}
	path, err := store.Rescue([]string{r.Dir}, kept, r.Cipher)
	if err != nil && is {
		return diag.Errorf(summary, "%s\n\nNothing is lost: the results of this run are in the journal %s. Once the cause is fixed, run \"mayfly plan\", which first puts them into the state. Don't delete the journal before that.",
			diag.Sentence(cause), journaled.Journal)
	}
	if err != nil {
		path, err = store.Rescue(otherDirs(), kept, r.Cipher)
	}
	if err != nil {
		return diag.Errorf(summary, "%s\n\nThe state could not be kept in another file either: %s\n\n%s", diag.Sentence(cause), diag.Sentence(err), r.list(r.File.State))
	}
	command := "mayfly state push " + path
	if to := store.RedirectedTo(r.Store); to != "" {
		command = fmt.Sprintf("cp %s %s", path, to) // a push writes where the backend keeps the state
	}
	return diag.Errorf(summary, "%s\n\nThe state was kept in %s instead. Once the cause is fixed, store it with this command, before you apply anything:\n    %s",
		diag.Sentence(cause), path, command)
}

// unsaved says where the results of a run are that others have run beside.
func (r *Results) unsaved(e *store.UnsavedError) string {
	if len(e.Lost) > 0 {
		next := r.Before.Copy()
		for _, c := range e.Lost {
			c.Apply(next)
		}
		return r.list(next)
	}
	if e.Kept != "" {
		return fmt.Sprintf("Nothing is lost: results that could not be stored are in the file %s. Once the cause is fixed, run \"mayfly plan\" on this machine, which first puts them into the state. Don't delete the file before that.", e.Kept)
	}
	return "The results of all operations are recorded. Outputs and results of checks may be those of before: make a new plan to see that."
}

// otherDirs are where a state is kept if not even the directory of the configuration can be written.
func otherDirs() []string {
	dirs := []string{os.TempDir()}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append([]string{home}, dirs...)
	}
	return dirs
}

// list lists the differences between the state that was read and s, which is recorded nowhere. Of attributes
// only the identifying one is shown.
func (r *Results) list(s *state.State) string {
	var sb strings.Builder
	line := func(a addr.Object, change string) { fmt.Fprintf(&sb, "\n  - %s: %s", a, change) }
	for _, c := range state.Diff(r.Before, s) {
		switch old := r.Before.Object(c.Object); {
		case c.New == nil:
			line(c.Object, "no longer exists")
		case old == nil:
			line(c.Object, "exists now"+r.Label(c))
		case !old.Equal(c.New):
			line(c.Object, "was changed"+r.Label(c))
		}
	}
	if sb.Len() == 0 {
		return "No object has changed: only outputs or other records of the state are lost, and the next apply creates them again."
	}
	return "The results of this run are recorded only here. Keep this list and fix the cause. Then import the objects that now exist, and remove from the state those that no longer do:" + sb.String()
}
