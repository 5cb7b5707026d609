package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/history"
	"github.com/mayfly-iac/mayfly/internal/testing/schematest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

var (
	began = time.Date(2030, 1, 2, 3, 4, 5, 0, time.Local)
	alice = store.LockInfo{ID: "0123456789abcdef", Operation: "OperationTypeApply", Who: "alice@host", DatabaseUser: "alice", Version: "1.0.0", Info: "why\x1b[2J", Job: "https://ci.example/7"}
	thing = func() addr.Object {
		i, err := addr.ParseInstance("test_thing.a[0]")
		if err != nil {
			panic(err)
		}
		return addr.Object{Instance: i}
	}()
)

// written returns the text that a function writes.
func written(t *testing.T, f func(*strings.Builder) error) string {
	t.Helper()
	var sb strings.Builder
	if err := f(&sb); err != nil {
		t.Fatal(err)
	}
	return sb.String()
}

// document checks a document by its schema.
func document(t *testing.T, schema string, doc []byte, err error) {
	t.Helper()
	if err == nil {
		err = schematest.Check(schema, doc)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestRuns(t *testing.T) {
	runs := []store.PastRun{{Info: alice, Status: store.RunEnded, Began: began, Ended: began.Add(time.Minute), Changes: 3}, {Info: store.LockInfo{ID: "x", Who: "bob@host", Operation: "state-mv"}, Status: store.RunRuns, Began: began}}
	want := `RUN       BEGAN                WHO         COMMAND   CHANGES  STATUS  NOTE
01234567  2030-01-02 03:04:05  alice@host  apply     3        ended   why\x1b[2J https://ci.example/7
x         2030-01-02 03:04:05  bob@host    state-mv  0        running
`
	if got := written(t, func(sb *strings.Builder) error { return history.Runs(sb, runs) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := history.RunsJSON(runs)
	document(t, "run-history", doc, err)
	doc, err = history.RunsJSON(nil)
	document(t, "run-history", doc, err)
}

func TestVersions(t *testing.T) {
	deposed := thing
	deposed.Deposed = "12345678"
	versions := []store.ObjectVersion{
		{Object: thing, From: began.Add(time.Hour), By: &alice, Until: began.Add(2 * time.Hour), Next: &alice, Last: true},
		{Object: deposed, From: began.Add(time.Hour), By: &alice, First: true},
		{Object: thing, From: began, First: true, Until: began.Add(time.Hour), Next: &alice},
	}
	want := `WHEN                 CHANGE   OBJECT    RUN       WHO         COMMAND  NOTE
2030-01-02 05:04:05  removed  current   01234567  alice@host  apply    why\x1b[2J https://ci.example/7
2030-01-02 04:04:05  changed  current   01234567  alice@host  apply    why\x1b[2J https://ci.example/7
2030-01-02 04:04:05  added    12345678  01234567  alice@host  apply    why\x1b[2J https://ci.example/7
2030-01-02 03:04:05  added    current   unknown
`
	if got := written(t, func(sb *strings.Builder) error { return history.Versions(sb, versions) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := history.VersionsJSON("test_thing.a[0]", versions)
	document(t, "object-history", doc, err)
}

// TestVersionsOfResults writes the versions of an output, which has no deposed objects.
func TestVersionsOfResults(t *testing.T) {
	versions := []store.ObjectVersion{{From: began, By: &store.LockInfo{ID: "x", Who: "bob@host", Operation: "apply"}, First: true}}
	want := `WHEN                 CHANGE  RUN  WHO       COMMAND  NOTE
2030-01-02 03:04:05  added   x    bob@host  apply
`
	if got := written(t, func(sb *strings.Builder) error { return history.Versions(sb, versions) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDatabaseUser shows the user of the database unless it is evidently the one that a run names.
func TestDatabaseUser(t *testing.T) {
	for _, c := range []struct{ who, user, want string }{
		{"alice@host", "", "alice@host"},
		{"alice@host", "alice", "alice@host"},
		{"alice", "alice", "alice"},
		{"alice@example.com@host", "alice@example.com", "alice@example.com@host"},
		{"alice@host", "bob", "alice@host (database user bob)"},
		{"alice@host", "host", "alice@host (database user host)"},
		{"alice@host", "b\x1bob", `alice@host (database user b\x1bob)`},
		{"", "bob", " (database user bob)"},
	} {
		info := store.LockInfo{ID: "x", Who: c.who, DatabaseUser: c.user, Operation: "apply"}
		want := c.want + " (apply), run x, runs since 2030-01-02 03:04:05, its lease lasts until 2030-01-02 03:04:05\n"
		active := []store.ActiveRun{{Info: info, Status: store.RunRuns, Began: began, LeaseUntil: began}}
		if got := written(t, func(sb *strings.Builder) error { return history.Active(sb, active) }); got != want {
			t.Errorf("Active(%q, %q): got %q, want %q", c.who, c.user, got, want)
		}
		if doc, err := history.ActiveJSON(active); err != nil || strings.Contains(string(doc), `"database_user"`) != (c.user != "") {
			t.Errorf("ActiveJSON(%q, %q): got %s and the error %v, want the user of the database", c.who, c.user, doc, err)
		}
		past := []store.PastRun{{Info: info, Status: store.RunEnded, Began: began}}
		if got := written(t, func(sb *strings.Builder) error { return history.Runs(sb, past) }); !strings.Contains(got, c.want+"  apply") {
			t.Errorf("Runs(%q, %q): got %q, want it to have %q", c.who, c.user, got, c.want)
		}
	}
}

func TestActive(t *testing.T) {
	until := began.Add(2 * time.Minute)
	claims := []store.ActiveClaim{{Subject: "test_thing.b", Mode: state.Shared}, {Subject: "the whole state", Mode: state.Intent}}
	for range 12 {
		claims = append(claims, store.ActiveClaim{Subject: "test_thing.a", Mode: state.Exclusive})
	}
	runs := []store.ActiveRun{
		{Info: alice, Status: store.RunRuns, Began: began, LeaseUntil: until, Claims: claims, Operations: []store.ActiveOperation{{Object: thing, Action: "update", Since: began}}, Openings: []state.Opening{{Instance: "ephemeral.x.y", Since: began}}},
		{Info: store.LockInfo{ID: "b", Who: "bob", Operation: "apply"}, Status: store.RunLapsed, Began: began, LeaseUntil: until, Operations: []store.ActiveOperation{{Object: thing, Action: "update", Since: began}}},
		{Info: store.LockInfo{ID: "c", Who: "carol", Operation: "apply"}, Status: store.RunLapsed, Began: began, LeaseUntil: until},
		{Info: store.LockInfo{ID: "d", Who: "dave", Operation: "apply"}, Status: store.RunWaits, Began: began, LeaseUntil: until},
	}
	want := `alice@host (apply), run 0123456789abcdef, runs since 2030-01-02 03:04:05, its lease lasts until 2030-01-02 03:06:05
  note: why\x1b[2J https://ci.example/7
  changes ` + strings.Repeat("test_thing.a, ", 9) + `test_thing.a and 2 more
  relies on test_thing.b
  has begun at 2030-01-02 03:04:05: test_thing.a[0] (update)
  has opened at 2030-01-02 03:04:05: ephemeral.x.y

bob (apply), run b, began at 2030-01-02 03:04:05, no sign of life; its lease has lapsed at 2030-01-02 03:06:05
  has begun at 2030-01-02 03:04:05: test_thing.a[0] (update)
  The objects of these operations may still be changing, so they stay claimed. If you are sure that the run
  does not run any more, free them:
    mayfly force-unlock b

carol (apply), run c, began at 2030-01-02 03:04:05, no sign of life; its claims have lapsed at 2030-01-02 03:06:05 and are free: nothing has to be done

dave (apply), run d, waits for its claims since 2030-01-02 03:04:05
`
	if got := written(t, func(sb *strings.Builder) error { return history.Active(sb, runs) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := history.ActiveJSON(runs)
	document(t, "active-runs", doc, err)
}
