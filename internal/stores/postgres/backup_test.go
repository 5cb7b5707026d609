//go:build !mayfly_no_postgres

package postgres_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestBackup dumps the database in the middle of a run, as the page says, and restores it elsewhere: the
// state is the one of that moment, and the operation that was under way is not lost.
func TestBackup(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0)}
	f := storetest.File(t, "l", 1, 0)
	for i := range 2 {
		f.State.SetObject(storetest.Address("a", i), storetest.Object(t, "old"), storetest.Provider)
	}
	if err := manager(t, open(t, opt)).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	r := planned(t, opt, "alice", []int{0, 1})
	r.begin()
	if err := r.update(0); err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(storetest.Address("a", 1), "update")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, opt, `SET session_replication_role = replica; UPDATE mayfly.runs SET database_user = 'alice'`)
	dump := filepath.Join(t.TempDir(), "states.dump")
	if err := s.Program("pg_dump", "--format=custom", "--schema=mayfly", "--schema=mayfly_views", "--file="+dump, s.URL(0)); err != nil {
		t.Fatal(err)
	}
	if err := r.Fail(id); err != nil {
		t.Fatal(err)
	}
	r.end()

	if _, err := connect(t, s.URL(0)).ExecContext(t.Context(), `CREATE DATABASE elsewhere`); err != nil {
		t.Fatal(err)
	}
	elsewhere := postgres.Options{ConnString: strings.Replace(s.URL(0), "/postgres?", "/elsewhere?", 1)}
	if err := s.Program("pg_restore", "--dbname="+elsewhere.ConnString, dump); err != nil {
		t.Fatal(err)
	}
	got := texts(t, elsewhere, 2)
	if !strings.Contains(got[0], "alice") || !strings.Contains(got[1], "old") {
		t.Errorf("got the restored objects %v, want the result that was stored before the dump, and the old one", got)
	}
	runs, err := historian(t, elsewhere).Active(t.Context())
	if err != nil || len(runs) != 1 || len(runs[0].Operations) != 1 {
		t.Fatalf("got the runs %+v and the error %v, want the one under way with its operation", runs, err)
	}
	if runs[0].Info.DatabaseUser != "alice" {
		t.Errorf("got the user %q of the database for a restored run, want the one that the dump has", runs[0].Info.DatabaseUser)
	}
	if err := store.ForceUnlock(t.Context(), manager(t, open(t, elsewhere)), runs[0].Info.ID); err != nil {
		t.Fatal(err)
	}
	next := manager(t, open(t, elsewhere))
	begin(t, next, "next")
	if found := store.RecoveredBy(next); found == nil || len(found.Unfinished) != 1 || found.Unfinished[0].Object != storetest.Address("a", 1) {
		t.Errorf("got %+v found by the next run, want the operation that had begun", found)
	}
	if err := s.Program("pg_restore", "--clean", "--if-exists", "--dbname="+elsewhere.ConnString, dump); err != nil {
		t.Errorf("got the error %v of restoring in place, want none", err)
	}
}
