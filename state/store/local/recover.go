package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Load implements document.Content. A run that has the lock and no journal yet first overwrites the state
// with the copy of a writer that died while doing so.
func (m *medium) Load(_ context.Context, own document.LogFile) (document.Stored, error) {
	raw, err := m.readSource()
	if err != nil {
		return document.Stored{}, failed("the state", m.source(), "read", err)
	}
	s := document.Stored{Data: raw, Version: versionOf(raw), Journals: []document.Journal{journal{m}}, Missing: m.missing}
	s.File, err = store.Decode(raw, m.cipher)
	copied := m.loadCopy(&s, err)
	if err != nil && !copied {
		return s, fmt.Errorf("%s: %w%s", m.source(), err, m.backupHint())
	}
	if copied && own == nil && m.held != nil && m.source() == m.paths.write {
		s.Version = versionOf(s.Data)
		return s, m.finishCopy(s.Data)
	}
	return s, nil
}

// loadCopy looks for the copy that is written where a state must be overwritten in place, in case the writer
// died doing so. It reports whether s has the copy now. The state file may look like a state even then, with
// pieces of the old and of the new one. Only a state that is newer than the copy was written after it. cause
// is why the state file could not be read.
func (m *medium) loadCopy(s *document.Stored, cause error) bool {
	b, err := readCopy(m.source())
	if err != nil || b == nil {
		return false
	}
	f, err := store.Decode(b, m.cipher)
	if err != nil || f == nil || cause == nil && s.File != nil && (s.File.Lineage != f.Lineage || s.File.Serial > f.Serial) {
		return false
	}
	s.Data, s.File = b, f
	return true
}

// finishCopy writes the content of the copy over the state file, and removes the copy.
func (m *medium) finishCopy(data []byte) error {
	if err := m.replace(data); err != nil || !m.disk.swap {
		return err
	}
	if err := os.Remove(m.paths.write + copySuffix); err != nil {
		return failed("the state", m.paths.write, "written", err)
	}
	return nil
}

// backupHint adds to an error about the state where its backup is, if there is one.
func (m *medium) backupHint() string {
	if m.paths.backup != "" && exists(m.paths.backup) {
		return fmt.Sprintf(" (there is a backup in %s)", m.paths.backup)
	}
	return ""
}

// missing handles a source without content: if the file exists, it may have been a state once.
func (m *medium) missing() (string, error) {
	path := m.source()
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return "", nil
	}
	if m.held == nil || path != m.paths.write { // else taking the lock has checked the files beside it
		if err := m.checkEmpty(); err != nil || m.neverWritten() {
			return "", err
		}
	} else if m.fresh {
		return "", nil
	}
	return path, nil
}

// Unsettled implements document.Journals.
func (m *medium) Unsettled(bool) bool { return exists(m.paths.journal) }

// Claim implements document.Journals. If the run has no lock, it takes it until release: a journal must not
// be taken from a live run.
func (m *medium) Claim(context.Context) (release func(), err error) {
	var h *held
	if m.held == nil {
		if h, err = locks.lock(m.paths.write); err != nil {
			if errors.Is(err, errHeld) {
				return nil, m.journalInUse()
			}
			return nil, failed("the journal of an interrupted run cannot be put into the state: the state", m.paths.write, "locked", err)
		}
		m.held = h
	}
	release = func() {
		if m.taken != nil {
			_ = locks.close(m.taken) // unless it is removed by now
		}
		if h != nil {
			m.held = nil
			_ = locks.unlock(h, m.paths.write) // after a successful write, failing to close loses nothing
		}
	}
	if m.taken, err = locks.take(m.paths.journal); err == nil {
		return release, nil
	}
	release()
	switch {
	case errors.Is(err, errHeld):
		return nil, m.journalInUse()
	case errors.Is(err, fs.ErrNotExist):
		return nil, document.ErrGone
	}
	return nil, failed("the journal of an interrupted run,", m.paths.journal+",", "locked", err)
}

// journalInUse returns the error for a journal that another run is writing.
func (m *medium) journalInUse() error {
	why := fmt.Errorf("its journal %s must be left alone while that run lasts", m.paths.journal)
	if m.lockID != "" {
		why = fmt.Errorf("that run was started with -lock=false and is changing this state: its journal is %s. Wait until it has ended", m.paths.journal)
	}
	return &store.LockError{Info: m.holderElse(), Err: why}
}

// holderElse is holder, or nil if that is this run.
func (m *medium) holderElse() *store.LockInfo {
	if info := m.holder(); info != nil && info.ID != m.lockID {
		return info
	}
	return nil
}

// Remove implements document.Journals. It removes the journal that was claimed.
func (m *medium) Remove(_ context.Context, journals []document.Journal) error {
	if len(journals) == 0 {
		return nil
	}
	if err := locks.remove(m.paths.journal, m.taken); err != nil {
		return failed("the journal of an interrupted run,", m.paths.journal+",", "removed", err)
	}
	return nil
}

// journal is the document.Journal beside the state file. It is changed while it is claimed.
type journal struct{ *medium }

// Text implements document.Journal.
func (j journal) Text(context.Context) ([]byte, error) {
	text, err := locks.read(j.paths.journal)
	if err != nil {
		return nil, failed("the journal of the state,", j.paths.journal+",", "read", err)
	}
	return text, nil
}

// Append implements document.Journal.
func (j journal) Append(_ context.Context, record []byte, size int64) error {
	err := j.taken.Truncate(size)
	if err == nil {
		_, err = j.disk.writeAt(j.taken, record, size)
	}
	if err == nil {
		err = j.disk.sync(j.taken)
	}
	return err
}

// SetAside implements document.Journal. It renames the file.
func (j journal) SetAside() (string, error) {
	to := j.paths.journal + "." + uuid.NewString()[:8] + ".unreadable"
	err := locks.close(j.taken)
	if err == nil {
		err = os.Rename(j.paths.journal, to)
	}
	if err == nil {
		err = safefile.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return "", failed("the journal of an interrupted run cannot be read, and the file", j.paths.journal, "renamed", err)
	}
	return to, nil
}

// Refuse implements document.Journal.
func (j journal) Refuse(err error, lacks string) error {
	if errors.Is(err, state.ErrJournalSealed) {
		return fmt.Errorf("%w. The journal %s was left by a run that ended abnormally, and has results that the state lacks. Nothing has been changed. "+
			"Configure the encryption that it was written with, if need be as a fallback", err, j.paths.journal)
	}
	return fmt.Errorf("%w.\n\nThe journal %s was left by a run that ended abnormally. %s\n\nNothing has been changed. If the state that the journal continues can be restored, "+
		"restore it, and the results are taken from the journal. To go on without them, move the journal away:\n    %s\nIf that run kept its state in another file, "+
		"such as %s, store that file next:\n    mayfly state push %s\nThen plan, and import what exists but is missing from the state",
		err, j.paths.journal, lacks, moveAway(j.paths.journal), store.RescueName, store.RescueName)
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
