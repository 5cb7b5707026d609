// Package document keeps a state as one document, under a lock and with the journals of runs beside it, so
// that a crash at any point loses no result. It has the code that is the same wherever the document is: the
// order in which things become durable, and the recovery from journals of runs that did not end as they
// should. The interface Medium hides the differences.
//
// It may import state and state/store. It must not know files, services, configuration, plans or providers.
package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Manager is a store.Manager for one document. It is safe for concurrent use.
type Manager struct {
	medium Medium
	opt    Options

	mu        sync.Mutex
	lockID    string     // "" if the run has no lock
	loaded    bool       // the document was read or written without error
	meta      state.Meta // of the document as last read or written; zero if there is none
	version   Version    // of the document at that time
	recovered *store.Recovered
	log       *state.Log
	file      LogFile // of log; nil without one
}

// Options describe a document.
type Options struct {
	Path    string       // names it in messages
	Journal string       // names its journals in messages
	Cipher  store.Cipher // nil stores it unencrypted
}

// New returns a manager of the document on a medium, which it does not use yet.
func New(m Medium, opt Options) *Manager { return &Manager{medium: m, opt: opt} }

// Lock implements store.Manager.
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
	if err := m.medium.Lock(ctx, info); err != nil {
		return "", err
	}
	m.lockID = info.ID
	m.loaded, m.meta, m.version = false, state.Meta{}, "" // it may have changed while another run held the lock
	return info.ID, nil
}

// Unlock implements store.Manager. A journal that a later run needs stays.
func (m *Manager) Unlock(ctx context.Context, id string) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != m.lockID || id == "" {
		return m.medium.NotOwn(ctx, id, m.lockID)
	}
	m.lockID = ""
	return m.medium.Unlock(ctx, id, m.closeLog)
}

// Recovered implements store.Recoverer.
func (m *Manager) Recovered() *store.Recovered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recovered
}

// Read implements store.Manager. With the lock held, it folds the journals of interrupted runs into the
// document. Otherwise it includes their results in the returned file, and changes nothing.
func (m *Manager) Read(ctx context.Context) (*state.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lockID != "" && m.log == nil {
		return m.settle(ctx)
	}
	r, err := m.load(ctx)
	if err != nil {
		return nil, err
	}
	if m.log == nil {
		m.noteReplayed(r.journals)
	}
	return m.note(r.result(), r.version), nil
}

// note remembers f as the state known to the run, and the version of its bytes.
func (m *Manager) note(f *state.File, v Version) *state.File {
	m.loaded, m.meta, m.version = true, state.Meta{}, v
	if f != nil {
		m.meta = f.Meta
	}
	return f
}

// Write implements store.Manager. If it fails although the journal has all results of the run, the error is
// a *store.JournaledError.
func (m *Manager) Write(ctx context.Context, f *state.File) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.write(ctx, f)
	if err != nil && m.log != nil && m.log.Complete() && m.file.Keeps(err) {
		return &store.JournaledError{Journal: m.opt.Journal, Err: err}
	}
	return err
}

// write is Write for callers that hold mu. The order makes each crash recoverable: first the journal names
// the document that is about to be written, then that is replaced, then the journal is removed.
func (m *Manager) write(ctx context.Context, f *state.File) error {
	if err := m.medium.Check(ctx); err != nil {
		return err
	}
	if err := m.prepareWrite(ctx); err != nil {
		return err
	}
	data, err := store.Encode(f, m.opt.Cipher)
	if err != nil {
		return err
	}
	if m.log != nil && m.file.Started() {
		// Without this record, after a crash before the journal is removed, the next run would refuse the
		// journal. This is safe, so failing to write it must not prevent saving the state.
		_ = m.log.Folded(f.Serial, sha256.Sum256(data))
	}
	v, err := m.medium.Store(ctx, data, m.version)
	if err != nil {
		return err
	}
	m.note(f, v)
	if m.log == nil {
		return nil
	}
	file := m.file
	m.log, m.file = nil, nil
	return file.Remove(ctx, true)
}

// prepareWrite ensures that a write replaces neither a damaged document nor results that the caller has not
// seen.
func (m *Manager) prepareWrite(ctx context.Context) error {
	if m.log != nil && m.file.Started() || m.loaded && !m.medium.Unsettled(true) {
		return nil
	}
	known, loaded, before := m.meta, m.loaded, m.recovered
	f, err := m.settle(ctx)
	if err != nil {
		return err
	}
	if m.recovered != before && m.recovered.Changes > 0 && !(loaded && f != nil && f.Meta == known) {
		return fmt.Errorf("results of an interrupted run have just been recovered into %s, and the state that was to be written does not have them. Run the command again", m.opt.Path)
	}
	return nil
}

// BeginRun implements store.Manager. The first record creates the journal of the run. It first folds in the
// journals of interrupted runs, if there are any, and fails if base is not the stored state.
func (m *Manager) BeginRun(ctx context.Context, base *state.File, version string) (state.Run, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log != nil {
		return nil, errors.New("this run already has a journal")
	}
	if err := m.medium.Check(ctx); err != nil {
		return nil, err
	}
	if !m.loaded || m.medium.Unsettled(m.lockID != "") {
		known, loaded := m.meta, m.loaded
		if _, err := m.settle(ctx); err != nil {
			return nil, err
		}
		if loaded && m.meta != known {
			return nil, m.medium.Changed()
		}
	}
	if fresh := m.meta == (state.Meta{}); !fresh && (base.Lineage != m.meta.Lineage || base.Serial != m.meta.Serial) || fresh && base.Serial != 0 {
		return nil, m.medium.Changed()
	}
	file := m.medium.Begin(m.guarded)
	log, err := state.NewLog(file, base.Meta, store.SealerOf(m.opt.Cipher))
	if err != nil {
		return nil, err
	}
	m.log, m.file = log, file
	return state.NewRun(base, version, log, m.Write), nil
}

// guarded calls check with the version that the run knows, while nothing else uses the medium.
func (m *Manager) guarded(check func(was Version) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return check(m.version)
}

// closeLog ends the run's journal. If it contains anything useful, it stays for the next run to recover.
func (m *Manager) closeLog(ctx context.Context) error {
	if m.log == nil {
		return nil
	}
	m.log.End()
	log, file := m.log, m.file
	m.log, m.file = nil, nil
	if log.Idle() {
		return file.Remove(ctx, false)
	}
	return file.Close()
}

// Exclusively calls f while nothing else uses the medium.
func (m *Manager) Exclusively(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}

// Restore stores a document again without changing its meaning: restore is called with the state, after the
// journals of interrupted runs were folded in, and the version of its bytes, and returns their new version.
func (m *Manager) Restore(ctx context.Context, restore func(f *state.File, was Version) (Version, error)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.medium.Check(ctx); err != nil {
		return err
	}
	f, err := m.settle(ctx)
	if err != nil {
		return err
	}
	v, err := restore(f, m.version)
	if err == nil {
		m.version = v
	}
	return err
}
