package mayfly

import (
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/state"
)

// openJournal is a journal that remembers what it has as open. A journal goes when its state is written,
// before the user has read what could not be closed.
type openJournal struct {
	state.Journal

	mu   sync.Mutex
	open map[uint64]opening // by the journal's ids
}

// opening is what an Opening was recorded with.
type opening struct {
	instance addr.Instance
	provider addr.Provider
	at       time.Time
}

func newOpenJournal(j state.Journal) *openJournal {
	return &openJournal{Journal: j, open: map[uint64]opening{}}
}

// Opening implements state.Journal.
func (j *openJournal) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	id, err := j.Journal.Opening(i, p, at)
	if err == nil && id != 0 {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.open[id] = opening{i, p, at}
	}
	return id, err
}

// Closed implements state.Journal.
func (j *openJournal) Closed(id uint64) error {
	j.mu.Lock()
	delete(j.open, id)
	j.mu.Unlock()
	return j.Journal.Closed(id)
}

// moveTo records in another place what is open, and that it is no longer recorded here. r may be nil. Errors
// change nothing for the run, which names what it could not close.
func (j *openJournal) moveTo(r ephemeral.Recorder) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r == nil {
		return
	}
	for id, o := range j.open {
		if moved, err := r.Opening(o.instance, o.provider, o.at); err == nil && moved != 0 {
			_ = j.Journal.Closed(id) // if it stays, it is recorded twice until the journal goes
		}
	}
}
