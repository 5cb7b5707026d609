//go:build !mayfly_no_postgres

package postgres_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// change carries out a run that updates an object.
func change(t *testing.T, opt postgres.Options, who string, i int) {
	t.Helper()
	r := planned(t, opt, who, []int{i})
	r.begin()
	if err := r.update(i); err != nil {
		t.Fatal(err)
	}
	r.end()
}

// count returns the number that a statement finds.
func count(t *testing.T, opt postgres.Options, statement string) (n int) {
	t.Helper()
	if err := connect(t, opt.ConnString).QueryRowContext(t.Context(), statement).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPastIsKept keeps replaced and removed versions, whose times join without a gap, and none of objects
// that stay as they are.
func TestPastIsKept(t *testing.T) {
	opt := stock(t, 3)
	change(t, opt, "a", 0)
	change(t, opt, "b", 0)
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past`); got != 2 {
		t.Errorf("got %d former versions after two changes of an object, want 2", got)
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past p WHERE EXISTS (SELECT 1 FROM mayfly.past q WHERE q.at = p.until) OR EXISTS (SELECT 1 FROM mayfly.objects o WHERE o.at = p.until AND o.run = p.next_run)`); got != 2 {
		t.Errorf("got %d versions that end when the next one begins, want 2", got)
	}
	m := manager(t, open(t, opt))
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pushed := *f
	pushed.Serial++
	pushed.State = f.State.Copy()
	pushed.State.SetObject(storetest.Address("a", 1), nil, storetest.Provider)
	if err := m.Write(t.Context(), &pushed); err != nil {
		t.Fatal(err)
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past`); got != 3 {
		t.Errorf("got %d former versions after a state without one object was pushed, want 3", got)
	}
	now, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		if got, want := now.State.Object(storetest.Address("a", i)).Version, f.State.Object(storetest.Address("a", i)).Version; got != want {
			t.Errorf("got the version %v of an object that was pushed as it was, want %v", got, want)
		}
	}
}

// TestPastIsForgotten removes versions that were replaced too long ago, and notes that.
func TestPastIsForgotten(t *testing.T) {
	opt := stock(t, 2)
	change(t, opt, "a", 0)
	opt.History = -1
	change(t, opt, "b", 1)
	change(t, opt, "c", 1)
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past`); got != 0 {
		t.Errorf("got %d former versions, want none", got)
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.workspaces w WHERE w.forgotten = (SELECT max(at) FROM mayfly.objects)`); got != 1 {
		t.Errorf("got %d workspaces that say up to when versions may be missing, want 1", got)
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.operations`); got > 1 {
		t.Errorf("got %d operations, want at most the one of the last run", got)
	}
}

// lenient also reads states that are not encrypted.
type lenient struct{ reversing }

func (lenient) CheckPlain() error { return nil }

func (l lenient) DecryptState(stored []byte) ([]byte, *state.Meta, error) {
	if bytes.HasPrefix(stored, []byte("{")) {
		return stored, nil, nil
	}
	return l.reversing.DecryptState(stored)
}

// TestPastIsEncryptedAgain encrypts former versions as well when a state is.
func TestPastIsEncryptedAgain(t *testing.T) {
	opt := stock(t, 2)
	change(t, opt, "a", 0)
	opt.Cipher = lenient{}
	m := manager(t, open(t, opt))
	f, err := m.Read(t.Context())
	if err == nil {
		err = m.Write(t.Context(), f)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := count(t, opt, `SELECT count(*) FROM (SELECT sealed, body FROM mayfly.objects UNION ALL SELECT sealed, body FROM mayfly.past) r WHERE NOT sealed OR position('attributes' in encode(body, 'escape')) > 0`); got != 0 {
		t.Errorf("got %d rows that are not encrypted, want none", got)
	}
}

// TestMigrations brings tables of an older program up to date, while it has no claims, and keeps it from
// using them after that.
func TestMigrations(t *testing.T) {
	for version := 1; version < postgres.Versions; version++ {
		opt := postgres.Options{ConnString: server.Start(t).URL(0)}
		older, err := postgres.Older(opt, version)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(older.Close)
		held := manager(t, older)
		if _, err := older.Workspaces(t.Context()); err != nil {
			t.Fatal(err)
		}
		execute(t, opt, `INSERT INTO mayfly.workspaces (name) VALUES ('w')`)
		execute(t, opt, `INSERT INTO mayfly.runs (id, workspace, state, info, lease_until) SELECT gen_random_uuid(), id, 'claimed', '{}', clock_timestamp() + interval '1 hour' FROM mayfly.workspaces`)
		if _, err := open(t, opt).Workspaces(t.Context()); err == nil || !strings.Contains(err.Error(), "while runs use them") {
			t.Errorf("got the error %v of a migration while a run has claims, want it refused", err)
		}
		execute(t, opt, `UPDATE mayfly.runs SET state = 'ended'`)
		f := storetest.File(t, "l", 1, 0)
		f.State.SetObject(storetest.Address("a", 0), storetest.Object(t, "old"), storetest.Provider)
		m := manager(t, open(t, opt))
		if err := m.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if _, err := held.Lock(t.Context(), storetest.Info("older")); err == nil || !strings.Contains(err.Error(), "knows only") {
			t.Errorf("got the error %v of an older program that was connected before, want it refused", err)
		}
		again, err := postgres.Older(opt, version)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(again.Close)
		if _, err := manager(t, again).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "knows only") {
			t.Errorf("got the error %v of an older program, want it refused", err)
		}
		if got := count(t, opt, `SELECT count(*) FROM mayfly.runs WHERE state <> 'claimed' AND database_user IS NULL`); got != 1 {
			t.Errorf("got %d runs without a user of the database, want the one from before they had one", got)
		}
		if got := count(t, opt, `SELECT version FROM mayfly.meta`); got != postgres.Versions {
			t.Errorf("got the version %d of the tables, want %d", got, postgres.Versions)
		}
	}
}

// TestHistoryArgument reads durations.
func TestHistoryArgument(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "90d": 90 * 24 * time.Hour, "12h": 12 * time.Hour, "0": -1, "0d": -1} {
		if got, err := postgres.ParseHistory(text); err != nil || got != want {
			t.Errorf("ParseHistory(%q): got %v and the error %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"d", "-1h", "30 days", "1.5d", "99999999d"} {
		if got, err := postgres.ParseHistory(text); err == nil {
			t.Errorf("ParseHistory(%q): got %v, want an error", text, got)
		}
	}
}

// TestLeaseArgument reads durations within the bounds.
func TestLeaseArgument(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "30s": 30 * time.Second, "10m": 10 * time.Minute, "24h": 24 * time.Hour} {
		if got, err := postgres.ParseLease(text); err != nil || got != want {
			t.Errorf("ParseLease(%q): got %v and the error %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"1": "not a duration", "1d": "not a duration", "29s": `The least is "30s"`, "-5m": `The least is "30s"`, "25h": `the most "24h"`} {
		if got, err := postgres.ParseLease(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseLease(%q): got %v and the error %v, want an error with %q", text, got, err, want)
		}
	}
}
