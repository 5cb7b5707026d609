//go:build !mayfly_no_postgres

package postgres_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestLimitOfOneConnection has a user with one connection carry out a run whose requests come at the same
// time. They take turns on it.
func TestLimitOfOneConnection(t *testing.T) {
	const objects = 6
	s := server.Start(t)
	for _, statement := range []string{"CREATE ROLE single LOGIN CONNECTION LIMIT 1", "GRANT CREATE ON DATABASE postgres TO single"} {
		if _, err := s.Query(statement); err != nil {
			t.Fatal(err)
		}
	}
	opt := postgres.Options{ConnString: strings.Replace(s.URL(0), "test@", "single@", 1)}
	st := open(t, opt)
	m := manager(t, st)
	f := storetest.File(t, "l", 1, 0)
	var all []int
	for i := range objects {
		all = append(all, i)
		f.State.SetObject(storetest.Address("a", i), storetest.Object(t, "old"), storetest.Provider)
	}
	if err := m.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	base, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Manager: m, t: t, who: "one", base: base, scope: scopeOf(base, all)}
	r.begin()
	held, ready := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		err := postgres.Transact(t.Context(), st, func(exec func(string, ...any) error) error {
			close(ready)
			<-held
			return exec(`SELECT 1`)
		})
		if err != nil {
			t.Errorf("the transaction that uses the connection: %v", err)
		}
	})
	<-ready
	for _, i := range all {
		group.Go(func() {
			if err := r.update(i); err != nil {
				t.Errorf("the change %d: %v", i, err)
			}
		})
	}
	for deadline := time.Now().Add(time.Minute); postgres.MostConnections(st) != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("got at most %d connections, want 1", postgres.MostConnections(st))
			break
		}
	}
	close(held)
	group.Wait()
	r.end()
	st.Close()
	for i, text := range texts(t, postgres.Options{ConnString: s.URL(0)}, objects) {
		if !strings.Contains(text, "one") {
			t.Errorf("got %s of the object %d, want the result", text, i)
		}
	}
}

// TestPoolOfOne refuses a run before it changes anything if a pooler gives it one connection.
func TestPoolOfOne(t *testing.T) {
	s := server.Start(t)
	direct := postgres.Options{ConnString: s.URL(0)}
	fill(t, direct, 1)
	st := open(t, postgres.Options{ConnString: s.URL(s.Pool(t, "session", "default_pool_size = 1"))})
	postgres.Hasten(st, 500*time.Millisecond)
	m := manager(t, st)
	base, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Manager: m, t: t, who: "one", base: base, scope: scopeOf(base, []int{0})}
	if err := r.claim(0); err == nil || !strings.Contains(err.Error(), "no second connection in time") {
		t.Errorf("got %v, want an error that says how to allow more connections", err)
	}
	if got := count(t, direct, `SELECT count(*) FROM mayfly.claims`); got != 0 {
		t.Errorf("got %d claims, want none", got)
	}
}

// TestLongAddresses claims, changes and replaces objects with addresses about as long as an index row of the
// server can be. What cannot be stored in all tables is refused at the claim.
func TestLongAddresses(t *testing.T) {
	opt := stock(t, 1)
	db := connect(t, opt.ConnString)
	random := make([]byte, 1400)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	// Random hexadecimal digits cannot be compressed by the server, which looks for repeated bytes.
	text := hex.EncodeToString(random)
	worked, refused := 0, 0
	for n := 2560; n <= 2680; n += 6 {
		i := storetest.Address("a", 0).Instance
		i.Key = addr.StringKey(text[:n])
		m := manager(t, open(t, opt))
		base, err := m.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := &run{Manager: m, t: t, who: fmt.Sprint("run", n), base: base, scope: plan.Scope(&plan.Plan{Changes: []*plan.Change{{Addr: i, Action: plan.Create}}}, plan.ScopeOptions{Stored: base.State})}
		if err := r.claim(0); err != nil {
			refused++
			if !strings.Contains(err.Error(), "shorter key") {
				t.Errorf("%d bytes: got %v, want advice on the key", n, err)
			}
			continue
		}
		worked++
		if r.Run, err = r.BeginRun(t.Context(), r.base, "1.0.0"); err != nil {
			t.Fatal(err)
		}
		for _, o := range []addr.Object{{Instance: i}, {Instance: i}, {Instance: i, Deposed: "01234567"}, {Instance: i, Deposed: "01234567"}} {
			id, err := r.Begin(o, "update")
			if err == nil {
				err = r.Commit(id, state.ObjectChange{Object: o, Provider: storetest.Provider, New: storetest.Object(t, fmt.Sprint(id))})
			}
			if err != nil {
				t.Fatalf("%d bytes: got %v, want no error after the claim", n, err)
			}
		}
		r.end()
	}
	if worked == 0 || refused == 0 {
		t.Errorf("got %d lengths that work and %d that are refused, want both", worked, refused)
	}
	var rows int
	if err := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM mayfly.late) + (SELECT count(*) FROM mayfly.claims)`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("got %d late results and claims (%v), want none", rows, err)
	}
}
