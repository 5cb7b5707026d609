//go:build !mayfly_no_postgres

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
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

// TestLostAfterRows has the server end a session when it has sent all rows: the transaction is repeated. The
// answer to the end of the statement is the server's farewell then, which the client does not understand.
func TestLostAfterRows(t *testing.T) {
	at := server.Start(t).URL(0)
	s := open(t, postgres.Options{ConnString: at})
	db, err := sql.Open("postgres", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	times := 0
	err = postgres.Stream(t.Context(), s, func(scan func(...any) error) error {
		var pid int
		if err := scan(&pid); err != nil || times > 0 {
			times++
			return err
		}
		times++
		if _, err := db.Exec(`SELECT pg_terminate_backend($1)`, pid); err != nil {
			t.Error(err)
		}
		for there := true; there && !t.Failed(); {
			if err := db.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = $1)`, pid).Scan(&there); err != nil {
				t.Error(err)
			}
		}
		return nil
	}, `SELECT pg_backend_pid()`)
	if err != nil || times != 2 {
		t.Errorf("got %v after reading the row %d times, want no error after 2", err, times)
	}
}
