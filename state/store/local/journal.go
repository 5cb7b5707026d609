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
	"github.com/mayfly-iac/mayfly/internal/model/document"
)

// Begin implements document.Journals.
func (m *medium) Begin(guarded func(check func(was document.Version) error) error) document.LogFile {
	return &logFile{path: m.paths.journal, disk: m.disk, check: func() error { return guarded(m.checkStart) }}
}

// checkStart returns an error if the state has changed since it was read. The journal calls it right before
// its first record, before anything is changed.
func (m *medium) checkStart(was document.Version) error {
	if m.source() != m.paths.write {
		return nil
	}
	content, err := m.readSource()
	if err != nil {
		return failed("the state", m.source(), "read", err)
	}
	return m.checkUnchanged(content, was)
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

	ended atomic.Bool // nothing is written any more; not protected by mu, since check may wait for who ends it
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

// Started implements document.LogFile. No write may be in progress.
func (l *logFile) Started() bool { return l.f != nil }

// Keeps implements document.LogFile.
func (l *logFile) Keeps(error) bool { return l.inPlace() }

// inPlace reports whether the file still exists under its name. No write may be in progress.
func (l *logFile) inPlace() bool { return sameFile(l.path, l.f) }

// end lets no file be created any more, and reports whether there is one.
func (l *logFile) end() bool {
	l.ended.Store(true)
	return l.Started()
}

// Close implements document.LogFile. It leaves the file in place.
func (l *logFile) Close() error {
	if !l.end() {
		return nil
	}
	return locks.close(l.f)
}

// Remove implements document.LogFile. It closes the file and removes it, if it was created and its name still
// refers to it: another run may have created a file there.
func (l *logFile) Remove(_ context.Context, saved bool) error {
	if !l.end() {
		return nil
	}
	err := locks.remove(l.path, l.f)
	if err != nil && saved {
		return fmt.Errorf("the state is saved, but its journal could not be removed: %w", err)
	}
	return err
}
