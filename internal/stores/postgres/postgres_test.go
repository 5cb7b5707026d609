//go:build !mayfly_no_postgres

package postgres_test

import (
	"database/sql"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestMain(m *testing.M) {
	if err := program.RaiseParallel(); err != nil {
		panic(err)
	}
	os.Exit(program.Run(m))
}

// open returns a handle to a schema, as another process would have.
func open(t *testing.T, opt postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// connect returns a connection that is not the store's.
func connect(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestConformance(t *testing.T) {
	url := server.Start(t).URL(0)
	db := connect(t, url)
	var schemas atomic.Int32
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		opt := postgres.Options{ConnString: url, Schema: fmt.Sprint("s", schemas.Add(1))}
		return storetest.Harness{
			Histories: 20,
			Open:      func() store.Store { return open(t, opt) },
			Corrupt: func(workspace string, data []byte) error {
				_, err := db.ExecContext(t.Context(), `UPDATE `+opt.Schema+`.workspaces SET document = $2 WHERE name = $1`, workspace, append([]byte{}, data...))
				return err
			},
			Stored: func(workspace string) (data []byte, err error) {
				return data, db.QueryRowContext(t.Context(), `SELECT document FROM `+opt.Schema+`.workspaces WHERE name = $1`, workspace).Scan(&data)
			},
		}
	})
}
