//go:build !mayfly_no_remote

package tfe

import (
	"context"
	"errors"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// absent is the default workspace where there is none: it has no state, and cannot get one.
type absent struct{}

var errNoDefault = errors.New("there is no default workspace: the workspaces are those that the block \"workspaces\" selects by \"prefix\" or \"tags\". Select one with: mayfly workspace select NAME, or create one with: mayfly workspace new NAME")

// Get implements remote.Blob.
func (absent) Get(context.Context) ([]byte, remote.Version, error) { return nil, "", nil }

// Put implements remote.Blob.
func (absent) Put(context.Context, []byte, remote.Version) (remote.Version, error) {
	return "", errNoDefault
}

// Delete implements remote.Blob.
func (absent) Delete(context.Context) error { return nil }

// Take implements remote.Lock.
func (absent) Take(context.Context, store.LockInfo) error { return errNoDefault }

// Release implements remote.Lock.
func (absent) Release(context.Context, string) error { return store.ErrNotLocked }

// Holder implements remote.Lock.
func (absent) Holder(context.Context) (*store.LockInfo, error) { return nil, nil }

// Check implements remote.Lock.
func (absent) Check(context.Context, string) error { return store.ErrLockLost }
