package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Manager is a store.Manager for one state in a service. It is safe for concurrent use.
type Manager struct {
	place   Place
	cipher  store.Cipher
	journal string // where the parts are, for messages
	away    bool   // the parts are on this machine, and not beside the state

	mu        sync.Mutex
	lockID    string // "" if the run has no lock
	loaded    bool   // the state was read or written without error
	meta      state.Meta
	version   Version // of the state as last read or written
	recovered *store.Recovered
	log       *state.Log
	file      *partFile // of log
}

var (
	_ store.Manager       = (*Manager)(nil)
	_ store.Recoverer     = (*Manager)(nil)
	_ store.ForceUnlocker = (*Manager)(nil)
	_ store.RunRefuser    = (*Manager)(nil)
)

// Lock implements store.Manager. If the answer to a request is lost, the lock is read back: it may be ours.
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
	info.Path = m.place.Path
	if m.away {
		host, _ := os.Hostname()
		info.Info = fmt.Sprintf("If this run ended abnormally, its results are in a journal on %s, in %s", host, m.journal)
	}
	if err := m.lock(ctx, info); err != nil {
		return "", err
	}
	m.lockID = info.ID
	m.loaded, m.meta, m.version = false, state.Meta{}, "" // it may have changed while another run held the lock
	return info.ID, nil
}

// lock takes the service's lock. A first attempt whose answer was lost may have succeeded, so a lock that
// has the requested ID counts as taken from the second attempt on.
func (m *Manager) lock(ctx context.Context, info store.LockInfo) error {
	if m.place.Lock == nil {
		return nil
	}
	// An attempt that has been sent is not taken back: its server might go on to lock after the release
	// below.
	sent, cancel := linger(ctx, lingering)
	defer cancel()
	for a := newAttempts(impatient); ; {
		err := m.place.Lock.Take(sent, info)
		var held *store.LockError
		if err == nil || errors.As(err, &held) && (held.Info == nil || held.Info.ID != info.ID || a.n == 0) {
			return err
		}
		if held != nil {
			return nil // an attempt whose answer was lost
		}
		if err := a.again(ctx, err); err != nil {
			m.abandon(ctx, info.ID)
			return m.explain("locked", err)
		}
	}
}

// RefuseRun implements store.RunRefuser for services whose Lock implements it.
func (m *Manager) RefuseRun(ctx context.Context, info store.LockInfo) error {
	r, ok := m.place.Lock.(store.RunRefuser)
	if !ok {
		return nil
	}
	return m.explain("used", retry(ctx, impatient, func() error { return r.RefuseRun(ctx, info) }))
}

// abandon releases a lock that may have been taken although the run does not know. It cannot do more than
// try.
func (m *Manager) abandon(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestPause)
	defer cancel()
	_ = m.place.Lock.Release(ctx, id)
}

// Unlock implements store.Manager. A journal that a later run needs stays.
func (m *Manager) Unlock(ctx context.Context, id string) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != m.lockID || id == "" {
		info, _ := m.holder(ctx) // the error is about the ID
		return &store.LockError{Info: info, Err: fmt.Errorf("this run does not hold a lock with the ID %q", id)}
	}
	m.lockID = ""
	return errors.Join(m.closeLog(ctx), m.unlock(ctx, id))
}

// unlock releases the lock. After an attempt with an unknown outcome, a lock that does not exist any more
// counts as released.
func (m *Manager) unlock(ctx context.Context, id string) error {
	if m.place.Lock == nil {
		return nil
	}
	unsure := false
	err := retry(ctx, patient, func() error {
		err := m.place.Lock.Release(ctx, id)
		if unsure && errors.Is(err, store.ErrNotLocked) {
			return nil // the answer to an earlier attempt was lost
		}
		unsure = err != nil
		return err
	})
	return m.explain("unlocked", err)
}

// holder returns the information about the present lock; nil for none.
func (m *Manager) holder(ctx context.Context) (info *store.LockInfo, err error) {
	if m.place.Lock == nil {
		return nil, nil
	}
	err = retry(ctx, impatient, func() (err error) {
		info, err = m.place.Lock.Holder(ctx)
		return err
	})
	return info, err
}

// CheckUnlock implements store.ForceUnlocker.
func (m *Manager) CheckUnlock(ctx context.Context, id string) error {
	info, err := m.holder(ctx)
	switch {
	case errors.Is(err, ErrUnknownHolder):
		return nil // releasing it finds out
	case err != nil:
		return m.explain("unlocked", err)
	case info == nil:
		return store.ErrNotLocked
	case info.ID != id:
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	return nil
}

// ForceUnlock implements store.ForceUnlocker.
func (m *Manager) ForceUnlock(ctx context.Context, id string) error {
	if m.place.Lock == nil {
		return store.ErrNotLocked
	}
	return m.unlock(ctx, id)
}

// Recovered implements store.Recoverer.
func (m *Manager) Recovered() *store.Recovered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recovered
}

