//go:build !mayfly_no_postgres

package postgres_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
)

// TestPoolers uses pgbouncer: with sessions that are kept, a state is as without it; where they are not, runs
// are refused before anything is changed.
func TestPoolers(t *testing.T) {
	s := server.Start(t)
	t.Run("session", func(t *testing.T) {
		opt := postgres.Options{ConnString: s.URL(s.Pool(t, "session")), Schema: "kept"}
		fill(t, opt, 3)
		r := planned(t, opt, "one", []int{0}, 1)
		r.begin()
		if err := r.update(0); err != nil {
			t.Fatal(err)
		}
		r.end()
	})
	t.Run("transaction", func(t *testing.T) {
		direct, pooled := postgres.Options{ConnString: s.URL(0), Schema: "lost"}, postgres.Options{ConnString: s.URL(s.Pool(t, "transaction")), Schema: "lost"}
		fill(t, direct, 3)
		m := manager(t, open(t, pooled))
		f, err := m.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.Serial++
		if err := m.Write(t.Context(), f); err == nil || !strings.Contains(err.Error(), "set pool_mode = session") {
			t.Errorf("got %v, want an error that says how to set pool_mode", err)
		}
		db, err := sql.Open("postgres", s.URL(0))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		runs := 0
		if err := db.QueryRow(`SELECT count(*) FROM lost.runs`).Scan(&runs); err != nil || runs != 1 {
			t.Errorf("got %d runs (%v), want the one that has stored the state", runs, err)
		}
	})
}
