//go:build !mayfly_no_postgres

package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func manager(t *testing.T, s store.Store) store.Manager {
	t.Helper()
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// begin locks the state and begins a run, which has committed one object.
func begin(t *testing.T, m store.Manager, who string) state.Run {
	t.Helper()
	if _, err := m.Lock(t.Context(), storetest.Info(who)); err != nil {
		t.Fatal(err)
	}
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		f = storetest.File(t, "l", 0, 0)
	}
	r, err := m.BeginRun(t.Context(), f, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(storetest.Address(who, 0), "create")
	if err == nil {
		err = r.Commit(id, state.ObjectChange{Object: storetest.Address(who, 0), Provider: storetest.Provider, New: storetest.Object(t, who)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lapse makes the leases of all runs lapse, as if nothing had been heard from them.
func lapse(t *testing.T, url string) {
	t.Helper()
	if _, err := connect(t, url).ExecContext(t.Context(), `UPDATE mayfly.runs SET lease_until = clock_timestamp() - interval '1 s' WHERE state = 'claimed'`); err != nil {
		t.Fatal(err)
	}
}

// TestLapsed lets the lease of a run lapse that has nothing under way: the next run takes over and finds its
// result, and the first begins and stores nothing any more.
func TestLapsed(t *testing.T) {
	url := server.Start(t).URL(0)
	a, b := manager(t, open(t, postgres.Options{ConnString: url})), manager(t, open(t, postgres.Options{ConnString: url}))
	first := begin(t, a, "a")
	lapse(t, url)
	if _, err := first.Begin(storetest.Address("a", 1), "create"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("beginning after the lease: got %v, want %v", err, store.ErrLockLost)
	}
	second := begin(t, b, "b")
	r := store.RecoveredBy(b)
	if r == nil || !r.Saved || r.Changes != 1 || len(r.Unfinished) != 0 {
		t.Errorf("recovered: got %+v, want 1 change", r)
	}
	first.Put(state.ObjectChange{Object: storetest.Address("a", 2), Provider: storetest.Provider, New: storetest.Object(t, "late")})
	if _, err := first.End(t.Context()); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("ending after another run has taken over: got %v, want %v", err, store.ErrLockLost)
	}
	f, err := second.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := manager(t, open(t, postgres.Options{ConnString: url})).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !state.Unchanged(f, got) || got.State.Object(storetest.Address("a", 0)) == nil || got.State.Object(storetest.Address("a", 2)) != nil || got.Serial != 2 {
		t.Errorf("got the serial %d and the objects %v, want 2 and those of both runs", got.Serial, got.State.Managed())
	}
}

// TestLapsedInOperation lets the lease of a run lapse in the middle of an operation. Its object may still be
// changing, so only a person can free the state; until then, the result is accepted.
func TestLapsedInOperation(t *testing.T) {
	url := server.Start(t).URL(0)
	opt := postgres.Options{ConnString: url}
	a, b := manager(t, open(t, opt)), manager(t, open(t, opt))
	first := begin(t, a, "a")
	var ids []uint64
	for i := range 2 {
		id, err := first.Begin(storetest.Address("a", 1+i), "update")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	lapse(t, url)
	_, err := b.Lock(t.Context(), storetest.Info("b"))
	var held *store.LockError
	if !errors.As(err, &held) || !strings.Contains(err.Error(), "test_thing.a[1] (update)") {
		t.Errorf("locking while operations are under way: got %v, want the operations", err)
	}
	result := func(i int) state.ObjectChange {
		return state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, "result")}
	}
	if err := first.Commit(ids[0], result(1)); err != nil {
		t.Errorf("a result after the lease, which no other run can be in the way of: got %v, want no error", err)
	}
	if err := store.CheckUnlock(t.Context(), b, "another"); !errors.As(err, &held) {
		t.Errorf("checking a wrong ID: got %v, want a LockError", err)
	}
	if err := errors.Join(store.CheckUnlock(t.Context(), b, "id-a"), store.ForceUnlock(t.Context(), b, "id-a")); err != nil {
		t.Fatal(err)
	}
	if err := store.ForceUnlock(t.Context(), b, "id-a"); !errors.Is(err, store.ErrNotLocked) {
		t.Errorf("unlocking twice: got %v, want %v", err, store.ErrNotLocked)
	}
	second := begin(t, b, "b")
	r := store.RecoveredBy(b)
	if r == nil || r.Changes != 2 || len(r.Unfinished) != 1 || r.Unfinished[0].Object != storetest.Address("a", 2) {
		t.Errorf("recovered: got %+v, want 2 changes and 1 operation", r)
	}
	if err := first.Commit(ids[1], result(2)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("a result after force-unlock: got %v, want %v", err, store.ErrLockLost)
	}
	f, err := second.End(t.Context())
	if err != nil || len(f.State.Managed()) != 3 {
		t.Errorf("the next run leaves: got %v and %v, want 3 objects", f.State.Managed(), err)
	}
}

// TestHeartbeat gives a run more time than its lease.
func TestHeartbeat(t *testing.T) {
	url := server.Start(t).URL(0)
	opt := postgres.Options{ConnString: url, Lease: 2 * time.Second} // a busy machine may take one for a renewal
	r := begin(t, manager(t, open(t, opt)), "a")
	db := connect(t, url)
	lease := func() (until time.Time) {
		if err := db.QueryRowContext(t.Context(), `SELECT lease_until FROM mayfly.runs`).Scan(&until); err != nil {
			t.Fatal(err)
		}
		return until
	}
	for first, deadline := lease(), time.Now().Add(20*time.Second); lease().Before(first.Add(opt.Lease)); {
		if time.Now().After(deadline) {
			t.Fatal("the lease is not renewed")
		}
	}
	if _, err := r.Begin(storetest.Address("a", 1), "create"); err != nil {
		t.Error(err)
	}
}

// TestEncryption looks for the text of an object, an output and an operation in all that the server has.
func TestEncryption(t *testing.T) {
	s := server.Start(t)
	s.LogStatements()
	opt := postgres.Options{ConnString: s.URL(0), Cipher: reversing{}}
	m := manager(t, open(t, opt))
	r := begin(t, m, "canary-in-clear")
	r.Put(state.ObjectChange{Object: storetest.Address("a", 1), Provider: storetest.Provider, New: storetest.Object(t, "canary-put")})
	r.PutOutput("o", output(t, "canary-output"))
	want, err := r.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := manager(t, open(t, opt)).Read(t.Context())
	if err != nil || !state.Unchanged(want, got) {
		t.Fatalf("got %v (%v), want the state as it was stored", got, err)
	}
	stored, err := s.Contents()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"canary-put", "canary-output"} {
		if bytes.Contains(stored, []byte(secret)) || bytes.Contains(stored, []byte(fmt.Sprintf("%x", secret))) {
			t.Errorf("got a database with %s in clear, want it encrypted", secret)
		}
	}
	if !bytes.Contains(stored, []byte("canary-in-clear")) {
		t.Error("the search does not find the address of an object")
	}
	if _, err := manager(t, open(t, postgres.Options{ConnString: s.URL(0)})).Read(t.Context()); err == nil {
		t.Error("the state is read without the key")
	}
}

// reversing is a cipher for tests.
type reversing struct{}

func (reversing) Seal(plain []byte) ([]byte, error) {
	b := append(slices.Clone(plain), "sealed"...)
	slices.Reverse(b)
	return b, nil
}

func (reversing) Unseal(sealed []byte) ([]byte, error) {
	b := slices.Clone(sealed)
	slices.Reverse(b)
	plain, ok := bytes.CutSuffix(b, []byte("sealed"))
	if !ok {
		return nil, errors.New("not sealed")
	}
	return plain, nil
}

func (reversing) CheckPlain() error { return errors.New("not encrypted") }

func (r reversing) EncryptState(plain []byte, _ state.Meta) ([]byte, error) { return r.Seal(plain) }

func (r reversing) DecryptState(stored []byte) ([]byte, *state.Meta, error) {
	plain, err := r.Unseal(stored)
	return plain, nil, err
}

// TestNewerTables refuses tables of a version that this program does not know.
func TestNewerTables(t *testing.T) {
	url := server.Start(t).URL(0)
	begin(t, manager(t, open(t, postgres.Options{ConnString: url})), "a")
	if _, err := connect(t, url).ExecContext(t.Context(), `UPDATE mayfly.meta SET version = 99`); err != nil {
		t.Fatal(err)
	}
	if _, err := manager(t, open(t, postgres.Options{ConnString: url})).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("reading tables of a newer version: got %v, want the version", err)
	}
}

// TestRestart restarts the server, as if it had crashed, while a run is at work.
func TestRestart(t *testing.T) {
	s := server.Start(t)
	m := manager(t, open(t, postgres.Options{ConnString: s.URL(0)}))
	r := begin(t, m, "a")
	s.Stop("immediate")
	done := make(chan error, 1)
	go func() {
		id, err := r.Begin(storetest.Address("a", 1), "create")
		if err == nil {
			err = r.Commit(id, state.ObjectChange{Object: storetest.Address("a", 1), Provider: storetest.Provider, New: storetest.Object(t, "x")})
		}
		done <- err
	}()
	s.Run()
	if err := <-done; err != nil {
		t.Fatalf("an operation during a restart of the server: %v", err)
	}
	f, err := r.End(context.WithoutCancel(t.Context()))
	if err != nil || len(f.State.Managed()) != 2 {
		t.Errorf("the run leaves: got %v and %v, want 2 objects", f.State.Managed(), err)
	}
}

func TestCuts(t *testing.T) {
	s := server.Start(t)
	in := func(address, database string) string {
		return strings.Replace(server.URLAt(address), "/postgres?", "/"+database+"?", 1)
	}
	create := func(t *testing.T, database, template string) {
		t.Helper()
		execute(t, postgres.Options{ConnString: s.URL(0)}, "CREATE DATABASE "+database+" TEMPLATE "+template)
	}
	create(t, "migrated", "template0")
	first, err := postgres.New(postgres.Options{ConnString: in(s.Address(), "migrated")})
	if err == nil {
		_, err = first.Workspaces(t.Context())
		first.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunCuts(t, storetest.Remote{
		Server: func(t *testing.T, place string) string {
			create(t, place, "migrated")
			return s.Address()
		},
		Open: func(t *testing.T, place, address string) store.Store {
			return open(t, postgres.Options{ConnString: in(address, place)})
		},
	})
}

// TestCutMigrations cuts the connection at some messages of the first use, which makes the tables. The next
// use finds them, or makes them.
func TestCutMigrations(t *testing.T) {
	s := server.Start(t)
	use := func(place, address string) error {
		_, err := open(t, postgres.Options{ConnString: server.URLAt(address), Schema: place}).Workspaces(t.Context())
		return err
	}
	whole := storetest.NewProxy(t, s.Address(), 0, storetest.NoCut)
	if err := use("whole", whole.Addr); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		n, cut := 1+rand.IntN(whole.Messages()), []storetest.Cut{storetest.Before, storetest.After, storetest.Late, storetest.Twice}[i%4]
		place := fmt.Sprint("cut", i)
		first := use(place, storetest.NewProxy(t, s.Address(), n, cut).Addr)
		if err := use(place, s.Address()); err != nil {
			t.Errorf("cut %v at the message %d, and then %v: got %v from the next use, want none", cut, n, first, err)
		}
	}
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return server.Start(t).URL(0) },
		func(t *testing.T, place string) store.Store { return open(t, postgres.Options{ConnString: place}) })
}

