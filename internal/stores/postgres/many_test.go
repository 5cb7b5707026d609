//go:build !mayfly_no_postgres

package postgres_test

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
)

// TestManyMarks has a run end that has left as many marks as another one before it, on the same units: the
// time for that grows with their number, not with its square.
func TestManyMarks(t *testing.T) {
	opt := stock(t, 1)
	r := planned(t, opt, "second", []int{0})
	r.begin()
	execute(t, opt, `INSERT INTO mayfly.due (workspace, unit, kind, run)
		SELECT r.workspace, 'output o' || n, k.kind, run.id FROM mayfly.runs r, generate_series(1, 50000) n, (VALUES ('object'), ('input')) k(kind), LATERAL (VALUES (r.id), ('00000000-0000-0000-0000-000000000001')) run(id) WHERE r.state = 'claimed'`)
	execute(t, opt, `ALTER ROLE test SET statement_timeout = '25s'`)
	execute(t, opt, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
	r.end()
	if got := count(t, opt, `SELECT count(*) FROM mayfly.due WHERE unit LIKE 'output %'`); got != 100000 {
		t.Errorf("got %d marks, want the 100000 of the last run", got)
	}
}

// TestNamesOfSchemas keeps states in schemas of any names, and refuses one that the server would cut off.
func TestNamesOfSchemas(t *testing.T) {
	url := server.Start(t).URL(0)
	for _, name := range []string{"a.mayfly.b", "mayfly_views.c", `Mixed "Case"`, "it's", "$1 %s", strings.Repeat("é", 31)} {
		opt := postgres.Options{ConnString: url, Schema: name}
		if err := postgres.CheckSchema(name); err != nil {
			t.Errorf("got %v of the schema %s, want no error", err, name)
		}
		fill(t, opt, 1)
		if got := texts(t, opt, 1)[0]; !strings.Contains(got, "old") {
			t.Errorf("got the object %s in the schema %s, want the one that was stored", got, name)
		}
	}
	if err := postgres.CheckSchema(strings.Repeat("a", 63)); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("got %v of a name of 63 bytes, want an error with advice", err)
	}
}

// TestOldServers refuses servers that lack a part of the statements, before tables are made.
func TestOldServers(t *testing.T) {
	for version, want := range map[int]string{
		90_624: "the server is PostgreSQL 9, and the backend \"postgres\" needs PostgreSQL 13 or later", 120_022: "the server is PostgreSQL 12, and the backend \"postgres\" needs PostgreSQL 13 or later",
		130_000: "", 180_001: "",
	} {
		got := ""
		if err := postgres.CheckServer(version); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("the version %d: got %q, want %q", version, got, want)
		}
	}
}
