//go:build !mayfly_no_postgres

package postgres_test

import (
	"testing"
	"time"

	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestShownEncrypted shows whether outputs are encrypted, and no value of those that are.
func TestShownEncrypted(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	for name, encrypted := range map[string]bool{"clear": false, "encrypted": true} {
		if opt.Cipher = nil; encrypted {
			opt.Cipher = lenient{}
		}
		s := open(t, opt)
		if err := s.CreateWorkspace(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		m, err := s.Manager(name)
		if err != nil {
			t.Fatal(err)
		}
		f := storetest.File(t, "l", 1, 0)
		f.State.SetOutput("o", output(t, "text"))
		if err := m.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		table, err := m.(store.Querier).Query(t.Context(), "SELECT encrypted, value IS NULL FROM outputs WHERE workspace = '"+name+"'", time.Minute)
		if err != nil || len(table.Rows) != 1 || table.Rows[0][0] != encrypted || table.Rows[0][1] != encrypted {
			t.Errorf("%s: got the rows %+v and the error %v, want encrypted and hidden to be %v", name, table, err, encrypted)
		}
	}
}

// off is a cipher that does not encrypt any more.
type off struct{ lenient }

func (off) Seal([]byte) ([]byte, error) { return nil, nil }

// TestClearRows counts the rows that are not encrypted although the configuration asks for that.
func TestClearRows(t *testing.T) {
	opt := stock(t, 3)
	clear := func() int {
		m := manager(t, open(t, opt))
		if _, err := m.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := store.RecoveredBy(m); r != nil {
			return r.Clear
		}
		return 0
	}
	none := clear()
	opt.Cipher = off{}
	if got := clear(); none != 0 || got != 0 {
		t.Errorf("got %d rows in clear without encryption, and %d when it is off, want none", none, got)
	}
	opt.Cipher = lenient{}
	change(t, opt, "a", 0)
	if got := clear(); got != 2 {
		t.Errorf("got %d rows in clear, want 2", got)
	}
	if _, err := store.Rekey(t.Context(), manager(t, open(t, opt))); err != nil {
		t.Fatal(err)
	}
	if got := clear(); got != 0 {
		t.Errorf("got %d rows in clear after all were encrypted, want none", got)
	}
}
