//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// historian returns access to the history of a state.
func historian(t *testing.T, opt postgres.Options) store.Historian {
	t.Helper()
	return manager(t, open(t, opt)).(store.Historian)
}

// TestRunsAreKept lists the runs, the newest first.
func TestRunsAreKept(t *testing.T) {
	opt := stock(t, 2)
	change(t, opt, "a", 0)
	change(t, opt, "b", 1)
	h := historian(t, opt)
	runs, err := h.Runs(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, r.Info.Operation+" "+string(r.Status))
		if r.Ended.Before(r.Began) {
			t.Errorf("got a run from %v to %v, want its end after its begin", r.Began, r.Ended)
		}
	}
	if want := []string{"test ended", "test ended", "write ended"}; !slices.Equal(got, want) || runs[0].Info.ID != "id-b" || runs[0].Changes != 1 || runs[2].Changes != 2 {
		t.Errorf("got the runs %v with %+v, want %v with the one of b first", got, runs, want)
	}
	if runs, err := h.Runs(t.Context(), 1); err != nil || len(runs) != 1 {
		t.Errorf("got %d runs and the error %v, want at most 1", len(runs), err)
	}
}

// TestVersionsOfAnObject lists the changes of an object, and shows it as it was after each run and before all
// of them.
func TestVersionsOfAnObject(t *testing.T) {
	opt := stock(t, 2)
	change(t, opt, "alice", 0)
	between := time.Now()
	change(t, opt, "bob", 0)
	h, of := historian(t, opt), storetest.Address("a", 0)
	versions, err := h.Versions(t.Context(), state.InstanceSubject(of.Instance))
	if err != nil {
		t.Fatal(err)
	}
	if len(versions) != 3 || !versions[0].Until.IsZero() || versions[0].By.Who != "bob" || versions[1].Next.Who != "bob" || !versions[2].First || versions[0].First || slices.ContainsFunc(versions, func(v store.ObjectVersion) bool { return v.Last }) {
		t.Errorf("got the versions %+v, want 3, the present one by bob, of an object that was not removed", versions)
	}
	for _, c := range []struct {
		at   store.Moment
		want string
	}{{store.Moment{Run: "id-alice"}, "alice"}, {store.Moment{Run: "id-b"}, "bob"}, {store.Moment{Time: between}, "alice"}, {store.Moment{Time: time.Now()}, "bob"}} {
		past, err := h.At(t.Context(), c.at, state.InstanceSubject(of.Instance))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(past.State.Object(of).JSON()); !strings.Contains(got, c.want) || past.State.Object(storetest.Address("a", 1)) != nil {
			t.Errorf("At(%+v): got %s, want the object alone, by %s", c.at, got, c.want)
		}
	}
	if past, err := h.At(t.Context(), store.Moment{Time: between.Add(-time.Hour)}); err != nil || !past.State.Empty() {
		t.Errorf("got the error %v of a time before the state was made, want a state without objects", err)
	}
	if _, err := h.At(t.Context(), store.Moment{Run: "id-"}); !errors.Is(err, store.ErrNoRun) || !strings.Contains(err.Error(), "several") {
		t.Errorf("got the error %v of the beginning of two IDs, want both mentioned", err)
	}
	if _, err := h.At(t.Context(), store.Moment{Run: "nobody"}); !errors.Is(err, store.ErrNoRun) {
		t.Errorf("got the error %v of an unknown run, want %v", err, store.ErrNoRun)
	}
	opt.History = -1
	change(t, opt, "carol", 1)
	if _, err := h.At(t.Context(), store.Moment{Time: between}); !errors.Is(err, store.ErrForgotten) {
		t.Errorf("got the error %v of a time whose versions were removed, want %v", err, store.ErrForgotten)
	}
}

// TestRemovedObjectsAreInHistory keeps the last version of an object that was removed.
func TestRemovedObjectsAreInHistory(t *testing.T) {
	opt := stock(t, 1)
	m := manager(t, open(t, opt))
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.Serial++
	f.State.SetObject(storetest.Address("a", 0), nil, storetest.Provider)
	if err := m.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	versions, err := historian(t, opt).Versions(t.Context(), state.InstanceSubject(storetest.Address("a", 0).Instance))
	if err != nil || len(versions) != 1 || !versions[0].Last || versions[0].Next == nil || versions[0].Next.Operation != "write" {
		t.Errorf("got the versions %+v and the error %v, want one that a write has removed", versions, err)
	}
}

// TestActiveRuns shows runs with their claims and operations, those that wait, and one that has lapsed.
func TestActiveRuns(t *testing.T) {
	opt := stock(t, 3)
	dead := planned(t, opt, "dead", []int{0}, 2)
	dead.begin()
	if _, err := dead.Begin(storetest.Address("a", 0), "update"); err != nil {
		t.Fatal(err)
	}
	h := historian(t, opt)
	runs, err := h.Active(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 || runs[0].Status != store.RunRuns || len(runs[0].Operations) != 1 || runs[0].Operations[0].Object != storetest.Address("a", 0) || !slices.ContainsFunc(runs[0].Claims, func(c store.ActiveClaim) bool { return c.Subject == "test_thing.a[0]" && c.Mode == "x" }) {
		t.Errorf("got the runs %+v, want one with its operation and its claim", runs)
	}
	waits, info := planned(t, opt, "waits", []int{0}), storetest.Info("waits")
	var claimed *store.ClaimedError
	if _, err := waits.Manager.(store.Claimer).Claim(t.Context(), waits.scope, info, true); !errors.As(err, &claimed) {
		t.Fatalf("got the error %v of claims that another run has, want a ClaimedError", err)
	}
	if runs, err = h.Active(t.Context()); err != nil || len(runs) != 2 || runs[1].Status != store.RunWaits || runs[1].Info.Who != "waits" {
		t.Errorf("got the runs %+v and the error %v, want one more, which waits", runs, err)
	}
	lapse(t, opt.ConnString)
	if runs, err = h.Active(t.Context()); err != nil || runs[0].Status != store.RunLapsed || len(runs[0].Operations) != 1 {
		t.Errorf("got the runs %+v and the error %v, want the first one lapsed with its operation", runs, err)
	}
	if all, err := h.Runs(t.Context(), 0); err != nil || all[0].Status != store.RunLapsed || len(all) != 2 {
		t.Errorf("got the runs %+v and the error %v, want the one that has lapsed before the first one", all, err)
	}
}
