package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// SnapshotInterval is a suitable time between two snapshots for remote stores.
const SnapshotInterval = 20 * time.Second

// Snapshotting is the journal of stores that can only store whole states. It keeps the changes in memory
// and stores the whole state when an operation ends and the last snapshot is at least an interval old.
// Changes since the last snapshot are lost with the process, which such a store cannot avoid. All snapshots
// have the serial after the base's, which is also that of the run's final state.
type Snapshotting struct {
	save     func(*state.File) error
	interval time.Duration
	now      func() time.Time

	mu     sync.Mutex
	file   *state.File
	last   time.Time
	nextID uint64
	open   map[uint64]struct{}
	failed error
}

// NewSnapshotting returns a journal for changes to base. save stores a file, is never called concurrently,
// and must not keep the file. now reads the clock.
func NewSnapshotting(base *state.File, save func(*state.File) error, interval time.Duration, now func() time.Time) *Snapshotting {
	return &Snapshotting{
		save: save, interval: interval, now: now, nextID: 1, open: map[uint64]struct{}{},
		file: base.Next(base.State.Copy(), base.Version), last: now(),
	}
}

// Begin implements state.Journal. Nothing is made durable.
func (s *Snapshotting) Begin(addr.Object, string) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextID
	s.nextID++
	s.open[id] = struct{}{}
	return id, nil
}

// Commit implements state.Journal. It fails only if a snapshot found the lock lost. After other failures,
// the next snapshot tries again, and Err returns the error.
func (s *Snapshotting) Commit(id uint64, changes ...state.ObjectChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[id]; !ok {
		return fmt.Errorf("the journal knows no operation %d that could end", id)
	}
	delete(s.open, id)
	for _, c := range changes {
		c.Apply(s.file.State)
	}
	if s.now().Sub(s.last) < s.interval {
		return nil
	}
	s.failed = s.save(s.file)
	s.last = s.now()
	if errors.Is(s.failed, ErrLockLost) {
		return s.failed
	}
	return nil
}

// Fail implements state.Journal, see Commit.
func (s *Snapshotting) Fail(id uint64, changes ...state.ObjectChange) error {
	return s.Commit(id, changes...)
}

// Err returns the error of the last snapshot, or nil if it was stored or there was none.
func (s *Snapshotting) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// SnapshotJournal starts a journal for a manager without one of its own: it stores snapshots through
// m.Write, even after ctx has ended.
func SnapshotJournal(ctx context.Context, m Manager, base *state.File) *Snapshotting {
	ctx = context.WithoutCancel(ctx)
	return NewSnapshotting(base, func(f *state.File) error { return m.Write(ctx, f) }, SnapshotInterval, time.Now)
}
