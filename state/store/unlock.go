package store

import (
	"context"
	"errors"
)

// ErrNotLocked means that there is no lock to release.
var ErrNotLocked = errors.New("the state is not locked")

// ForceUnlocker is a Manager that can release locks taken by other runs. For any other Manager, Unlock
// releases locks of other runs too.
type ForceUnlocker interface {
	// ForceUnlock releases the lock with that ID. It fails with ErrNotLocked if there is none. It fails
	// with a *LockError that contains the lock's information if the lock has another ID or cannot be
	// released while its holder lives.
	ForceUnlock(ctx context.Context, id string) error
	// CheckUnlock returns the error that ForceUnlock would return now, as far as that can be determined
	// without releasing anything.
	CheckUnlock(ctx context.Context, id string) error
}

// CheckUnlock fails if ForceUnlock would, so that the user is not asked to confirm the impossible. Some
// managers find out only afterwards.
func CheckUnlock(ctx context.Context, m Manager, id string) error {
	if f, ok := m.(ForceUnlocker); ok {
		return f.CheckUnlock(ctx, id)
	}
	return nil
}

// ForceUnlock releases the lock with that ID on m's state, regardless of which run took it.
func ForceUnlock(ctx context.Context, m Manager, id string) error {
	if f, ok := m.(ForceUnlocker); ok {
		return f.ForceUnlock(ctx, id)
	}
	return m.Unlock(ctx, id)
}
