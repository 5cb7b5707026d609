package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Remote is a store on a network, for RunCuts.
type Remote struct {
	// Server returns the address of the server that has a place.
	Server func(t *testing.T, place string) string
	// Open returns a handle to a place, which is new for each name, through a server at that address.
	Open func(t *testing.T, place, address string) store.Store
	// Anonymous is set for a service that locks by a message which does not say for whom: one that arrives
	// late or twice leaves a lock behind, so that is not tried.
	Anonymous bool
}

// RunCuts lets a run lose its connection at each message that it sends: before the message arrives, before
// the answer comes, and so that the message arrives late. It also lets each message arrive twice. The run
// may fail then, but the next one must find every result that was durable, and a run that did not fail must
// have stored its state.
func RunCuts(t *testing.T, r Remote) {
	whole := NewProxy(t, r.Server(t, "whole"), 0, NoCut)
	if run := startRun(t, r.Open(t, "whole", whole.Addr), "a"); run.work(t, "a") == nil || run.err != nil {
		t.Fatal(run.err)
	}
	for n := 1; n <= whole.Messages(); n++ {
		for _, cut := range []Cut{Before, After, Late, Twice} {
			if (cut == Late || cut == Twice) && r.Anonymous {
				continue
			}
			t.Run(fmt.Sprint(n, "-", cut), func(t *testing.T) {
				t.Parallel()
				place := fmt.Sprint("cut", n, "x", int(cut))
				server := r.Server(t, place)
				p := NewProxy(t, server, n, cut)
				run := startRun(t, r.Open(t, place, p.Addr), "a")
				durable := run.work(t, "a")
				if run.err == nil && len(durable) != runOperations {
					t.Errorf("run that did not fail: got %d results, want %d", len(durable), runOperations)
				}
				checkDurable(t, r.Open(t, place, server), durable)
			})
		}
	}
}

// runOperations is how many objects a run creates.
const runOperations = 3

// cutRun is one run, until its first error.
type cutRun struct {
	m    store.Manager
	lock string
	file *state.File
	err  error
}

// startRun locks and reads the state, as a run begins. An error is kept for the caller: the proxy may have
// caused it.
func startRun(t *testing.T, s store.Store, who string) *cutRun {
	t.Helper()
	r := &cutRun{}
	r.m, r.err = s.Manager(store.DefaultWorkspace)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if r.lock, r.err = r.m.Lock(t.Context(), Info(who)); r.err == nil {
		r.file, r.err = r.m.Read(t.Context())
	}
	if r.file == nil {
		r.file = File(t, "l", 0, 0)
	}
	return r
}

// work creates objects, one after the other, stores the state and releases the lock. It returns the numbers
// of the objects that it knew to be durable.
func (r *cutRun) work(t *testing.T, name string) (durable []int) {
	t.Helper()
	if r.err == nil {
		durable, r.err = r.create(t, name)
	}
	if r.err == nil {
		r.err = r.m.Write(t.Context(), r.file)
	}
	if r.lock != "" {
		r.err = errors.Join(r.err, r.m.Unlock(context.WithoutCancel(t.Context()), r.lock))
	}
	return durable
}

// create carries out the operations of a run and stores the state. It returns the operations whose results
// were reported as durable, which nothing may lose from then on.
func (r *cutRun) create(t *testing.T, name string) (durable []int, err error) {
	journal, err := r.m.BeginRun(t.Context(), r.file, "1.0.0")
	next := r.file.State.Copy()
	for i := 0; i < runOperations && err == nil; i++ {
		change := state.ObjectChange{Object: Address(name, i), Provider: Provider, New: Object(t, "x")}
		var id uint64
		if id, err = journal.Begin(change.Object, "create"); err == nil {
			err = journal.Commit(id, change)
		}
		if err == nil {
			durable = append(durable, i)
			change.Apply(next)
		}
	}
	r.file = r.file.Next(next, "1.0.0")
	return durable, err
}

// checkDurable checks that the next run, which breaks the lock if it must, finds the objects.
func checkDurable(t *testing.T, s store.Store, durable []int) {
	t.Helper()
	next := startRun(t, s, "next")
	for range 100 {
		held := (*store.LockError)(nil)
		if !errors.As(next.err, &held) {
			break
		}
		if held.Info == nil || held.Info.ID == "" {
			time.Sleep(50 * time.Millisecond) // the lock goes when the server notices that its holder is gone
		} else if err := store.ForceUnlock(t.Context(), next.m, held.Info.ID); err != nil && !errors.Is(err, store.ErrNotLocked) && !errors.As(err, &held) {
			t.Fatal(err)
		}
		next = startRun(t, s, "next")
	}
	if next.err != nil {
		t.Fatalf("the next run: %v", next.err)
	}
	for _, i := range durable {
		if next.file.State.Object(Address("a", i)) == nil {
			t.Errorf("the result %d is missing", i)
		}
	}
	if err := next.m.Unlock(t.Context(), next.lock); err != nil {
		t.Error(err)
	}
}
