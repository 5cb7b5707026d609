package rescue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// redirected is a store whose file is a link to another one.
type redirected struct {
	store.Manager
	store.InFiles
}

func (redirected) RedirectedTo() string { return "elsewhere.tfstate" }

// TestKeep keeps a state in the first place that can be written, and lists the results if there is none.
func TestKeep(t *testing.T) {
	before, after := storetest.File(t, "lineage", 1, 3), storetest.File(t, "lineage", 1, 3)
	set := func(st *state.State, name string, n int, o *state.Object) {
		st.SetObject(storetest.Address(name, n), o, storetest.Provider)
	}
	set(after.State, "a", 0, nil)
	set(after.State, "a", 1, storetest.Object(t, "changed"))
	set(after.State, "b", 0, storetest.Object(t, "new"))
	list := []string{
		"recorded only here", storetest.Address("a", 0).String() + ": no longer exists", storetest.Address("a", 1).String() + ": was changed (id = 1)",
		storetest.Address("b", 0).String() + ": exists now (id = 1)",
	}
	const nowhere = "/dev/null/no such directory"
	lost := errors.New("lost")
	for _, test := range []struct {
		name        string
		results     Results
		home        string // of the user
		cause       error
		want, never []string
	}{
		{name: "beside the configuration", results: Results{Dir: t.TempDir()}, home: nowhere, cause: lost, want: []string{"Lost.", "mayfly state push ", store.RescueName}},
		{name: "redirected", results: Results{Dir: t.TempDir(), Store: redirected{}}, home: nowhere, cause: lost, want: []string{"cp ", " elsewhere.tfstate"}, never: []string{"state push"}},
		{name: "in the journal", results: Results{Dir: nowhere}, home: t.TempDir(), cause: &store.JournaledError{Journal: "the.journal", Err: lost}, want: []string{"in the journal the.journal"}},
		{name: "elsewhere", results: Results{Dir: nowhere}, home: t.TempDir(), cause: lost, want: []string{"mayfly state push "}},
		{name: "nowhere", results: Results{Dir: nowhere}, home: nowhere, cause: lost, want: append(list, "another file either"), never: []string{storetest.Address("a", 2).String()}},
		{name: "a part", results: Results{Dir: t.TempDir(), Part: true}, home: nowhere, cause: lost, want: list, never: []string{"state push"}},
		{name: "beside others, recorded", results: Results{Dir: t.TempDir()}, home: nowhere, cause: &store.UnsavedError{Err: lost}, want: []string{"all operations are recorded"}, never: []string{"state push"}},
		{name: "beside others, in a file", results: Results{Dir: t.TempDir()}, home: nowhere, cause: &store.UnsavedError{Kept: "kept.file", Err: lost}, want: []string{"in the file kept.file"}, never: []string{"state push"}},
		{
			name: "beside others, lost", results: Results{Dir: t.TempDir()}, home: nowhere,
			cause: &store.UnsavedError{Err: lost, Lost: []state.ObjectChange{{Object: storetest.Address("c", 0), Provider: storetest.Provider, New: storetest.Object(t, "new")}}},
			want:  []string{storetest.Address("c", 0).String() + ": exists now"}, never: []string{"state push", storetest.Address("a", 0).String()},
		},
	} {
		t.Setenv("HOME", test.home)
		t.Setenv("TMPDIR", nowhere)
		r := test.results
		r.File, r.Before, r.Label = after, before.State, func(c state.ObjectChange) string { return " (id = 1)" }
		got := r.Keep(test.cause)[0].Detail
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q in it", test.name, got, want)
			}
		}
		for _, never := range test.never {
			if strings.Contains(got, never) {
				t.Errorf("%s: got %q, want no %q in it", test.name, got, never)
			}
		}
	}
}

// TestKeepUnchanged says so if no object is lost.
func TestKeepUnchanged(t *testing.T) {
	f := storetest.File(t, "lineage", 1, 1)
	r := Results{File: f, Before: f.State.Copy(), Part: true}
	if got := r.Keep(errors.New("lost"))[0].Detail; !strings.Contains(got, "No object has changed") {
		t.Errorf("got %q, want that no object has changed", got)
	}
}

// TestKeepJournaled keeps a state that can be pushed over the one that the journal becomes.
func TestKeepJournaled(t *testing.T) {
	f, dir := storetest.File(t, "lineage", 5, 1), t.TempDir()
	r := Results{File: f, Before: state.New(), Dir: dir}
	r.Keep(&store.JournaledError{Journal: "the.journal", Err: errors.New("lost")})
	src, err := os.ReadFile(filepath.Join(dir, store.RescueName))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Decode(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept.Serial != 6 || kept.State.Object(storetest.Address("a", 0)) == nil {
		t.Errorf("got serial %d, want 6, with the objects", kept.Serial)
	}
}