// TestProblems reports mistakes in words that help, and shows no password.
func TestProblems(t *testing.T) {
	s := server.Start(t)
	for name, test := range map[string]struct{ conn, want string }{
		"no database": {strings.Replace(s.URL(0), "/postgres?", "/nope?", 1), "Create the database"},
		"not a URL":   {"postgres://test:hunter2@[::1", "connection string"},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := postgres.New(postgres.Options{ConnString: test.conn})
			if err == nil {
				defer st.Close()
				_, err = manager(t, st).Read(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

// TestDeleteLocked deletes a workspace that a run of another store has claimed, which is refused. One that a
// run of the same store has claimed can be deleted: that is how commands delete one.
func TestDeleteLocked(t *testing.T) {
	url := server.Start(t).URL(0)
	own, other := open(t, postgres.Options{ConnString: url}), open(t, postgres.Options{ConnString: url})
	m, err := own.Manager("w")
	if err == nil {
		_, err = m.Lock(t.Context(), storetest.Info("a"))
	}
	if err != nil {
		t.Fatal(err)
	}
	var held *store.LockError
	if err := other.DeleteWorkspace(t.Context(), "w", true); !errors.As(err, &held) {
		t.Errorf("deleting a workspace that another run has locked: got %v, want a LockError", err)
	}
	if err := errors.Join(own.DeleteWorkspace(t.Context(), "w", false), m.Unlock(t.Context(), "id-a")); err != nil {
		t.Error(err)
	}
}

// TestVersions requires a new version of an object for each operation on it, and the same one otherwise.
func TestVersions(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	versions := func() (out [2]state.Version) {
		f, err := manager(t, open(t, opt)).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			if o := f.State.Object(storetest.Address("a", i)); o != nil {
				out[i] = o.Version
			}
		}
		return out
	}
	m := manager(t, open(t, opt))
	r := begin(t, m, "a")
	r.Put(state.ObjectChange{Object: storetest.Address("a", 1), Provider: storetest.Provider, New: storetest.Object(t, "first")})
	if _, err := r.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := versions()
	if again := versions(); before != again || before[0] == before[1] || before[0] == (state.Version{}) {
		t.Errorf("got the versions %x and %x, want the same, one for each object", before, again)
	}
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err = m.BeginRun(t.Context(), f, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Begin(storetest.Address("a", 0), "update")
	if err == nil { // with the same content
		err = r.Commit(id, state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, "a")})
	}
	if err == nil {
		_, err = r.End(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if after := versions(); after[0] == before[0] || after[1] != before[1] {
		t.Errorf("got the versions %x, want another one than %x for the first object only", after, before)
	}
}

// TestOtherTables gives advice about tables with a known number that are other ones.
func TestOtherTables(t *testing.T) {
	for _, statement := range []string{`ALTER TABLE mayfly.results RENAME TO outputs`, `ALTER TABLE mayfly.objects RENAME COLUMN sealed TO encrypted`} {
		opt := stock(t, 1)
		if _, err := connect(t, opt.ConnString).ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if _, err := manager(t, open(t, opt)).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "a version that was not released") || !strings.Contains(err.Error(), `DROP SCHEMA "mayfly", "mayfly_views" CASCADE`) {
			t.Errorf("%s: got the error %v, want it to say where the tables may be from, and how to drop them", statement, err)
		}
	}
}
