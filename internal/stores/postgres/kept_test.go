//go:build !mayfly_no_postgres

package postgres_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestKeptResults stops the server while two operations are under way, for longer than the lease. Their
// results are kept in a file, which the next run on this machine commits, and others do not take the objects
// in between.
func TestKeptResults(t *testing.T) {
	for _, forced := range []bool{false, true} {
		t.Run(map[bool]string{false: "lapsed", true: "forced"}[forced], func(t *testing.T) { testKept(t, forced) })
	}
}

func testKept(t *testing.T, forced bool) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0), Lease: time.Second, Dir: filepath.Join(t.TempDir(), "kept"), Cipher: reversing{}}
	fill(t, opt, 4)
	r := planned(t, opt, "cut", []int{0, 1, 2})
	r.begin()
	ids := r.beginFirst(2)
	s.Stop("immediate")
	var wait []func() error
	if _, err := r.Begin(storetest.Address("a", 2), "update"); err == nil {
		t.Error("got an operation that began without the server, want an error")
	}
	for i, id := range ids {
		wait = append(wait, r.Run.(state.Queue).Enqueue(id, state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, "canary-kept")}))
	}
	for _, w := range wait {
		if err := w(); err == nil || !strings.Contains(err.Error(), "are kept in the file "+opt.Dir) {
			t.Errorf("committing without the server: got %v, want the file that has the result", err)
		}
	}
	_, err := r.End(t.Context())
	if unsaved, is := errors.AsType[*store.UnsavedError](err); !is || unsaved.Kept == "" || len(unsaved.Lost) > 0 {
		t.Errorf("ending: got %#v (%v), want an UnsavedError with a file", err, err)
	}
	if err := r.Unlock(t.Context(), r.id); err != nil {
		t.Errorf("giving the claims back: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(opt.Dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got the files %v (%v), want 1", files, err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || bytes.Contains(text, []byte("canary")) {
		t.Errorf("got the file %s (%v), want it encrypted", text, err)
	}
	s.Run()
	lapse(t, opt.ConnString)
	elsewhere := opt
	elsewhere.Dir = t.TempDir()
	if err := planned(t, elsewhere, "other", []int{0}).claim(0); err == nil {
		t.Error("got a claim on an object whose operation has not ended, want none")
	}
	if err := planned(t, elsewhere, "free", []int{2}).claim(0); err != nil {
		t.Errorf("claiming an object whose operation did not begin, or ends with the file: %v", err)
	}
	if forced {
		if err := store.ForceUnlock(t.Context(), manager(t, open(t, elsewhere)), "id-cut"); err != nil {
			t.Fatal(err)
		}
	}
	m := manager(t, open(t, opt))
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := store.RecoveredBy(m)
	got := string(f.State.Object(storetest.Address("a", 0)).JSON()) + string(f.State.Object(storetest.Address("a", 1)).JSON())
	switch {
	case forced && (found == nil || len(found.Late) != 2 || strings.Contains(got, "kept")):
		t.Errorf("got the recovery %+v and the objects %s, want 2 late results", found, got)
	case !forced && (found == nil || found.Changes != 2 || !found.Saved || strings.Count(got, "kept") != 2):
		t.Errorf("got the recovery %+v and the objects %s, want 2 changes", found, got)
	}
	if files, _ := filepath.Glob(filepath.Join(opt.Dir, "*")); len(files) > 0 {
		t.Errorf("got the files %v, want none", files)
	}
	if err := planned(t, elsewhere, "other", []int{0, 1}).claim(0); err != nil {
		t.Errorf("claiming after the results were committed: %v", err)
	}
}

// cutOff returns a run whose server stops before the result of its only operation, an object with a text.
func cutOff(t *testing.T, s *server.Server, opt postgres.Options, text string) *run {
	t.Helper()
	r := planned(t, opt, "cut", []int{0})
	r.begin()
	id, err := r.Begin(storetest.Address("a", 0), "update")
	if err != nil {
		t.Fatal(err)
	}
	s.Stop("immediate")
	if err := r.Commit(id, state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, text)}); err == nil {
		t.Error("got a result that was committed without the server, want an error")
	}
	return r
}

// TestKeptAndBack has the server back when the run ends: its results are committed then.
func TestKeptAndBack(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0), Lease: time.Second, Dir: t.TempDir()}
	fill(t, opt, 2)
	r := cutOff(t, s, opt, "kept")
	s.Run()
	if _, err := r.End(t.Context()); err != nil { // no other run has ended its claims
		t.Error(err)
	}
	if got := texts(t, opt, 1)[0]; !strings.Contains(got, "kept") {
		t.Errorf("got the object %s, want the result", got)
	}
	if files, _ := filepath.Glob(filepath.Join(opt.Dir, "*")); len(files) > 0 {
		t.Errorf("got the files %v, want none", files)
	}
}

