package remote_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestConformance(t *testing.T) {
	for name, journals := range map[string]bool{"journal beside the state": true, "journal on this machine": false} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				f := newFake()
				f.journals = journals
				dir := t.TempDir()
				return storetest.Harness{
					Histories: 20,
					Open:      func() store.Store { return remote.New(f, remote.Options{JournalDir: dir, Version: "1.0.0"}) },
					Corrupt: func(workspace string, data []byte) error {
						b := &blob{f, workspace}
						_, v, err := b.Get(t.Context())
						if err == nil {
							_, err = b.Put(t.Context(), data, v)
						}
						return err
					},
					Stored: func(workspace string) ([]byte, error) {
						b, _, err := (&blob{f, workspace}).Get(t.Context())
						return b, err
					},
				}
			})
		})
	}
}

// run is one run of a few operations, with the results that it knows to be durable.
type run struct {
	m         store.Manager
	lock      string
	file      *state.File
	committed []int
	err       error // the first error
}

const operations = 4

// newRun begins a run: it takes the lock and reads.
func newRun(t *testing.T, f *fake, who string) *run {
	t.Helper()
	r := &run{}
	r.m, r.err = remote.New(f, remote.Options{JournalDir: t.TempDir(), Version: "1.0.0"}).Manager(store.DefaultWorkspace)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if r.lock, r.err = r.m.Lock(t.Context(), storetest.Info(who)); r.err == nil {
		r.file, r.err = r.m.Read(t.Context())
	}
	if r.file == nil {
		r.file = storetest.File(t, "l", 0, 0)
	}
	return r
}

// work creates objects, one after the other, until something fails.
func (r *run) work(t *testing.T, name string) {
	t.Helper()
	if r.err != nil {
		return
	}
	journal, err := r.m.BeginRun(t.Context(), r.file, "1.0.0")
	next := r.file.State.Copy()
	for i := 0; i < operations && err == nil; i++ {
		change := state.ObjectChange{Object: storetest.Address(name, i), Provider: storetest.Provider, New: storetest.Object(t, "x")}
		var id uint64
		if id, err = journal.Begin(change.Object, "create"); err != nil {
			break
		}
		if err = journal.Commit(id, change); err == nil {
			r.committed = append(r.committed, i)
			change.Apply(next)
		}
	}
	r.err, r.file = err, r.file.Next(next, "1.0.0")
}

// end stores the state and releases the lock.
func (r *run) end(t *testing.T) {
	t.Helper()
	if r.err == nil {
		r.err = r.m.Write(t.Context(), r.file)
	}
	if r.lock != "" {
		r.err = errors.Join(r.err, r.m.Unlock(context.WithoutCancel(t.Context()), r.lock))
	}
}

// scenario is a whole run over a state that an earlier one made and another left a journal for.
func scenario(t *testing.T, f *fake) *run {
	t.Helper()
	r := newRun(t, f, "a")
	r.work(t, "a")
	r.end(t)
	return r
}

// prepared returns a service with a state, and the journal of a run that died.
func prepared(t *testing.T) *fake {
	t.Helper()
	f := newFake()
	first := newRun(t, f, "first")
	first.work(t, "first")
	first.end(t)
	dead := newRun(t, f, "dead")
	dead.work(t, "dead")
	if err := errors.Join(first.err, dead.err, dead.m.(store.Recoverer).ForceUnlock(t.Context(), "id-dead")); err != nil {
		t.Fatal(err)
	}
	f.requests = 0
	return f
}

// checkComplete checks that a run on another machine finds every result.
func checkComplete(t *testing.T, f *fake, want map[string]int) {
	t.Helper()
	f.fault = nil
	next := newRun(t, f, "next")
	if held := (*store.LockError)(nil); errors.As(next.err, &held) {
		if err := next.m.(store.Recoverer).ForceUnlock(t.Context(), held.Info.ID); err != nil {
			t.Fatal(err)
		}
		next = newRun(t, f, "next")
	}
	if next.err != nil {
		t.Fatalf("the next run: %v", next.err)
	}
	for name, n := range want {
		for i := range n {
			if next.file.State.Object(storetest.Address(name, i)) == nil {
				t.Errorf("the result %d of %q is missing", i, name)
			}
		}
	}
	next.end(t)
	if next.err != nil || !strings.HasSuffix(f.snapshot(), " 0 parts, locked false") {
		t.Errorf("after the next run: %v; %s", next.err, f.snapshot())
	}
}

// TestPassingFailures lets every single request of a run fail in every way that passes: the run must not
// notice.
func TestPassingFailures(t *testing.T) {
	t.Parallel()
	whole := prepared(t)
	if r := scenario(t, whole); r.err != nil {
		t.Fatal(r.err)
	}
	for n := 1; n <= whole.requests; n++ {
		for what, name := range map[fault]string{unsent: "unsent", unheard: "unheard", repeated: "repeated"} {
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := prepared(t)
					failed := ""
					f.fault = func(i int, request string) fault {
						if i != n {
							return none
						}
						failed = request
						return what
					}
					if r := scenario(t, f); r.err != nil {
						t.Errorf("%s: %v", failed, r.err)
					}
					checkComplete(t, f, map[string]int{"first": operations, "dead": operations, "a": operations})
				})
			})
		}
	}
}

