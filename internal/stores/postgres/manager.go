//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// manager is a handle of one run to a workspace.
type manager struct {
	store *Store
	name  string

	mu        sync.Mutex
	claim     *claim           // nil for none
	journal   *journal         // of the run that has begun and not ended; nil for none
	known     *state.File      // as last read, sharing objects with the state of the caller; nil for none
	recovered *store.Recovered // by the last Read or BeginRun
}

var _ store.Recoverer = (*manager)(nil)

func (m *manager) path() string { return m.store.path + "/" + m.name }

// failed names the state in an error, which says so itself if the lock is held or lost.
func (m *manager) failed(done string, err error) error {
	var held *store.LockError
	if err == nil || errors.As(err, &held) || errors.Is(err, store.ErrLockLost) {
		return err
	}
	return fmt.Errorf("the state %s cannot be %s: %w", m.path(), done, err)
}

// Lock implements store.Manager.
func (m *manager) Lock(ctx context.Context, info store.LockInfo) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.take(ctx, info, false); err != nil {
		return "", m.failed("locked", err)
	}
	return m.claim.info.ID, nil
}

// Unlock implements store.Manager.
func (m *manager) Unlock(ctx context.Context, id string) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claim != nil && m.claim.info.ID == id {
		return m.release(ctx)
	}
	held, err := m.holder(ctx)
	switch {
	case err != nil:
		return err
	case held == nil:
		return store.ErrNotLocked
	}
	held.Err = fmt.Errorf("the lock's ID is not %q", id)
	return held
}

// Read implements store.Manager.
func (m *manager) Read(ctx context.Context) (*state.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var f *state.File
	err := m.store.again(ctx, reading, func(t *tx) (err error) {
		f, err = t.read(m.name)
		return err
	})
	if err != nil {
		return nil, m.failed("read", err)
	}
	m.know(f)
	m.recovered = nil
	if m.claim != nil {
		m.recovered = m.claim.found
	}
	return f, nil
}

// know notes the state that is stored. f may be nil. m.mu is held.
func (m *manager) know(f *state.File) {
	m.known = nil
	if f != nil {
		known := *f
		known.State = f.State.Copy()
		m.known = &known
	}
}

// BeginRun implements store.Manager. A run without the lock claims the state until it ends.
func (m *manager) BeginRun(ctx context.Context, base *state.File, version string) (state.Run, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journal != nil {
		return nil, errors.New("this run already has a journal")
	}
	if m.claim == nil {
		if err := m.take(ctx, store.LockInfo{Operation: "apply", Version: version}, true); err != nil {
			return nil, err
		}
		m.recovered = m.claim.found
	}
	if err := m.checkBase(ctx, base); err != nil {
		if m.claim.alone {
			err = errors.Join(err, m.release(context.WithoutCancel(ctx)))
		}
		return nil, err
	}
	j := newJournal(m.store, m.claim, base, m.known)
	m.journal = j
	return state.NewRun(base, version, j, func(ctx context.Context, next *state.File) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.end(context.WithoutCancel(ctx), j, next)
	}), nil
}

// checkBase fails if base is not the stored state. m.mu is held.
func (m *manager) checkBase(ctx context.Context, base *state.File) error {
	var stored *state.File
	err := m.store.again(ctx, reading, func(t *tx) (err error) {
		_, stored, err = t.document(m.name)
		return err
	})
	if err != nil {
		return err
	}
	if stored == nil && base.Serial != 0 || stored != nil && (stored.Lineage != base.Lineage || stored.Serial != base.Serial) {
		return fmt.Errorf("the state in %s was changed by another run since it was read. Run the command again", m.path())
	}
	if m.known != nil && (m.known.Lineage != base.Lineage || m.known.Serial != base.Serial) {
		m.known = nil
	}
	return nil
}

