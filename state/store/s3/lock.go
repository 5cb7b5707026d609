package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mayfly-iac/mayfly/cloud/aws"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/remote"
)

// file is a lock as an object beside the state, which a conditional write creates.
type file struct {
	*Service
	key string
}

func (s *Service) lockFile(key string) *file { return &file{s, key + ".tflock"} }

// Take implements remote.Lock.
func (f *file) Take(ctx context.Context, info store.LockInfo) error {
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	header := f.put.Clone()
	header.Set("If-None-Match", "*")
	_, err = f.opt.Bucket.Put(ctx, f.key, text, header)
	if s := status(err); s != http.StatusPreconditionFailed && s != http.StatusConflict {
		return classify(err)
	}
	holder, err := f.Holder(ctx)
	if err != nil {
		return err
	}
	return &store.LockError{Info: holder}
}

// Holder implements remote.Lock.
func (f *file) Holder(ctx context.Context) (*store.LockInfo, error) {
	text, _, err := f.opt.Bucket.Get(ctx, f.key, f.read)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, classify(err)
	}
	return parseInfo(text)
}

func parseInfo(text []byte) (*store.LockInfo, error) {
	info, err := store.ParseLockInfo(text)
	return &info, err
}

// Release implements remote.Lock.
func (f *file) Release(ctx context.Context, id string) error {
	return release(ctx, f, id, func() error { return f.opt.Bucket.Delete(ctx, f.key) })
}

// Check implements remote.Lock.
func (f *file) Check(ctx context.Context, id string) error { return check(ctx, f, id) }

// release removes a lock if it has the ID.
func release(ctx context.Context, l remote.Lock, id string, remove func() error) error {
	info, err := l.Holder(ctx)
	switch {
	case err != nil:
		return err
	case info == nil:
		return store.ErrNotLocked
	case info.ID != id:
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	return classify(remove())
}

// check returns an error unless the lock has the ID.
func check(ctx context.Context, l remote.Lock, id string) error {
	info, err := l.Holder(ctx)
	switch {
	case err != nil:
		return err
	case info == nil:
		return fmt.Errorf("%w: it was released by something else", store.ErrLockLost)
	case info.ID != id:
		return fmt.Errorf("%w: %s has it since %s", store.ErrLockLost, info.Who, info.Created)
	}
	return nil
}

// item is a lock as an item in a table of DynamoDB.
type item struct {
	table *aws.Table
	id    string
}

func (s *Service) lockItem(key string) *item { return &item{s.opt.Table, s.opt.Name + "/" + key} }

// Take implements remote.Lock.
func (i *item) Take(ctx context.Context, info store.LockInfo) error {
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	err = i.table.Put(ctx, aws.Item{"LockID": i.id, "Info": string(text)}, true)
	if !errors.Is(err, aws.ErrItemExists) {
		return classify(err)
	}
	holder, err := i.Holder(ctx)
	if err != nil {
		return err
	}
	return &store.LockError{Info: holder}
}

// Holder implements remote.Lock.
func (i *item) Holder(ctx context.Context) (*store.LockInfo, error) {
	got, err := i.table.Get(ctx, i.id)
	if err != nil {
		return nil, classify(err)
	}
	if got["Info"] == "" {
		return nil, nil
	}
	return parseInfo([]byte(got["Info"]))
}

// Release implements remote.Lock.
func (i *item) Release(ctx context.Context, id string) error {
	return release(ctx, i, id, func() error { return i.table.Delete(ctx, i.id) })
}

// Check implements remote.Lock.
func (i *item) Check(ctx context.Context, id string) error { return check(ctx, i, id) }

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
