// Package journal has the entries that an apply makes in the journal of a state: an operation is begun there
// before a provider is asked, and ends there with its results.
//
// It may import the model. It must not know operations or plans.
package journal

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/slot"
	"github.com/mayfly-iac/mayfly/state"
)

// Log is the journal of one apply. It is safe for concurrent use.
type Log struct {
	State  state.Run
	Report func(diag.List)     // gets the errors of the journal
	Salts  func() []state.Salt // the ones that the apply has made so far
	Steps  func() *future.Pool // the steps of the apply
}

// Failed is the error of a journal that could not be written.
func Failed(err error) diag.List {
	return diag.Errorf("Result could not be recorded", "Writing to the journal of the state failed, so no further changes are started: %s. The results so far are kept in memory and written at the end if possible.", err)
}

// Entry is an entry of the journal while it is open. It belongs to one goroutine.
type Entry struct {
	log *Log
	id  uint64
	// OnDurable, if set, reports the end of the operation. It is called once the results are durable: an
	// operation reported as complete is in the state, even if this process dies right after.
	OnDurable func(diag.List)
	// Task and Turn, if set, belong to a step whose provider calls end with the entry. Other steps begin
	// while a disk or a service makes its results durable; dependent steps begin after that.
	Task *future.Task
	Turn *slot.Turn
}

// Begin makes it durable that an operation on an object is about to start. It returns nil if that
// failed; the operation must not start then.
func (l *Log) Begin(o addr.Object, action string) *Entry {
	id, err := l.State.Begin(o, action)
	if err != nil {
		l.Report(Failed(err))
		return nil
	}
	return &Entry{log: l, id: id}
}

// End records the results and makes them durable.
func (e *Entry) End(failed bool, changes ...state.ObjectChange) bool {
	e.addSalts(changes)
	write := e.log.State.Commit
	if failed {
		write = e.log.State.Fail
	}
	return e.await(func() error { return write(e.id, changes...) })
}

// Enqueue is End in two parts for an operation that has not failed: it returns once the results have their
// place in the journal, if the journal can give them one, and wait when they are durable.
func (e *Entry) Enqueue(changes ...state.ObjectChange) (wait func() bool) {
	q, ok := e.log.State.(state.Queue)
	if !ok {
		done := e.End(false, changes...)
		return func() bool { return done }
	}
	e.addSalts(changes)
	durable := q.Enqueue(e.id, changes...)
	return func() bool { return e.await(durable) }
}

// addSalts adds the salts that this run has made to the results, which may depend on them.
func (e *Entry) addSalts(changes []state.ObjectChange) {
	made := e.log.Salts()
	for i := range changes {
		changes[i].Salts = made
	}
}

// await waits until the results are durable, and reports whether they are.
func (e *Entry) await(durable func() error) bool {
	var diags diag.List
	e.whileOthersBegin(func() {
		if err := durable(); err != nil {
			diags = Failed(err)
			e.log.Report(diags)
		}
	})
	if e.OnDurable != nil {
		e.OnDurable(diags)
	}
	return len(diags) == 0
}

// grace is how long an operation keeps its slot while its results become durable, if its successor is more
// urgent than other waiting steps. A disk is usually faster, so that the successor gets the slot.
const grace = 50 * time.Millisecond

// whileOthersBegin calls write, which makes the results of an operation durable. Meanwhile another step may
// begin in its place.
func (e *Entry) whileOthersBegin(write func()) {
	if e.Turn == nil {
		write()
		return
	}
	if e.log.Steps().Highest() >= e.Task.Next {
		if e.Turn.Leave() {
			defer e.Task.Idle()()
		}
		write()
		return
	}
	left, parked := make(chan struct{}), false
	late := time.AfterFunc(grace, func() {
		defer close(left)
		if parked = e.Turn.Leave(); parked {
			e.Task.Park()
		}
	})
	defer func() {
		if late.Stop() {
			return
		}
		if <-left; parked {
			e.Task.Unpark()
		}
	}()
	write()
}
