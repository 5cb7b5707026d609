//go:build !mayfly_no_postgres

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/state/store"
)

// insert makes a workspace.
const insert = `INSERT INTO mayfly.workspaces (name) VALUES ($1)`

// TestTransactionsWithoutCommit has transactions end before their commit: they have no effect, and leave
// connections that can be used.
func TestTransactionsWithoutCommit(t *testing.T) {
	s := open(t, postgres.Options{ConnString: server.Start(t).URL(0)})
	failed := errors.New("failed")
	for name, f := range map[string]func(end func(), exec func(string, ...any) error) error{
		"failed": func(_ func(), exec func(string, ...any) error) error {
			return errors.Join(exec(insert, "failed"), failed)
		},
		"interrupted": func(end func(), exec func(string, ...any) error) error {
			defer end()
			return exec(insert, "interrupted")
		},
		"ignored": func(_ func(), exec func(string, ...any) error) error {
			_ = exec(insert, "ignored")
			_ = exec(`SELECT 1/0`)
			return nil
		},
	} {
		ctx, end := context.WithCancel(t.Context())
		if err := postgres.Transact(ctx, s, func(exec func(string, ...any) error) error { return f(end, exec) }); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
		end()
		if got, err := s.Workspaces(t.Context()); err != nil || len(got) != 1 {
			t.Errorf("%s: got the workspaces %q (%v), want the default one", name, got, err)
		}
	}
	if got := postgres.Connections(s); got != 1 {
		t.Errorf("got %d connections, want 1 that all have used", got)
	}
}

// TestLostBeforeItBegins has the server end the sessions while they are not used: a transaction begins with a
// new one.
func TestLostBeforeItBegins(t *testing.T) {
	at := server.Start(t).URL(0)
	s := open(t, postgres.Options{ConnString: at})
	if _, err := s.Workspaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("postgres", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateWorkspace(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateWorkspace(t.Context(), "one"); !errors.Is(err, store.ErrWorkspaceExists) {
		t.Errorf("got %v, want %v", err, store.ErrWorkspaceExists)
	}
}

// TestLostWhileItReads has the server end the session when a transaction has read its last row, or its first.
// It is repeated.
func TestLostWhileItReads(t *testing.T) {
	srv := server.Start(t)
	opt := postgres.Options{ConnString: srv.URL(0)}
	s := open(t, postgres.Options{ConnString: srv.URL(tcpproxy.Start(t, srv.Port).Port)}) // which passes on the server's last words
	if _, err := s.Workspaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int{"first": 1, "last": 100} {
		n := 0
		err := postgres.Stream(t.Context(), s, func() {
			if n++; n == at {
				execute(t, opt, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
			}
		}, `SELECT generate_series(1, 100)`)
		if err != nil || n <= 100 {
			t.Errorf("lost at the %s row: got %v after %d rows, want all rows once more", name, err, n)
		}
	}
}
