package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Manager is a store.Manager for one state file. It is safe for concurrent use. It has four files: the
// state, its backup, the journal and the information about the lock; see paths.
type Manager struct {
	paths  paths
	cipher store.Cipher
	disk   disk

	mu        sync.Mutex
	held      *held
	lockID    string     // "" if the run has no lock
	fresh     bool       // the locked file has never had any content
	loaded    bool       // the state was read or written without error
	meta      state.Meta // of the state as last read or written; zero if there is none
	sum       [32]byte   // of the file's content at that time
	piped     []byte     // content of a state that is not a regular file and can be read only once
	wrote     bool       // paths.write has the run's result
	backedUp  bool
	recovered *store.Recovered
	log       *state.Log
	logFile   *logFile
}

var (
	_ store.Manager    = (*Manager)(nil)
	_ store.Recoverer  = (*Manager)(nil)
	_ store.Checker    = (*Manager)(nil)
	_ store.Redirected = (*Manager)(nil)
)

// Lock implements store.Manager. It takes the same lock on the state file as other engines, with their
// information file beside it. A state that is not a regular file cannot be written, so it needs no lock.
func (m *Manager) Lock(ctx context.Context, info store.LockInfo) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lockID != "" {
		return "", &store.LockError{Err: errors.New("this run already holds the lock")}
	}
	if info.ID == "" {
		info.ID = uuid.NewString()
	}
	if isStream(m.paths.write) {
		m.lockID = info.ID
		return info.ID, nil
	}
	h, err := locks.lock(m.paths.write)
	if errors.Is(err, errHeld) {
		return "", &store.LockError{Info: m.holder()}
	}
	if err != nil {
		return "", failed("the state", m.paths.write, "locked", err)
	}
	if err := m.announce(info, h); err != nil {
		return "", errors.Join(err, locks.unlock(h, m.paths.write))
	}
	m.held, m.lockID = h, info.ID
	// The state may have changed while another run held the lock.
	m.loaded, m.meta = false, state.Meta{}
	sweep(m.paths.write)
	return info.ID, nil
}

// announce records who holds the lock h, unless files beside the state show that it was lost: the next run
// must be able to see that.
func (m *Manager) announce(info store.LockInfo, h *held) error {
	fi, err := h.current().Stat()
	if err != nil {
		return failed("the state", m.paths.write, "locked", err)
	}
	if fi.Size() == 0 {
		m.fresh = h.created || m.neverWritten()
		if m.paths.read == m.paths.write && !m.fresh {
			if err := m.checkEmpty(); err != nil {
				return err
			}
		}
		info.Info = noStateYet
	}
	info.Path = m.paths.write
	if err := m.writeInfo(info); err != nil {
		return failed("the information about the lock,", m.paths.info+",", "written", err)
	}
	return nil
}

