package mayfly

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

// rescue keeps a state that could not be stored: in a file beside the configuration, else in the journal if
// that has all results, else in a file elsewhere. If nothing can be written at all, the message itself keeps
// the results.
func (o *Operation) rescue(f *state.File, cause error) diag.List {
	const summary = "Failed to save the state"
	if unsaved, is := errors.AsType[*store.UnsavedError](cause); is {
		return diag.Errorf(summary, "%s\n\n%s", diag.Sentence(cause), o.unsaved(unsaved))
	}
	if o.part != nil { // stored in place of the rows, it would remove all others
		return diag.Errorf(summary, "%s\n\n%s", diag.Sentence(cause), o.unrecorded(f.State))
	}
	var journaled *store.JournaledError
	kept := f
	if errors.As(cause, &journaled) {
		// The journal becomes a state of the next serial, over which it must be possible to push this one.
		kept = f.Next(f.State, f.Version)
	}
	path, err := store.Rescue([]string{o.p.opt.WorkDir}, kept, o.p.opt.State.Cipher)
	if err != nil && journaled != nil {
		return diag.Errorf(summary, "%s\n\nNothing is lost: the results of this run are in the journal %s. Once the cause is fixed, run \"mayfly plan\", which first puts them into the state. Don't delete the journal before that.",
			diag.Sentence(cause), journaled.Journal)
	}
	if err != nil {
		path, err = store.Rescue(otherDirs(), kept, o.p.opt.State.Cipher)
	}
	if err != nil {
		return diag.Errorf(summary, "%s\n\nThe state could not be kept in another file either: %s\n\n%s", diag.Sentence(cause), diag.Sentence(err), o.unrecorded(f.State))
	}
	command := "mayfly state push " + path
	if to := store.RedirectedTo(o.p.opt.State.Store); to != "" {
		command = fmt.Sprintf("cp %s %s", path, to) // a push writes where the backend keeps the state
	}
	return diag.Errorf(summary, "%s\n\nThe state was kept in %s instead. Once the cause is fixed, store it with this command, before you apply anything:\n    %s",
		diag.Sentence(cause), path, command)
}

// unsaved says where the results of a run are that others have run beside.
func (o *Operation) unsaved(e *store.UnsavedError) string {
	if len(e.Lost) > 0 {
		next := o.State().Copy()
		for _, c := range e.Lost {
			c.Apply(next)
		}
		return o.unrecorded(next)
	}
	text := "The results of all operations are recorded. Outputs and results of checks may be those of before: make a new plan to see that."
	if e.Kept != "" {
		text = fmt.Sprintf("Nothing is lost: results that could not be stored are in the file %s. Once the cause is fixed, run \"mayfly plan\" on this machine, which first puts them into the state. Don't delete the file before that.", e.Kept)
	}
	return text
}

// otherDirs are where a state is kept if not even the working directory can be written.
func otherDirs() []string {
	dirs := []string{os.TempDir()}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append([]string{home}, dirs...)
	}
	return dirs
}

// unrecorded lists the differences between the state that was read and s, which is recorded nowhere. Of
// attributes only the identifying one is shown.
func (o *Operation) unrecorded(s *state.State) string {
	before := state.New()
	if o.File != nil {
		before = o.File.State
	}
	var sb strings.Builder
	line := func(a addr.Object, what, id string) {
		fmt.Fprintf(&sb, "\n  - %s: %s%s", a, what, id)
	}
	for a, object := range objects(s) {
		switch old := before.Object(a); {
		case old == nil:
			line(a, "exists now", o.p.identity(s, a, object))
		case !old.Equal(object):
			line(a, "was changed", o.p.identity(s, a, object))
		}
	}
	for a := range objects(before) {
		if s.Object(a) == nil {
			line(a, "no longer exists", "")
		}
	}
	if sb.Len() == 0 {
		return "No object has changed: only outputs or other records of the state are lost, and the next apply creates them again."
	}
	return "The results of this run are recorded only here. Keep this list and fix the cause. Then import the objects that now exist, and remove from the state those that no longer do:" + sb.String()
}

// objects iterates over the objects of a state in its order, current ones before deposed ones.
func objects(s *state.State) func(yield func(addr.Object, *state.Object) bool) {
	return func(yield func(addr.Object, *state.Object) bool) {
		for i, in := range s.AllInstances() {
			if in.Current != nil && !yield(addr.Object{Instance: i}, in.Current) {
				return
			}
			for key, old := range in.Deposed {
				if !yield(addr.Object{Instance: i, Deposed: key}, old) {
					return
				}
			}
		}
	}
}

// identity returns the identifying attribute of an object, in parentheses; "" if it must not be shown.
func (p *Project) identity(s *state.State, a addr.Object, object *state.Object) string {
	key, text := p.engine.Identifying(s.Instance(a.Instance).Provider.Provider, a, object)
	if key == "" {
		return ""
	}
	return fmt.Sprintf(" (%s = %q)", key, text)
}
