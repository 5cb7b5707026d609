package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Journal implements store.Manager. The first record creates the journal's first part.
func (m *Manager) Journal(ctx context.Context, base *state.File) (state.Journal, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log != nil {
		return nil, errors.New("this run already has a journal")
	}
	if err := m.checkHeld(ctx); err != nil {
		return nil, err
	}
	if !m.loaded || m.lockID == "" {
		known, loaded := m.meta, m.loaded
		if err := m.settle(ctx); err != nil {
			return nil, err
		}
		if loaded && m.meta != known {
			return nil, m.explain("changed", ErrChanged)
		}
	}
	if fresh := m.meta == (state.Meta{}); !fresh && (base.Lineage != m.meta.Lineage || base.Serial != m.meta.Serial) || fresh && base.Serial != 0 {
		return nil, m.explain("changed", ErrChanged)
	}
	file := &partFile{parts: m.place.Parts, lock: m.place.Lock, lockID: m.lockID, run: newRun(time.Now())}
	log, err := state.NewLog(file, base.Meta, store.SealerOf(m.cipher))
	if err != nil {
		return nil, err
	}
	m.log, m.file = log, file
	return log, nil
}

// closeLog ends the run's journal. If it contains anything useful, it stays for the next run to recover.
func (m *Manager) closeLog(ctx context.Context) error {
	if m.log == nil {
		return nil
	}
	m.log.End()
	names, idle := m.file.names(), m.log.Idle()
	m.log, m.file = nil, nil
	if !idle {
		return nil
	}
	return m.removeParts(ctx, names)
}

func (m *Manager) removeParts(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	err := retry(ctx, patient, func() error { return m.place.Parts.Remove(ctx, names) })
	if err != nil {
		return fmt.Errorf("the journal %s cannot be removed: %w", m.journal, err)
	}
	return nil
}

// A part is named RUN.NUMBER. The run is the time when it began and a random number, so that names sort by
// time; its parts are numbered from 1.
const runTime = "20060102t150405"

func newRun(now time.Time) string { return now.UTC().Format(runTime) + "-" + uuid.NewString()[:8] }

func partName(run string, n int) string { return fmt.Sprintf("%s.%06d", run, n) }

// parsePartName reverses partName. ok is false for a name that is not of a part.
func parsePartName(name string) (run string, n int, ok bool) {
	run, number, ok := strings.Cut(name, ".")
	n, err := strconv.Atoi(number)
	return run, n, ok && run != "" && err == nil && n > 0
}

// partSize is the number of bytes from which a part is not extended any more.
const partSize = 64 << 10

// partFile is the file of a journal in parts: what is written goes to the last part, which is stored again as
// a whole until it is large enough. Whenever it stores a part, it asks at the same time whether the run still
// holds its lock. Its methods are called one after the other, except Reserve and names.
type partFile struct {
	parts  Parts
	lock   Lock   // nil if there is no locking
	lockID string // "" if the run has no lock
	run    string

	mu   sync.Mutex
	n    int // of the last part; 0 if nothing was written
	last []byte
}

// Reserve implements state.LogFile. Nothing can be reserved in a service.
func (*partFile) Reserve(int64) error { return nil }

// Write implements state.LogFile.
func (f *partFile) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == 0 || len(f.last) >= partSize {
		f.n++
		f.last = nil
	}
	f.last = append(f.last, b...)
	return len(b), nil
}

// Sync implements state.LogFile.
func (f *partFile) Sync() error {
	ctx := context.Background() // what was done must become durable also after an interrupt
	f.mu.Lock()
	name, data := partName(f.run, f.n), f.last
	f.mu.Unlock()
	lost := make(chan error, 1)
	go func() { lost <- bug.Catch(func() error { return checkLock(ctx, f.lock, f.lockID) }) }()
	err := retry(ctx, patient, func() error { return f.parts.Put(ctx, name, data) })
	return errors.Join(<-lost, err)
}

// started reports whether anything was written.
func (f *partFile) started() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n > 0
}

// names returns the names of the parts.
func (f *partFile) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]string, f.n)
	for i := range out {
		out[i] = partName(f.run, i+1)
	}
	return out
}
