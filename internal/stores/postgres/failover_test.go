//go:build !mayfly_no_postgres && unix

package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// replicated is a primary server with a replica, and a state with some objects.
type replicated struct {
	*testing.T
	primary, replica *server.Server
	opt              postgres.Options // of both
	stopped          bool             // the replica receives nothing
}

// replicate starts both. The primary server does not wait for its replica.
func replicate(t *testing.T, objects int) *replicated {
	t.Helper()
	p := &replicated{T: t, primary: server.Start(t)}
	fill(t, postgres.Options{ConnString: p.primary.URL(0)}, objects)
	p.pair()
	return p
}

// pair gives the primary server a new replica.
func (p *replicated) pair() {
	p.Helper()
	p.replica, p.stopped = p.primary.Replica(p), false
	p.opt = postgres.Options{Dir: p.TempDir(), ConnString: fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=test dbname=postgres sslmode=disable target_session_attrs=read-write", p.primary.Port, p.replica.Port)}
	p.until("the replica", `EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')`)
}

// until waits until a condition holds on the primary server.
func (p *replicated) until(what, condition string) {
	p.Helper()
	for deadline := time.Now().Add(time.Minute); !p.primary.Reached(condition); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("waited too long for %s", what)
		}
	}
}

// lose has the replica miss all that comes from now on.
func (p *replicated) lose() {
	p.Helper()
	p.replica.Stop("fast")
	p.stopped = true
}

// fail ends the primary server, and has the replica take over.
func (p *replicated) fail() {
	p.Helper()
	p.primary.Kill()
	if p.stopped {
		p.replica.Run()
	}
	p.replica.Promote()
	p.primary, p.replica = p.replica, nil
}

// check checks the values of objects on the primary server, and that a later run can claim all.
func (p *replicated) check(want string, objects int) {
	p.Helper()
	opt := postgres.Options{ConnString: p.primary.URL(0)}
	var all []int
	for i, text := range texts(p.T, opt, objects) {
		if !strings.Contains(text, want) {
			p.Errorf("got %s of the object %d, want the acknowledged result %q", text, i, want)
		}
		all = append(all, i)
	}
	later := planned(p.T, opt, "later", all)
	if err := later.claim(0); err != nil {
		p.Errorf("a later run: %v", err)
	} else if err := later.Unlock(p.Context(), later.id); err != nil {
		p.Error(err)
	}
}

// must updates objects.
func (r *run) must(objects ...int) {
	r.t.Helper()
	for _, i := range objects {
		if err := r.update(i); err != nil {
			r.t.Errorf("the change of %d: %v", i, err)
		}
	}
}

// TestFailover ends the primary server in the middle of a run, and has its replica take over. The run goes on
// there, and all its results are there, as the server has waited for the replica.
func TestFailover(t *testing.T) {
	p := replicate(t, 4)
	advice := func() string {
		var sb strings.Builder
		for _, d := range store.AdviceOf(t.Context(), open(t, postgres.Options{ConnString: p.primary.URL(0)})) {
			sb.WriteString(d.Summary)
		}
		return sb.String()
	}
	if got := advice(); got != "Results may be lost in a failover" {
		t.Errorf("got the advice %q, want one about a failover", got)
	}
	p.primary.Synchronous()
	p.until("the setting", `current_setting('synchronous_standby_names') = '*'`)
	if got := advice(); got != "" {
		t.Errorf("got the advice %q, want none", got)
	}
	r := planned(t, p.opt, "one", []int{0, 1, 2, 3})
	r.begin()
	r.must(0, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.fail()
	}()
	r.must(2, 3)
	<-over
	r.end()
	p.check("one", 4)
}

