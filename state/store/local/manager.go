package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Manager is a store.Manager for one state file. It is safe for concurrent use.
type Manager struct {
	paths  paths
	cipher store.Cipher
	disk   disk

	mu        sync.Mutex
	held      *held
	lockID    string
	loaded    bool       // the state was read or written without error
	meta      state.Meta // of the state as last read or written, zero if there is none
	wrote     bool       // paths.write has the run's result
	backedUp  bool
	recovered *store.Recovered
	log       *state.Log
	logFile   *logFile
}

var (
	_ store.Manager   = (*Manager)(nil)
	_ store.Recoverer = (*Manager)(nil)
)

// Lock implements store.Manager. The lock is the one that peers take on the state file, with their information file beside it.
func (m *Manager) Lock(ctx context.Context, info store.LockInfo) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != nil {
		return "", &store.LockError{Err: errors.New("this run already holds the lock")}
	}
	h, err := locks.lock(m.paths.write)
	if errors.Is(err, errHeld) {
		return "", &store.LockError{Info: m.holder()}
	}
	if err != nil {
		return "", fmt.Errorf("locking the state: %w", err)
	}
	if info.ID == "" {
		info.ID = uuid.NewString()
	}
	info.Path = m.paths.write
	if err := m.writeInfo(info); err != nil {
		return "", errors.Join(fmt.Errorf("noting who holds the lock: %w", err), locks.unlock(h, m.paths.write))
	}
	m.held, m.lockID = h, info.ID
	// What the state is may have changed while someone else held the lock.
	m.loaded, m.meta = false, state.Meta{}
	sweep(m.paths.write)
	return info.ID, nil
}

func (m *Manager) writeInfo(info store.LockInfo) error {
	b, err := info.Marshal()
	if err != nil {
		return err
	}
	return os.WriteFile(m.paths.info, b, 0o600)
}

// holder reads who holds the lock, nil if that is not known.
func (m *Manager) holder() *store.LockInfo {
	b, err := os.ReadFile(m.paths.info)
	if err != nil {
		return nil
	}
	info, err := store.ParseLockInfo(b)
	if err != nil {
		return nil
	}
	return &info
}

// sweep removes the temporary files of a writer that died. The caller holds the lock, so none can be alive. A file that resists does no harm.
func sweep(path string) {
	path = resolve(path)
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

// Unlock implements store.Manager. A local lock ends with its process, so nobody else's can be given back.
func (m *Manager) Unlock(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		return &store.LockError{Info: m.holder(), Err: errors.New("this run does not hold the lock; a lock on a local state ends with the process that holds it")}
	}
	if id != m.lockID {
		return &store.LockError{Info: m.holder(), Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	err := m.closeLog()
	if rm := os.Remove(m.paths.info); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	err = errors.Join(err, locks.unlock(m.held, m.paths.write))
	m.held, m.lockID = nil, ""
	if err != nil {
		return fmt.Errorf("unlocking the state: %w", err)
	}
	return nil
}

// closeLog ends the run's journal. One that holds anything of use stays for the next run to recover.
func (m *Manager) closeLog() error {
	if m.log == nil {
		return nil
	}
	idle := m.log.Idle()
	err := m.logFile.close()
	if idle {
		err = errors.Join(err, removeFile(m.paths.journal))
	}
	m.log, m.logFile = nil, nil
	return err
}

// Recovered implements store.Recoverer.
func (m *Manager) Recovered() *store.Recovered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recovered
}

// Read implements store.Manager. With the lock held, the journal of an interrupted run is folded into the state file; without, its results are
// part of what is returned, and no file changes.
func (m *Manager) Read(ctx context.Context) (*state.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read()
}

// readRetries is how often reading without the lock is repeated when the files don't go together.
const readRetries = 2

func (m *Manager) read() (*state.File, error) {
	if m.held != nil && m.log == nil {
		return m.settle()
	}
	s, err := m.load()
	for range readRetries {
		if !errors.Is(err, state.ErrJournalForeign) && !errors.Is(err, state.ErrCorrupt) {
			break
		}
		// A writer at work between our readings of its two files looks the same.
		s, err = m.load()
	}
	if err != nil {
		return nil, err
	}
	if s.replayed != nil && m.log == nil {
		m.recovered = recoveredFrom(m.paths.journal, s.replayed)
	}
	return m.note(s.result()), nil
}

// note remembers f as the state that the run knows.
func (m *Manager) note(f *state.File) *state.File {
	m.loaded, m.meta = true, state.Meta{}
	if f != nil {
		m.meta = f.Meta
	}
	return f
}

// source is the file that holds the state as the run sees it.
func (m *Manager) source() string {
	if m.wrote {
		return m.paths.write
	}
	return m.paths.read
}

// Write implements store.Manager.
func (m *Manager) Write(_ context.Context, f *state.File) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkHeld(); err != nil {
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
		// Without this record a crash before the journal's removal would make the next run refuse the journal, loudly. That is safe, so a
		// journal that cannot be written any more must not keep the state from being saved.
		_ = m.log.Folded(f.Serial, sha256.Sum256(data))
	}
	if err := m.store(data); err != nil {
		return err
	}
	m.note(f)
	if m.log == nil {
		return nil
	}
	err = errors.Join(m.logFile.close(), removeFile(m.paths.journal), syncDir(filepath.Dir(m.paths.journal)))
	m.log, m.logFile = nil, nil
	if err != nil {
		return fmt.Errorf("the state is saved, but its journal could not be removed: %w", err)
	}
	return nil
}

