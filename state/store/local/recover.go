package local

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// stored is the content of a workspace's files.
type stored struct {
	raw      []byte
	sum      [32]byte    // of the state file, even if raw is a copy that replaces it
	copied   bool        // raw is that copy
	file     *state.File // nil for none
	journal  bool        // there is a journal file
	unread   bool        // it has content, but no readable record
	parsed   *state.JournalFile
	replayed *state.Replayed // nil if the journal has no effect any more
}

// result returns the state that the files represent.
func (s stored) result() *state.File {
	if s.replayed != nil {
		// A journal without changes does not create a state that does not exist yet.
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
	if s.raw, err = m.readSource(); err != nil {
		return s, failed("the state", m.source(), "read", err)
	}
	s.sum = sha256.Sum256(s.raw)
	s.file, err = store.Decode(s.raw, m.cipher)
	if s, err = m.loadCopy(s, err); err != nil {
		return s, fmt.Errorf("%s: %w%s", m.source(), err, m.backupHint())
	}
	if err := m.loadJournal(&s); err != nil {
		return s, err
	}
	if s.file == nil && s.replayed == nil {
		err = m.noteEmpty()
	}
	return s, err
}

// loadJournal reads the journal and replays it on the state that s already has. It leaves out a journal
// whose last record names the state file as one that has everything.
func (m *Manager) loadJournal(s *stored) error {
	text, err := locks.read(m.paths.journal)
	if err != nil {
		return failed("the journal of the state,", m.paths.journal+",", "read", err)
	}
	if s.journal = text != nil; !s.journal {
		return nil
	}
	if s.parsed, err = state.ParseJournal(text, store.SealerOf(m.cipher)); err != nil {
		return m.refuse(err, nil)
	}
	s.unread = s.parsed == nil && len(text) > 0
	if s.parsed == nil {
		return nil
	}
	replayed, missing, err := s.parsed.Merge(s.file, s.raw)
	s.replayed = replayed
	return m.refuse(err, missing)
}

// noteEmpty handles a source without content: if the file exists, it may have been a state once.
func (m *Manager) noteEmpty() error {
	path := m.source()
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	if m.held != nil && path == m.paths.write {
		if !m.fresh {
			m.found().Empty = path
		}
		return nil // taking the lock has checked the files beside it
	}
	if err := m.checkEmpty(); err != nil {
		return err
	}
	if !m.neverWritten() {
		m.found().Empty = path
	}
	return nil
}

// found returns the findings of the run, for the caller to extend.
func (m *Manager) found() *store.Recovered {
	if m.recovered == nil {
		m.recovered = &store.Recovered{Path: m.paths.journal}
	}
	return m.recovered
}

// loadCopy looks for the copy that is written where a state must be overwritten in place, in case the
// writer died doing so. What is in the state file may look like a state even then, with parts of the old
// and of the new one. Only a state that is newer than the copy was written after it.
func (m *Manager) loadCopy(s stored, cause error) (stored, error) {
	b, err := readCopy(m.source())
	if err != nil || b == nil {
		return s, cause
	}
	f, err := store.Decode(b, m.cipher)
	if err != nil || f == nil || cause == nil && s.file != nil && (s.file.Lineage != f.Lineage || s.file.Serial > f.Serial) {
		return s, cause
	}
	s.raw, s.file, s.copied = b, f, true
	return s, nil
}

// finishCopy does what the writer of a copy died doing, if there is one and the run has the lock.
func (m *Manager) finishCopy(s stored) (stored, error) {
	if !s.copied || m.held == nil || m.source() != m.paths.write {
		return s, nil
	}
	err := m.disk.replaceHeld(m.paths.write, s.raw, m.held)
	if err == nil && m.disk.swap {
		err = os.Remove(m.paths.write + copySuffix)
	}
	if err != nil {
		return s, failed("the state", m.paths.write, "written", err)
	}
	s.sum, s.copied = sha256.Sum256(s.raw), false
	return s, nil
}

// backupHint adds to an error about the state where its backup is, if there is one.
func (m *Manager) backupHint() string {
	if m.paths.backup != "" && exists(m.paths.backup) {
		return fmt.Sprintf(" (there is a backup in %s)", m.paths.backup)
	}
	return ""
}

// refuse adds to err what to do about a journal that cannot be merged into the state; it returns nil for
// nil. missing are results that the state is known to lack.
func (m *Manager) refuse(err error, missing []addr.Object) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, state.ErrJournalSealed) {
		return fmt.Errorf("%w. The journal %s was left by a run that ended abnormally, and has results that the state lacks. Nothing has been changed. "+
			"Configure the encryption that it was written with, if need be as a fallback", err, m.paths.journal)
	}
	lacks := "It may name objects that are in no state."
	if len(missing) > 0 {
		lacks = "The state does not have what it records about these objects:" + store.ListObjects(missing)
	}
	return fmt.Errorf("%w.\n\nThe journal %s was left by a run that ended abnormally. %s\n\nNothing has been changed. If the state that the journal continues can be restored, "+
		"restore it, and the results are taken from the journal. To go on without them, move the journal away:\n    %s\nIf that run kept its state in another file, "+
		"such as %s, store that file next:\n    mayfly state push %s\nThen plan, and import what exists but is missing from the state",
		err, m.paths.journal, lacks, moveAway(m.paths.journal), store.RescueName, store.RescueName)
}

