package state

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// Opening is an ephemeral instance that a run was about to open and has not closed since. Its names come from
// the run, which may have had another configuration.
type Opening struct {
	Instance string
	Provider string
	Since    time.Time
}

// openRecord says that an ephemeral instance is about to be opened. It has names only: answers of providers
// are in no journal.
type openRecord struct {
	ID       uint64    `json:"id"`
	Instance string    `json:"instance"`
	Provider string    `json:"provider"`
	Since    time.Time `json:"since"`
}

// closedRecord says that the provider has closed an instance, or has opened nothing that could be closed.
type closedRecord struct {
	ID uint64 `json:"id"`
}

// Opening implements Journal.
func (l *Log) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	l.mu.Lock()
	id := l.next
	l.next++
	l.mu.Unlock()
	b := strconv.AppendUint([]byte(`{"open":{"id":`), id, 10)
	b = appendString(append(b, `,"instance":`...), i.String())
	b = appendString(append(b, `,"provider":`...), p.String())
	b = appendString(append(b, `,"since":`...), at.UTC().Format(time.RFC3339))
	if err := l.append(append(b, "}}"...)); err != nil {
		return 0, err
	}
	return id, nil
}

// Closed implements Journal.
func (l *Log) Closed(id uint64) error { return l.append(fmt.Appendf(nil, `{"closed":{"id":%d}}`, id)) }

// Openings returns the instances that the run of the journal left open, in the order in which it opened them.
func (j *JournalFile) Openings() []Opening {
	open := map[uint64]Opening{}
	for _, r := range j.records {
		if r.Open != nil {
			open[r.Open.ID] = Opening{Instance: r.Open.Instance, Provider: r.Open.Provider, Since: r.Open.Since}
		}
		if r.Closed != nil {
			delete(open, r.Closed.ID)
		}
	}
	var out []Opening
	for _, id := range slices.Sorted(maps.Keys(open)) {
		out = append(out, open[id])
	}
	return out
}
