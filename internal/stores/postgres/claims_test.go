//go:build !mayfly_no_postgres

package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestDisjointClaims has two runs change one state at the same time.
func TestDisjointClaims(t *testing.T) {
	opt := stock(t, 3)
	a, b := planned(t, opt, "a", []int{0}, 2), planned(t, opt, "b", []int{1}, 2)
	a.begin()
	b.begin()
	if err := errors.Join(a.update(0), b.update(1)); err != nil {
		t.Fatal(err)
	}
	if err := a.update(1); err == nil || !strings.Contains(err.Error(), "has not claimed test_thing.a[1]") {
		t.Errorf("got the error %v of an operation on an object that is not claimed, want its address", err)
	}
	a.Put(state.ObjectChange{Object: storetest.Address("a", 1), Provider: storetest.Provider, New: storetest.Object(t, "a")})
	first, second := a.end(), b.end()
	want := []string{`"a"`, `"b"`, `"old"`}
	for i, got := range texts(t, opt, 3) {
		if !strings.Contains(got, want[i]) {
			t.Errorf("got the object %s, want %s", got, want[i])
		}
	}
	if second.Serial < first.Serial || first.Serial <= a.base.Serial || string(second.State.Object(storetest.Address("a", 0)).JSON()) != texts(t, opt, 1)[0] {
		t.Errorf("got the serials %d and %d, want higher ones than before, and the state with the changes of both", first.Serial, second.Serial)
	}
}

// TestConflictsAreNamed refuses a run that touches another one, with the address, the run and the time.
func TestConflictsAreNamed(t *testing.T) {
	opt := stock(t, 3)
	planned(t, opt, "alice", []int{0}, 2).begin()
	for name, r := range map[string]*run{
		"changes the same object":                 planned(t, opt, "b", []int{0, 1}),
		"was evaluated from an object it changes": planned(t, opt, "b", []int{1}, 0),
		"changes an object it was evaluated from": planned(t, opt, "b", []int{2}),
	} {
		t.Run(name, func(t *testing.T) {
			err := r.claim(0)
			var claimed *store.ClaimedError
			var held *store.LockError
			if !errors.As(err, &claimed) || !errors.As(err, &held) || held.Info.ID != "id-alice" {
				t.Fatalf("got the error %v, want a ClaimedError about the run of alice", err)
			}
			if text := err.Error(); !strings.Contains(text, "test_thing.a[") || !strings.Contains(text, "claimed by alice since 20") || !strings.Contains(text, "run id-alice") {
				t.Errorf("got the error %q, want the address, the run and the time", text)
			}
		})
	}
	if _, err := manager(t, open(t, opt)).Lock(t.Context(), storetest.Info("b")); err == nil {
		t.Error("the whole state is claimed beside a claim on a part of it")
	}
}

// TestClaimsAreAwaited has a run wait until another one has ended. It is stale then, if the other has changed
// a row that it relies on, and says so by name.
func TestClaimsAreAwaited(t *testing.T) {
	opt := stock(t, 3)
	a, waits, stale := planned(t, opt, "a", []int{0, 1}), planned(t, opt, "waits", []int{2}, 1), planned(t, opt, "stale", []int{2}, 0)
	a.begin()
	if err := a.update(0); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	go func() { done <- waits.claim(time.Minute) }()
	time.AfterFunc(300*time.Millisecond, func() { a.end() })
	if err := <-done; err != nil {
		t.Fatalf("claiming after a wait: %v", err)
	}
	if err := waits.Unlock(t.Context(), waits.id); err != nil {
		t.Fatal(err)
	}
	var e *store.StaleError
	if err := stale.claim(0); !errors.As(err, &e) {
		t.Fatalf("got the error %v, want a StaleError", err)
	}
	if len(e.Rows) != 1 || e.Rows[0].Name != "test_thing.a[0]" || e.Rows[0].Change != "was changed" || e.Rows[0].Run == nil || e.Rows[0].Run.ID != "id-a" {
		t.Errorf("got the rows %+v, want the object and the run a", e.Rows)
	}
	if err := planned(t, opt, "next", []int{0, 1, 2}).claim(0); err != nil {
		t.Errorf("a stale run keeps claims: %v", err)
	}
}

