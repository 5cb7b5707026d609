//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"testing"

	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestGoneIsNamed removes an object and an output that a plan relies on. The error names the runs that have,
// the last ones where others have removed them before.
func TestGoneIsNamed(t *testing.T) {
	opt := stock(t, 1)
	object := storetest.Address("b", 0)
	remove := func(who string) {
		r := planned(t, opt, who, nil)
		r.scope = plan.Scope(&plan.Plan{Changes: []*plan.Change{{Addr: object.Instance, Action: plan.Delete}}}, plan.ScopeOptions{Stored: r.base.State})
		r.begin()
		r.commit(state.ObjectChange{Object: object})
		r.end()
		giveOutput(t, opt, "output-"+who, "")
	}
	add := func(who string) {
		r := planned(t, opt, who, nil)
		r.scope = plan.Scope(&plan.Plan{Changes: []*plan.Change{{Addr: object.Instance, Action: plan.Create}}}, plan.ScopeOptions{Stored: r.base.State})
		r.begin()
		r.commit(state.ObjectChange{Object: object, Provider: storetest.Provider, New: storetest.Object(t, who)})
		r.end()
		giveOutput(t, opt, who, who)
	}
	add("adds")
	remove("removes first")
	add("adds again")
	relies := planned(t, opt, "relies", []int{0})
	p := &plan.Plan{
		Changes: []*plan.Change{{Addr: object.Instance, Action: plan.Update}},
		Outputs: []*plan.OutputChange{{Name: "o", Action: plan.Update}},
	}
	relies.scope = plan.Scope(p, plan.ScopeOptions{Stored: relies.base.State})
	remove("removes last")
	err := relies.claim(0)
	stale, is := errors.AsType[*store.StaleError](err)
	if !is || len(stale.Rows) != 2 {
		t.Fatalf("got %v, want that the object and the output were removed", err)
	}
	for i, want := range []string{"id-output-removes last", "id-removes last"} {
		if row := stale.Rows[i]; row.Change != "was removed" || row.Run == nil || row.Run.ID != want {
			t.Errorf("got that %s %s by %v, want that it was removed by the run %s", row.Name, row.Change, row.Run, want)
		}
	}
}
