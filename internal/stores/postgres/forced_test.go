//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"testing"

	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestForcedIsStale frees a run by force that has begun an operation. A plan from before that may have seen
// the object as it was before the operation: it is stale. A later plan is not.
func TestForcedIsStale(t *testing.T) {
	opt := stock(t, 3)
	early := planned(t, opt, "early", []int{0})
	dead := planned(t, opt, "dead", []int{0, 1})
	dead.begin()
	if _, err := dead.Begin(storetest.Address("a", 0), "update"); err != nil {
		t.Fatal(err)
	}
	if err := store.ForceUnlock(t.Context(), manager(t, open(t, opt)), "id-dead"); err != nil {
		t.Fatal(err)
	}
	var stale *store.StaleError
	err := early.claim(0)
	if !errors.As(err, &stale) || len(stale.Rows) != 1 || stale.Rows[0].Run == nil || stale.Rows[0].Run.ID != "id-dead" {
		t.Errorf("got %v, want a stale plan because of the object of the operation", err)
	}
	if err := planned(t, opt, "later", []int{0, 1}).claim(0); err != nil {
		t.Errorf("a plan that was made later: %v", err)
	}
}