// TestLost has a replica take over without the last transactions that its primary server has acknowledged to
// a run. The run sends its results again, and says what it cannot send.
func TestLost(t *testing.T) {
	p := replicate(t, 2)
	all := []int{0, 1}
	for i, row := range []struct {
		name         string
		before, then func(r *run) // before and after the replica misses what comes
		after        func(r *run) // the replica has taken over
	}{
		{"results, in the middle of the run", func(r *run) { r.begin() }, func(r *run) { r.must(0) }, func(r *run) {
			r.must(1)
			r.end()
		}},
		{"results, and nothing comes after them", func(r *run) { r.begin() }, func(r *run) { r.must(0, 1) }, func(r *run) { r.end() }},
		{"an operation that has begun", func(r *run) { r.begin() }, func(r *run) {
			r.must(0)
			r.beginOne(1)
		}, func(r *run) {
			if err := r.commitOne(1); err != nil {
				t.Error(err)
			}
			r.end()
		}},
		{"results, and outputs are next", func(r *run) { r.begin() }, func(r *run) { r.must(0, 1) }, func(r *run) {
			r.takeTurn(nil)
			if got := r.end().State.Outputs["joined"]; got == nil {
				t.Error("got no output, want the one of the turn")
			}
			if got := joined(t, postgres.Options{ConnString: p.primary.URL(0)}); strings.Count(got, r.who) != 2 {
				t.Errorf("got the output %s, want it from both results", got)
			}
		}},
		{"outputs", func(r *run) {
			r.begin()
			r.must(0, 1)
		}, func(r *run) { r.takeTurn(nil) }, func(r *run) { r.wantForgetful("ending", func() error { _, err := r.End(t.Context()); return err }) }},
		{"the end", func(r *run) {
			r.begin()
			r.must(0, 1)
		}, func(r *run) {
			if _, err := r.End(t.Context()); err != nil {
				t.Error(err)
			}
		}, func(r *run) {
			r.wantForgetful("giving the claims back", func() error { return r.Unlock(t.Context(), r.id) })
		}},
	} {
		if i > 0 {
			p.pair()
		}
		r := planned(t, p.opt, fmt.Sprint("run", i), all)
		row.before(r)
		p.settle()
		p.lose()
		row.then(r)
		p.fail()
		row.after(r)
		if t.Failed() {
			t.Fatalf("the replica misses %s", row.name)
		}
		if err := r.Unlock(t.Context(), r.id); err != nil && !errors.Is(err, store.ErrNotLocked) {
			t.Error(err)
		}
		p.check(r.who, len(all))
	}
}

// settle waits until the replica has all.
func (p *replicated) settle() {
	p.Helper()
	p.until("the replica", `EXISTS (SELECT FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_insert_lsn())`)
}

// beginOne begins to change an object. commitOne ends that.
func (r *run) beginOne(i int) {
	r.t.Helper()
	id, err := r.Begin(storetest.Address("a", i), "update")
	if err != nil {
		r.t.Fatal(err)
	}
	r.under = id
}

func (r *run) commitOne(i int) error {
	return r.Commit(r.under, state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(r.t, r.who)})
}

// wantForgetful wants an error that says that the server has lost something.
func (r *run) wantForgetful(what string, f func() error) {
	r.t.Helper()
	if err := f(); err == nil || !strings.Contains(err.Error(), "Plan again") {
		r.t.Errorf("%s: got %v, want an error that says what the server has lost", what, err)
	}
}

// TestLostIsBounded checks that a long run keeps only its last batches in memory.
func TestLostIsBounded(t *testing.T) {
	for n, want := range map[int]int{3: 3, postgres.MostBatches + 3: postgres.MostBatches} {
		if got := postgres.Sendable(n); got != want {
			t.Errorf("after %d batches: got %d that can be sent again, want %d", n, got, want)
		}
	}
}

// TestLostClaim has a replica take over that does not know a run. The run begins nothing more, and its
// results are in a file, which later commands name.
func TestLostClaim(t *testing.T) {
	p := replicate(t, 3)
	idle := planned(t, p.opt, "idle", []int{2})
	none := p.opt
	none.Dir = filepath.Join(t.TempDir(), "none")
	r, unkept := planned(t, p.opt, "busy", []int{0}), planned(t, none, "unkept", []int{1})
	p.settle()
	p.lose()
	r.begin()
	r.beginOne(0)
	idle.begin()
	unkept.begin()
	unkept.must(1)
	p.fail()
	if err := idle.update(2); !errors.Is(err, store.ErrLockLost) || !strings.Contains(err.Error(), "no record of this run") || strings.Contains(err.Error(), "file") {
		t.Errorf("beginning an operation: got %v, want an error that the server has no record of the run", err)
	}
	if files, _ := filepath.Glob(filepath.Join(p.opt.Dir, "*")); len(files) > 0 {
		t.Errorf("got the files %v of a run without results, want none", files)
	}
	if err := r.commitOne(0); !errors.Is(err, store.ErrLockLost) || !strings.Contains(err.Error(), p.opt.Dir) {
		t.Errorf("committing: got %v, want the file with the result", err)
	}
	_, err := r.End(t.Context())
	if unsaved, is := errors.AsType[*store.UnsavedError](err); !is || unsaved.Kept == "" {
		t.Errorf("ending: got %#v (%v), want the file with the result", err, err)
	}
	_, err = unkept.End(t.Context())
	if unsaved, is := errors.AsType[*store.UnsavedError](err); !is || len(unsaved.Lost) != 1 {
		t.Errorf("ending a run with an acknowledged result: got %#v (%v), want the lost result", err, err)
	}
	files, _ := filepath.Glob(filepath.Join(p.opt.Dir, "*"))
	if len(files) != 1 {
		t.Fatalf("got the files %v, want one", files)
	}
	if _, err := manager(t, open(t, p.opt)).Read(t.Context()); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("a later command: got %v, want the file %s", err, files[0])
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	p.check("old", 3)
}

