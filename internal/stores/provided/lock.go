package provided

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// lock is a remote.Lock. The provider chooses the ID of a lock and describes its holder, so that the ID of
// the run is translated. Nothing says later whether a lock is still held.
type lock struct {
	*service
	id string // of the state

	mu     sync.Mutex
	ours   string          // ID of the last attempt to take it
	theirs string          // ID by the provider; "" if the lock is not held, or if there are no locks
	holder *store.LockInfo // that the last attempt was refused for; nil if unknown
}

// Take implements remote.Lock. An error that the provider itself reports means most likely that the lock is
// held: the protocol has no other way to say so.
func (l *lock) Take(ctx context.Context, info store.LockInfo) error {
	var id string
	var refused bool
	err := l.ask(ctx, func(ctx context.Context, stores provider.StateStores) (diags diag.List) {
		id, refused, diags = stores.LockState(ctx, l.typeName, l.id, info.Operation)
		return diags
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ours, l.theirs, l.holder = info.ID, id, nil
	if err == nil {
		l.hold(l.id, l)
	}
	if err == nil || !refused {
		return err
	}
	if l.holder = holderIn(err.Error()); l.holder == nil {
		return &store.LockError{Err: fmt.Errorf("%w", err)}
	}
	l.holder.Path = info.Path
	return &store.LockError{Info: l.holder}
}

// holderIn returns the description of a lock in a message, in the form of the framework that providers are
// written with; nil if there is none.
func holderIn(text string) *store.LockInfo {
	info := &store.LockInfo{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		switch value = strings.TrimSpace(value); name {
		case "ID":
			info.ID = value
		case "Operation":
			info.Operation = value
		case "Who":
			info.Who = value
		case "Created":
			info.Created = timeIn(value)
		}
	}
	if info.ID == "" {
		return nil
	}
	if info.Who == "" {
		info.Who = "another client"
	}
	return info
}

// timeIn returns the time in a text; zero if there is none. It may be in the form of Time.String.
func timeIn(text string) time.Time {
	text, _, _ = strings.Cut(text, " m=")
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999 -0700 MST"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Release implements remote.Lock. If the process has ended that took the lock, another one releases it.
func (l *lock) Release(ctx context.Context, id string) error {
	l.mu.Lock()
	own := id == l.ours
	if own {
		id, l.theirs = l.theirs, ""
		l.hold(l.id, nil)
	}
	l.mu.Unlock()
	if id == "" {
		return nil // it was not taken, or the store has no locks
	}
	release := func() error {
		return l.ask(ctx, func(ctx context.Context, stores provider.StateStores) diag.List {
			return stores.UnlockState(ctx, l.typeName, l.id, id)
		})
	}
	err := release()
	if errors.Is(err, errStopped) {
		if err = l.restart(ctx); err == nil {
			err = release()
		}
	}
	if err != nil && own {
		err = fmt.Errorf("%w\n\nOnce the provider can release it, run: mayfly force-unlock %s", err, id)
	}
	return err
}

// restart starts another process in place of one that has ended.
func (s *service) restart(ctx context.Context) error {
	s.processes.mu.Lock()
	defer s.processes.mu.Unlock()
	return s.processes.start(ctx, s)
}

// Holder implements remote.Lock.
func (l *lock) Holder(context.Context) (*store.LockInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder == nil {
		return nil, remote.ErrUnknownHolder
	}
	return l.holder, nil
}

// Check implements remote.Lock. A provider cannot be asked.
func (l *lock) Check(context.Context, string) error { return nil }
