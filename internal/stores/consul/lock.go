//go:build !mayfly_no_consul

package consul

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Times of sessions. A session that is not renewed ends after one to two times its time to live; after that
// Consul keeps its locks from others for a while.
const (
	sessionTTL = 15 * time.Second
	lockDelay  = 5 * time.Second
)

// lockFlag marks the keys of locks for all clients of Consul.
const lockFlag = 0x2ddccbc058a50c18

// lock is the lock of one workspace: a key that a session holds, and another that says for whom.
type lock struct {
	client       *client
	key, infoKey string

	mu      sync.Mutex
	session string // that holds the key; "" for none
	id      string // of the lock
	stop    func() // ends the renewal of the session
}

// Take implements remote.Lock.
func (l *lock) Take(ctx context.Context, info store.LockInfo) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	session, err := l.client.createSession(ctx, "mayfly", sessionTTL, lockDelay)
	if err != nil {
		return classify(err)
	}
	taken, _, err := l.client.transact(ctx,
		operation{Verb: opLock, Key: l.key, Session: session, Flags: lockFlag},
		operation{Verb: opSet, Key: l.infoKey, Value: text})
	if err == nil && taken {
		l.session, l.id, l.stop = session, info.ID, l.renew(session)
		return nil
	}
	_ = l.client.endSession(context.WithoutCancel(ctx), session) // which ends by itself as well
	if err != nil {
		return classify(err)
	}
	holder, err := l.Holder(ctx)
	switch {
	case err != nil:
		return err
	case holder == nil: // its session has ended without having released it
		return &remote.Passing{Err: errors.New("the lock was lost by another run, and Consul delays its release"), After: lockDelay}
	}
	return &store.LockError{Info: holder}
}

// renew keeps a session alive until stop is called, which waits for it to end.
func (l *lock) renew(session string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(sessionTTL / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			ended := false
			err := bug.Call(func() {
				exists, err := l.client.renewSession(ctx, session)
				ended = err == nil && !exists // Check finds that out
			})
			if ended || err != nil {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// Holder implements remote.Lock.
func (l *lock) Holder(ctx context.Context) (*store.LockInfo, error) {
	info, _, err := l.holder(ctx)
	return info, err
}

// holder returns the holder of the lock with its session; nil and "" if it is not held.
func (l *lock) holder(ctx context.Context) (info *store.LockInfo, session string, err error) {
	pair, err := l.client.get(ctx, l.key)
	if err != nil || pair == nil || pair.Session == "" {
		return nil, "", classify(err)
	}
	text, err := l.client.get(ctx, l.infoKey)
	switch {
	case err != nil:
		return nil, "", classify(err)
	case text == nil: // other engines describe a lock after they took it
		return &store.LockInfo{Info: "session " + pair.Session}, pair.Session, nil
	}
	got, err := store.ParseLockInfo(text.Value)
	return &got, pair.Session, err
}

// Release implements remote.Lock. A lock whose key is gone is free at once, while Consul delays the release
// of one whose session ends.
func (l *lock) Release(ctx context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, session, err := l.holder(ctx)
	switch {
	case err != nil:
		return err
	case info == nil:
		l.end(ctx)
		return store.ErrNotLocked
	case info.ID != id:
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	released, _, err := l.client.transact(ctx,
		operation{Verb: opCheckSession, Key: l.key, Session: session},
		operation{Verb: opDelete, Key: l.key},
		operation{Verb: opDelete, Key: l.infoKey})
	switch {
	case err != nil:
		return classify(err)
	case !released: // another run has taken it meanwhile
		return store.ErrNotLocked
	}
	if l.id == id {
		l.end(ctx)
	}
	return nil
}

// end ends the session, if there is one. l.mu is held.
func (l *lock) end(ctx context.Context) {
	if l.session == "" {
		return
	}
	l.stop()
	_ = l.client.endSession(ctx, l.session) // which ends by itself as well
	l.session, l.id, l.stop = "", "", nil
}

// Check implements remote.Lock.
func (l *lock) Check(ctx context.Context, id string) error {
	l.mu.Lock()
	session, own := l.session, l.id
	l.mu.Unlock()
	pair, err := l.client.get(ctx, l.key)
	switch {
	case err != nil:
		return classify(err)
	case own == id && pair != nil && pair.Session != "" && pair.Session == session:
		return nil
	case pair == nil || pair.Session == "":
		return fmt.Errorf("%w: it was released by something else, or its session has ended", store.ErrLockLost)
	}
	holder := ""
	if info, err := l.Holder(ctx); err == nil && info != nil && info.Who != "" {
		holder = ": " + info.Who + " has it"
	}
	return fmt.Errorf("%w%s", store.ErrLockLost, holder)
}
