//go:build !mayfly_no_postgres

package postgres_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestForcedIsStale frees a run by force that has begun an operation. A plan from before that may have seen
// the object as it was before the operation: it is stale. A later plan is not.
func TestForcedIsStale(t *testing.T) {
	opt := stock(t, 3)
	early := planned(t, opt, "early", []int{0})
	free(t, opt, planned(t, opt, "dead", []int{0, 1}), 0, "update")
	isStale(t, early, "test_thing.a[0]")
	isFresh(t, planned(t, opt, "later", []int{0, 1}))
}

// TestForcedInHistory frees a run by force that has begun an operation. The version before it stays with the
// run that made it, until the moment at which the other was freed.
func TestForcedInHistory(t *testing.T) {
	opt := stock(t, 2)
	change(t, opt, "alice", 0)
	between := time.Now()
	free(t, opt, planned(t, opt, "dead", []int{0}), 0, "update")
	versions, err := historian(t, opt).Versions(t.Context(), state.InstanceSubject(storetest.Address("a", 0).Instance))
	if err != nil || len(versions) != 3 {
		t.Fatalf("got the versions %+v and the error %v, want 3", versions, err)
	}
	if v := versions[0]; v.By.Who != "dead" || v.From.Before(between) {
		t.Errorf("got a version by %s of %v, want one by dead after %v", v.By.Who, v.From, between)
	}
	if v := versions[1]; v.By.Who != "alice" || v.Next.Who != "dead" || v.Until.Before(between) {
		t.Errorf("got a version by %s until %v, which %s ended, want one by alice until dead was freed", v.By.Who, v.Until, v.Next.Who)
	}
}

// creation returns a run that plans to create the object a[i].
func creation(t *testing.T, opt postgres.Options, who string, i int, deps ...plan.Dep) *run {
	t.Helper()
	r := planned(t, opt, who, nil)
	p := &plan.Plan{Changes: []*plan.Change{{Addr: storetest.Address("a", i).Instance, Action: plan.Create, Deps: deps}}}
	r.scope = plan.Scope(p, plan.ScopeOptions{Stored: r.base.State})
	return r
}