// moveAway returns a command that gives a file an unused name.
func moveAway(path string) string {
	to := path + ".old"
	for n := 2; exists(to); n++ {
		to = fmt.Sprintf("%s.old%d", path, n)
	}
	if runtime.GOOS == "windows" {
		return fmt.Sprintf("move %s %s", path, to)
	}
	return fmt.Sprintf("mv %s %s", path, to)
}

// noteReplayed records the findings of a replay for the user.
func (m *Manager) noteReplayed(r *state.Replayed) {
	n := m.found()
	n.Changes, n.Unfinished, n.Open, n.Torn, n.Saved = r.Changes, r.Unfinished, r.Open, r.Torn, false
}

// settle reads the state and folds a journal left by an earlier run into the state file. If the run has no
// lock, settle takes it meanwhile: a journal must not be taken from a live run.
func (m *Manager) settle() (*state.File, error) {
	s, err := m.load()
	if err == nil {
		s, err = m.finishCopy(s)
	}
	if err != nil {
		return nil, err
	}
	if !s.journal {
		return m.note(s.result(), s.sum), nil
	}
	if m.held == nil {
		h, err := locks.lock(m.paths.write)
		if err != nil {
			if errors.Is(err, errHeld) {
				return nil, m.journalInUse()
			}
			return nil, failed("the journal of an interrupted run cannot be put into the state: the state", m.paths.write, "locked", err)
		}
		m.held = h
		defer func() {
			m.held = nil
			_ = locks.unlock(h, m.paths.write) // after a successful write, failing to close loses nothing
		}()
	}
	f, err := locks.take(m.paths.journal)
	switch {
	case errors.Is(err, errHeld):
		return nil, m.journalInUse()
	case errors.Is(err, fs.ErrNotExist): // the journal's writer has just ended
		if s, err = m.load(); err != nil {
			return nil, err
		}
		return m.note(s.result(), s.sum), nil
	case err != nil:
		return nil, failed("the journal of an interrupted run,", m.paths.journal+",", "locked", err)
	}
	return m.foldTaken(f)
}

// journalInUse returns the error for a journal that another run is writing.
func (m *Manager) journalInUse() error {
	why := fmt.Errorf("its journal %s must be left alone while that run lasts", m.paths.journal)
	if m.lockID != "" {
		why = fmt.Errorf("that run was started with -lock=false and is changing this state: its journal is %s. Wait until it has ended", m.paths.journal)
	}
	return &store.LockError{Info: m.holderElse(), Err: why}
}

// holderElse is holder, or nil if that is this run.
func (m *Manager) holderElse() *store.LockInfo {
	if info := m.holder(); info != nil && info.ID != m.lockID {
		return info
	}
	return nil
}

// foldTaken folds in the journal in f, which is locked. It reads again what was read before the lock was
// taken.
func (m *Manager) foldTaken(f *os.File) (*state.File, error) {
	s, err := m.load()
	if err == nil {
		s, err = m.finishCopy(s)
	}
	if err == nil {
		m.note(s.file, s.sum)
		err = m.fold(&s, f)
	}
	if err != nil {
		_ = locks.close(f) // the error is about more than that
		return nil, err
	}
	return m.note(s.result(), s.sum), nil
}

// fold writes the replayed state, if the journal had changes, and removes the journal. After a crash at any
// point, the next run finds either the old state and the journal, or a state that the journal's last record
// names as complete.
func (m *Manager) fold(s *stored, journal *os.File) error {
	if s.unread {
		return m.setAside(journal)
	}
	if s.replayed != nil {
		m.noteReplayed(s.replayed)
		if s.replayed.Changes > 0 {
			data, err := store.Encode(s.replayed.File, m.cipher)
			if err != nil {
				return err
			}
			if err := m.markFolded(s, data, journal); err != nil {
				return fmt.Errorf("folding the journal of an interrupted run into the state: %w", err)
			}
			if err := m.store(data); err != nil {
				return err
			}
			s.sum = sha256.Sum256(data)
		}
		m.recovered.Saved = true
	}
	if err := locks.remove(m.paths.journal, journal); err != nil {
		return failed("the journal of an interrupted run,", m.paths.journal+",", "removed", err)
	}
	return nil
}

// setAside renames a journal that cannot be read. Its run has changed nothing, unless the disk has lost
// what was written.
func (m *Manager) setAside(journal *os.File) error {
	to := m.paths.journal + "." + uuid.NewString()[:8] + ".unreadable"
	err := locks.close(journal)
	if err == nil {
		err = os.Rename(m.paths.journal, to)
	}
	if err == nil {
		err = safefile.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return failed("the journal of an interrupted run cannot be read, and the file", m.paths.journal, "renamed", err)
	}
	m.found().Unreadable = to
	return nil
}

// markFolded appends a record to a leftover journal that its changes are about to be in the state file,
// with the content data.
func (m *Manager) markFolded(s *stored, data []byte, journal *os.File) error {
	mark, err := state.FoldedFrame(s.replayed.File.Serial, sha256.Sum256(data), store.SealerOf(m.cipher))
	if err != nil {
		return err
	}
	if err = journal.Truncate(s.parsed.Size); err == nil {
		_, err = m.disk.writeAt(journal, mark, s.parsed.Size)
	}
	if err == nil {
		err = m.disk.sync(journal)
	}
	return err
}
