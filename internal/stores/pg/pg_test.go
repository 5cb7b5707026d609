//go:build !mayfly_no_pg

package pg_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/pg"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(program.Run(m)) }

// open returns a handle to a schema, as another process would have.
func open(t *testing.T, opt pg.Options) store.Store {
	t.Helper()
	s, err := pg.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return remote.New(s, remote.Options{Version: "1.0.0", JournalDir: t.TempDir()})
}

func manager(t *testing.T, s store.Store) store.Manager {
	t.Helper()
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestConformance(t *testing.T) {
	server := postgres.Start(t)
	db, err := sql.Open("postgres", server.URL(0))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var schemas atomic.Int32
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		opt := pg.Options{ConnString: server.URL(0), Schema: fmt.Sprint("s", schemas.Add(1))}
		return storetest.Harness{
			Open: func() store.Store { return open(t, opt) },
			Corrupt: func(workspace string, data []byte) error {
				_, err := db.ExecContext(t.Context(), `INSERT INTO `+opt.Schema+`.states (name, data) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = $2`, workspace, string(data))
				return err
			},
			Stored: func(workspace string) (data []byte, err error) {
				return data, db.QueryRowContext(t.Context(), `SELECT convert_to(data, 'UTF8') FROM `+opt.Schema+`.states WHERE name = $1`, workspace).Scan(&data)
			},
		}
	})
}

func TestProblems(t *testing.T) {
	server := postgres.Start(t)
	for name, test := range map[string]struct{ conn, schema, want string }{
		"database": {strings.Replace(server.URL(0), "/postgres?", "/nope?", 1), "", "Create the database"},
		"user":     {strings.Replace(server.URL(0), "test@", "nope@", 1), "", `"conn_str"`},
		"no TLS":   {strings.Replace(server.URL(0), "?sslmode=disable", "", 1), "", "sslmode=disable"},
		"setting":  {server.URL(0) + "&channel_binding=require", "", "channel_binding"},
		"syntax":   {"postgres://u:hunter2@[::1", "", "connection string"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := pg.New(pg.Options{ConnString: test.conn})
			if err == nil {
				defer s.Close()
				_, err = manager(t, remote.New(s, remote.Options{})).Read(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestLocksOfOthers sees the locks that other engines take, and respects them.
func TestLocksOfOthers(t *testing.T) {
	server := postgres.Start(t)
	opt := pg.Options{ConnString: server.URL(0)}
	m := manager(t, open(t, opt))
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("postgres", server.URL(0)+"&application_name=other")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `SELECT pg_advisory_lock(id) FROM terraform_remote_state.states`); err != nil {
		t.Fatal(err)
	}
	_, err = m.Lock(t.Context(), storetest.Info("a"))
	var held *store.LockError
	if !errors.As(err, &held) || held.Info == nil || !strings.Contains(held.Info.Info, `"other"`) {
		t.Errorf("locking what another engine has locked: %v", err)
	}
}

// TestLostSession ends the session of a run, and so its lock.
func TestLostSession(t *testing.T) {
	server := postgres.Start(t)
	a, b := manager(t, open(t, pg.Options{ConnString: server.URL(0)})), manager(t, open(t, pg.Options{ConnString: server.URL(0)}))
	id, err := a.Lock(t.Context(), storetest.Info("a"))
	if err != nil {
		t.Fatal(err)
	}
	journal, err := a.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.ForceUnlock(t.Context(), b, id); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Begin(storetest.Address("a", 0), "create"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("beginning without the lock: %v", err)
	}
	if err := a.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("writing without the lock: %v", err)
	}
	if _, err := b.Lock(t.Context(), storetest.Info("b")); err != nil {
		t.Error(err)
	}
}

func TestCuts(t *testing.T) {
	server := postgres.Start(t)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return server.Address() },
		Open: func(t *testing.T, place, address string) store.Store {
			return open(t, pg.Options{ConnString: postgres.URLAt(address), Schema: place})
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return postgres.Start(t).URL(0) },
		func(t *testing.T, place string) store.Store { return open(t, pg.Options{ConnString: place}) })
}