// TestEndsAnywhere lets a run end at each of its requests, which is carried out or not: the next run, on
// another machine, must find every result that the run knew to be durable.
func TestEndsAnywhere(t *testing.T) {
	t.Parallel()
	whole := prepared(t)
	if r := scenario(t, whole); r.err != nil {
		t.Fatal(r.err)
	}
	for n := 1; n <= whole.requests; n++ {
		for _, last := range []fault{refused, unheard} {
			t.Run(fmt.Sprint(n, " ", last), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := prepared(t)
					f.fault = func(i int, _ string) fault {
						switch {
						case i < n:
							return none
						case i == n:
							return last
						}
						return refused
					}
					r := scenario(t, f)
					checkComplete(t, f, map[string]int{"first": operations, "dead": operations, "a": len(r.committed)})
				})
			})
		}
	}
}

// TestLockLost takes the lock away from a run, which must begin nothing more and must not write.
func TestLockLost(t *testing.T) {
	t.Parallel()
	f := newFake()
	a := newRun(t, f, "a")
	journal, err := a.m.BeginRun(t.Context(), a.file, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	change := state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, "x")}
	id, err := journal.Begin(change.Object, "create")
	if err == nil {
		err = journal.Commit(id, change)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := a.m.(store.Recoverer).ForceUnlock(t.Context(), "id-a"); err != nil {
		t.Fatal(err)
	}
	b := newRun(t, f, "b")
	if b.err != nil || b.file.State.Object(change.Object) == nil {
		t.Errorf("the run that took the lock does not have the result: %v", b.err)
	}
	before := f.snapshot()
	if _, err := journal.Begin(storetest.Address("a", 1), "create"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("beginning without the lock: %v", err)
	}
	if err := a.m.Write(t.Context(), a.file.Next(a.file.State, "1.0.0")); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("writing without the lock: %v", err)
	}
	if after := f.snapshot(); !strings.HasPrefix(after, strings.Fields(before)[0]) {
		t.Errorf("the state was %s and is %s", before, after)
	}
	if err := a.m.Unlock(t.Context(), "id-a"); err == nil {
		t.Error("a lost lock can be released")
	}
}

// TestLockInterrupted ends a run while its request to lock is on the way, on the way back, or unanswered: no
// lock stays.
func TestLockInterrupted(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]time.Duration{"sent": 3 * time.Second / 2, "answered": 3 * time.Second / 4, "unheard": 4 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.slow = slow
				m, err := remote.New(f, remote.Options{JournalDir: t.TempDir(), Version: "1.0.0"}).Manager(store.DefaultWorkspace)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				id, err := m.Lock(ctx, storetest.Info("a"))
				if err == nil {
					err = m.Unlock(ctx, id)
				} else if errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				if err != nil {
					t.Error(err)
				}
				if spent := time.Since(began); spent > 10*time.Second {
					t.Errorf("the run ended %s after the interrupt", spent-time.Second)
				}
				time.Sleep(time.Minute) // everything that is under way arrives
				if lock := f.at(store.DefaultWorkspace).lock; lock != nil {
					t.Errorf("the lock %s stays", lock.ID)
				}
			})
		})
	}
}

// TestInterruptedWhileStoring loses requests of a run that was interrupted: it tries again, since what it has
// done must be stored, and its lock released.
func TestInterruptedWhileStoring(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"put", "release"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			a := newRun(t, f, "a")
			failed := false
			f.fault = func(_ int, request string) fault {
				if failed || request != lost {
					return none
				}
				failed = true
				return unsent
			}
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			if err := errors.Join(a.err, a.m.Write(ctx, storetest.File(t, "l", 1, 1)), a.m.Unlock(ctx, a.lock)); err != nil || !failed {
				t.Errorf("the request to %s is lost: %v", lost, err)
			}
		})
	}
}

// TestChangedBeforeTheJournal changes the state between reading it without a lock and beginning a journal, in
// a way that lineage and serial do not show.
func TestChangedBeforeTheJournal(t *testing.T) {
	t.Parallel()
	f := newFake()
	m, err := remote.New(f, remote.Options{}).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	stored := storetest.File(t, "l", 1, 1)
	if err := m.Write(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	other, err := remote.New(f, remote.Options{}).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	changed := storetest.File(t, "l", 1, 2)
	changed.Version = "2.0.0"
	if err := other.Write(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if _, err := m.BeginRun(t.Context(), stored, "1.0.0"); !errors.Is(err, remote.ErrChanged) {
		t.Errorf("a journal of changes to what is not stored any more: %v", err)
	}
}

// TestChangedMeanwhile changes the state behind the back of a run: what the other one wrote stays.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFake()
	a := newRun(t, f, "a")
	b := &blob{f, store.DefaultWorkspace}
	data, err := state.Write(storetest.File(t, "l", 7, 3))
	if err == nil {
		_, err = b.Put(t.Context(), data, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := a.m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, remote.ErrChanged) {
		t.Errorf("writing over what was not read: %v", err)
	}
	if got, _, _ := b.Get(t.Context()); string(got) != string(data) {
		t.Error("the state was overwritten")
	}
}

// TestPageInsteadOfState explains an answer of something else than the service.
func TestPageInsteadOfState(t *testing.T) {
	t.Parallel()
	f := newFake()
	if _, err := (&blob{f, store.DefaultWorkspace}).Put(t.Context(), []byte("\n<!DOCTYPE html><html>"), ""); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, f, "a")
	if !errors.Is(r.err, state.ErrCorrupt) || !strings.Contains(r.err.Error(), "fake://default") || !strings.Contains(r.err.Error(), "HTML") {
		t.Errorf("the error is %v", r.err)
	}
}
