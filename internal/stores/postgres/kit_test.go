//go:build !mayfly_no_postgres

package postgres_test

import (
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// stock stores a state with the objects a[0] to a[n-1] and returns its place.
func stock(t *testing.T, n int) postgres.Options {
	t.Helper()
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	fill(t, opt, n)
	return opt
}

// fill stores a state with the objects a[0] to a[n-1].
func fill(t *testing.T, opt postgres.Options, n int) {
	t.Helper()
	f := storetest.File(t, "l", 1, 0)
	for i := range n {
		f.State.SetObject(storetest.Address("a", i), storetest.Object(t, "old"), storetest.Provider)
	}
	if err := manager(t, open(t, opt)).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// run is one that has read the state and wants to change objects a[i].
type run struct {
	store.Manager
	t     *testing.T
	who   string
	base  *state.File
	scope *state.Scope
	id    string
	under uint64 // the operation of beginOne
	state.Run
}

// planned returns a run that has read the state and plans to update objects, which are evaluated from others.
func planned(t *testing.T, opt postgres.Options, who string, objects []int, from ...int) *run {
	t.Helper()
	m := manager(t, open(t, opt))
	base, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &run{Manager: m, t: t, who: who, base: base, scope: scopeOf(base, objects, from...)}
}

// scopeOf returns the scope of a plan to update objects, which are evaluated from others.
func scopeOf(base *state.File, objects []int, from ...int) *state.Scope {
	p := &plan.Plan{}
	var deps []plan.Dep
	for _, i := range from {
		a := storetest.Address("a", i).Instance
		deps = append(deps, plan.Dep{Resource: a.Abs(), Key: a.Key})
	}
	for _, i := range objects {
		p.Changes = append(p.Changes, &plan.Change{Addr: storetest.Address("a", i).Instance, Action: plan.Update, Deps: deps})
	}
	return plan.Scope(p, plan.ScopeOptions{Stored: base.State})
}

// claim claims the scope of the run.
func (r *run) claim(wait time.Duration) error {
	r.t.Helper()
	info := storetest.Info(r.who)
	info.ID = "id-" + r.who
	held, err := store.Locking{LockTimeout: wait}.Claim(r.t.Context(), r.Manager.(store.Claimer), r.scope, info)
	if err == nil {
		r.id = held.ID
	}
	return err
}

// begin claims and begins.
func (r *run) begin() {
	r.t.Helper()
	err := r.claim(0)
	if err == nil {
		r.Run, err = r.BeginRun(r.t.Context(), r.base, "1.0.0")
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// update changes an object.
func (r *run) update(i int) error {
	id, err := r.Begin(storetest.Address("a", i), "update")
	if err == nil {
		err = r.Commit(id, state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(r.t, r.who)})
	}
	return err
}

// beginFirst begins operations on the first objects, and returns their numbers.
func (r *run) beginFirst(n int) (ids []uint64) {
	r.t.Helper()
	for i := range n {
		id, err := r.Begin(storetest.Address("a", i), "update")
		if err != nil {
			r.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func (r *run) end() *state.File {
	r.t.Helper()
	f, err := r.End(r.t.Context())
	if err == nil {
		err = r.Unlock(r.t.Context(), r.id)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}

func output(t *testing.T, text string) *state.Output {
	t.Helper()
	d, err := value.Seal(cty.StringVal(text), cty.String, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &state.Output{Value: d}
}

// texts returns the values of the objects a[0] to a[n-1].
func texts(t *testing.T, opt postgres.Options, n int) (out []string) {
	t.Helper()
	f, err := manager(t, open(t, opt)).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		out = append(out, string(f.State.Object(storetest.Address("a", i)).JSON()))
	}
	return out
}
