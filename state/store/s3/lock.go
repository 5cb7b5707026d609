package s3

import (
	"context"
	"errors"

	"github.com/mayfly-iac/mayfly/cloud/aws"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/remote"
)

// item is the record of a lock in a table of DynamoDB.
type item struct {
	table *aws.Table
	id    string
}

// Create implements objects.Record.
func (i *item) Create(ctx context.Context, text []byte) (bool, error) {
	err := i.table.Put(ctx, aws.Item{"LockID": i.id, "Info": string(text)}, true)
	if errors.Is(err, aws.ErrItemExists) {
		return false, nil
	}
	return err == nil, classify(err)
}

// Read implements objects.Record.
func (i *item) Read(ctx context.Context) ([]byte, error) {
	got, err := i.table.Get(ctx, i.id)
	if err != nil || got["Info"] == "" {
		return nil, classify(err)
	}
	return []byte(got["Info"]), nil
}

// Remove implements objects.Record.
func (i *item) Remove(ctx context.Context) error { return classify(i.table.Delete(ctx, i.id)) }

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
