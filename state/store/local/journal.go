package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Journal implements store.Manager. The first record creates the journal's file. It first folds in the
// journal of an interrupted run, if there is one, and fails if base is not the stored state.
func (m *Manager) Journal(ctx context.Context, base *state.File) (state.Journal, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log != nil {
		return nil, errors.New("this run already has a journal")
	}
	if err := m.paths.checkTargets(); err != nil {
		return nil, err
	}
	if err := m.checkHeld(); err != nil {
		return nil, err
	}
	if !m.loaded || exists(m.paths.journal) {
		if _, err := m.settle(); err != nil {
			return nil, err
		}
	}
	if fresh := m.meta == (state.Meta{}); !fresh && (base.Lineage != m.meta.Lineage || base.Serial != m.meta.Serial) || fresh && base.Serial != 0 {
		return nil, fmt.Errorf("the state in %s has changed since it was read. Run the command again", m.source())
	}
	file := &logFile{path: m.paths.journal, disk: m.disk, check: m.checkStart}
	log, err := state.NewLog(file, base.Meta, store.SealerOf(m.cipher))
	if err != nil {
		return nil, err
	}
	m.log, m.logFile = log, file
	return log, nil
}

// checkStart returns an error if the state has changed since it was read. The journal calls it right before
// its first record, before anything is changed.
func (m *Manager) checkStart() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.source() != m.paths.write {
		return nil
	}
	content, err := m.readSource()
	if err != nil {
		return failed("the state", m.source(), "read", err)
	}
	return m.checkUnchanged(content)
}

// closeLog ends the run's journal. If it contains anything useful, it stays for the next run to recover.
func (m *Manager) closeLog() error {
	if m.log == nil {
		return nil
	}
	m.log.End()
	end := m.logFile.close
	if m.log.Idle() {
		end = m.logFile.remove
	}
	m.log, m.logFile = nil, nil
	return end()
}

// logFile is the file of a journal. The first write creates it, so that a run that changes nothing leaves
// the directory alone. It is locked while it is open: a run without the state's lock thereby shows other
// runs that its journal is in use.
type logFile struct {
	path  string
	disk  disk
	check func() error // called once, before the file is created

	mu       sync.Mutex
	f        *os.File
	size     int64
	reserved int64 // size up to which the disk has room reserved
	born     bool  // its name is not durable yet

	ended atomic.Bool // nothing is written any more; not guarded by mu, since check may wait for who ends it
}

// errEnded is returned if something is to be written after the end of a journal.
var errEnded = errors.New("the journal has ended")

// errJournalTaken is returned if a second run without the lock would change the same state.
var errJournalTaken = errors.New("another run has begun to change the state in the meantime. Run the command again when the other one has ended")

// open creates the file if it does not exist yet. l.mu is held.
func (l *logFile) open() error {
	if l.f != nil {
		return nil
	}
	if err := l.check(); err != nil {
		return err
	}
	if l.ended.Load() { // another run may have a journal there by now
		return errEnded
	}
	f, err := locks.create(l.path)
	if errors.Is(err, os.ErrExist) {
		return errJournalTaken
	}
	if err != nil {
		return err
	}
	l.f, l.born = f, true
	return nil
}

// Reserve implements state.LogFile. It reserves more than n, so as not to do so for each operation.
func (l *logFile) Reserve(n int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return err
	}
	want := l.size + n
	if want <= l.reserved {
		return nil
	}
	for _, upTo := range []int64{want + reserveStep, want} {
		err := l.disk.reserve(l.f, l.reserved, upTo-l.reserved)
		if err == nil {
			l.reserved = upTo
			return nil
		}
		if upTo == want {
			return err
		}
	}
	return nil
}

// reserveStep is how many additional bytes are reserved.
const reserveStep = 1 << 20

// Write implements state.LogFile.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return 0, err
	}
	n, err := l.disk.writeAt(l.f, b, l.size)
	l.size += int64(n)
	return n, err
}

// Sync implements state.LogFile. It fails if the file has lost its name, for example because its directory
// was removed: its content would disappear with the process.
func (l *logFile) Sync() error {
	if err := l.disk.sync(l.f); err != nil {
		return err
	}
	if !l.inPlace() {
		return fmt.Errorf("%s was removed or replaced by something else", l.path)
	}
	if !l.born {
		return nil
	}
	l.born = false
	return safefile.SyncDir(filepath.Dir(l.path))
}

// exists reports whether anything was written. No write may be in progress.
func (l *logFile) exists() bool { return l.f != nil }

// inPlace reports whether the file still exists under its name. No write may be in progress.
func (l *logFile) inPlace() bool { return sameFile(l.path, l.f) }

// end lets no file be created any more, and reports whether there is one.
func (l *logFile) end() bool {
	l.ended.Store(true)
	return l.exists()
}

// close closes the file and leaves it in place.
func (l *logFile) close() error {
	if !l.end() {
		return nil
	}
	return locks.close(l.f)
}

// remove closes the file and removes it, if it was created and its name still refers to it: another run may
// have created a file there.
func (l *logFile) remove() error {
	if !l.end() {
		return nil
	}
	return locks.remove(l.path, l.f)
}
