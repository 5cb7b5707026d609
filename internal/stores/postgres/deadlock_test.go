//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestDeadlock has the first result of a first state, which changes the row of the workspace, meet a run that
// holds this row and ends the lapsed claims of the first. The server ends one of both transactions, which is
// repeated.
func TestDeadlock(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	db := connect(t, opt.ConnString)
	m := manager(t, open(t, opt))
	if _, err := m.Lock(t.Context(), storetest.Info("a")); err != nil {
		t.Fatal(err)
	}
	r, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(storetest.Address("a", 0), "create")
	if err != nil {
		t.Fatal(err)
	}
	lapse(t, opt.ConnString)
	holder, err := db.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = holder.ExecContext(t.Context(), `SELECT 1 FROM mayfly.workspaces FOR NO KEY UPDATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	waiting := func(n int) {
		t.Helper()
		got := 0
		for deadline := time.Now().Add(10 * time.Second); got != n; time.Sleep(10 * time.Millisecond) {
			if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if time.Now().After(deadline) {
				t.Fatalf("got %d sessions that wait for a lock, want %d", got, n)
			}
		}
	}
	claimed, committed := make(chan error, 1), make(chan error, 1)
	second := manager(t, open(t, opt))
	go func() {
		_, err := second.Lock(t.Context(), storetest.Info("b"))
		claimed <- err
	}()
	waiting(1)
	go func() {
		committed <- r.Commit(id, state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, "first")})
	}()
	waiting(2)
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-committed; err != nil {
		t.Errorf("committing: got %v, want no error", err)
	}
	// The other run comes first, and meets the operation that has not ended, or gets the lock after that.
	if err := <-claimed; err != nil && !errors.As(err, new(*store.LockError)) {
		t.Errorf("locking: got %v, want no error or a LockError", err)
	}
	f, err := manager(t, open(t, opt)).Read(t.Context())
	if err != nil || f == nil || f.State.Object(storetest.Address("a", 0)) == nil {
		t.Errorf("got the state %v (%v), want one with the object", f, err)
	}
	deadlocks := 0
	for deadline := time.Now().Add(10 * time.Second); deadlocks == 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&deadlocks); err != nil {
			t.Fatal(err)
		}
	}
	if deadlocks != 1 {
		t.Errorf("got %d deadlocks, want 1: the test does not make what it is about", deadlocks)
	}
}
