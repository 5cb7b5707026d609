//go:build !mayfly_no_s3

package s3

import (
	"context"
	"errors"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// both takes two locks, so that runs that know only one of them are kept out.
type both [2]remote.Lock

// Take implements remote.Lock.
func (b both) Take(ctx context.Context, info store.LockInfo) error {
	if err := b[0].Take(ctx, info); err != nil {
		return err
	}
	err := b[1].Take(ctx, info)
	var held *store.LockError
	if errors.As(err, &held) && held.Info != nil && held.Info.ID == info.ID {
		return nil
	}
	if err != nil {
		return errors.Join(err, b[0].Release(context.WithoutCancel(ctx), info.ID))
	}
	return nil
}

// Holder implements remote.Lock.
func (b both) Holder(ctx context.Context) (*store.LockInfo, error) {
	info, err := b[0].Holder(ctx)
	if info != nil || err != nil {
		return info, err
	}
	return b[1].Holder(ctx)
}

// Release implements remote.Lock.
func (b both) Release(ctx context.Context, id string) error {
	second := b[1].Release(ctx, id)
	if second != nil && !errors.Is(second, store.ErrNotLocked) {
		return second
	}
	first := b[0].Release(ctx, id)
	if errors.Is(first, store.ErrNotLocked) {
		return second
	}
	return first
}

// Check implements remote.Lock.
func (b both) Check(ctx context.Context, id string) error {
	if err := b[0].Check(ctx, id); err != nil {
		return err
	}
	return b[1].Check(ctx, id)
}
