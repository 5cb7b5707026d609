//go:build !mayfly_no_azurerm

package azurerm

import (
	"context"
	"fmt"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// blob is a state. Locking a state that does not exist makes an empty blob, which reads as none.
type blob struct {
	*Service
	name string
}

// versionOf returns the version of a blob: what identifies its content, since its ETag changes with the lock.
func versionOf(p azure.Properties) remote.Version {
	switch {
	case p.Size == 0:
		return ""
	case p.MD5 != "":
		return remote.Version(p.MD5)
	}
	return remote.Version(p.ETag)
}

// Get implements remote.Blob.
func (b *blob) Get(ctx context.Context) ([]byte, remote.Version, error) {
	data, p, err := b.opt.Container.Get(ctx, b.name)
	if answers.IsMissing(err) || err == nil && len(data) == 0 {
		return nil, "", nil
	}
	return data, versionOf(p), answers.Classify(err)
}

// Put implements remote.Blob. The blob is compared with was, and must not change between this and the write.
func (b *blob) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	p, err := b.opt.Container.Properties(ctx, b.name)
	if err != nil && !answers.IsMissing(err) {
		return "", b.explain(err)
	}
	if versionOf(p) != was {
		return "", remote.ErrChanged
	}
	if b.opt.Snapshot && p.Size > 0 {
		if err := b.opt.Container.Snapshot(ctx, b.name, b.header(b.name)); err != nil {
			return "", b.explain(err)
		}
	}
	header := b.header(b.name)
	if p.ETag == "" {
		header.Set("If-None-Match", "*")
	} else {
		header.Set("If-Match", p.ETag)
	}
	p, err = b.opt.Container.Put(ctx, b.name, data, withLock(p.Metadata, b.lease(b.name).text), header)
	if cloud.Code(err) == "ConditionNotMet" || cloud.Code(err) == "BlobAlreadyExists" {
		return "", remote.ErrChanged
	}
	return versionOf(p), b.explain(err)
}

// Delete implements remote.Blob.
func (b *blob) Delete(ctx context.Context) error {
	err := b.opt.Container.Delete(ctx, b.name, b.header(b.name))
	if err != nil && !answers.IsMissing(err) {
		return b.explain(err)
	}
	if l := b.lease(b.name); l.id != "" {
		l.gone = true
		b.setLease(b.name, l)
	}
	return nil
}

// explain is Classify for a request that has the ID of the lease.
func (b *blob) explain(err error) error {
	switch cloud.Code(err) {
	case "LeaseLost", "LeaseNotPresentWithBlobOperation", "LeaseIdMismatchWithBlobOperation":
		return fmt.Errorf("%w: %w", store.ErrLockLost, err)
	}
	return answers.Classify(err)
}
