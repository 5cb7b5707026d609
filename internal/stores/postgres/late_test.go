//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// lateResults returns the late results that a reader finds.
func lateResults(t *testing.T, opt postgres.Options) []store.LateResult {
	t.Helper()
	m := manager(t, open(t, opt))
	if _, err := m.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := store.RecoveredBy(m); r != nil {
		return r.Late
	}
	return nil
}

// lateObjects returns the late results of a run that was freed by force: addresses with values, or "gone".
func lateObjects(t *testing.T, opt postgres.Options) string {
	t.Helper()
	var out []string
	for _, l := range lateResults(t, opt) {
		text := l.Change.Object.String() + " gone"
		if l.Change.New != nil {
			text = l.Change.Object.String() + " " + string(l.Change.New.JSON())
		}
		if l.Run.ID != "id-forced" || l.At.IsZero() {
			t.Errorf("got the run %q and the time %v, want those of the result", l.Run.ID, l.At)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// TestLateResults frees a run by force while its operations are under way: their results are kept, change no
// object, and are shown until the objects get other results.
func TestLateResults(t *testing.T) {
	opt := stock(t, 5)
	forced := planned(t, opt, "forced", []int{0, 1, 2, 3})
	forced.begin()
	ids := forced.beginFirst(4)
	if err := store.ForceUnlock(t.Context(), manager(t, open(t, opt)), "id-forced"); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		change := state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, "late")}
		if i == 1 {
			change = state.ObjectChange{Object: change.Object}
		}
		if err := forced.Commit(id, change); !errors.Is(err, store.ErrLockLost) || !strings.Contains(err.Error(), "kept") {
			t.Errorf("committing after force-unlock: got %v, want that the result is kept", err)
		}
	}
	if _, err := forced.Begin(storetest.Address("a", 0), "update"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("beginning after force-unlock: got %v, want %v", err, store.ErrLockLost)
	}
	err := forced.Run.(state.Turner).TakeTurn(t.Context(), nil, func(*state.State) state.Evaluated { return state.Evaluated{} })
	if err != nil {
		t.Errorf("taking a turn: got %v, want no error, since the end reports it", err)
	}
	_, err = forced.End(t.Context())
	if unsaved, is := errors.AsType[*store.UnsavedError](err); !is || len(unsaved.Lost) > 0 || !errors.Is(err, store.ErrLockLost) {
		t.Errorf("ending: got %#v, want an UnsavedError of which nothing is lost", err)
	}
	if got := strings.Join(texts(t, opt, 4), ""); strings.Contains(got, "late") {
		t.Errorf("got the objects %s, want none of the late results", got)
	}
	all := lateObjects(t, opt)
	if strings.Count(all, `"late"`) != 3 || !strings.Contains(all, "test_thing.a[1] gone") {
		t.Fatalf("got the late results %s, want those of 4 objects", all)
	}
	edit := func(who string, f func(*state.State)) *run {
		r := planned(t, opt, who, nil)
		next := r.base.State.Copy()
		f(next)
		r.scope = plan.ScopeOfChange(r.base.State, next)
		if who == "import" {
			r.scope.Imported = []string{"test_thing.a[1]"}
		}
		r.begin()
		state.Change(r, r.base.State, next)
		r.end()
		return r
	}
	edit("rm", func(s *state.State) { s.RemoveInstance(storetest.Address("a", 1).Instance) })
	edit("taint", func(s *state.State) {
		s.SetObject(storetest.Address("a", 0), storetest.Object(t, "tainted"), storetest.Provider)
	})
	if got := lateObjects(t, opt); got != all {
		t.Errorf("after changes that know nothing of the objects: got the late results %s, want %s", got, all)
	}
	edit("mv", func(s *state.State) {
		if err := s.Move(storetest.Address("a", 2).Instance, storetest.Address("a", 9).Instance); err != nil {
			t.Fatal(err)
		}
	})
	if got := lateObjects(t, opt); strings.Contains(got, "test_thing.a[2]") || !strings.Contains(got, "test_thing.a[9] {") {
		t.Errorf("after a move of a[2]: got the late results %s, want the one of the object at its new address", got)
	}
	settle := func(name string, change func(), gone, stays string) {
		t.Helper()
		change()
		if got := lateObjects(t, opt); strings.Contains(got, gone) || !strings.Contains(got, stays) {
			t.Errorf("%s: got the late results %q, want none for %s", name, got, gone)
		}
	}
	settle("a step", func() {
		r := planned(t, opt, "next", []int{0})
		r.begin()
		if err := r.update(0); err != nil {
			t.Fatal(err)
		}
		r.end()
	}, "test_thing.a[0]", "test_thing.a[1]")
	settle("an import", func() {
		edit("import", func(s *state.State) {
			s.SetObject(storetest.Address("a", 1), storetest.Object(t, "imported"), storetest.Provider)
		})
	}, "test_thing.a[1]", "test_thing.a[9]")
	settle("a push", func() { push(t, opt) }, "test_thing", "")
}

// TestLateRekey encrypts a late result with the state that does not have it.
func TestLateRekey(t *testing.T) {
	opt := stock(t, 1)
	forced := planned(t, opt, "forced", []int{0})
	forced.begin()
	id, err := forced.Begin(storetest.Address("a", 0), "update")
	if err == nil {
		err = store.ForceUnlock(t.Context(), manager(t, open(t, opt)), "id-forced")
	}
	if err != nil {
		t.Fatal(err)
	}
	change := state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, "late")}
	if err := forced.Commit(id, change); !errors.Is(err, store.ErrLockLost) {
		t.Fatalf("committing after force-unlock: got %v, want %v", err, store.ErrLockLost)
	}
	opt.Cipher = lenient{}
	for range 2 {
		if _, err := store.Rekey(t.Context(), manager(t, open(t, opt))); err != nil {
			t.Fatal(err)
		}
		if got := lateObjects(t, opt); !strings.Contains(got, `"late"`) {
			t.Errorf("got the late results %q, want the one from before", got)
		}
	}
	var clear int
	err = connect(t, opt.ConnString).QueryRowContext(t.Context(), `SELECT count(*) FROM mayfly.late WHERE NOT sealed OR position('attributes' in encode(body, 'escape')) > 0`).Scan(&clear)
	if err != nil || clear > 0 {
		t.Errorf("got %d late results in clear (%v), want none", clear, err)
	}
}

// TestLateFirstState keeps the result of a run that was to make the first state, and makes an empty one.
func TestLateFirstState(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	m := manager(t, open(t, opt))
	info := storetest.Info("forced")
	info.ID = "id-forced"
	if _, err := m.Lock(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	r, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(storetest.Address("a", 0), "create")
	if err == nil {
		err = store.ForceUnlock(t.Context(), manager(t, open(t, opt)), "id-forced")
	}
	if err != nil {
		t.Fatal(err)
	}
	change := state.ObjectChange{Object: addr.Object{Instance: storetest.Address("a", 0).Instance, Deposed: "00000001"}, Provider: storetest.Provider, New: storetest.Object(t, "late")}
	if err := r.Commit(id, change); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("committing after force-unlock: got %v, want %v", err, store.ErrLockLost)
	}
	if got := lateObjects(t, opt); !strings.Contains(got, "test_thing.a[0] (deposed object 00000001)") {
		t.Errorf("got the late results %q, want the one of the deposed object", got)
	}
	if f, err := manager(t, open(t, opt)).Read(t.Context()); f == nil || !f.State.Empty() || err != nil {
		t.Errorf("got the state %v (%v), want an empty one", f, err)
	}
}
