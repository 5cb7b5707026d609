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
	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Begin implements document.Journals. The first record creates the first part.
func (h *hosted) Begin(func(check func(was Version) error) error) document.LogFile {
	return &partFile{at: h, lockID: h.lockID, run: newRun(time.Now())}
}

// Unsettled implements document.Journals. With the lock, no journal can come from another run.
func (h *hosted) Unsettled(locked bool) bool { return !locked }

// Claim implements document.Journals. A run without the lock refuses journals: their runs may be alive.
func (h *hosted) Claim(context.Context) (func(), error) {
	if h.lockID == "" {
		return nil, &store.LockError{Err: fmt.Errorf("there is a journal of another run, %s, which may still be going on. A run that takes the lock puts the journal of a run that has ended into the state", h.journal)}
	}
	return nil, nil
}

// Remove implements document.Journals.
func (h *hosted) Remove(ctx context.Context, journals []document.Journal) error {
	var names []string
	for _, j := range journals {
		names = append(names, j.(*journal).parts...)
	}
	return h.removeParts(ctx, names)
}

func (h *hosted) removeParts(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	err := retry(ctx, patient, func() error { return h.place.Parts.Remove(ctx, names) })
	if err != nil {
		return fmt.Errorf("the journal %s cannot be removed: %w", h.journal, err)
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

// partFile is the file of a journal in parts: new records go to the last part, which is stored again as a
// whole until it is large enough. Whenever it stores a part, it asks at the same time whether the run still
// holds its lock. Its methods are called one after the other, except Reserve and names.
type partFile struct {
	at     *hosted
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
	ctx := context.Background() // results must become durable also after an interrupt
	f.mu.Lock()
	name, data := partName(f.run, f.n), f.last
	f.mu.Unlock()
	lost := make(chan error, 1)
	go func() { lost <- bug.Catch(func() error { return checkLock(ctx, f.at.place.Lock, f.lockID) }) }()
	err := retry(ctx, patient, func() error { return f.at.place.Parts.Put(ctx, name, data) })
	return errors.Join(<-lost, err)
}

// Started implements document.LogFile.
func (f *partFile) Started() bool {
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

// Keeps implements document.LogFile. If another run has changed the state or is about to, the journal may not
// continue it.
func (f *partFile) Keeps(err error) bool {
	return f.Started() && !errors.Is(err, store.ErrLockLost) && !errors.Is(err, ErrChanged)
}

// Close implements document.LogFile.
func (*partFile) Close() error { return nil }

// Remove implements document.LogFile. Parts that cannot be removed although the state is saved are known to
// be folded in, and go with the next run.
func (f *partFile) Remove(ctx context.Context, saved bool) error {
	err := f.at.removeParts(ctx, f.names())
	if saved {
		return nil
	}
	return err
}
