package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state/store"
)

// manager is a store.Manager for one state in a service. It is safe for concurrent use.
type manager struct {
	*document.Manager
	at *hosted
}

var (
	_ store.Manager   = (*manager)(nil)
	_ store.Recoverer = (*manager)(nil)
)

// RefuseRun implements store.Recoverer for services whose Lock is a Refuser.
func (m *manager) RefuseRun(ctx context.Context, info store.LockInfo) error {
	r, ok := m.at.place.Lock.(Refuser)
	if !ok {
		return nil
	}
	return m.at.explain("used", retry(ctx, impatient, func() error { return r.RefuseRun(ctx, info) }))
}

// CheckUnlock implements store.Recoverer.
func (m *manager) CheckUnlock(ctx context.Context, id string) error {
	info, err := m.at.holder(ctx)
	switch {
	case errors.Is(err, ErrUnknownHolder):
		return nil // releasing it finds out
	case err != nil:
		return m.at.explain("unlocked", err)
	case info == nil:
		return store.ErrNotLocked
	case info.ID != id:
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	return nil
}

// ForceUnlock implements store.Recoverer.
func (m *manager) ForceUnlock(ctx context.Context, id string) error {
	if m.at.place.Lock == nil {
		return store.ErrNotLocked
	}
	return m.at.release(ctx, id)
}

// hosted is a document.Medium in a service.
type hosted struct {
	place   Place
	cipher  store.Cipher
	journal string // where the parts are, for messages
	away    bool   // the parts are on this machine, and not beside the state

	lockID  string   // "" if the run has no lock
	version Version  // of the state as last read
	parts   []string // of journals as last listed, other than the own one
}

var _ document.Medium = (*hosted)(nil)

// Lock implements document.Lock. If the answer to a request is lost, the lock is read back: it may be ours.
func (h *hosted) Lock(ctx context.Context, info store.LockInfo) error {
	info.Path = h.place.Path
	if h.away {
		host, _ := os.Hostname()
		info.Info = fmt.Sprintf("If this run ended abnormally, its results are in a journal on %s, in %s", host, h.journal)
	}
	err := h.take(ctx, info)
	if err == nil {
		h.lockID = info.ID
	}
	return err
}

// take takes the service's lock. A first attempt whose answer was lost may have succeeded, so a lock that has
// the requested ID counts as taken from the second attempt on.
func (h *hosted) take(ctx context.Context, info store.LockInfo) error {
	if h.place.Lock == nil {
		return nil
	}
	// An attempt that has been sent is not taken back: its server might go on to lock after the release
	// below.
	sent, cancel := linger(ctx, lingering)
	defer cancel()
	for a := newAttempts(impatient); ; {
		err := h.place.Lock.Take(sent, info)
		var held *store.LockError
		if err == nil || errors.As(err, &held) && (held.Info == nil || held.Info.ID != info.ID || a.n == 0) {
			return err
		}
		if held != nil {
			return nil // an attempt whose answer was lost
		}
		if err := a.again(ctx, err); err != nil {
			h.abandon(ctx, info.ID)
			return h.explain("locked", err)
		}
	}
}

// abandon releases a lock that may have been taken although the run does not know. It cannot do more than
// try.
func (h *hosted) abandon(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestPause)
	defer cancel()
	_ = h.place.Lock.Release(ctx, id)
}

// Unlock implements document.Lock.
func (h *hosted) Unlock(ctx context.Context, id string, end func(context.Context) error) error {
	h.lockID = ""
	return errors.Join(end(ctx), h.release(ctx, id))
}

// NotOwn implements document.Lock.
func (h *hosted) NotOwn(ctx context.Context, id, _ string) error {
	info, _ := h.holder(ctx) // the error is about the ID
	return &store.LockError{Info: info, Err: fmt.Errorf("this run does not hold a lock with the ID %q", id)}
}

// release releases the lock. After an attempt with an unknown outcome, a lock that does not exist any more
// counts as released.
func (h *hosted) release(ctx context.Context, id string) error {
	if h.place.Lock == nil {
		return nil
	}
	unsure := false
	err := retry(ctx, patient, func() error {
		err := h.place.Lock.Release(ctx, id)
		if unsure && errors.Is(err, store.ErrNotLocked) {
			return nil // the answer to an earlier attempt was lost
		}
		unsure = err != nil
		return err
	})
	return h.explain("unlocked", err)
}

// holder returns the information about the present lock; nil for none.
func (h *hosted) holder(ctx context.Context) (*store.LockInfo, error) {
	if h.place.Lock == nil {
		return nil, nil
	}
	return ask(ctx, impatient, func() (*store.LockInfo, error) { return h.place.Lock.Holder(ctx) })
}

// Check implements document.Lock. Its error wraps store.ErrLockLost if the run had a lock and has lost it.
func (h *hosted) Check(ctx context.Context) error { return checkLock(ctx, h.place.Lock, h.lockID) }

// Store implements document.Content. The state is stored on the condition that the service still has the
// version was.
func (h *hosted) Store(ctx context.Context, data []byte, was Version) (Version, error) {
	v, err := h.put(ctx, data, was)
	return v, h.explain("stored", err)
}

// Changed implements document.Content.
func (h *hosted) Changed() error { return h.explain("changed", ErrChanged) }

// put stores data in place of the version was. If the outcome of an attempt is unknown, it reads back before
// the next one.
func (h *hosted) put(ctx context.Context, data []byte, was Version) (Version, error) {
	unsure := false
	for a := newAttempts(patient); ; {
		v, err := h.place.State.Put(ctx, data, was)
		if err == nil || errors.Is(err, ErrChanged) && !unsure {
			return v, err
		}
		if !errors.Is(err, ErrChanged) {
			if err := a.again(ctx, err); err != nil {
				return "", err
			}
			unsure = true
		}
		there, v, err := h.get(ctx, patient)
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

func (h *hosted) get(ctx context.Context, limit patience) (data []byte, v Version, err error) {
	err = retry(ctx, limit, func() (err error) {
		data, v, err = h.place.State.Get(ctx)
		return err
	})
	return data, v, err
}

// checkLock returns an error unless l with that ID is held. A nil lock and no ID stand for a run without a
// lock.
func checkLock(ctx context.Context, l Lock, id string) error {
	if l == nil || id == "" {
		return nil
	}
	return retry(ctx, patient, func() error { return l.Check(ctx, id) })
}

// explain adds the state and the failed operation to err; nil for nil.
func (h *hosted) explain(done string, err error) error {
	var held *store.LockError
	if err == nil || errors.As(err, &held) || errors.Is(err, store.ErrNotLocked) {
		return err
	}
	return fmt.Errorf("the state %s cannot be %s: %w", h.place.Path, done, err)
}
