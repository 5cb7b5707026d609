package local

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// stored is what the files of a workspace hold.
type stored struct {
	raw      []byte
	file     *state.File // nil for none
	journal  bool        // there is a journal file
	parsed   *state.JournalFile
	replayed *state.Replayed // nil unless the journal still matters
}

// result is the state that the files stand for.
func (s stored) result() *state.File {
	if s.replayed != nil {
		// A journal without changes for a state that does not exist yet makes none.
		if s.file == nil && s.replayed.Changes == 0 {
			return nil
		}
		return s.replayed.File
	}
	return s.file
}

// load reads the state and the journal beside it. It changes nothing.
func (m *Manager) load() (stored, error) {
	var s stored
	var err error
	if s.raw, err = locks.read(m.source()); err != nil {
		return s, fmt.Errorf("reading the state: %w", err)
	}
	if s.file, err = store.Decode(s.raw, m.cipher); err != nil || len(s.raw) == 0 {
		if s, err = m.loadCopy(s, err); err != nil {
			return s, fmt.Errorf("%s: %w%s", m.source(), err, m.backupHint())
		}
	}
	text, err := os.ReadFile(m.paths.journal)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("reading the state's journal: %w", err)
	}
	s.journal = true
	if s.parsed, err = state.ParseJournal(text, sealer(m.cipher)); err != nil {
		return s, m.refuse(err)
	}
	if s.parsed == nil || s.parsed.Folded != nil && s.parsed.Folded.Sum == sha256.Sum256(s.raw) {
		return s, nil
	}
	if s.replayed, err = s.parsed.Replay(s.file); err != nil {
		return s, m.refuse(err)
	}
	return s, nil
}

// loadCopy looks for the copy that is made where a state must be overwritten in place, in case the writer died doing so.
func (m *Manager) loadCopy(s stored, cause error) (stored, error) {
	b, err := readCopy(m.source())
	if err != nil || b == nil {
		return s, cause
	}
	f, err := store.Decode(b, m.cipher)
	if err != nil {
		return s, cause
	}
	s.raw, s.file = b, f
	return s, nil
}

func (m *Manager) backupHint() string {
	if m.paths.backup != "" && exists(m.paths.backup) {
		return fmt.Sprintf(" (there is a backup in %s)", m.paths.backup)
	}
	return ""
}

func (m *Manager) refuse(err error) error {
	return fmt.Errorf("%w.\n\nThe journal is in %s and may name objects that no state holds. Nothing has been changed. If the state that it continues "+
		"can be restored, restore it; otherwise look through the journal, import what is missing, and then move it away", err, m.paths.journal)
}

func recoveredFrom(path string, r *state.Replayed) *store.Recovered {
	return &store.Recovered{Path: path, Changes: r.Changes, Unfinished: r.Unfinished, Torn: r.Torn}
}

// settle reads the state and folds a journal that an earlier run left into the state file. Without the lock it takes it for that long: a journal
// may not be taken away from a run that is alive.
func (m *Manager) settle() (*state.File, error) {
	s, err := m.load()
	if err != nil {
		return nil, err
	}
	if !s.journal {
		return m.note(s.result()), nil
	}
	if m.held == nil {
		h, err := locks.lock(m.paths.write)
		if err != nil {
			if errors.Is(err, errHeld) {
				return nil, &store.LockError{Info: m.holder(), Err: fmt.Errorf("its journal %s must be left alone while that run lasts", m.paths.journal)}
			}
			return nil, fmt.Errorf("locking the state to fold in the journal of an interrupted run: %w", err)
		}
		m.held = h
		defer func() {
			m.held = nil
			_ = locks.unlock(h, m.paths.write) // closing after a successful write loses nothing
		}()
		if s, err = m.load(); err != nil {
			return nil, err
		}
	}
	if err := m.fold(s); err != nil {
		return nil, err
	}
	return m.note(s.result()), nil
}

// fold writes the replayed state, if the journal had changes, and removes the journal. After a crash anywhere in it the next run finds either
// the old state and the journal, or a state that the journal's last record names as holding everything.
func (m *Manager) fold(s stored) error {
	if s.replayed != nil {
		m.recovered = recoveredFrom(m.paths.journal, s.replayed)
		if s.replayed.Changes > 0 {
			data, err := store.Encode(s.replayed.File, m.cipher)
			if err != nil {
				return err
			}
			if err := m.markFolded(s, data); err != nil {
				return fmt.Errorf("folding the journal of an interrupted run into the state: %w", err)
			}
			if err := m.store(data); err != nil {
				return err
			}
		}
		m.recovered.Saved = true
	}
	if err := errors.Join(removeFile(m.paths.journal), syncDir(filepath.Dir(m.paths.journal))); err != nil {
		return fmt.Errorf("removing the journal of an interrupted run: %w", err)
	}
	return nil
}

// markFolded appends to a leftover journal that its changes are about to be in the state file with the content data.
func (m *Manager) markFolded(s stored, data []byte) error {
	mark, err := state.FoldedFrame(s.replayed.File.Serial, sha256.Sum256(data), sealer(m.cipher))
	if err != nil {
		return err
	}
	f, err := os.OpenFile(m.paths.journal, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err = f.Truncate(s.parsed.Size); err == nil {
		_, err = m.disk.writeAt(f, mark, s.parsed.Size)
	}
	if err == nil {
		err = m.disk.sync(f)
	}
	return errors.Join(err, f.Close())
}

// logFile is the file of a journal. It comes to be with the first write, so that a run that changes nothing leaves the folder alone.
type logFile struct {
	path string
	disk disk
	f    *os.File
	size int64
	born bool // its name is not durable yet
}

// Write implements state.LogFile.
func (l *logFile) Write(b []byte) (int, error) {
	if l.f == nil {
		f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return 0, err
		}
		l.f, l.born = f, true
	}
	n, err := l.disk.writeAt(l.f, b, l.size)
	l.size += int64(n)
	return n, err
}

// Sync implements state.LogFile.
func (l *logFile) Sync() error {
	if err := l.disk.sync(l.f); err != nil {
		return err
	}
	if !l.born {
		return nil
	}
	l.born = false
	return syncDir(filepath.Dir(l.path))
}

// exists reports whether anything was written. No write may be under way.
func (l *logFile) exists() bool { return l.f != nil }

func (l *logFile) close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}
