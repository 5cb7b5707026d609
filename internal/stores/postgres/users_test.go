//go:build !mayfly_no_postgres

package postgres_test

import (
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state/store"
)

// TestDatabaseUsers notes who has logged in to the database, whatever name the run gives. An applier who
// writes SQL by himself cannot have another name noted.
func TestDatabaseUsers(t *testing.T) {
	s := server.Start(t)
	withRoles(t, s)
	as := func(user string) postgres.Options { return postgres.Options{ConnString: asUser(s, user)} }
	if _, err := open(t, as("mayfly_owner")).Workspaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(t, as("alice"), 1)
	change(t, as("alice"), "bob", 0)
	runs, err := historian(t, as("merge_requests")).Runs(t.Context(), 1)
	if err != nil || len(runs) != 1 || runs[0].Info.Who != "bob" || runs[0].Info.DatabaseUser != "alice" {
		t.Errorf("Runs(1): got %+v and the error %v, want the run of bob with the database user alice", runs, err)
	}
	if past, err := historian(t, as("merge_requests")).At(t.Context(), store.Moment{Run: "id-bob"}); err != nil || past.Run.DatabaseUser != "alice" {
		t.Errorf("At(id-bob): got %+v and the error %v, want the database user alice", past, err)
	}
	waiting := planned(t, as("alice"), "carol", []int{0})
	waiting.begin()
	if active, err := historian(t, as("dashboard")).Active(t.Context()); err != nil || len(active) != 1 || active[0].Info.DatabaseUser != "alice" {
		t.Errorf("Active(): got %+v and the error %v of a reader, want the database user alice", active, err)
	}
	waiting.end()

	const forged = `INSERT INTO mayfly.runs (id, workspace, state, info, lease_until, database_user) SELECT gen_random_uuid(), id, 'ended', '{"ID": "forged"}', now(), 'mallory' FROM mayfly.workspaces`
	for _, attack := range []string{
		forged,
		`UPDATE mayfly.runs SET database_user = 'mallory'`,
		`UPDATE mayfly.runs SET (state, database_user) = ('ended', DEFAULT)`,
		`SET ROLE mayfly_applier; ` + forged,
		`CREATE FUNCTION evil.never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
			CREATE OPERATOR evil.= (FUNCTION = evil.never, LEFTARG = text, RIGHTARG = text); SET search_path = evil, pg_catalog; ` + forged,
	} {
		execute(t, as("test"), `DROP SCHEMA IF EXISTS evil CASCADE; CREATE SCHEMA evil AUTHORIZATION alice`)
		if _, err := connect(t, asUser(s, "alice")).ExecContext(t.Context(), attack); err != nil {
			t.Errorf("%s: %v", attack, err)
		}
		if got := count(t, as("test"), `SELECT count(*) FROM mayfly.runs WHERE database_user IS DISTINCT FROM 'alice'`); got != 0 {
			t.Errorf("%s: got %d runs with another database user, want none", attack, got)
		}
	}
	for _, refused := range []string{
		`ALTER TABLE mayfly.runs DISABLE TRIGGER note_user`, `DROP TRIGGER note_user ON mayfly.runs`, `SET session_replication_role = replica`, `SET SESSION AUTHORIZATION merge_requests`,
		`CREATE OR REPLACE FUNCTION mayfly.note_user() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
	} {
		if _, err := connect(t, asUser(s, "alice")).ExecContext(t.Context(), refused); err == nil {
			t.Errorf("%s: got no error for an applier, want it refused", refused)
		}
	}
	table, err := manager(t, open(t, as("dashboard"))).(store.Querier).Query(t.Context(), `SELECT DISTINCT database_user FROM runs`, time.Minute)
	if err != nil || len(table.Rows) != 1 || table.Rows[0][0] != any("alice") {
		t.Errorf("got the rows %v and the error %v of the view of runs, want the database user alice", table, err)
	}
}
