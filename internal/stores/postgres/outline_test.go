//go:build !mayfly_no_postgres

package postgres_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// beforeProviders is the version of the tables in which rows of objects did not have their provider.
const beforeProviders = 7

// TestMigrateProviders brings rows up to date that do not have their provider: it is taken from what views
// show. Rows that are written have it in any case.
func TestMigrateProviders(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	older, err := postgres.Older(opt, beforeProviders)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(older.Close)
	if _, err := older.Workspaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, opt, `INSERT INTO mayfly.workspaces (name) VALUES ('w')`)
	execute(t, opt, `INSERT INTO mayfly.objects (workspace, address, deposed, resource, block, dependencies, sealed, body, shown)
		SELECT w.id, a, '', a, a, '{}', false, '', s::jsonb FROM mayfly.workspaces w, (VALUES ('t.shown', '{"provider": "example.com/x/y"}'), ('t.not', NULL)) v(a, s)`)
	fill(t, opt, 2)
	for _, row := range []struct {
		where string
		want  int
	}{
		{`address = 't.shown' AND provider = 'example.com/x/y'`, 1},
		{`address = 't.not' AND provider IS NULL`, 1},
		{`provider = '` + storetest.Provider.Provider.String() + `'`, 2},
	} {
		if got := count(t, opt, `SELECT count(*) FROM mayfly.objects WHERE `+row.where); got != row.want {
			t.Errorf("rows with %s: got %d, want %d", row.where, got, row.want)
		}
	}
}
