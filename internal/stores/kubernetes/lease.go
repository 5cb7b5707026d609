//go:build !mayfly_no_kubernetes

package kubernetes

import (
	"context"
	"errors"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// lease is the lock of one workspace: a Lease with the lock's ID as its holder. As other engines leave the
// Lease behind without a holder, so does this. The lock has no time limit, since others would not respect it.
type lease struct {
	client *client
	name   string
	labels map[string]string

	mu   sync.Mutex
	last *object // as last read; nil for none
}

var _ objects.Record = (*lease)(nil)

const (
	holderField    = "holderIdentity" // of a Lease
	infoAnnotation = "app.terraform.io/lock-info"
)

// holder returns the ID of the lock that holds a Lease; "" for none.
func holder(o *object) string {
	id, _ := o.Spec[holderField].(string)
	return id
}

// Create implements objects.Record.
func (l *lease) Create(ctx context.Context, text []byte) (bool, error) {
	info, err := store.ParseLockInfo(text)
	if err != nil {
		return false, err
	}
	o, err := l.client.get(ctx, leases, l.name)
	switch {
	case err != nil:
		return false, err
	case o == nil:
		err = l.client.create(ctx, leases, l.fill(&object{metadata: metadata{Name: l.name}}, info.ID, text))
	case holder(o) != "":
		return false, nil
	default:
		err = l.client.update(ctx, leases, l.fill(o, info.ID, text))
	}
	if errors.Is(err, remote.ErrChanged) { // another run was faster
		return false, nil
	}
	return err == nil, err
}

func (l *lease) fill(o *object, id string, text []byte) *object {
	set(&o.Labels, l.labels)
	set(&o.Annotations, map[string]string{infoAnnotation: string(text)})
	if o.Spec == nil {
		o.Spec = map[string]any{}
	}
	o.Spec[holderField] = id
	return o
}

// Read implements objects.Record. Of a holder that leaves no information, the ID is known.
func (l *lease) Read(ctx context.Context) ([]byte, error) {
	o, err := l.client.get(ctx, leases, l.name)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.last = o
	l.mu.Unlock()
	if o == nil || holder(o) == "" {
		return nil, nil
	}
	text := []byte(o.Annotations[infoAnnotation])
	if info, err := store.ParseLockInfo(text); err == nil && info.ID == holder(o) {
		return text, nil
	}
	return store.LockInfo{ID: holder(o), Info: "the Lease " + l.name + " has no information about its holder"}.Marshal()
}

// Remove implements objects.Record. It removes the holder that was read last, and no other.
func (l *lease) Remove(ctx context.Context) error {
	l.mu.Lock()
	o := l.last
	l.mu.Unlock()
	if o == nil {
		return store.ErrNotLocked
	}
	delete(o.Annotations, infoAnnotation)
	delete(o.Spec, holderField)
	err := l.client.update(ctx, leases, o)
	if errors.Is(err, remote.ErrChanged) {
		return &remote.Passing{Err: err} // the caller reads it again
	}
	return err
}