// Read implements store.Manager. With the lock held, it folds the journal of an interrupted run into the
// state. Otherwise it includes the journal's results in the returned file, and changes nothing.
func (m *Manager) Read(ctx context.Context) (*state.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.load(ctx)
	if err != nil {
		return nil, err
	}
	if m.log == nil && len(s.journals) > 0 {
		if m.lockID != "" {
			return m.fold(ctx, s)
		}
		for _, j := range s.journals {
			m.noteReplayed(j.replayed)
		}
	}
	return m.note(s.result(), s.version), nil
}

// note remembers f as the state known to the run, and the version of its bytes.
func (m *Manager) note(f *state.File, v Version) *state.File {
	m.loaded, m.meta, m.version = true, state.Meta{}, v
	if f != nil {
		m.meta = f.Meta
	}
	return f
}

// Write implements store.Manager. If it fails although the journal has all results of the run, and the
// state is as the run knows it, the error is a *store.JournaledError.
func (m *Manager) Write(ctx context.Context, f *state.File) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.write(ctx, f)
	foreign := errors.Is(err, store.ErrLockLost) || errors.Is(err, ErrChanged)
	if err != nil && !foreign && m.log != nil && m.file.started() && m.log.Complete() {
		return &store.JournaledError{Journal: m.journal, Err: err}
	}
	return err
}

// write stores the state on the condition that the service still has the version that was read. The
// journal is removed only after that.
func (m *Manager) write(ctx context.Context, f *state.File) error {
	if err := m.checkHeld(ctx); err != nil {
		return err
	}
	if !m.loaded {
		if err := m.settle(ctx); err != nil {
			return err
		}
	}
	data, err := store.Encode(f, m.cipher)
	if err != nil {
		return err
	}
	if m.log != nil && m.file.started() {
		// Without this record, after a crash before the journal is removed, the next run would refuse the
		// journal. This is safe, so failing to write it must not prevent saving the state.
		_ = m.log.Folded(f.Serial, sha256.Sum256(data))
	}
	v, err := m.put(ctx, data, m.version)
	if err != nil {
		return m.explain("stored", err)
	}
	m.note(f, v)
	if m.log == nil {
		return nil
	}
	names := m.file.names()
	m.log, m.file = nil, nil
	// The state is saved. What cannot be removed of the journal is known to be folded in, and goes with the
	// next run.
	_ = m.removeParts(ctx, names)
	return nil
}

// put stores data in place of the version was. If the outcome of an attempt is unknown, it reads back before
// the next one.
func (m *Manager) put(ctx context.Context, data []byte, was Version) (Version, error) {
	unsure := false
	for a := newAttempts(patient); ; {
		v, err := m.place.State.Put(ctx, data, was)
		if err == nil || errors.Is(err, ErrChanged) && !unsure {
			return v, err
		}
		if !errors.Is(err, ErrChanged) {
			if err := a.again(ctx, err); err != nil {
				return "", err
			}
			unsure = true
		}
		there, v, err := m.get(ctx, patient)
		switch {
		case err != nil:
			return "", err
		case v != "" && bytes.Equal(there, data):
			return v, nil
		case v != was:
			return "", ErrChanged
		}
	}
}

func (m *Manager) get(ctx context.Context, limit patience) (data []byte, v Version, err error) {
	err = retry(ctx, limit, func() (err error) {
		data, v, err = m.place.State.Get(ctx)
		return err
	})
	return data, v, err
}

// checkHeld returns an error that wraps store.ErrLockLost if the run had a lock and has lost it.
func (m *Manager) checkHeld(ctx context.Context) error {
	return checkLock(ctx, m.place.Lock, m.lockID)
}

// checkLock returns an error unless l with that ID is held. A nil lock and no ID stand for a run without a
// lock.
func checkLock(ctx context.Context, l Lock, id string) error {
	if l == nil || id == "" {
		return nil
	}
	return retry(ctx, patient, func() error { return l.Check(ctx, id) })
}

// explain says which state err is about, and what could not be done with it; nil for nil.
func (m *Manager) explain(done string, err error) error {
	var held *store.LockError
	if err == nil || errors.As(err, &held) || errors.Is(err, store.ErrNotLocked) {
		return err
	}
	return fmt.Errorf("the state %s cannot be %s: %w", m.place.Path, done, err)
}
