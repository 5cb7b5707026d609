//go:build !mayfly_no_azurerm

package azurerm

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// lock is a remote.Lock: the lease of a blob, with a description of its holder in the blob's metadata.
type lock struct {
	*Service
	name string
}

// lockKey is the name in the metadata.
const lockKey = "terraformlockid"

// leaseID returns the ID of the lease for a lock with that ID: the same one if it is a UUID, as other engines
// have it.
func leaseID(id string) string {
	if u, err := uuid.Parse(id); err == nil {
		return u.String()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(id)).String()
}

// withLock returns metadata with the text about a lock; "" for none.
func withLock(metadata map[string]string, text string) map[string]string {
	out := maps.Clone(metadata)
	if out == nil {
		out = map[string]string{}
	}
	delete(out, lockKey)
	if text != "" {
		out[lockKey] = text
	}
	return out
}

// Take implements remote.Lock. Taking the lease again with the same ID succeeds.
func (l *lock) Take(ctx context.Context, info store.LockInfo) error {
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	p, err := l.ensure(ctx)
	if err != nil {
		return answers.Classify(err)
	}
	id := leaseID(info.ID)
	if err := l.opt.Container.AcquireLease(ctx, l.name, id); err != nil {
		return l.held(ctx, err)
	}
	held := lease{id: info.ID, text: base64.StdEncoding.EncodeToString(text)}
	err = l.opt.Container.SetMetadata(ctx, l.name, withLock(p.Metadata, held.text), http.Header{azure.HeaderLease: {id}})
	if err != nil {
		return answers.Classify(err)
	}
	l.setLease(l.name, held)
	return nil
}

// ensure makes an empty blob if there is none, and returns the properties of the blob.
func (l *lock) ensure(ctx context.Context) (azure.Properties, error) {
	p, err := l.opt.Container.Properties(ctx, l.name)
	if !answers.IsMissing(err) {
		return p, err
	}
	p, err = l.opt.Container.Put(ctx, l.name, nil, nil, http.Header{"If-None-Match": {"*"}})
	if refused(err) {
		err = nil // another run has made it
	}
	return p, err
}

// held returns the error for a lease that another run has.
func (l *lock) held(ctx context.Context, err error) error {
	if cloud.Code(err) != "LeaseAlreadyPresent" {
		return answers.Classify(err)
	}
	info, err := l.Holder(ctx)
	switch {
	case errors.Is(err, remote.ErrUnknownHolder):
		return &store.LockError{Err: errors.New("the blob has a lease, but nothing in its metadata says who took it. If it remains so, break the lease, for example with: az storage blob lease break")}
	case err != nil:
		return err
	}
	return &store.LockError{Info: info}
}

// Holder implements remote.Lock.
func (l *lock) Holder(ctx context.Context) (*store.LockInfo, error) {
	p, err := l.opt.Container.Properties(ctx, l.name)
	switch {
	case answers.IsMissing(err):
		return nil, nil
	case err != nil:
		return nil, answers.Classify(err)
	case !p.Leased:
		return nil, nil
	}
	return holderIn(p)
}

func holderIn(p azure.Properties) (*store.LockInfo, error) {
	text, err := base64.StdEncoding.DecodeString(p.Metadata[lockKey])
	if err != nil || len(text) == 0 {
		return nil, remote.ErrUnknownHolder
	}
	info, err := store.ParseLockInfo(text)
	if err != nil {
		return nil, remote.ErrUnknownHolder
	}
	return &info, nil
}

// Release implements remote.Lock. The text in the metadata goes first, so that it does not outlive the lease.
func (l *lock) Release(ctx context.Context, id string) error {
	own := l.lease(l.name)
	err := l.release(ctx, id)
	if errors.Is(err, store.ErrNotLocked) && own.id == id && own.gone {
		err = nil // it ended with the blob
	}
	if err == nil && own.id == id {
		l.setLease(l.name, lease{})
	}
	return err
}

// release removes the description of the holder and then ends the lease. In this order, no time is left in
// which the blob is free and still names a holder.
func (l *lock) release(ctx context.Context, id string) error {
	p, err := l.opt.Container.Properties(ctx, l.name)
	switch {
	case answers.IsMissing(err) || err == nil && !p.Leased:
		return store.ErrNotLocked
	case err != nil:
		return answers.Classify(err)
	}
	if info, err := holderIn(p); err == nil && info.ID != id {
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	if p.Metadata[lockKey] != "" {
		err = l.opt.Container.SetMetadata(ctx, l.name, withLock(p.Metadata, ""), http.Header{azure.HeaderLease: {leaseID(id)}})
	}
	if err == nil {
		err = l.opt.Container.ReleaseLease(ctx, l.name, leaseID(id))
	}
	if refused(err) {
		return &store.LockError{Err: fmt.Errorf("the lease of the blob has another ID than %q", id)}
	}
	return answers.Classify(err)
}

// refused reports whether an answer says that a lease or a blob is not as a request supposes.
func refused(err error) bool {
	status := cloud.Status(err)
	return status == http.StatusConflict || status == http.StatusPreconditionFailed
}

// Check implements remote.Lock.
func (l *lock) Check(ctx context.Context, id string) error {
	err := l.opt.Container.RenewLease(ctx, l.name, leaseID(id))
	if !refused(err) && !answers.IsMissing(err) {
		return answers.Classify(err)
	}
	if info, _ := l.Holder(ctx); info != nil && info.ID != id { // the loss of the lease matters, not this error
		return fmt.Errorf("%w: %s has it since %s", store.ErrLockLost, info.Who, info.Created)
	}
	return fmt.Errorf("%w: the lease of the blob was broken or released by something else", store.ErrLockLost)
}
