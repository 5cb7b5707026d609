//go:build !mayfly_no_postgres

package postgres_test

import (
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// stopping lets a transaction that folds runs wait at its end until public.released is used.
const stopping = `CREATE SEQUENCE public.arrived;
CREATE SEQUENCE public.released;
CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	PERFORM nextval('public.arrived');
	WHILE NOT (SELECT is_called FROM public.released) LOOP PERFORM pg_sleep(0.01); END LOOP;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER wait AFTER UPDATE OF folded_by ON mayfly.runs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wait()`

// TestFoldingIsRepeated loses the answer to the transaction in which a run claims and finds the traces of one
// before. It finds them once more.
func TestFoldingIsRepeated(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0)}
	fill(t, opt, 2)
	dead := planned(t, opt, "dead", []int{0, 1})
	dead.scope.Claims.Add(state.InstanceSubject(storetest.Address("a", 5).Instance), state.Exclusive)
	dead.begin()
	if err := dead.update(1); err != nil {
		t.Fatal(err)
	}
	if _, err := dead.Begin(storetest.Address("a", 5), "create"); err != nil {
		t.Fatal(err)
	}
	if err := store.ForceUnlock(t.Context(), manager(t, open(t, opt)), "id-dead"); err != nil {
		t.Fatal(err)
	}
	serial := planned(t, opt, "before", nil).base.Serial
	db := connect(t, opt.ConnString)
	if _, err := db.ExecContext(t.Context(), stopping); err != nil {
		t.Fatal(err)
	}
	p := tcpproxy.Start(t, s.Port)
	next := planned(t, postgres.Options{ConnString: s.URL(p.Port)}, "next", []int{0})
	claimed := make(chan error, 1)
	go func() { claimed <- next.claim(0) }()
	for arrived, deadline := false, time.Now().Add(time.Minute); !arrived; time.Sleep(5 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), `SELECT is_called FROM public.arrived`).Scan(&arrived); err != nil || time.Now().After(deadline) {
			t.Fatalf("got no transaction that folds runs (%v), want one", err)
		}
	}
	p.Break(tcpproxy.Cut{Direction: tcpproxy.ToClient})
	if _, err := db.ExecContext(t.Context(), `SELECT nextval('public.released')`); err != nil {
		t.Fatal(err)
	}
	if err := <-claimed; err != nil {
		t.Fatal(err)
	}
	if p.Pending() {
		t.Error("got all answers, want the one to the transaction to be lost")
	}
	if r := store.RecoveredBy(next.Manager); r == nil || r.Changes != 1 || len(r.Unfinished) != 1 {
		t.Errorf("got %+v, want the change and the operation of the freed run", r)
	}
	if got := planned(t, opt, "after", nil).base.Serial; got != serial {
		t.Errorf("got the serial %d, want %d: the changes counted before", got, serial)
	}
}

// pausing lets the transaction of the first claim wait at its end until public.released is used.
const pausing = `CREATE SEQUENCE public.arrived;
CREATE SEQUENCE public.released;
CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF nextval('public.arrived') > 1 THEN RETURN NULL; END IF;
	WHILE NOT (SELECT is_called FROM public.released) LOOP PERFORM pg_sleep(0.01); END LOOP;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON mayfly.runs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wait()`

// TestClaimIsRepeatedLate loses the answer to a claim, and the connection for longer than the lease. Another
// run finds the first one without a sign of life. It claims again, and its claims last as long as its lease.
func TestClaimIsRepeatedLate(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0)}
	fill(t, opt, 2)
	db := connect(t, opt.ConnString)
	p := tcpproxy.Start(t, s.Port)
	late, other := planned(t, postgres.Options{ConnString: s.URL(p.Port)}, "late", []int{0}), planned(t, opt, "other", []int{1})
	if _, err := db.ExecContext(t.Context(), pausing); err != nil {
		t.Fatal(err)
	}
	claimed := make(chan error, 1)
	go func() { claimed <- late.claim(0) }()
	for arrived, deadline := false, time.Now().Add(time.Minute); !arrived; time.Sleep(5 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), `SELECT is_called FROM public.arrived`).Scan(&arrived); err != nil || time.Now().After(deadline) {
			t.Fatalf("got no transaction that claims (%v), want one", err)
		}
	}
	p.Break(tcpproxy.Cut{Direction: tcpproxy.ToClient, Do: func() { p.Freeze(2 * time.Second) }})
	if _, err := db.ExecContext(t.Context(), `SELECT nextval('public.released')`); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); count(t, opt, `SELECT count(*) FROM mayfly.runs WHERE state = 'claimed'`) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got no run with claims, want one")
		}
	}
	lapse(t, opt.ConnString)
	isFresh(t, other)
	if n := count(t, opt, `SELECT count(*) FROM mayfly.runs WHERE state = 'lapsed' AND folded_by IS NOT NULL`); n != 1 {
		t.Fatalf("got %d runs without a sign of life, want 1", n)
	}
	if err := <-claimed; err != nil {
		t.Fatal(err)
	}
	if n := count(t, opt, `SELECT count(*) FROM mayfly.runs WHERE state = 'claimed'`); n != 1 {
		t.Errorf("got %d runs with claims, want 1", n)
	}
	lapse(t, opt.ConnString)
	isFresh(t, planned(t, opt, "next", []int{0}))
}
