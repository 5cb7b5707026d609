//go:build !mayfly_no_postgres

package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// documentedSQL returns the blocks of SQL on the page about this backend.
func documentedSQL(t *testing.T) (blocks []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "postgres.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// withRoles makes the roles and users as the page says. It returns the statement of the page that removes old
// runs.
func withRoles(t *testing.T, s *server.Server) (cleaning string) {
	t.Helper()
	db := connect(t, s.URL(0))
	blocks := documentedSQL(t)
	for _, statements := range blocks[:len(blocks)-1] {
		if _, err := db.ExecContext(t.Context(), statements); err != nil {
			t.Fatalf("%v\n%s", err, statements)
		}
	}
	return blocks[len(blocks)-1]
}

// asUser returns the connection string of a user.
func asUser(s *server.Server, user string) string {
	return strings.Replace(s.URL(0), "test@", user+"@", 1)
}

// TestRoles makes the roles as the page says, and has each do its work, and no other.
func TestRoles(t *testing.T) {
	s := server.Start(t)
	cleaning := withRoles(t, s)
	as := func(user string) postgres.Options { return postgres.Options{ConnString: asUser(s, user)} }
	if _, err := open(t, as("alice")).Workspaces(t.Context()); err == nil || !strings.Contains(err.Error(), "owner") {
		t.Errorf("got the error %v of an applier without tables, want it to name the owner", err)
	}
	if _, err := open(t, as("mayfly_owner")).Workspaces(t.Context()); err != nil {
		t.Fatal(err)
	}

	f := storetest.File(t, "l", 1, 0)
	f.State.SetObject(storetest.Address("a", 0), storetest.Object(t, "old"), storetest.Provider)
	alice := open(t, as("alice"))
	if err := manager(t, alice).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	change(t, as("alice"), "a", 0)
	if err := alice.CreateWorkspace(t.Context(), "w"); err != nil {
		t.Error(err)
	}
	if err := alice.DeleteWorkspace(t.Context(), "w", false); err != nil {
		t.Error(err)
	}

	planner := manager(t, open(t, as("merge_requests")))
	if f, err := planner.Read(t.Context()); err != nil || f.State.Object(storetest.Address("a", 0)) == nil {
		t.Errorf("got the error %v of a planner that reads, want the state", err)
	}
	if key, _, err := planner.(store.ChangeReader).HashKey(t.Context()); err != nil || key == nil {
		t.Errorf("got the error %v of a planner that reads the key for hashes, want the key", err)
	}
	if _, err := planner.(store.Historian).Runs(t.Context(), 0); err != nil {
		t.Error(err)
	}
	giveOutput(t, as("alice"), "first", "one")
	giveOutput(t, as("alice"), "second", "two")
	if got := textAt(t, planner.(store.Historian), store.Moment{Run: "id-first"}); got != "one" {
		t.Errorf("got the former output %q for a planner, want %q", got, "one")
	}
	if _, err := planner.Lock(t.Context(), storetest.Info("planner")); err == nil {
		t.Error("a planner can lock the state")
	}

	reader := manager(t, open(t, as("dashboard")))
	for _, view := range []string{"instances", "outputs", "runs", "history", "claims", "operations", "openings"} {
		table, err := reader.(store.Querier).Query(t.Context(), "SELECT * FROM "+view, time.Minute)
		if err != nil || slices.Contains([]string{"instances", "runs", "history"}, view) && len(table.Rows) == 0 {
			t.Errorf("got the error %v of a reader of %s, want rows", err, view)
		}
	}
	waiting := planned(t, as("alice"), "alice", []int{0})
	waiting.begin()
	if runs, err := reader.(store.Historian).Active(t.Context()); err != nil || len(runs) != 1 || runs[0].Info.ID != "id-alice" || len(runs[0].Claims) == 0 {
		t.Errorf("got the runs %+v and the error %v of a reader, want the one that is under way", runs, err)
	}
	waiting.end()
	if _, err := reader.Read(t.Context()); err == nil {
		t.Error("a reader can read the state")
	}
	if _, _, err := reader.(store.ChangeReader).HashKey(t.Context()); err == nil {
		t.Error("a reader can read the key for hashes")
	}
	if _, err := reader.(store.Querier).Query(t.Context(), "SELECT * FROM mayfly.objects", time.Minute); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got the error %v of a reader of a table, want it refused", err)
	}

	cleaning = strings.Replace(cleaning, "interval '1 year'", "interval '0'", 1)
	if _, err := connect(t, as("mayfly_owner").ConnString).ExecContext(t.Context(), cleaning); err != nil || !strings.Contains(cleaning, "DELETE FROM mayfly.runs") {
		t.Errorf("got the error %v of removing old runs, want none", err)
	}
	change(t, as("alice"), "next", 0)
	if versions, err := planner.(store.Historian).Versions(t.Context(), state.InstanceSubject(storetest.Address("a", 0).Instance)); err != nil || len(versions) != 3 || versions[1].By == nil {
		t.Errorf("got the versions %+v and the error %v after old runs were removed, want 3 with the runs that have written them", versions, err)
	}

	for _, c := range []struct{ user, tables, rights string }{
		{"alice", "mayfly", "TRUNCATE, TRIGGER, REFERENCES"},
		{"merge_requests", "mayfly", "INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES"},
		{"dashboard", "mayfly", "SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES"},
		{"dashboard", "mayfly_views", "INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES"},
	} {
		n := count(t, as("test"), fmt.Sprintf(`SELECT count(*) FROM pg_class WHERE relnamespace = '%s'::regnamespace AND relkind IN ('r', 'v', 'p') AND has_table_privilege('%s', oid, '%s')`, c.tables, c.user, c.rights))
		if n != 0 || count(t, as("test"), fmt.Sprintf(`SELECT count(*) FROM pg_namespace WHERE nspname IN ('mayfly', 'mayfly_views') AND has_schema_privilege('%s', oid, 'CREATE')`, c.user)) != 0 {
			t.Errorf("got %d tables in %s on which %s has one of the rights %s, or the right to create some, want none", n, c.tables, c.user, c.rights)
		}
	}
}