// TestTickets has a run that wants much wait for one that holds little. Runs that come later do not pass it,
// but those that it does not touch do.
func TestTickets(t *testing.T) {
	opt := stock(t, 4)
	holds := planned(t, opt, "holds", []int{0})
	holds.begin()
	wants := planned(t, opt, "wants", []int{0, 1, 2})
	c := wants.Manager.(store.Claimer)
	var claimed *store.ClaimedError
	if _, err := c.Claim(t.Context(), wants.scope, storetest.Info("wants"), true); !errors.As(err, &claimed) {
		t.Fatalf("got the error %v, want a ClaimedError", err)
	}
	late := planned(t, opt, "late", []int{1})
	if err := late.claim(0); !errors.As(err, &claimed) || !claimed.Conflicts[0].Waiting {
		t.Errorf("got the error %v of a run that came later, want one about the run that waits", err)
	}
	if err := planned(t, opt, "other", []int{3}).claim(0); err != nil {
		t.Error(err)
	}
	holds.end()
	if _, err := c.Claim(t.Context(), wants.scope, storetest.Info("wants"), true); err != nil {
		t.Errorf("claiming in turn: %v", err)
	}
}

// TestGivingUp has a run give up its place among those that wait.
func TestGivingUp(t *testing.T) {
	opt := stock(t, 2)
	planned(t, opt, "holds", []int{0}).begin()
	var claimed *store.ClaimedError
	if err := planned(t, opt, "impatient", []int{0, 1}).claim(100 * time.Millisecond); !errors.As(err, &claimed) {
		t.Fatalf("got the error %v, want a ClaimedError", err)
	}
	if err := planned(t, opt, "next", []int{1}).claim(0); err != nil {
		t.Error(err)
	}
}

// TestWaitingEnds forgets a run that waits and does not come back.
func TestWaitingEnds(t *testing.T) {
	opt := stock(t, 2)
	planned(t, opt, "holds", []int{0}).begin()
	gone := planned(t, opt, "gone", []int{0, 1})
	if _, err := gone.Manager.(store.Claimer).Claim(t.Context(), gone.scope, storetest.Info("gone"), true); err == nil {
		t.Fatal("claimed what another run has")
	}
	if _, err := connect(t, opt.ConnString).ExecContext(t.Context(), `UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state = 'waiting'`); err != nil {
		t.Fatal(err)
	}
	if err := planned(t, opt, "next", []int{1}).claim(0); err != nil {
		t.Error(err)
	}
}

// TestLapsedClaims lets the lease of a run lapse that is in the middle of an operation: this object stays
// claimed, and its others are free. Its result is accepted late, and others of it are not.
func TestLapsedClaims(t *testing.T) {
	opt := stock(t, 3)
	dead := planned(t, opt, "dead", []int{0, 1})
	dead.begin()
	id, err := dead.Begin(storetest.Address("a", 0), "update")
	if err != nil {
		t.Fatal(err)
	}
	lapse(t, opt.ConnString)
	next := planned(t, opt, "next", []int{1})
	next.begin()
	if err := next.update(1); err != nil {
		t.Fatal(err)
	}
	err = planned(t, opt, "refused", []int{0}).claim(0)
	var claimed *store.ClaimedError
	if !errors.As(err, &claimed) || len(claimed.Conflicts[0].Lapsed) != 1 || !strings.Contains(err.Error(), "test_thing.a[0] (update)") {
		t.Fatalf("got the error %v, want the operation", err)
	}
	if _, err := dead.Begin(storetest.Address("a", 1), "update"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("beginning after the lease: got %v, want %v", err, store.ErrLockLost)
	}
	late := func(i int) state.ObjectChange {
		return state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, "late")}
	}
	if err := dead.Commit(id, late(0)); err != nil {
		t.Errorf("a result of an operation that had begun: %v", err)
	}
	next.end()
	if got := texts(t, opt, 2); !strings.Contains(got[0], "late") || !strings.Contains(got[1], "next") {
		t.Errorf("got the objects %s, want the late result and the one of the next run", got)
	}
	if err := planned(t, opt, "free", []int{0}).claim(0); err != nil {
		t.Errorf("claiming an object whose operation has ended: %v", err)
	}
}

