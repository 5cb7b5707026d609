//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"path/filepath"
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

// firstRun returns a run that makes a state and creates objects a[i]. It has begun.
func firstRun(t *testing.T, opt postgres.Options, who string, objects ...int) *run {
	t.Helper()
	r := &run{Manager: manager(t, open(t, opt)), t: t, who: who, base: storetest.File(t, who, 0, 0)}
	p := &plan.Plan{}
	for _, i := range objects {
		p.Changes = append(p.Changes, &plan.Change{Addr: storetest.Address("a", i).Instance, Action: plan.Create})
	}
	r.scope = plan.Scope(p, plan.ScopeOptions{Stored: state.New()})
	if f, err := r.Read(t.Context()); f != nil || err != nil {
		t.Fatalf("got the state %v (%v), want none", f, err)
	}
	r.begin()
	return r
}

// TestKeptFirst stops the server before the only result of the run that makes the state. The state that the
// next run on this machine makes from the file is the one of the first run, with its salts.
func TestKeptFirst(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0), Lease: time.Second, Dir: t.TempDir(), Cipher: reversing{}}
	r := firstRun(t, opt, "first", 0)
	id, err := r.Begin(storetest.Address("a", 0), "create")
	if err != nil {
		t.Fatal(err)
	}
	s.Stop("immediate")
	salt := fingerprint.Salt{ID: "9e0c7f2a", Scheme: fingerprint.Scheme, Bytes: []byte("0123456789abcdef")}
	if err := r.Commit(id, state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, "kept"), Salts: []fingerprint.Salt{salt}}); err == nil {
		t.Error("got a result that was committed without the server, want an error")
	}
	if err := r.Unlock(t.Context(), r.id); err != nil {
		t.Errorf("giving the claims back: %v", err)
	}
	s.Run()
	lapse(t, opt.ConnString)
	f, err := manager(t, open(t, opt)).Read(t.Context())
	if err != nil || f == nil {
		t.Fatalf("got the state %v (%v), want one with the result", f, err)
	}
	if o := f.State.Object(storetest.Address("a", 0)); o == nil || f.Lineage != r.base.Lineage || len(f.State.Salts) != 1 || f.State.Salts[0].ID != salt.ID {
		t.Errorf("got the object %v, the lineage %q and %d salts, want the result, %q and 1", o, f.Lineage, len(f.State.Salts), r.base.Lineage)
	}
	isFresh(t, planned(t, opt, "next", []int{0}))
	if files, _ := filepath.Glob(filepath.Join(opt.Dir, "*")); len(files) > 0 {
		t.Errorf("got the files %v, want none", files)
	}
}

// TestLapsedFirst lets the lease of the run lapse that makes the state while it creates an object. Until that
// has ended, others do not destroy the objects on which it may depend, and change them all the same.
func TestLapsedFirst(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	dead := firstRun(t, opt, "dead", 0, 1)
	dead.must(0)
	id, err := dead.Begin(storetest.Address("a", 1), "create")
	if err != nil {
		t.Fatal(err)
	}
	lapse(t, opt.ConnString)
	destroying := func(who string) *run {
		r := planned(t, opt, who, nil)
		r.scope = plan.Scope(&plan.Plan{Changes: []*plan.Change{{Addr: storetest.Address("a", 0).Instance, Action: plan.Delete}}}, plan.ScopeOptions{Stored: r.base.State})
		return r
	}
	for range 2 { // the claims of the run last
		err = destroying("destroys").claim(0)
		if claimed, is := errors.AsType[*store.ClaimedError](err); !is || claimed.Conflicts[0].Run.ID != "id-dead" || len(claimed.Conflicts[0].Lapsed) != 1 {
			t.Errorf("got %v, want that the lapsed run has claimed a part", err)
		}
		isFresh(t, planned(t, opt, "updates", []int{0}))
	}
	o := storetest.Object(t, "dead")
	o.Dependencies = []addr.ConfigResource{storetest.Address("b", 0).Instance.Config()}
	if err := dead.Commit(id, state.ObjectChange{Object: storetest.Address("a", 1), Provider: storetest.Provider, New: o}); err != nil {
		t.Error(err)
	}
	isFresh(t, destroying("destroys later"))
}
