package store

import (
	"context"
	"errors"
)

// ErrNotLocked means that there is no lock to release.
var ErrNotLocked = errors.New("the state is not locked")

// CheckUnlock fails if ForceUnlock would, so that the user is not asked to confirm the impossible. Some
// managers find out only afterwards.
func CheckUnlock(ctx context.Context, m Manager, id string) error {
	if r, ok := m.(Recoverer); ok {
		return r.CheckUnlock(ctx, id)
	}
	return nil
}

// ForceUnlock releases the lock with that ID on m's state, regardless of which run took it. For a manager
// that is not a Recoverer, Unlock does so too.
func ForceUnlock(ctx context.Context, m Manager, id string) error {
	if r, ok := m.(Recoverer); ok {
		return r.ForceUnlock(ctx, id)
	}
	return m.Unlock(ctx, id)
}