// sweep removes the temporary files of a writer that died. The caller holds the lock, so no writer is
// alive. Failing to remove a file does no harm.
func sweep(path string) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+base+".") && strings.HasSuffix(e.Name(), ".tmp") || e.Name() == base+keepSuffix {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Unlock implements store.Manager. A local lock ends with its process, so locks of other runs cannot be
// released.
func (m *Manager) Unlock(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lockID == "" {
		return &store.LockError{Info: m.holder(), Err: errors.New("this run does not hold the lock; a lock on a local state ends with the process that holds it")}
	}
	if id != m.lockID {
		return &store.LockError{Info: m.holder(), Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	m.lockID = ""
	if m.held == nil {
		return nil
	}
	_ = os.Remove(m.paths.info) // what is left says nothing about the lock: see holder
	err := errors.Join(m.closeLog(), locks.unlock(m.held, m.paths.write))
	m.held = nil
	if err != nil {
		return failed("the state", m.paths.write, "unlocked", err)
	}
	return nil
}

// CheckWritable implements store.Checker.
func (m *Manager) CheckWritable() error { return m.paths.checkTargets() }

// SamePlace implements store.Placed. Stores with different files for the default workspace may share the
// directory of the other workspaces.
func (m *Manager) SamePlace(other store.Manager) bool {
	o, ok := other.(*Manager)
	return ok && m.paths.read == o.paths.read && m.paths.write == o.paths.write
}

// Files returns the files of the state and its backup that exist.
func (m *Manager) Files() []string {
	var out []string
	for _, name := range []string{m.paths.read, m.paths.backup} {
		if _, err := os.Stat(name); name != "" && err == nil {
			out = append(out, name)
		}
	}
	return out
}

// RedirectedTo implements store.Redirected.
func (m *Manager) RedirectedTo() string { return m.paths.redirected }

// Recovered implements store.Recoverer.
func (m *Manager) Recovered() *store.Recovered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recovered
}

// Read implements store.Manager. With the lock held, it folds the journal of an interrupted run into the
// state file. Otherwise it includes the journal's results in the returned file, and changes no file.
func (m *Manager) Read(ctx context.Context) (*state.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read()
}

// readRetries is how often reading without the lock is repeated if the files don't match.
const readRetries = 2

// read is Read for callers that hold mu.
func (m *Manager) read() (*state.File, error) {
	if m.held != nil && m.log == nil {
		return m.settle()
	}
	s, err := m.load()
	for range readRetries {
		if !errors.Is(err, state.ErrJournalForeign) && !errors.Is(err, state.ErrCorrupt) {
			break
		}
		// A writer that was active between reading its two files looks the same.
		s, err = m.load()
	}
	if err != nil {
		return nil, err
	}
	if s.replayed != nil && m.log == nil {
		m.noteReplayed(s.replayed)
	}
	return m.note(s.result(), s.sum), nil
}

// note remembers f as the state known to the run, and the checksum of its file.
func (m *Manager) note(f *state.File, sum [32]byte) *state.File {
	m.loaded, m.meta, m.sum = true, state.Meta{}, sum
	if f != nil {
		m.meta = f.Meta
	}
	return f
}

// source returns the path of the file with the state as the run sees it.
func (m *Manager) source() string {
	if m.wrote {
		return m.paths.write
	}
	return m.paths.read
}

// readSource returns the content of the source, or nil if there is none.
func (m *Manager) readSource() ([]byte, error) {
	path := m.source()
	if !m.paths.streams || !isStream(path) {
		return locks.read(path)
	}
	if m.piped == nil {
		b, err := readStream(path)
		if err != nil {
			return nil, err
		}
		m.piped = append([]byte{}, b...)
	}
	return m.piped, nil
}

// Write implements store.Manager. If it fails although the journal has all results of the run, the error is
// a *store.JournaledError.
func (m *Manager) Write(_ context.Context, f *state.File) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.write(f)
	if err != nil && m.log != nil && m.log.Complete() && m.logFile.inPlace() {
		return &store.JournaledError{Journal: m.paths.journal, Err: err}
	}
	return err
}

// write is Write for callers that hold mu. The order makes each crash recoverable: first the journal names
// the state file that is about to be written, then the file is replaced, then the journal is removed.
func (m *Manager) write(f *state.File) error {
	if err := m.checkHeld(); err != nil {
		return err
	}
	if err := m.paths.checkTargets(); err != nil {
		return err
	}
	if err := m.prepareWrite(); err != nil {
		return err
	}
	data, err := store.Encode(f, m.cipher)
	if err != nil {
		return err
	}
	if m.log != nil && m.logFile.exists() {
		// Without this record, after a crash before the journal is removed, the next run would refuse the
		// journal. This is safe, so failing to write it must not prevent saving the state.
		_ = m.log.Folded(f.Serial, sha256.Sum256(data))
	}
	if err := m.store(data); err != nil {
		return err
	}
	m.note(f, sha256.Sum256(data))
	if m.log == nil {
		return nil
	}
	err = m.logFile.remove()
	m.log, m.logFile = nil, nil
	if err != nil {
		return fmt.Errorf("the state is saved, but its journal could not be removed: %w", err)
	}
	return nil
}

// prepareWrite ensures that a write replaces neither a damaged state nor results that the caller has not
// seen.
func (m *Manager) prepareWrite() error {
	if m.log != nil && m.logFile.exists() || m.loaded && !exists(m.paths.journal) {
		return nil
	}
	known, loaded := m.meta, m.loaded
	f, err := m.settle()
	if err != nil {
		return err
	}
	if m.recovered != nil && m.recovered.Changes > 0 && !(loaded && f != nil && f.Meta == known) {
		return fmt.Errorf("results of an interrupted run have just been recovered into %s, and the state that was to be written does not have them. Run the command again", m.paths.write)
	}
	return nil
}

// checkHeld returns an error if the locked file is no longer the state file. Without a lock there is
// nothing to check.
func (m *Manager) checkHeld() error {
	if m.held != nil && !sameFile(m.paths.write, m.held.current()) {
		return fmt.Errorf("%w: %s was replaced or removed by something else. Nothing has been written over it", store.ErrLockLost, m.paths.write)
	}
	return nil
}

// checkUnchanged returns an error if content, read from the state file now, differs from what this run last
// read or wrote there.
func (m *Manager) checkUnchanged(content []byte) error {
	if m.loaded && m.source() == m.paths.write && sha256.Sum256(content) != m.sum {
		return fmt.Errorf("the state in %s was changed by another run after this one had read it. Nothing has been written over it", m.paths.write)
	}
	return nil
}

// store makes data the content of the state file, after backing up what the run found. The backup is made
// once for each run, before its first write, so that it has the state as it was before the run. A write
// that would change nothing is left out.
func (m *Manager) store(data []byte) error {
	prev, err := m.readSource()
	if err != nil {
		return failed("the state", m.source(), "read", err)
	}
	if err := m.checkUnchanged(prev); err != nil {
		return err
	}
	if m.source() == m.paths.write && bytes.Equal(prev, data) {
		return nil
	}
	if !m.backedUp && m.paths.backup != "" && len(prev) > 0 {
		old, err := store.Recode(prev, m.cipher)
		if err == nil {
			err = m.disk.backUp(m.paths.backup, old, m.source())
		}
		if err != nil {
			return failed("the backup of the state", m.paths.backup, "written", err)
		}
	}
	m.backedUp = true
	if m.held != nil {
		err = m.disk.replaceHeld(m.paths.write, data, m.held)
	} else if _, err = safefile.MakeDirs(filepath.Dir(m.paths.write), 0o755); err == nil {
		err = m.disk.replace(m.paths.write, data, modeOf(m.paths.write))
	}
	if err != nil {
		return failed("the state", m.paths.write, "written", err)
	}
	m.wrote = true
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
