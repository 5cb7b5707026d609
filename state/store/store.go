// Package store says what a place is that keeps states: workspaces, each with one state file, a lock and a
// journal. The stores themselves are its sub-packages.
//
// It may import state, diag and what those may. It must not know configuration, plans, providers or the
// engine.
package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/mayfly-iac/mayfly/state"
)

// DefaultWorkspace is the workspace that always exists.
const DefaultWorkspace = "default"

// Store keeps the states of workspaces. It is safe for concurrent use.
type Store interface {
	// Workspaces returns the names of the workspaces in order, the default one first, whether or not it has a
	// state.
	Workspaces(ctx context.Context) ([]string, error)
	// CreateWorkspace makes a workspace without a state. It fails with ErrWorkspaceExists if there is one of
	// that name.
	CreateWorkspace(ctx context.Context, name string) error
	// DeleteWorkspace removes a workspace and its state. It fails with ErrNoWorkspace, or ErrNotEmpty if the
	// state still manages objects and force is not set. The default workspace cannot be deleted. The caller
	// should hold the workspace's lock until just before.
	DeleteWorkspace(ctx context.Context, name string, force bool) error
	// Manager returns access to a workspace's state; one that does not exist comes to be with the first lock
	// or write.
	Manager(name string) (Manager, error)
}

// Manager gives access to the state of one workspace. A Manager is a handle of one run: two of them exclude
// each other by the lock, also within one process. Its methods are safe for concurrent use.
type Manager interface {
	// Lock takes the workspace's lock without waiting, see LockWithRetry. A lock that is held gives a
	// *LockError. The returned ID is what Unlock wants.
	Lock(ctx context.Context, info LockInfo) (id string, err error)
	// Unlock gives the lock back.
	Unlock(ctx context.Context, id string) error
	// Read returns the stored state, or nil if there is none. Results in a journal that an interrupted run
	// left are part of it; see Recoverer.
	Read(ctx context.Context) (*state.File, error)
	// Write stores f as it is; the caller chooses the serial. When it returns, f is durable and the journal
	// is closed and gone, so the operations noted in it should have ended. While a lock is held that has been
	// lost, it fails with ErrLockLost and stores nothing. It works on when ctx is cancelled, as far as the
	// store can.
	Write(ctx context.Context, f *state.File) error
	// Journal starts the journal of a run that changes base, the file last read or a new one where there is
	// none.
	Journal(ctx context.Context, base *state.File) (state.Journal, error)
}

// Checker is implemented by managers that can find out beforehand that a write would fail.
type Checker interface {
	// CheckWritable returns an error if the state or its backup cannot be written where they are configured
	// to be. It changes nothing and does not need the lock.
	CheckWritable() error
}

// CheckWritable is m's check before an operation that changes the state, nil for a manager without one.
func CheckWritable(m Manager) error {
	if c, ok := m.(Checker); ok {
		return c.CheckWritable()
	}
	return nil
}

// Errors of stores, to be tested with errors.Is.
var (
	ErrNoWorkspace     = errors.New("there is no such workspace")
	ErrWorkspaceExists = errors.New("the workspace already exists")
	ErrNotEmpty        = errors.New("the workspace's state still manages objects")
	ErrDefault         = errors.New("the default workspace cannot be deleted")
	ErrLockLost        = errors.New("the lock on the state has been lost")
	ErrEmptied         = errors.New("the state has been lost")
)

// JournaledError is returned by Manager.Write if the state could not be stored but nothing is lost: the
// results of the run are in a journal, from which the next run that locks the state recovers them.
type JournaledError struct {
	Journal string // its file
	Err     error
}

// Error says why the state could not be stored.
func (e *JournaledError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *JournaledError) Unwrap() error { return e.Err }

// CheckWorkspaceName returns an error unless name can name a workspace: it must stand in a URL path as it is,
// as other engines have it too.
func CheckWorkspaceName(name string) error {
	if name == "" || name == "." || name == ".." || url.PathEscape(name) != name {
		return fmt.Errorf("%q cannot be the name of a workspace. Use letters, digits, and the characters -._~$&+=:@ only", name)
	}
	return nil
}

// Cipher encrypts what a store keeps: state files as a whole, and records of journals.
type Cipher interface {
	state.Sealer
	// EncryptState returns the stored form of a state file.
	EncryptState(plain []byte) ([]byte, error)
	// DecryptState is the reverse. It returns files that are not encrypted as they are if the configuration
	// allows them.
	DecryptState(stored []byte) ([]byte, error)
}

// Encode returns the bytes that a store keeps for f. c may be nil.
func Encode(f *state.File, c Cipher) ([]byte, error) {
	b, err := state.Write(f)
	if err != nil || c == nil {
		return b, err
	}
	if b, err = c.EncryptState(b); err != nil {
		return nil, fmt.Errorf("encrypting the state: %w", err)
	}
	return b, nil
}

// Decode reads what Encode made; nothing at all gives nil. c may be nil.
func Decode(stored []byte, c Cipher) (*state.File, error) {
	if c != nil && len(stored) > 0 {
		plain, err := c.DecryptState(stored)
		if err != nil {
			return nil, fmt.Errorf("decrypting the state: %w", err)
		}
		stored = plain
	}
	return state.Read(stored)
}

// CheckPush returns an error if next, pushed by a person over stored, would lose something: it has another
// lineage, or an older serial, or the same serial with other content. stored may be nil.
func CheckPush(stored, next *state.File) error {
	switch {
	case stored == nil || state.Unchanged(stored, next) && stored.Serial == next.Serial:
		return nil
	case stored.Lineage != next.Lineage && !stored.State.Empty():
		return fmt.Errorf("the stored state has the lineage %q, and the new one has %q, so they do not belong together. Force the push only if the stored state is not needed any more",
			stored.Lineage, next.Lineage)
	case stored.Lineage == next.Lineage && stored.Serial > next.Serial:
		return fmt.Errorf("the stored state has serial %d, and the new one has only %d, so it is older. Force the push only if the changes made since then may be lost",
			stored.Serial, next.Serial)
	case stored.Lineage == next.Lineage && stored.Serial == next.Serial:
		return fmt.Errorf("both states have serial %d but differ. Force the push only if the stored one is wrong", next.Serial)
	}
	return nil
}
