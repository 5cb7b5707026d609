//go:build !mayfly_no_postgres

package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// unread returns the instances that were not read for an age.
func unread(t *testing.T, opt postgres.Options, age time.Duration) string {
	t.Helper()
	list, err := reader(t, opt).LastRead(t.Context(), age)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range list {
		out = append(out, a.String())
	}
	return strings.Join(out, " ")
}

// noteReads has a run that changes an object note reads, by the clock of the store. All rows are older.
func noteReads(t *testing.T, opt postgres.Options, who string, ago time.Duration, changed int, reads state.Reads) {
	t.Helper()
	execute(t, opt, `UPDATE mayfly.objects SET at = at - interval '1 hour'`)
	_, at, err := reader(t, opt).HashKey(t.Context())
	if err != nil || at.IsZero() {
		t.Fatalf("got the time %v and %v, want the one of the store", at, err)
	}
	reads.At = at.Add(-ago)
	r := planned(t, opt, who, []int{changed})
	r.begin()
	if err := r.update(changed); err != nil {
		t.Fatal(err)
	}
	r.Run.(state.ReadNoter).NoteReads(reads)
	r.end()
}

// TestLastRead knows when objects were read last: each alone, or all by one run. The time for all does not
// count for rows that others have written since.
func TestLastRead(t *testing.T) {
	opt := stock(t, 3)
	a := func(i int) addr.Instance { return storetest.Address("a", i).Instance }
	all := strings.Join([]string{a(0).String(), a(1).String(), a(2).String()}, " ")
	check := func(when string, age time.Duration, want string) {
		t.Helper()
		if got := unread(t, opt, age); got != want {
			t.Errorf("%s: got %q not read for %v, want %q", when, got, age, want)
		}
	}
	check("a state that was pushed", time.Hour, all)
	noteReads(t, opt, "A", 30*time.Minute, 0, state.Reads{})
	check("nothing read", time.Hour, all)
	noteReads(t, opt, "B", 30*time.Minute, 0, state.Reads{Instances: []addr.Instance{a(0), a(1), a(1), a(7)}})
	check("two read", time.Hour, a(2).String())
	check("two read", 10*time.Minute, all)
	noteReads(t, opt, "C", 50*time.Minute, 0, state.Reads{Instances: []addr.Instance{a(0)}})
	check("an older plan applied later", 40*time.Minute, a(2).String())
	noteReads(t, opt, "D", 5*time.Minute, 2, state.Reads{All: true})
	check("all read", 10*time.Minute, "")
	check("all read", time.Minute, all)
	if n := count(t, opt, `SELECT count(*) FROM mayfly.refreshed`); n != 0 {
		t.Errorf("got %d times of single objects, want none beside a newer one for all", n)
	}
	noteReads(t, opt, "E", 20*time.Minute, 2, state.Reads{All: true})
	check("an older plan of all applied later", 10*time.Minute, a(2).String())
	change(t, opt, "F", 1)
	check("an object that another run has written", 10*time.Minute, a(1).String()+" "+a(2).String())
	noteReads(t, opt, "G", 0, 0, state.Reads{Instances: []addr.Instance{a(1), a(2)}})
	noteReads(t, opt, "H", 0, 0, state.Reads{Instances: []addr.Instance{a(1)}})
	check("all but one", 4*time.Minute, a(0).String())
	execute(t, opt, `DELETE FROM mayfly.objects WHERE address = '`+a(1).String()+`'`)
	noteReads(t, opt, "I", 0, 0, state.Reads{Instances: []addr.Instance{a(1)}})
	if n := count(t, opt, `SELECT count(*) FROM mayfly.refreshed WHERE address = '`+a(1).String()+`'`); n != 0 {
		t.Errorf("got %d times of an object that is gone, want none", n)
	}
	execute(t, opt, `UPDATE mayfly.objects SET address = 'data.t.d' WHERE address = '`+a(0).String()+`'`)
	check("data", 4*time.Minute, "")
}

// TestLastReadFails reports what went wrong.
func TestLastReadFails(t *testing.T) {
	srv := server.Start(t)
	m := manager(t, open(t, postgres.Options{ConnString: srv.URL(0)})).(store.ChangeReader)
	srv.Stop("immediate")
	if _, err := m.LastRead(t.Context(), time.Hour); err == nil {
		t.Error("got no error without a server, want one")
	}
	if _, _, err := m.HashKey(t.Context()); err == nil {
		t.Error("got no key and no error without a server, want an error")
	}
}