// TestLapsedOthers keeps the result of a run whose lease has lapsed beside the rows if it is about an object
// without an operation.
func TestLapsedOthers(t *testing.T) {
	opt := stock(t, 2)
	dead := planned(t, opt, "dead", []int{0, 1})
	dead.begin()
	id, err := dead.Begin(storetest.Address("a", 0), "update")
	if err != nil {
		t.Fatal(err)
	}
	lapse(t, opt.ConnString)
	next := planned(t, opt, "next", []int{1})
	next.begin()
	change := func(i int) state.ObjectChange {
		return state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, "late")}
	}
	if err := dead.Commit(id, change(0), change(1)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("got the error %v, want %v", err, store.ErrLockLost)
	}
	if got := texts(t, opt, 2); !strings.Contains(got[0], "late") || strings.Contains(got[1], "late") {
		t.Errorf("got the objects %s, want the late result of the first one only", got)
	}
	if got := len(lateResults(t, opt)); got != 1 {
		t.Errorf("got %d late results, want 1", got)
	}
	if err := next.update(1); err != nil {
		t.Errorf("another run after the lapsed one: %v", err)
	}
	next.end()
	if got := len(lateResults(t, opt)); got != 1 {
		t.Errorf("got %d late results after a step whose plan has not shown it, want 1", got)
	}
	after := planned(t, opt, "after", []int{1})
	after.begin()
	if r := store.RecoveredBy(after.Manager); r == nil || r.Changes != 1 || len(r.Unfinished) > 0 {
		t.Errorf("recovered: got %+v, want 1 change", r)
	}
	if err := after.update(1); err != nil {
		t.Fatal(err)
	}
	after.end()
	if got := len(lateResults(t, opt)); got != 0 {
		t.Errorf("got %d late results after the object got another one, want 0", got)
	}
}

// TestLapsedIntents keeps others from reading all instances of a resource while an operation of a lapsed run
// is under way on one of them, and from destroying an object on which one comes to depend.
func TestLapsedIntents(t *testing.T) {
	opt := stock(t, 3)
	a := storetest.Address("a", 0).Instance
	b := storetest.Address("b", 0).Instance
	dead := planned(t, opt, "dead", nil)
	p := &plan.Plan{Changes: []*plan.Change{
		{Addr: a, Action: plan.Update, Deps: []plan.Dep{{Resource: b.Abs(), All: true}}}, {Addr: storetest.Address("c", 0).Instance, Action: plan.Create},
	}}
	dead.scope = plan.Scope(p, plan.ScopeOptions{Stored: dead.base.State})
	dead.begin()
	id, err := dead.Begin(storetest.Address("a", 0), "update")
	if err != nil {
		t.Fatal(err)
	}
	lapse(t, opt.ConnString)
	reads := func(who string, dep plan.Dep) *run { return creation(t, opt, who, 7, dep) }
	all := plan.Dep{Resource: a.Abs(), All: true}
	modules := plan.Dep{Resource: a.Abs(), All: true, Modules: true}
	destroys := planned(t, opt, "destroys", nil)
	destroys.scope = plan.Scope(&plan.Plan{Changes: []*plan.Change{{Addr: b, Action: plan.Delete}}}, plan.ScopeOptions{Stored: destroys.base.State})
	for _, r := range []*run{reads("all", all), reads("modules", modules), destroys} {
		err := r.claim(0)
		claimed, is := errors.AsType[*store.ClaimedError](err)
		if !is || claimed.Conflicts[0].Run.ID != "id-dead" || len(claimed.Conflicts[0].Lapsed) != 1 {
			t.Errorf("the run %s: got %v, want that the lapsed run has claimed a part", r.who, err)
		}
	}
	other := storetest.Address("c", 0).Instance
	for _, r := range []*run{planned(t, opt, "instance", []int{1}), reads("others", plan.Dep{Resource: other.Abs(), All: true}), reads("instances", plan.Dep{Resource: a.Abs(), Key: storetest.Address("a", 2).Instance.Key})} {
		isFresh(t, r)
	}
	if err := dead.Commit(id, state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, "dead")}); err != nil {
		t.Error(err)
	}
	for _, r := range []*run{reads("all again", all), reads("modules again", modules)} {
		isFresh(t, r)
	}
}

