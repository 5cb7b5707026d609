package ephemeral

import (
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// Remembering is a Recorder that passes records on to another one, and remembers which instances are still
// open. The journal of an apply goes when the apply ends, before the user has read which instances
// could not be closed.
type Remembering struct {
	to Recorder

	mu   sync.Mutex
	open map[uint64]openRecord // by the ids of to
}

// openRecord has the arguments of a recorded Opening.
type openRecord struct {
	instance addr.Instance
	provider addr.Provider
	at       time.Time
}

// Remember returns a recorder that passes on to another one, and remembers.
func Remember(to Recorder) *Remembering {
	return &Remembering{to: to, open: map[uint64]openRecord{}}
}

// Opening implements Recorder.
func (r *Remembering) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	id, err := r.to.Opening(i, p, at)
	if err == nil && id != 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open[id] = openRecord{i, p, at}
	}
	return id, err
}

// Closed implements Recorder.
func (r *Remembering) Closed(id uint64) error {
	r.mu.Lock()
	delete(r.open, id)
	r.mu.Unlock()
	return r.to.Closed(id)
}

// MoveTo moves the records of open instances to another recorder, which may be nil. Errors change nothing for
// the run, which names the instances that it could not close.
func (r *Remembering) MoveTo(to Recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if to == nil {
		return
	}
	for id, o := range r.open {
		if moved, err := to.Opening(o.instance, o.provider, o.at); err == nil && moved != 0 {
			_ = r.to.Closed(id) // if it stays, it is recorded twice until the journal goes
		}
	}
}