// TestKeptElsewhere commits results when the server has another name than at the time of the run, as after a
// failover. Another workspace leaves them.
func TestKeptElsewhere(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0), Lease: time.Second, Dir: t.TempDir()}
	fill(t, opt, 1)
	if err := open(t, opt).CreateWorkspace(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	r := cutOff(t, s, opt, "kept")
	if err := r.Unlock(t.Context(), r.id); err != nil {
		t.Error(err)
	}
	s.Run()
	if err := os.WriteFile(filepath.Join(opt.Dir, "note-of-a-person.postgres"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	named := opt
	named.ConnString = strings.Replace(opt.ConnString, "127.0.0.1", "localhost", 1)
	if named.ConnString == opt.ConnString || open(t, named).Path() == open(t, opt).Path() {
		t.Fatalf("got the same place twice, want two names of one server: %s", opt.ConnString)
	}
	other, err := open(t, named).Manager("other")
	if err == nil {
		_, err = other.Read(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, named, 1)[0]; !strings.Contains(got, "kept") {
		t.Errorf("got the object %s, want the result", got)
	}
	if files, _ := filepath.Glob(filepath.Join(opt.Dir, "*")); len(files) != 1 {
		t.Errorf("got the files %v, want the one of a person alone", files)
	}
}

// TestNothingKept lists the results that neither the database nor a file can take.
func TestNothingKept(t *testing.T) {
	s := server.Start(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opt := postgres.Options{ConnString: s.URL(0), Lease: time.Second, Dir: filepath.Join(file, "kept")}
	fill(t, opt, 2)
	r := cutOff(t, s, opt, "lost")
	_, err := r.End(t.Context())
	if unsaved, is := errors.AsType[*store.UnsavedError](err); !is || unsaved.Kept != "" || len(unsaved.Lost) != 1 {
		t.Errorf("ending: got %#v (%v), want an UnsavedError with the lost result", err, err)
	}
	s.Run()
}

// TestKeptOfNoRun names a file with results of a run that the database does not know.
func TestKeptOfNoRun(t *testing.T) {
	opt := stock(t, 1)
	opt.Dir = t.TempDir()
	s := open(t, opt)
	sum := sha256.Sum256([]byte(s.Path() + "/default"))
	file := filepath.Join(opt.Dir, fmt.Sprintf("%x-run.postgres", sum[:12]))
	if err := os.WriteFile(file, []byte(`{"run": "00000000-0000-0000-0000-000000000001", "batches": [{"number": 1, "ended": [1]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := manager(t, s).Read(t.Context()); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got the error %v, want the file %s in it", err, file)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := manager(t, s).Read(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestKeptBesidePlanner has a user who may only read plan beside results that only another user can commit.
// The directory has a name with a meaning in patterns.
func TestKeptBesidePlanner(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0), Lease: time.Second, Dir: filepath.Join(t.TempDir(), "kept[1]")}
	fill(t, opt, 1)
	if _, err := connect(t, s.URL(0)).ExecContext(t.Context(), `CREATE ROLE planner LOGIN; GRANT USAGE ON SCHEMA mayfly TO planner; GRANT SELECT ON ALL TABLES IN SCHEMA mayfly TO planner`); err != nil {
		t.Fatal(err)
	}
	r := cutOff(t, s, opt, "kept")
	if err := r.Unlock(t.Context(), r.id); err != nil {
		t.Error(err)
	}
	s.Run()
	planner := opt
	planner.ConnString = strings.Replace(opt.ConnString, "test@", "planner@", 1)
	if got := texts(t, planner, 1)[0]; !strings.Contains(got, "old") {
		t.Errorf("a planner got the object %s, want the one before the result", got)
	}
	reader := opt
	reader.ConnString += "&options=-c%20default_transaction_read_only%3Don"
	if got := texts(t, reader, 1)[0]; !strings.Contains(got, "old") {
		t.Errorf("a user who may not write now got the object %s, want the one before the result", got)
	}
	if got := texts(t, opt, 1)[0]; !strings.Contains(got, "kept") {
		t.Errorf("got the object %s, want the result", got)
	}
	if files, err := os.ReadDir(opt.Dir); err != nil || len(files) > 0 {
		t.Errorf("got the files %v (%v), want none", files, err)
	}
}

// TestKeptMeanwhile has a command commit and remove the file of a run to which a result comes at this moment.
func TestKeptMeanwhile(t *testing.T) {
	s := server.Start(t)
	opt := postgres.Options{ConnString: s.URL(0), Lease: time.Second, Dir: t.TempDir()}
	fill(t, opt, 2)
	r := planned(t, opt, "cut", []int{0, 1})
	r.begin()
	ids := r.beginFirst(2)
	commit := func(i int) {
		err := r.Commit(ids[i], state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, "kept")})
		if err == nil || !strings.Contains(err.Error(), "are kept in the file "+opt.Dir) {
			t.Errorf("committing without the server: got %v, want the file that has the result", err)
		}
	}
	s.Stop("immediate")
	commit(0)
	s.Run()
	holding, err := connect(t, opt.ConnString).BeginTx(t.Context(), nil)
	if err == nil {
		_, err = holding.Exec(`SELECT 1 FROM mayfly.runs WHERE state = 'claimed' FOR UPDATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	reader, read := manager(t, open(t, opt)), make(chan error, 1)
	go func() {
		_, err := reader.Read(t.Context())
		read <- err
	}()
	for deadline := time.Now().Add(time.Minute); count(t, opt, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got no command that waits with the file, want one")
		}
	}
	commit(1)
	if err := holding.Rollback(); err != nil {
		t.Error(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
	if _, err := r.End(t.Context()); err != nil {
		t.Error(err)
	}
	for i, text := range texts(t, opt, 2) {
		if !strings.Contains(text, "kept") {
			t.Errorf("got %s of the object %d, want the result", text, i)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(opt.Dir, "*")); len(files) > 0 {
		t.Errorf("got the files %v, want none", files)
	}
}
