//go:build !mayfly_no_postgres

package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// behind stores a state with the objects a[0] to a[n-1], and returns its place behind a proxy.
func behind(t *testing.T, n int) (postgres.Options, *tcpproxy.Proxy) {
	t.Helper()
	s := server.Start(t)
	fill(t, postgres.Options{ConnString: s.URL(0)}, n)
	p := tcpproxy.Start(t, s.Port)
	return postgres.Options{ConnString: s.URL(p.Port)}, p
}

// TestCosts counts the round trips of a run, which docs/adr/040-postgres.md lists.
func TestCosts(t *testing.T) {
	opt, proxy := behind(t, 20)
	var before tcpproxy.Counts
	trips := func(part string, want int64, f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		now := proxy.Counts()
		got := now.RoundTrips - before.RoundTrips
		t.Logf("%s: %d round trips, %d bytes to the server, %d bytes back", part, got, now.Bytes[0]-before.Bytes[0], now.Bytes[1]-before.Bytes[1])
		if got != want {
			t.Errorf("%s: got %d round trips, want %d", part, got, want)
		}
		before = now
	}
	m := manager(t, open(t, opt))
	var r *run
	trips("connect and plan", 13, func() error {
		_, err := m.Read(t.Context())
		return err
	})
	trips("plan", 10, func() (err error) {
		r = &run{Manager: m, t: t, who: "one"}
		r.base, err = m.Read(t.Context())
		return err
	})
	r.scope = scopeOf(r.base, []int{0, 1, 2}, 3)
	trips("claim and compare", 18, func() error { return r.claim(0) })
	trips("begin", 5, func() (err error) {
		r.Run, err = r.BeginRun(t.Context(), r.base, "1.0.0")
		return err
	})
	trips("a step", 2, func() error { return r.update(0) })
	trips("a step, with both statements prepared", 4, func() error { return r.update(1) })
	trips("a step", 2, func() error { return r.update(2) })
	trips("end", 15, func() error {
		_, err := r.End(t.Context())
		return err
	})
	trips("give back", 4, func() error { return r.Unlock(t.Context(), r.id) })
}

// TestOneConnection claims without a pooler in between: no second connection finds that out.
func TestOneConnection(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	fill(t, opt, 1)
	s := open(t, opt)
	r := &run{Manager: manager(t, s), t: t, who: "one"}
	var err error
	if r.base, err = r.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.scope = scopeOf(r.base, []int{0})
	if err := r.claim(0); err != nil {
		t.Fatal(err)
	}
	if got := postgres.Connections(s); got != 1 {
		t.Errorf("got %d connections, want 1", got)
	}
}

// TestCostOfFormerRuns has runs claim, end, be refused, and find one that has lapsed, where there were many
// runs before. They look at none of those.
func TestCostOfFormerRuns(t *testing.T) {
	const former = 20000
	opt := stock(t, 3)
	db := connect(t, opt.ConnString)
	do := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	do(fmt.Sprintf(`INSERT INTO mayfly.runs (id, workspace, state, info, folded_by, lease_until, ended)
		SELECT gen_random_uuid(), w.id, 'ended', '{}', gen_random_uuid(), now(), now() FROM mayfly.workspaces w, generate_series(1, %d)`, former))
	do(`VACUUM ANALYZE mayfly.runs`)
	passed := func() (rows int64) { // by sessions that have ended
		if err := db.QueryRowContext(t.Context(), `SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'runs'`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	before := passed()
	var stores []*postgres.Store
	claiming := func(who string) *run {
		s, err := postgres.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
		r := &run{Manager: manager(t, s), t: t, who: who}
		if r.base, err = r.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.scope = scopeOf(r.base, []int{0})
		return r
	}
	one, stale := claiming("one"), claiming("stale")
	one.begin()
	if err := one.update(0); err != nil {
		t.Fatal(err)
	}
	one.end()
	if err := stale.claim(0); err == nil {
		t.Error("got no error, want the plan to be stale")
	}
	lapsed := claiming("lapsed")
	lapsed.begin()
	do(`UPDATE mayfly.runs SET lease_until = now() WHERE state = 'claimed' AND folded_by IS NULL`)
	last := claiming("last")
	last.begin()
	last.end()
	for _, s := range stores {
		s.Close()
	}
	rows := passed()
	for deadline := time.Now().Add(5 * time.Second); rows == before && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		rows = passed()
	}
	if rows -= before; rows == 0 || rows > former/10 {
		t.Errorf("got %d rows of runs that were looked at, want less than %d", rows, former/10)
	}
}

// TestCostOfEnd has a run end beside another one that has changed, removed, made and deposed objects: the run
// gets the state as it is then, and reads the objects that have changed alone.
func TestCostOfEnd(t *testing.T) {
	const n = 1000
	opt, proxy := behind(t, n)
	one, two := planned(t, opt, "one", []int{0}), planned(t, opt, "two", []int{1, 2, 3, n})
	before := proxy.Counts()
	if _, err := one.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, _ := passed(before, proxy.Counts())
	one.begin()
	two.begin()
	deposed := storetest.Address("a", 3)
	deposed.Deposed = "00000001"
	for _, c := range []state.ObjectChange{
		{Object: storetest.Address("a", 1), New: storetest.Object(t, "new")},
		{Object: storetest.Address("a", 2)},
		{Object: storetest.Address("a", n), New: storetest.Object(t, "made")},
		{Object: deposed, New: storetest.Object(t, "deposed")},
	} {
		c.Provider = storetest.Provider
		id, err := two.Begin(c.Object, "update")
		if err == nil {
			err = two.Commit(id, c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	two.end()
	if err := one.update(0); err != nil {
		t.Fatal(err)
	}
	before = proxy.Counts()
	got := one.end()
	again, _ := passed(before, proxy.Counts())
	want, err := manager(t, open(t, opt)).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !got.State.Equal(want.State) {
		t.Errorf("the state at the end: got %v, want %v", instances(got.State), instances(want.State))
	}
	if count := len(instances(got.State)); count != n {
		t.Errorf("instances at the end: got %d, want %d", count, n)
	}
	t.Logf("the whole state has %d bytes, and the end reads %d", whole, again)
	if again > whole/3 {
		t.Errorf("bytes at the end: got %d, want at most a third of %d", again, whole)
	}
}