// TestOptionalClaims gives a run the optional claims that are free and whose rows are as they were.
func TestOptionalClaims(t *testing.T) {
	opt := stock(t, 4)
	other := planned(t, opt, "other", []int{1})
	m := manager(t, open(t, opt))
	base, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{Changes: []*plan.Change{{Addr: storetest.Address("a", 0).Instance, Action: plan.Update}}}
	for i := range 3 {
		p.Drift = append(p.Drift, &plan.Change{Addr: storetest.Address("a", 1+i).Instance, Action: plan.Update})
	}
	scope := plan.Scope(p, plan.ScopeOptions{Stored: base.State})
	changed := planned(t, opt, "changed", []int{2})
	changed.begin()
	if err := changed.update(2); err != nil {
		t.Fatal(err)
	}
	changed.end()
	other.begin()
	held, err := m.(store.Claimer).Claim(t.Context(), scope, storetest.Info("a"), false)
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for i := range 4 {
		got = append(got, held.Writes(storetest.Address("a", i).Instance))
	}
	if want := []bool{true, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("got the rights %v to write, want %v: one is claimed by another run, and one has changed", got, want)
	}
}

// TestComparedSets compares every kind of set.
func TestComparedSets(t *testing.T) {
	opt := stock(t, 2)
	block := storetest.Address("a", 0).Instance.Config()
	in := addr.RootInstance.Child("m", addr.IntKey(1))
	object := func(text string, deps ...addr.ConfigResource) *state.Object {
		o := storetest.Object(t, text)
		o.Dependencies = deps
		return o
	}
	inside := addr.Object{Instance: addr.Instance{Module: in, Resource: block.Resource}}
	changes := map[string]func(*state.State){
		"test_thing.a[7] is new":          func(st *state.State) { st.SetObject(storetest.Address("a", 7), object("new"), storetest.Provider) },
		"test_thing.a[1] was removed":     func(st *state.State) { st.RemoveInstance(storetest.Address("a", 1).Instance) },
		"test_thing.a[1] was changed":     func(st *state.State) { st.SetObject(storetest.Address("a", 1), object("x"), storetest.Provider) },
		"test_thing.b[0] is new":          func(st *state.State) { st.SetObject(storetest.Address("b", 0), object("x", block), storetest.Provider) },
		"module.m[1].test_thing.a is new": func(st *state.State) { st.SetObject(inside, object("x"), storetest.Provider) },
		"output.o is new":                 func(st *state.State) { st.SetOutput("o", output(t, "x")) },
		"the result of check.c is new": func(st *state.State) {
			st.Checks = []state.CheckResult{{Kind: "check", Config: "check.c", Status: state.CheckPass}}
		},
		"test_thing.a[0] (deposed object 00000001) is new": func(st *state.State) {
			st.SetObject(addr.Object{Instance: storetest.Address("a", 0).Instance, Deposed: "00000001"}, object("x"), storetest.Provider)
		},
	}
	for want, change := range changes {
		t.Run(want, func(t *testing.T) {
			m := manager(t, open(t, opt))
			base, err := m.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			whole := plan.Dep{Resource: storetest.Address("a", 0).Instance.Abs(), All: true}
			span := plan.Dep{Resource: addr.AbsResource{Module: addr.RootInstance.Child("m", addr.NoKey), Resource: block.Resource}, All: true, Modules: true}
			p := &plan.Plan{
				Changes: []*plan.Change{
					{Addr: storetest.Address("c", 0).Instance, Action: plan.Create, Deps: []plan.Dep{whole, span}},
					{Addr: storetest.Address("a", 0).Instance, Action: plan.Delete},
				},
				Outputs: []*plan.OutputChange{{Name: "o", Action: plan.Create}},
				Checks:  []state.CheckResult{{Kind: "check", Config: "check.c", Status: state.CheckFail}},
			}
			scope := plan.Scope(p, plan.ScopeOptions{Stored: base.State})
			next := base.Next(base.State.Copy(), "1.0.0")
			change(next.State)
			if err := manager(t, open(t, opt)).Write(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			defer func() { // as before, for the next one
				back := next.Next(base.State, "1.0.0")
				if err := manager(t, open(t, opt)).Write(context.Background(), back); err != nil {
					t.Fatal(err)
				}
			}()
			var stale *store.StaleError
			_, err = m.(store.Claimer).Claim(t.Context(), scope, storetest.Info("a"), false)
			if !errors.As(err, &stale) || !strings.Contains(err.Error(), "\n  - "+want) {
				t.Errorf("got the error %v, want %q", err, want)
			}
		})
	}
}

// TestFirstStates has two runs plan the first state: they do not claim at the same time, and the second is
// refused.
func TestFirstStates(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	var runs []*run
	for i, who := range []string{"a", "b"} {
		r := &run{Manager: manager(t, open(t, opt)), t: t, who: who, base: storetest.File(t, who, 0, 0)}
		p := &plan.Plan{Changes: []*plan.Change{{Addr: storetest.Address("a", i).Instance, Action: plan.Create}}}
		r.scope = plan.Scope(p, plan.ScopeOptions{Stored: state.New()})
		if f, err := r.Read(t.Context()); f != nil || err != nil {
			t.Fatalf("got the state %v (%v), want none", f, err)
		}
		runs = append(runs, r)
	}
	runs[0].begin()
	var claimed *store.ClaimedError
	if err := runs[1].claim(0); !errors.As(err, &claimed) {
		t.Errorf("got the error %v, want a ClaimedError", err)
	}
	if err := runs[0].update(0); err != nil {
		t.Fatal(err)
	}
	runs[0].end()
	var stale *store.StaleError
	if err := runs[1].claim(0); !errors.As(err, &stale) || !strings.Contains(err.Error(), "the state is new by a ") || !strings.Contains(err.Error(), "run id-a") {
		t.Errorf("got the error %v, want a StaleError that names the other run", err)
	}
	// The first run goes on with the state that it has made.
	runs[0].scope = plan.Scope(&plan.Plan{Changes: []*plan.Change{{Addr: storetest.Address("a", 5).Instance, Action: plan.Create}}}, plan.ScopeOptions{Stored: state.New()})
	if err := runs[0].claim(0); err != nil {
		t.Errorf("got the error %v of the run that has made the state, want none", err)
	}
	never := &run{Manager: manager(t, open(t, opt)), t: t, who: "c", base: storetest.File(t, "c", 0, 0)}
	if _, err := never.BeginRun(t.Context(), never.base, "1.0.0"); err == nil {
		t.Error("a run begins with a first state although there is one by now")
	}
	opt.Schema = "written"
	writes := &run{Manager: manager(t, open(t, opt)), t: t, who: "w", base: storetest.File(t, "w", 0, 0)}
	writes.scope = runs[0].scope
	if f, err := writes.Read(t.Context()); f != nil || err != nil {
		t.Fatalf("got the state %v (%v), want none", f, err)
	}
	if err := writes.Write(t.Context(), writes.base); err != nil {
		t.Fatal(err)
	}
	if err := writes.claim(0); err != nil {
		t.Errorf("got the error %v of the run that has written the state, want none", err)
	}
}

// TestSaltsOfTwoRuns keeps the salts, outputs and checks of runs that change them at the same time.
func TestSaltsOfTwoRuns(t *testing.T) {
	opt := stock(t, 2)
	var runs []*run
	for i, who := range []string{"a", "b"} {
		r := planned(t, opt, who, []int{i})
		r.scope.Claims.Add(state.Subject{Kind: state.OneOutput, Addr: who}, state.Exclusive)
		r.scope.Claims.Add(state.Subject{Kind: state.OneCheck, Addr: "check." + who}, state.Exclusive)
		r.begin()
		runs = append(runs, r)
	}
	for i, r := range runs {
		id, err := r.Begin(storetest.Address("a", i), "update")
		if err == nil {
			salt, _ := fingerprint.NewSalt(rand.Reader)
			err = r.Commit(id, state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, r.who), Salts: []state.Salt{salt}})
			r.AddSalts(salt)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.PutOutput(r.who, output(t, "value of "+r.who))
		r.PutOutput("unclaimed", output(t, r.who))
		r.PutChecks([]state.CheckResult{{Kind: "check", Config: "check." + r.who, Status: state.CheckPass}})
	}
	read := func() *state.State {
		f, err := manager(t, open(t, opt)).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f.State
	}
	if got := len(read().Salts); got != 2 {
		t.Errorf("got %d salts before the runs have ended, want 2", got)
	}
	runs[0].end()
	last := runs[1].end().State
	for _, st := range []*state.State{last, read()} {
		if len(st.Salts) != 2 || len(st.Outputs) != 2 || st.Outputs["a"] == nil || st.Outputs["b"] == nil || len(st.Checks) != 2 {
			t.Errorf("got %d salts, %d outputs and the checks %v, want 2 of each", len(st.Salts), len(st.Outputs), st.Checks)
		}
	}
}