// end stores the changes of a run that are not durable yet. m.mu is held.
func (m *manager) end(ctx context.Context, j *journal, next *state.File) error {
	if m.journal != j || m.claim == nil {
		return fmt.Errorf("%w: it was released before the run ended", store.ErrLockLost)
	}
	c, durable := m.claim, j.stop()
	changed := next.Serial != j.base.Serial
	err := m.store.again(ctx, nil, func(t *tx) error {
		w, err := t.gate(m.name)
		if err == nil {
			err = c.fence(t)
		}
		if err == nil {
			err = t.put(c, state.Diff(durable, next.State))
		}
		if err == nil && changed {
			err = t.store(c, w, next)
		}
		if err == nil {
			err = c.forget(t)
		}
		return err
	})
	if err != nil {
		return m.failed("written", err)
	}
	m.journal = nil
	m.know(next)
	if c.alone {
		return m.release(ctx)
	}
	return nil
}

// Write implements store.Manager.
func (m *manager) Write(ctx context.Context, f *state.File) error {
	ctx = context.WithoutCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	alone := m.claim == nil
	if alone {
		if err := m.take(ctx, store.LockInfo{Operation: "write", Version: f.Version}, true); err != nil {
			return err
		}
	}
	err := m.replace(ctx, f)
	if err == nil {
		m.journal = nil
		m.know(f)
	}
	err = m.failed("written", err)
	if alone {
		err = errors.Join(err, m.release(ctx))
	}
	return err
}

// replace stores f in place of all rows. m.mu is held.
func (m *manager) replace(ctx context.Context, f *state.File) error {
	c := m.claim
	if c.alone && c.found != nil && c.found.Changes > 0 && (m.known == nil || m.known.Serial != c.serial) {
		return fmt.Errorf("results of an interrupted run have just been recovered into %s, and the state that was to be written does not have them. Run the command again", m.path())
	}
	if m.journal != nil {
		m.journal.stop()
	}
	return m.store.again(ctx, nil, func(t *tx) error {
		w, err := t.gate(m.name)
		if err == nil {
			err = c.fence(t)
		}
		if err == nil {
			_, _, err = t.document(m.name) // one that is damaged may be all that is left
		}
		if err == nil {
			_, err = t.exec(`DELETE FROM mayfly.objects WHERE workspace = $1`, w)
		}
		if err == nil {
			err = t.put(c, state.Diff(state.New(), f.State))
		}
		if err == nil {
			err = t.store(c, w, f)
		}
		if err == nil {
			err = c.forget(t)
		}
		return err
	})
}

// Recovered implements store.Recoverer.
func (m *manager) Recovered() *store.Recovered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recovered
}

// CheckUnlock implements store.Recoverer.
func (m *manager) CheckUnlock(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.unlockable(ctx, id)
	return err
}

// ForceUnlock implements store.Recoverer. The next run lists the operations that the run has begun and not
// ended.
func (m *manager) ForceUnlock(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, err := m.unlockable(ctx, id)
	if err != nil {
		return err
	}
	return m.store.again(ctx, nil, func(t *tx) error {
		w, err := t.gate(m.name)
		if err == nil {
			_, err = t.exec(`UPDATE mayfly.runs SET state = 'forced', ended = clock_timestamp() WHERE workspace = $1 AND state = 'claimed' AND info = $2`, w, held.text)
		}
		if err == nil {
			_, err = t.exec(`DELETE FROM mayfly.claims c USING mayfly.runs r WHERE r.id = c.run AND c.workspace = $1 AND r.state = 'forced'`, w)
		}
		return err
	})
}

// unlockable returns the claim whose lock has that ID. m.mu is held.
func (m *manager) unlockable(ctx context.Context, id string) (*held, error) {
	h, err := m.held(ctx)
	switch {
	case err != nil:
		return nil, err
	case h == nil:
		return nil, store.ErrNotLocked
	case h.info.ID != id || id == "":
		return nil, &store.LockError{Info: &h.info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	return h, nil
}

// RefuseRun implements store.Recoverer.
func (*manager) RefuseRun(context.Context, store.LockInfo) error { return nil }
