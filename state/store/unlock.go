package store

import (
	"context"
	"errors"
)

// ErrNotLocked says that there is no lock that could be given back.
var ErrNotLocked = errors.New("the state is not locked")

// ForceUnlocker is a Manager that can give back locks that other runs have taken.
type ForceUnlocker interface {
	// ForceUnlock gives back the lock of that ID. It fails with ErrNotLocked if there is none, and with a
	// *LockError that has the lock's information if it has another ID, or cannot be given back while its
	// holder lives.
	ForceUnlock(ctx context.Context, id string) error
	// CheckUnlock fails with what ForceUnlock would fail with now, as far as that can be told without giving
	// back anything.
	CheckUnlock(ctx context.Context, id string) error
}

// CheckUnlock fails if ForceUnlock would, so that nobody is asked for consent to what cannot be done. Of some
// managers it is known only afterwards.
func CheckUnlock(ctx context.Context, m Manager, id string) error {
	if f, ok := m.(ForceUnlocker); ok {
		return f.CheckUnlock(ctx, id)
	}
	return nil
}

// ForceUnlock gives back the lock of that ID on m's state, whoever took it.
func ForceUnlock(ctx context.Context, m Manager, id string) error {
	if f, ok := m.(ForceUnlocker); ok {
		return f.ForceUnlock(ctx, id)
	}
	return m.Unlock(ctx, id)
}