// free has a run begin an operation on the object a[i], and frees the run by force. It returns the number of
// the operation.
func free(t *testing.T, opt postgres.Options, dead *run, i int, action string) uint64 {
	t.Helper()
	dead.begin()
	id, err := dead.Begin(storetest.Address("a", i), action)
	if err == nil {
		err = store.ForceUnlock(t.Context(), manager(t, open(t, opt)), "id-"+dead.who)
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// isStale checks that a run is refused because of one object, which the run named dead may have changed.
func isStale(t *testing.T, r *run, object string) {
	t.Helper()
	err := r.claim(0)
	stale, is := errors.AsType[*store.StaleError](err)
	if !is || len(stale.Rows) != 1 || stale.Rows[0].Name != object || stale.Rows[0].Run == nil || stale.Rows[0].Run.ID != "id-dead" {
		t.Errorf("the run %s: got %v, want a stale plan because of %s", r.who, err, object)
	}
}

// isFresh checks that a run is not refused.
func isFresh(t *testing.T, r *run) {
	t.Helper()
	err := r.claim(0)
	if err == nil {
		err = r.Unlock(t.Context(), r.id)
	}
	if err != nil {
		t.Errorf("the run %s: got %v, want no error", r.who, err)
	}
}

// TestForcedCreation frees a run by force that has begun to create an object. Plans from before that do not
// know of it and are stale, and so are the ones from before its result, which comes after all. Other plans
// are fresh, also after that.
func TestForcedCreation(t *testing.T) {
	opt := stock(t, 1)
	early, saved, whole := creation(t, opt, "early", 5), creation(t, opt, "saved", 5), planned(t, opt, "whole", nil)
	whole.scope = plan.Scope(&plan.Plan{Mode: plan.Destroy}, plan.ScopeOptions{Stored: whole.base.State})
	dead := creation(t, opt, "dead", 5)
	id := free(t, opt, dead, 5, "create")
	isStale(t, early, "test_thing.a[5]")
	isStale(t, whole, "test_thing.a[5]")
	between, again := creation(t, opt, "between", 5), creation(t, opt, "again", 5)
	if r := store.RecoveredBy(between.Manager); r == nil || len(r.Freed) != 1 || r.Freed[0].Object != storetest.Address("a", 5) || r.Freed[0].Action != "create" || r.Freed[0].Run.ID != "id-dead" || r.Freed[0].Began.IsZero() {
		t.Errorf("got %+v, want the freed operation", r)
	}
	isFresh(t, between)
	change := state.ObjectChange{Object: storetest.Address("a", 5), Provider: storetest.Provider, New: storetest.Object(t, "late")}
	if err := dead.Commit(id, change); !errors.Is(err, store.ErrLockLost) {
		t.Fatalf("committing after force-unlock: got %v, want %v", err, store.ErrLockLost)
	}
	isStale(t, again, "test_thing.a[5]")
	isStale(t, saved, "test_thing.a[5]")
	last := creation(t, opt, "last", 5)
	if r := store.RecoveredBy(last.Manager); r == nil || len(r.Freed) != 0 || len(r.Late) != 1 {
		t.Errorf("got %+v, want the late result alone", r)
	}
	push(t, opt)
	if late := lateResults(t, opt); len(late) != 0 {
		t.Errorf("got %d late results after a push, want none", len(late))
	}
	isFresh(t, last)
}

// push stores the state as it is, as a person does who has looked at it.
func push(t *testing.T, opt postgres.Options) {
	t.Helper()
	m := manager(t, open(t, opt))
	f, err := m.Read(t.Context())
	if err == nil {
		err = m.Write(t.Context(), f.Next(f.State, "1.0.0"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestForcedSets has plans that rely on all instances of a resource find a creation that was freed.
func TestForcedSets(t *testing.T) {
	opt := stock(t, 1)
	a := storetest.Address("a", 0).Instance
	all, modules := plan.Dep{Resource: a.Abs(), All: true}, plan.Dep{Resource: a.Abs(), All: true, Modules: true}
	inOther := modules
	inOther.Within = addr.RootInstance.Child("other", addr.NoKey)
	reads := func(who string, dep plan.Dep) *run { return creation(t, opt, who, 7, dep) }
	early := []*run{reads("all", all), reads("modules", modules)}
	for _, r := range early { // which the plan of the object itself is not to decide
		delete(r.scope.Relied, state.InstanceSubject(storetest.Address("a", 7).Instance))
	}
	elsewhere := reads("elsewhere", inOther)
	free(t, opt, creation(t, opt, "dead", 5), 5, "create")
	for _, r := range early {
		isStale(t, r, "test_thing.a[5]")
	}
	for _, r := range []*run{elsewhere, reads("all later", all), reads("modules later", modules)} {
		isFresh(t, r)
	}
}

// TestForcedIsTold lists a freed operation in plans, until a run has claimed something and has listed it too.
// Plans from before that are stale afterwards as well.
func TestForcedIsTold(t *testing.T) {
	opt := stock(t, 1)
	early := creation(t, opt, "early", 5)
	free(t, opt, creation(t, opt, "dead", 5), 5, "create")
	next := planned(t, opt, "next", []int{0})
	next.begin()
	if r := store.RecoveredBy(next.Manager); r == nil || len(r.Unfinished) != 1 || len(r.Diags()) != 1 {
		t.Errorf("got %+v, want the operation", r)
	}
	next.end()
	after := creation(t, opt, "after", 5)
	if r := store.RecoveredBy(after.Manager); r != nil {
		t.Errorf("got %+v, want nothing that was listed before", r)
	}
	isStale(t, early, "test_thing.a[5]")
	isFresh(t, after)
}

// TestStaleTellsLater leaves the traces of a run to the next one if the one that has found them is refused.
func TestStaleTellsLater(t *testing.T) {
	opt := stock(t, 2)
	early, dead := creation(t, opt, "early", 5), planned(t, opt, "dead", []int{0, 1})
	dead.scope.Claims.Add(state.InstanceSubject(storetest.Address("a", 5).Instance), state.Exclusive)
	dead.begin()
	if err := dead.update(1); err != nil {
		t.Fatal(err)
	}
	if _, err := dead.Begin(storetest.Address("a", 5), "create"); err != nil {
		t.Fatal(err)
	}
	if err := store.ForceUnlock(t.Context(), manager(t, open(t, opt)), "id-dead"); err != nil {
		t.Fatal(err)
	}
	serial := planned(t, opt, "before", nil).base.Serial
	isStale(t, early, "test_thing.a[5]")
	next := planned(t, opt, "next", []int{0})
	if next.base.Serial != serial {
		t.Errorf("got the serial %d after a refused run, want %d", next.base.Serial, serial)
	}
	next.begin()
	if r := store.RecoveredBy(next.Manager); r == nil || r.Changes != 1 || len(r.Unfinished) != 1 {
		t.Errorf("got %+v, want the change and the operation of the freed run", r)
	}
}

// TestForcedFirstState frees a run by force that was to make the first state. A plan from before that is
// refused, and a later one is not.
func TestForcedFirstState(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	first := func(who string) *run {
		r := &run{Manager: manager(t, open(t, opt)), t: t, who: who}
		f, err := r.Read(t.Context())
		if f == nil && err == nil {
			f, err = state.NewFile("1.0.0", rand.Reader)
		}
		if err != nil {
			t.Fatal(err)
		}
		p := &plan.Plan{Changes: []*plan.Change{{Addr: storetest.Address("a", 5).Instance, Action: plan.Create}}}
		r.base, r.scope = f, plan.Scope(p, plan.ScopeOptions{Stored: f.State})
		return r
	}
	early := first("early")
	free(t, opt, first("dead"), 5, "create")
	isStale(t, early, "test_thing.a[5]")
	later := first("later")
	if later.base.Serial != 1 || !later.base.State.Empty() {
		t.Errorf("got the serial %d and the state %v, want an empty first state", later.base.Serial, later.base.State)
	}
	later.begin()
	if err := later.update(5); err != nil {
		t.Fatal(err)
	}
	later.end()
}

// TestUnlockByShortID frees the only run whose ID has a beginning of some length.
func TestUnlockByShortID(t *testing.T) {
	opt := stock(t, 3)
	for i, who := range []string{"dead-one", "dead-two", "living"} {
		if err := planned(t, opt, who, []int{i}).claim(0); err != nil {
			t.Fatal(err)
		}
	}
	m := manager(t, open(t, opt))
	for _, id := range []string{"", "id-livi", "id-dead-", "id-living2"} {
		if _, is := errors.AsType[*store.LockError](store.CheckUnlock(t.Context(), m, id)); !is {
			t.Errorf("the ID %q is of a run, want that it is not", id)
		}
	}
	for _, id := range []string{"id-livin", "id-dead-one"} {
		if err := store.ForceUnlock(t.Context(), m, id); err != nil {
			t.Errorf("the ID %q: %v", id, err)
		}
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.runs WHERE state = 'claimed' AND info->>'ID' = 'id-dead-two'`); got != 1 || count(t, opt, `SELECT count(*) FROM mayfly.runs WHERE state = 'claimed'`) != 1 {
		t.Errorf("got %d runs with the ID of the one that was not freed, want it alone", got)
	}
}
