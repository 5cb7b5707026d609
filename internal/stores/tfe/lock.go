//go:build !mayfly_no_remote

package tfe

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/state/store"
)

// lock is the lock of one workspace. The service keeps a reason for it, which is where we say who has it.
type lock struct {
	*hosted

	id     string // of the lock that this run has taken; "" for none
	silent bool   // the service does not return reasons
}

// reasonPrefix begins the reasons of our locks, and information in JSON follows.
const reasonPrefix = "Locked by Mayfly: "

// Take implements remote.Lock.
func (l *lock) Take(ctx context.Context, info store.LockInfo) error {
	w, err := l.findOrCreate(ctx, l.name)
	if err != nil {
		return err
	}
	if err := l.refuse(w, info); err != nil {
		return err
	}
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	var answer struct{ Data workspace }
	body := map[string]any{"data": map[string]any{"type": "workspaces", "attributes": map[string]string{"reason": reasonPrefix + string(text)}}}
	err = l.client.send(ctx, http.MethodPost, "workspaces/"+w.ID+"/actions/lock", nil, body, &answer)
	if cloud.Status(err) == http.StatusConflict {
		holder, err := l.Holder(ctx)
		if err != nil {
			return err
		}
		if holder != nil && holder.ID == info.ID {
			l.note(info.ID, false)
		}
		return &store.LockError{Info: holder}
	}
	if err != nil {
		return err
	}
	l.note(info.ID, answer.Data.Attributes.Reason == nil)
	return nil
}

// RefuseRun implements remote.Refuser.
func (l *lock) RefuseRun(ctx context.Context, info store.LockInfo) error {
	w, err := l.find(ctx, l.name)
	if err != nil || w == nil {
		return err
	}
	return l.refuse(w, info)
}

// refuse returns an error if the runs of a workspace are in the service and info describes one.
func (l *lock) refuse(w *workspace, info store.LockInfo) error {
	if mode := w.Attributes.Mode; mode != "" && mode != "local" && !l.opt.IgnoreMode && strings.HasPrefix(info.Operation, "OperationType") {
		return fmt.Errorf("the workspace %q of %s has the execution mode %q, so its runs are in the service, which Mayfly does not start. Set its execution mode to \"local\" in its settings, under General, or the variable TF_FORCE_LOCAL_BACKEND to 1", l.name, l.opt.Host, mode)
	}
	return nil
}

func (l *lock) note(id string, silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id, l.silent, l.held = id, silent, id != ""
}

func (l *lock) own() (id string, silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id, l.silent
}

// Holder implements remote.Lock. The lock of another engine, of a person or of a run in the service has the
// name of the workspace as its ID.
func (l *lock) Holder(ctx context.Context) (*store.LockInfo, error) {
	w, err := l.find(ctx, l.name)
	if w == nil || err != nil || !w.Attributes.Locked {
		return nil, err
	}
	reason := ""
	if w.Attributes.Reason != nil {
		reason = *w.Attributes.Reason
	}
	if text, ok := strings.CutPrefix(reason, reasonPrefix); ok {
		if info, err := store.ParseLockInfo([]byte(text)); err == nil && info.ID != "" {
			return &info, nil
		}
	}
	if id, silent := l.own(); silent && id != "" { // it may be another lock, but nothing says so
		return &store.LockInfo{ID: id}, nil
	}
	return &store.LockInfo{ID: l.hosted.id(), Path: l.opt.Host + "/" + l.hosted.id(), Who: "a user or a run of " + l.opt.Host, Info: reason}, nil
}

// Release implements remote.Lock. The name of the workspace is the ID of whatever lock it has.
func (l *lock) Release(ctx context.Context, id string) error {
	w, err := l.find(ctx, l.name)
	if err != nil {
		return err
	}
	info, err := l.Holder(ctx)
	switch {
	case err != nil:
		return err
	case w == nil || info == nil:
		return store.ErrNotLocked
	case info.ID != id && id != l.hosted.id():
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	action := "force-unlock"
	if own, _ := l.own(); own == id {
		action = "unlock"
	}
	err = l.client.send(ctx, http.MethodPost, "workspaces/"+w.ID+"/actions/"+action, nil, nil, nil)
	if cloud.Status(err) == http.StatusConflict {
		return store.ErrNotLocked
	}
	if err == nil {
		l.note("", false)
	}
	return err
}

// Check implements remote.Lock.
func (l *lock) Check(ctx context.Context, id string) error {
	info, err := l.Holder(ctx)
	switch {
	case err != nil:
		return err
	case info == nil:
		return fmt.Errorf("%w: it was released by something else", store.ErrLockLost)
	case info.ID != id:
		return fmt.Errorf("%w: %s has it", store.ErrLockLost, info.Who)
	}
	return nil
}
