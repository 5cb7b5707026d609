//go:build !mayfly_no_postgres

package postgres_test

import "testing"

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
