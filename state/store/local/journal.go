package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Journal implements store.Manager. The journal's file comes to be with its first record.
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
	log, err := state.NewLog(file, base.Meta, sealer(m.cipher))
	if err != nil {
		return nil, err
	}
	m.log, m.logFile = log, file
	return log, nil
}

// checkStart returns an error if the state has changed since it was read. The journal calls it right before
// its first record, which is before anything is changed.
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

// sealer avoids a nil Cipher in a non-nil interface.
func sealer(c store.Cipher) state.Sealer {
	if c == nil {
		return nil
	}
	return c
}

// closeLog ends the run's journal. One that holds anything of use stays for the next run to recover.
func (m *Manager) closeLog() error {
	if m.log == nil {
		return nil
	}
	end := m.logFile.close
	if m.log.Idle() {
		end = m.logFile.remove
	}
	m.log, m.logFile = nil, nil
	return end()
}

// logFile is the file of a journal. It comes to be with the first write, so that a run that changes nothing
// leaves the folder alone. It is locked while it is written: that is how a run without the state's lock keeps
// others from taking its journal for one that was left behind.
type logFile struct {
	path  string
	disk  disk
	check func() error // called once, before the file is made

	mu       sync.Mutex
	f        *os.File
	size     int64
	reserved int64 // the size up to which the disk has room set aside
	born     bool  // its name is not durable yet
}

// errJournalTaken is the reason why a second run that changes the same state without its lock cannot start.
var errJournalTaken = errors.New("another run has begun to change the state in the meantime. Run the command again when the other one has ended")

// open makes the file if there is none yet. l.mu is held.
func (l *logFile) open() error {
	if l.f != nil {
		return nil
	}
	if err := l.check(); err != nil {
		return err
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

// Reserve implements state.LogFile. It sets aside somewhat more, so that it need not do so again for each
// operation.
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

// reserveStep is how many bytes are set aside beyond what is needed.
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

// Sync implements state.LogFile. It fails if the file has lost its name, say because its folder was removed:
// what is written to it then is gone with the process.
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
	return syncDir(filepath.Dir(l.path))
}

// exists reports whether anything was written. No write may be under way.
func (l *logFile) exists() bool { return l.f != nil }

// inPlace reports whether the file is there, under its name. No write may be under way.
func (l *logFile) inPlace() bool { return l.f != nil && sameFile(l.path, l.f) }

func (l *logFile) close() error {
	if l.f == nil {
		return nil
	}
	return locks.close(l.f)
}

// remove closes the file and removes it, if it was ever made and is still the one under its name: another run
// may have one there.
func (l *logFile) remove() error {
	if l.f == nil {
		return nil
	}
	return locks.remove(l.path, l.f)
}
