package mayfly

import (
	"context"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/state"
)

// openRun is a run that remembers the instances recorded as open. Its journal goes when the run ends, before
// the user has read which of them could not be closed.
type openRun struct {
	state.Run

	mu   sync.Mutex
	open map[uint64]opening // by the journal's ids
}

// opening has the arguments of a recorded Opening.
type opening struct {
	instance addr.Instance
	provider addr.Provider
	at       time.Time
}

func newOpenRun(run state.Run) *openRun {
	return &openRun{Run: run, open: map[uint64]opening{}}
}

// Enqueue implements state.Queue. A run that is none makes the results durable at once.
func (r *openRun) Enqueue(id uint64, changes ...state.ObjectChange) (wait func() error) {
	if q, ok := r.Run.(state.Queue); ok {
		return q.Enqueue(id, changes...)
	}
	err := r.Commit(id, changes...)
	return func() error { return err }
}

// Settle implements state.Settler. A run that is none notes nothing.
func (r *openRun) Settle(instances ...addr.Instance) {
	if s, ok := r.Run.(state.Settler); ok {
		s.Settle(instances...)
	}
}

// Record implements state.Recorder. A run that is none notes nothing.
func (r *openRun) Record(s state.Settlement) {
	if recorder, ok := r.Run.(state.Recorder); ok {
		recorder.Record(s)
	}
}

// TakeTurn implements state.Turner. A run that is none has nothing to do.
func (r *openRun) TakeTurn(ctx context.Context, subjects []state.Subject, evaluate func(*state.State) state.Evaluated) error {
	if t, ok := r.Run.(state.Turner); ok {
		return t.TakeTurn(ctx, subjects, evaluate)
	}
	return nil
}

// Opening implements state.Journal.
func (r *openRun) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	id, err := r.Run.Opening(i, p, at)
	if err == nil && id != 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open[id] = opening{i, p, at}
	}
	return id, err
}

// Closed implements state.Journal.
func (r *openRun) Closed(id uint64) error {
	r.mu.Lock()
	delete(r.open, id)
	r.mu.Unlock()
	return r.Run.Closed(id)
}

// moveTo moves the records of open instances to another place. to may be nil. Errors change nothing for the
// run, which names the instances that it could not close.
func (r *openRun) moveTo(to ephemeral.Recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if to == nil {
		return
	}
	for id, o := range r.open {
		if moved, err := to.Opening(o.instance, o.provider, o.at); err == nil && moved != 0 {
			_ = r.Run.Closed(id) // if it stays, it is recorded twice until the journal goes
		}
	}
}