// TestLostAndKept has results in a file when a replica takes over that misses the ones before. They are put
// into the database together, by the run or by a later command.
func TestLostAndKept(t *testing.T) {
	p := replicate(t, 2)
	for i, later := range []bool{false, true} {
		if i > 0 {
			p.pair()
		}
		opt := p.opt
		opt.Lease = 3 * time.Second // requests are repeated for so long
		r := planned(t, opt, fmt.Sprint("run", i), []int{0, 1})
		r.begin()
		p.settle()
		p.lose()
		r.must(0)
		r.beginOne(1)
		p.primary.Kill()
		if err := r.commitOne(1); err == nil || !strings.Contains(err.Error(), opt.Dir) {
			t.Errorf("committing without a server: got %v, want the file with the result", err)
		}
		p.replica.Run()
		p.replica.Promote()
		p.primary, p.replica = p.replica, nil
		if later {
			if err := r.Unlock(t.Context(), r.id); err != nil {
				t.Error(err)
			}
		} else {
			r.end()
		}
		for i, text := range texts(t, opt, 2) {
			if !strings.Contains(text, r.who) {
				t.Errorf("later: %t: got %s of the object %d, want the result", later, text, i)
			}
		}
		lapse(t, p.primary.URL(0))
	}
}

// TestUnreplicated ends the sessions of a run that wait for the replica after their transactions are there on
// the primary server. The run does not go on until the replica has them: nothing is acknowledged that another
// server would not have.
func TestUnreplicated(t *testing.T) {
	p := replicate(t, 2)
	p.primary.Synchronous()
	p.until("the setting", `current_setting('synchronous_standby_names') = '*'`)
	r := planned(t, p.opt, "one", []int{0, 1})
	r.begin()
	r.must(0)
	id, err := p.primary.Query(`SELECT id FROM mayfly.runs WHERE batch > 0`)
	if err != nil {
		t.Fatal(err)
	}
	file, m := filepath.Join(p.opt.Dir, "0-"+id+".postgres"), manager(t, open(t, p.opt))
	if err := os.WriteFile(file, []byte(`{"run": "`+id+`", "batches": [{"number": 1}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"a result", func() error { return r.update(1) }},
		{"the end", func() error { _, err := r.End(t.Context()); return err }},
		{"the release", func() error { return r.Unlock(t.Context(), r.id) }},
		{"removing a file whose results are there", func() error { _, err := m.Read(t.Context()); return err }},
	} {
		p.replica.Stop("fast")
		done := make(chan error, 1)
		go func() { done <- step.do() }()
		const waiting = `EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')`
		for range 2 { // the second time, the run repeats what has been committed
			p.until("a session that waits", waiting)
			if len(done) > 0 {
				t.Fatalf("%s: got an answer, want none without the replica", step.name)
			}
			if _, err := p.primary.Query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`); err != nil {
				t.Fatal(err)
			}
		}
		p.until("a session that waits", waiting)
		p.replica.Run()
		if err := <-done; err != nil {
			t.Errorf("%s: got %v, want no error", step.name, err)
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for the file, want it removed", err)
	}
	p.fail()
	if got := count(t, postgres.Options{ConnString: p.primary.URL(0)}, `SELECT count(*) FROM mayfly.claims`); got != 0 {
		t.Errorf("got %d claims, want none", got)
	}
	p.check("one", 2)
}

// TestStandbys has all servers of a connection string only read while a run has claims, as after a restart of
// the old primary server as a replica. The run waits for the promotion. A run that begins says what to do.
func TestStandbys(t *testing.T) {
	p := replicate(t, 1)
	p.opt.ConnString = fmt.Sprintf("host=127.0.0.1 port=%d user=test dbname=postgres sslmode=disable target_session_attrs=read-write", p.replica.Port)
	if _, err := manager(t, open(t, p.opt)).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "If a replica is about to take over") {
		t.Errorf("reading before the promotion: got %v, want advice", err)
	}
	tries := make(chan struct{}, 1)
	st := open(t, p.opt)
	postgres.Note(st, "run")
	done := make(chan error, 1)
	go func() {
		done <- postgres.Repeat(t.Context(), st, func() {
			select {
			case tries <- struct{}{}:
			default:
			}
		})
	}()
	for range 2 { // the first error does not end the request
		<-tries
	}
	p.fail()
	if err := <-done; err != nil {
		t.Errorf("a request of a run with claims: got %v, want no error after the promotion", err)
	}
}
