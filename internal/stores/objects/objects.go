// Package objects has the code that stores in services for objects share: a state, its lock and the parts of
// its journal are objects of one bucket.
//
// It may import cloud, state/store and remote. It must not know any one service.
package objects

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Bucket keeps objects by name. It is safe for concurrent use. It does not retry; package remote does: an
// error that may pass is a *remote.Passing.
type Bucket interface {
	// Get returns an object and its version; nil and "" if there is none.
	Get(ctx context.Context, name string) (data []byte, v remote.Version, err error)
	// Put stores an object and returns its version. Unless was is nil, it fails with remote.ErrChanged if the
	// version of the present object is not *was; "" stands for no object.
	Put(ctx context.Context, name string, data []byte, was *remote.Version) (remote.Version, error)
	// Delete removes an object. One that does not exist is ignored.
	Delete(ctx context.Context, name string) error
	// List returns the names of the objects that begin with prefix.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Place returns the place of a state in a bucket. The lock may be "" for none.
func Place(b Bucket, path, state, lock string) remote.Place {
	p := remote.Place{Path: path, State: &blob{b, state}, Parts: &parts{b, state + ".journal/"}}
	if lock != "" {
		p.Lock = NewLock(&lockFile{b, lock})
	}
	return p
}

// blob is a state.
type blob struct {
	bucket Bucket
	name   string
}

// Get implements remote.Blob.
func (b *blob) Get(ctx context.Context) ([]byte, remote.Version, error) {
	return b.bucket.Get(ctx, b.name)
}

// Put implements remote.Blob.
func (b *blob) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	return b.bucket.Put(ctx, b.name, data, &was)
}

// Delete implements remote.Blob.
func (b *blob) Delete(ctx context.Context) error { return b.bucket.Delete(ctx, b.name) }

// parts is the journal of a state: objects whose names begin with prefix.
type parts struct {
	bucket Bucket
	prefix string
}

// List implements remote.Parts.
func (p *parts) List(ctx context.Context) ([]string, error) {
	names, err := p.bucket.List(ctx, p.prefix)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], p.prefix)
	}
	return names, err
}

// Get implements remote.Parts.
func (p *parts) Get(ctx context.Context, name string) ([]byte, error) {
	data, _, err := p.bucket.Get(ctx, p.prefix+name)
	return data, err
}

// Put implements remote.Parts.
func (p *parts) Put(ctx context.Context, name string, data []byte) error {
	_, err := p.bucket.Put(ctx, p.prefix+name, data, nil)
	return err
}

// removals is how many parts are removed at once.
const removals = 8

// Remove implements remote.Parts.
func (p *parts) Remove(ctx context.Context, names []string) error {
	errs := make(chan error, len(names))
	room := make(chan struct{}, removals)
	for _, name := range names {
		room <- struct{}{}
		go func() {
			errs <- bug.Catch(func() error { return p.bucket.Delete(ctx, p.prefix+name) })
			<-room
		}()
	}
	var all []error
	for range names {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// Record is a lock that is a record of its holder somewhere, which exists as long as the lock is held.
type Record interface {
	// Create creates the record, and reports whether there was none.
	Create(ctx context.Context, text []byte) (created bool, err error)
	// Read returns the record; nil if there is none.
	Read(ctx context.Context) ([]byte, error)
	// Remove removes the record.
	Remove(ctx context.Context) error
}

// lock is a remote.Lock by a record.
type lock struct{ Record }

// NewLock returns the lock that a record stands for.
func NewLock(r Record) remote.Lock { return lock{r} }

// Take implements remote.Lock.
func (l lock) Take(ctx context.Context, info store.LockInfo) error {
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	created, err := l.Create(ctx, text)
	if created || err != nil {
		return err
	}
	holder, err := l.Holder(ctx)
	if err != nil {
		return err
	}
	return &store.LockError{Info: holder}
}

// Holder implements remote.Lock.
func (l lock) Holder(ctx context.Context) (*store.LockInfo, error) {
	text, err := l.Read(ctx)
	if text == nil || err != nil {
		return nil, err
	}
	info, err := store.ParseLockInfo(text)
	return &info, err
}

// Release implements remote.Lock.
func (l lock) Release(ctx context.Context, id string) error {
	info, err := l.Holder(ctx)
	switch {
	case err != nil:
		return err
	case info == nil:
		return store.ErrNotLocked
	case info.ID != id:
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	return l.Remove(ctx)
}

// Check implements remote.Lock.
func (l lock) Check(ctx context.Context, id string) error {
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

// lockFile is a Record that is an object.
type lockFile struct {
	bucket Bucket
	name   string
}

// Create implements Record.
func (f *lockFile) Create(ctx context.Context, text []byte) (bool, error) {
	var nothing remote.Version
	_, err := f.bucket.Put(ctx, f.name, text, &nothing)
	if errors.Is(err, remote.ErrChanged) {
		return false, nil
	}
	return err == nil, err
}

// Read implements Record.
func (f *lockFile) Read(ctx context.Context) ([]byte, error) {
	text, _, err := f.bucket.Get(ctx, f.name)
	return text, err
}

// Remove implements Record.
func (f *lockFile) Remove(ctx context.Context) error { return f.bucket.Delete(ctx, f.name) }