// prepareWrite makes sure that a write replaces neither a damaged state nor results that the caller has not seen.
func (m *Manager) prepareWrite() error {
	if m.log != nil {
		return nil
	}
	if m.loaded && !exists(m.paths.journal) {
		return nil
	}
	known, loaded := m.meta, m.loaded
	f, err := m.settle()
	if err != nil {
		return err
	}
	if m.recovered != nil && m.recovered.Changes > 0 && !(loaded && f != nil && f.Meta == known) {
		return fmt.Errorf("results of an interrupted run were recovered into %s just now, and what was to be written does not contain them. Run the command again", m.paths.write)
	}
	return nil
}

func (m *Manager) checkHeld() error {
	if m.held != nil && !sameFile(m.paths.write, m.held.current()) {
		return fmt.Errorf("%w: %s was replaced or removed by something else. Nothing has been written over it", store.ErrLockLost, m.paths.write)
	}
	return nil
}

// store makes data the content of the state file, after keeping a backup of what the run found.
func (m *Manager) store(data []byte) error {
	prev, err := locks.read(m.source())
	if err != nil {
		return fmt.Errorf("reading the state: %w", err)
	}
	if m.source() == m.paths.write && bytes.Equal(prev, data) {
		return nil
	}
	if !m.backedUp && m.paths.backup != "" && len(prev) > 0 {
		if err := m.disk.replace(m.paths.backup, prev); err != nil {
			return fmt.Errorf("keeping a backup of the state in %s: %w", m.paths.backup, err)
		}
	}
	m.backedUp = true
	if m.held != nil {
		err = m.disk.replaceHeld(m.paths.write, data, m.held)
	} else if err = os.MkdirAll(filepath.Dir(m.paths.write), 0o755); err == nil {
		err = m.disk.replace(m.paths.write, data)
	}
	if err != nil {
		return fmt.Errorf("writing the state to %s: %w", m.paths.write, err)
	}
	m.wrote = true
	return nil
}

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
	file := &logFile{path: m.paths.journal, disk: m.disk}
	log, err := state.NewLog(file, base.Meta, sealer(m.cipher))
	if err != nil {
		return nil, err
	}
	m.log, m.logFile = log, file
	return log, nil
}

// sealer avoids a nil Cipher in a non-nil interface.
func sealer(c store.Cipher) state.Sealer {
	if c == nil {
		return nil
	}
	return c
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
