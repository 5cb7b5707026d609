//go:build !mayfly_no_http

package http

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// blob implements remote.Blob. The version of a state is its checksum.
type blob struct {
	service *service

	mu     sync.Mutex
	lockID string         // of the lock that the run holds, "" for none
	last   remote.Version // as last read or written
	known  bool           // last is set
}

// Get implements remote.Blob.
func (b *blob) Get(ctx context.Context) ([]byte, remote.Version, error) {
	to := b.service.address
	r, err := b.service.send(ctx, http.MethodGet, to, nil)
	if err != nil {
		return nil, "", err
	}
	switch r.status {
	case http.StatusOK:
		if sum := r.header.Get("Content-MD5"); sum != "" && sum != checksum(r.body) {
			return nil, "", b.service.passing(fmt.Errorf("%s: the answer does not have the checksum that the server gives for it", describe(http.MethodGet, to)), 0)
		}
	case http.StatusNoContent, http.StatusNotFound:
		r.body = nil
	default:
		return nil, "", r.unexpected(http.MethodGet, to)
	}
	if len(r.body) == 0 {
		r.body = nil
	}
	return r.body, b.note(version(r.body)), nil
}

func version(data []byte) remote.Version {
	if len(data) == 0 {
		return ""
	}
	return remote.Version(fmt.Sprintf("%x", sha256.Sum256(data)))
}

func (b *blob) note(v remote.Version) remote.Version {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.known = v, true
	return v
}

// Put implements remote.Blob. The protocol has no conditions, so the state is compared just before it is
// written.
func (b *blob) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	_, v, err := b.Get(ctx)
	switch {
	case err != nil:
		return "", err
	case v != was:
		return "", remote.ErrChanged
	}
	method, to := cmp.Or(b.service.opt.UpdateMethod, http.MethodPost), b.withLock()
	r, err := b.service.send(ctx, method, to, data)
	if err != nil {
		return "", err
	}
	switch r.status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return b.note(version(data)), nil
	case http.StatusPreconditionFailed:
		return "", remote.ErrChanged
	case http.StatusConflict, http.StatusLocked:
		return "", b.refused(r, method, to)
	}
	return "", r.unexpected(method, to)
}

// refused explains that a change was refused because the state is locked.
func (b *blob) refused(r response, method string, to *url.URL) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := &store.LockError{Info: holder(r.body), Err: r.unexpected(method, to)}
	if b.lockID == "" {
		return held
	}
	return errors.Join(store.ErrLockLost, held)
}

// Delete implements remote.Blob.
func (b *blob) Delete(ctx context.Context) error {
	to := b.withLock()
	r, err := b.service.send(ctx, http.MethodDelete, to, nil)
	if err != nil {
		return err
	}
	switch r.status {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusNotFound:
		b.note("")
		return nil
	}
	return r.unexpected(http.MethodDelete, to)
}

// withLock returns the address for a change: the server compares the ID of the lock.
func (b *blob) withLock() *url.URL {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lockID == "" {
		return b.service.address
	}
	to := *b.service.address
	query := to.Query()
	query.Set("ID", b.lockID)
	to.RawQuery = query.Encode()
	return &to
}

// changed reports whether the state is another one than this run has read or written last.
func (b *blob) changed(ctx context.Context) (bool, error) {
	b.mu.Lock()
	last, known := b.last, b.known
	b.mu.Unlock()
	if !known {
		return false, nil
	}
	_, v, err := b.Get(ctx)
	return v != last, err
}
