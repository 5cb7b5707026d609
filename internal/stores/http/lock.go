//go:build !mayfly_no_http

package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Methods of the protocol.
const (
	methodLock   = "LOCK"
	methodUnlock = "UNLOCK"
)

// lock implements remote.Lock.
type lock struct {
	service *service
	state   *blob // of the same run

	mu    sync.Mutex
	taken *store.LockInfo // the lock that the run has
}

// Take implements remote.Lock.
func (l *lock) Take(ctx context.Context, info store.LockInfo) error {
	err := l.request(ctx, info)
	var held *store.LockError
	if err == nil || errors.As(err, &held) && held.Info != nil && held.Info.ID == info.ID { // the answer to an earlier request was lost
		l.note(&info)
	}
	return err
}

// request asks the server for the lock.
func (l *lock) request(ctx context.Context, info store.LockInfo) error {
	body, err := info.Marshal()
	if err != nil {
		return err
	}
	method, to := cmp.Or(l.service.opt.LockMethod, methodLock), l.service.lock
	r, err := l.service.send(ctx, method, to, body)
	if err != nil {
		return err
	}
	switch r.status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return nil
	case http.StatusLocked, http.StatusConflict:
		return &store.LockError{Info: holder(r.body)}
	}
	return r.unexpected(method, to)
}

// holder returns the server's description of the lock; nil if it has none.
func holder(body []byte) *store.LockInfo {
	info, err := store.ParseLockInfo(body)
	if err != nil || info.ID == "" {
		return nil
	}
	return &info
}

func (l *lock) note(info *store.LockInfo) {
	id := ""
	if info != nil {
		id = info.ID
	}
	l.mu.Lock()
	l.taken = info
	l.mu.Unlock()
	l.state.mu.Lock()
	l.state.lockID = id
	l.state.mu.Unlock()
}

func (l *lock) own(id string) *store.LockInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken == nil || l.taken.ID != id {
		return nil
	}
	return l.taken
}

// Release implements remote.Lock.
func (l *lock) Release(ctx context.Context, id string) error {
	own := l.own(id)
	info := store.LockInfo{ID: id} // all that is known of the lock of another run
	if own != nil {
		info = *own
	}
	if l.service.unlock == nil {
		if own != nil {
			l.note(nil)
			return nil
		}
		return fmt.Errorf("the backend has no %q, so the server alone can release the lock", "unlock_address")
	}
	body, err := info.Marshal()
	if err != nil {
		return err
	}
	method, to := cmp.Or(l.service.opt.UnlockMethod, methodUnlock), l.service.unlock
	r, err := l.service.send(ctx, method, to, body)
	if err != nil {
		return err
	}
	switch r.status {
	case http.StatusOK, http.StatusNoContent:
		if own != nil {
			l.note(nil)
		}
		return nil
	case http.StatusLocked, http.StatusConflict:
		return &store.LockError{Info: holder(r.body), Err: fmt.Errorf("the lock's ID is not %q", id)}
	case http.StatusNotFound, http.StatusGone:
		return store.ErrNotLocked
	}
	return r.unexpected(method, to)
}

// Holder implements remote.Lock. The protocol has no question for it.
func (l *lock) Holder(context.Context) (*store.LockInfo, error) { return nil, remote.ErrUnknownHolder }

// Check implements remote.Lock. The protocol has no question for it, so the lock is taken once more: a server
// that has it answers that it is taken, and by whom. Some servers answer that all is well if the ID is the
// same. They could have given the lock anew, so the state is compared too.
func (l *lock) Check(ctx context.Context, id string) error {
	own := l.own(id)
	if own == nil {
		return store.ErrLockLost
	}
	err := l.request(ctx, *own)
	var held *store.LockError
	refused := errors.As(err, &held)
	switch {
	case refused && held.Info != nil && held.Info.ID != id:
		return fmt.Errorf("%w: it is now held by %s", store.ErrLockLost, held.Info.Who)
	case refused:
		return nil
	case err != nil:
		return err
	}
	changed, err := l.state.changed(ctx)
	if err != nil || !changed {
		return err
	}
	_ = l.Release(ctx, id) // so that others need not wait for a run that ends
	l.note(nil)
	return fmt.Errorf("%w, and another run has changed the state", store.ErrLockLost)
}
