package local

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/state"
)

// Openings records in a directory which ephemeral instances this process has open, so that after it was
// killed another one can list them. It is for runs that have no journal of a state. Each process has a file
// of its own there, which is a journal without a state, and which it locks while it runs. Its methods may be
// called concurrently, but Left only once.
type Openings struct {
	dir string

	mu     sync.Mutex
	log    *state.Log
	open   map[uint64]struct{} // instances recorded as open, by the ids of log
	file   *logFile
	failed error
	ended  bool
	made   []string            // directories that were created, the deepest last
	left   map[string]*os.File // files of processes that have ended, which this one has locked, by path
}

// The names of the files begin and end with these.
const openingsPrefix, openingsSuffix = "mayfly-", ".openings"

// NewOpenings returns the record of this process in a directory, which the first opening creates, with those
// above it.
func NewOpenings(dir string) *Openings {
	return &Openings{dir: dir, open: map[uint64]struct{}{}, left: map[string]*os.File{}}
}

// Opening records that an instance is about to be opened, and returns when that is durable. If it cannot be
// recorded, the instance may be opened nevertheless: Close returns the error.
func (o *Openings) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	log := o.begin()
	if log == nil {
		return 0, nil
	}
	id, err := log.Opening(i, p, at)
	if err != nil {
		o.fail(err)
		return 0, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[id] = struct{}{}
	return id, nil
}

// Closed records that nothing of an opening is left.
func (o *Openings) Closed(id uint64) error {
	o.mu.Lock()
	log := o.log
	delete(o.open, id)
	o.mu.Unlock()
	if id == 0 {
		return nil
	}
	return log.Closed(id)
}

// Forget records of all that is open that no other process is to list it.
func (o *Openings) Forget() {
	o.mu.Lock()
	ids := slices.Collect(maps.Keys(o.open))
	o.mu.Unlock()
	for _, id := range ids {
		_ = o.Closed(id) // if it stays, the next run lists it
	}
}

// begin returns the log of the process, nil if it cannot be written.
func (o *Openings) begin() *state.Log {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log == nil && o.failed == nil && !o.ended {
		if o.made, o.failed = safefile.MakeDirs(o.dir, 0o755); o.failed == nil {
			path := filepath.Join(o.dir, openingsPrefix+uuid.NewString()+openingsSuffix)
			o.file = &logFile{path: path, disk: systemDisk, check: func() error { return nil }}
			o.log, o.failed = state.NewLog(o.file, state.Meta{}, nil)
		}
	}
	if o.failed != nil {
		return nil
	}
	return o.log
}

func (o *Openings) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
}

// Left returns the instances that processes have left open when they ended. Their files are removed by Close.
func (o *Openings) Left() ([]state.Opening, error) {
	entries, err := os.ReadDir(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []state.Opening
	errs := []error{err}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), openingsPrefix) || !strings.HasSuffix(e.Name(), openingsSuffix) {
			continue
		}
		open, err := o.take(filepath.Join(o.dir, e.Name()))
		out, errs = append(out, open...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

// take reads the file of a process, if it has ended. It leaves empty ones alone, which a process may be about
// to lock: they say nothing.
func (o *Openings) take(path string) ([]state.Opening, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := locks.take(path)
	if errors.Is(err, errHeld) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o.left[path] = f
	text, err := locks.read(path)
	if err != nil {
		return nil, err
	}
	j, err := state.ParseJournal(text, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if j == nil {
		return nil, nil // its first record was cut off
	}
	return j.Openings(), nil
}

// Close removes the files of this process and of processes whose openings Left has returned. It returns why
// openings could not be recorded, if they could not. It is safe to call more than once.
func (o *Openings) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return nil
	}
	o.ended = true
	for path, f := range o.left {
		_ = locks.remove(path, f) // if it stays, the next run lists the same again
	}
	if o.log != nil {
		o.log.End()
		if o.file.Started() { // the removal need not be durable: the file says that nothing is open
			_ = errors.Join(o.file.Close(), os.Remove(o.file.path))
		}
	}
	for _, dir := range slices.Backward(o.made) {
		_ = os.Remove(dir) // if it is empty now
	}
	return o.failed
}
