package histories

import (
	"database/sql"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestCrossedSets has runs on two machines change one block each, at the same time, which is made of all
// instances of the other one. It takes intents to exclude that. Random histories seldom have it: as soon as
// the blocks are made of each other in the state, runs also bring the records of the other block up to date,
// and claim its instances for that.
func TestCrossedSets(t *testing.T) {
	s := server.Start(t)
	db := opened(t, s)
	for i := range 6 {
		kind := []int{counted, nested}[i%2]
		t.Run(fmt.Sprintf("kind %d round %d", kind, i/2), func(t *testing.T) {
			r := mathrand.New(mathrand.NewPCG(uint64(i), 2))
			h := &history{
				t: t, server: s, db: db, workspace: fmt.Sprint("crossed", i), lease: 10 * time.Second, w: newWorld(t), freed: map[string]bool{},
				shape: shape{blocks: []block{{kind: kind}, {kind: kind}}}, crossed: []int{0, 1}, plain: true,
			}
			var err error
			if h.store, err = postgres.New(postgres.Options{ConnString: s.URL(0), Lease: h.lease}); err != nil {
				t.Fatal(err)
			}
			machines := make([][]*run, 2)
			m := &meeting{arrived: map[*run]bool{}, wanted: len(machines), all: make(chan struct{})}
			for i := range machines {
				one := h.newRun(r, 2+len(h.runs), i)
				one.meeting, one.failing = m, 0
				h.runs, machines[i] = append(h.runs, one), append(machines[i], one)
			}
			h.carryOutAll(machines, &restarts{})
		})
	}
}

func opened(t *testing.T, s *server.Server) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", s.URL(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// claimed is a run with claims on a state that has the objects a[0] and a[1].
type claimed struct {
	several
	state.Run
	id string
}

// claims returns a run that has claimed instances.
func claims(t *testing.T, url string, objects ...addr.Object) *claimed {
	t.Helper()
	s, err := postgres.New(postgres.Options{ConnString: url, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	c := &claimed{several: m.(several)}
	base, err := c.Read(t.Context())
	if err == nil && base == nil {
		base = storetest.File(t, "l", 1, 0)
		for i := range 2 {
			base.State.SetObject(storetest.Address("a", i), storetest.Object(t, "old"), storetest.Provider)
		}
		err = c.Write(t.Context(), base)
	}
	if err != nil {
		t.Fatal(err)
	}
	scope := &state.Scope{Claims: state.Claims{{Kind: state.WholeState}: state.Intent}}
	for _, o := range objects {
		scope.Claims.Add(state.InstanceSubject(o.Instance), state.Exclusive)
	}
	held, err := c.Claim(t.Context(), scope, storetest.Info("run"), false)
	if err == nil {
		c.id = held.ID
		c.Run, err = c.BeginRun(t.Context(), base, "1.0.0")
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// step carries out an operation.
func (c *claimed) step(t *testing.T, action string, changes ...state.ObjectChange) {
	t.Helper()
	id, err := c.Begin(changes[0].Object, action)
	if err == nil {
		err = c.Commit(id, changes...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func becomes(t *testing.T, o addr.Object, text string) state.ObjectChange {
	return state.ObjectChange{Object: o, Provider: storetest.Provider, New: storetest.Object(t, text)}
}

// text returns the stored object; "" for none.
func text(t *testing.T, url string, o addr.Object) string {
	t.Helper()
	f, err := claims(t, url).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found := f.State.Object(o); found != nil {
		return string(found.JSON())
	}
	return ""
}

// TestLateBatch has the result of a step arrive once more after a later step has changed the object again, as
// a router delivers it that has held it up. Only the numbers of batches tell that it is old.
func TestLateBatch(t *testing.T) {
	s := server.Start(t)
	for late := 300 * time.Millisecond; !lateBatch(t, s, late); late *= 3 {
		if late > 10*time.Second {
			t.Fatal("the steps of a run take too long for this test")
		}
	}
}

// lateBatch has the result arrive so much later. It returns false if the machine was slower than that.
func lateBatch(t *testing.T, s *server.Server, late time.Duration) bool {
	t.Helper()
	a := storetest.Address("a", 0)
	p := tcpproxy.Start(t, s.Port)
	c := claims(t, s.URL(p.Port), a)
	id, err := c.Begin(a, "delete")
	if err != nil {
		t.Fatal(err)
	}
	p.Break(tcpproxy.Cut{Direction: tcpproxy.ToServer, Late: late})
	began := time.Now()
	if err := c.Commit(id, state.ObjectChange{Object: a}); err != nil {
		t.Fatal(err)
	}
	c.step(t, "create", becomes(t, a, "created"))
	if p.Pending() || time.Since(began) > late {
		_, err := c.End(t.Context())
		if err == nil {
			err = c.Unlock(t.Context(), c.id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return false
	}
	time.Sleep(2*late - time.Since(began))
	if got := text(t, s.URL(0), a); !strings.Contains(got, "created") {
		t.Errorf("got the object %q, want the one of the second step", got)
	}
	return true
}

// TestLapsedMove has the result of a lapsed run arrive that takes an object out of a place which another run
// has filled since. Only the object of the operation was still claimed.
func TestLapsedMove(t *testing.T) {
	s := server.Start(t)
	from, to := storetest.Address("a", 0), storetest.Address("b", 0)
	lapsed := claims(t, s.URL(0), from, to)
	id, err := lapsed.Begin(to, "update")
	if err == nil {
		_, err = opened(t, s).Exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state = 'claimed'`)
	}
	if err != nil {
		t.Fatal(err)
	}
	next := claims(t, s.URL(0), from)
	next.step(t, "update", becomes(t, from, "next"))
	err = lapsed.Commit(id, state.ObjectChange{Object: from}, becomes(t, to, "moved"))
	if !errors.Is(err, store.ErrLockLost) {
		t.Errorf("committing the move: got %v, want %v", err, store.ErrLockLost)
	}
	if got := text(t, s.URL(0), from); !strings.Contains(got, "next") {
		t.Errorf("got the object %q in the old place, want the one of the next run", got)
	}
	if got := text(t, s.URL(0), to); !strings.Contains(got, "moved") {
		t.Errorf("got the object %q in the new place, want the one of the lapsed run", got)
	}
}
