// Package remote keeps states in services on a network. It is the medium of documents that is the same for
// all of them: conditional writing, locks that can be lost, journals in parts, and retries. Each kind of
// service, such as pg, implements the interface Service in a package of its own.
//
// It may import state, state/store and document. It must not know configuration, plans, providers, or any
// service.
package remote

import (
	"context"
	"errors"
	"time"

	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Service is a configured place in a service: a bucket and prefix, a schema of a database, a URL. An
// implementation is safe for concurrent use, and does not retry by itself: it returns a *Passing for an error
// that is worth another attempt. It sees stored bytes only, which may be encrypted.
type Service interface {
	// Workspaces returns the names of the workspaces other than the default one, in any order.
	Workspaces(ctx context.Context) ([]string, error)
	// Place returns access to the data of a workspace, which need not exist. It contacts nothing. The name is
	// a valid one. It fails with ErrNoWorkspaces if the service keeps one state only and the name does not
	// name the default workspace.
	Place(workspace string) (Place, error)
}

// Place is the data of one workspace in a service, as one run sees it.
type Place struct {
	// Path names the state in messages and lock information, such as s3://bucket/key. It has no credentials.
	Path  string
	State Blob
	Lock  Lock  // nil if the place is configured without locking
	Parts Parts // of the state's journal; nil if the service has no room for it, and it is kept on this machine
}

// Blob is the stored form of a state. It is safe for concurrent use.
type Blob interface {
	// Get returns the stored bytes and their version: nil and "" if there are none. If the service stores a
	// checksum of its own, bytes that do not match it are a *Passing.
	Get(ctx context.Context) (data []byte, v Version, err error)
	// Put replaces the stored bytes, and returns the new version. It fails with ErrChanged if the version was
	// not was; "" stands for no stored bytes. A service without conditional writes compares as close to the
	// write as it can.
	Put(ctx context.Context, data []byte, was Version) (Version, error)
	// Delete removes the stored bytes and whatever belongs to them, other than the lock and the journal.
	Delete(ctx context.Context) error
}

// Lock is the lock of a state, for one run. It is safe for concurrent use.
type Lock interface {
	// Take takes the lock without waiting. It fails with a *store.LockError if the lock is held.
	Take(ctx context.Context, info store.LockInfo) error
	// Release releases the lock with that ID, whichever run took it. It fails with store.ErrNotLocked if
	// there is none, and with a *store.LockError if the lock has another ID.
	Release(ctx context.Context, id string) error
	// Holder returns the lock's description of its holder; nil if it is not held. It fails with
	// ErrUnknownHolder if the service does not tell.
	Holder(ctx context.Context) (*store.LockInfo, error)
	// Check returns nil if the lock with that ID, which this Lock took, is still held, and else an error that
	// wraps store.ErrLockLost. It is called before each change, at the same time as another request.
	Check(ctx context.Context, id string) error
}

// Refuser is a Lock of states that may be changed by runs elsewhere only.
type Refuser interface {
	// RefuseRun returns an error if the run that info describes must not use the state, which Take would
	// return.
	RefuseRun(ctx context.Context, info store.LockInfo) error
}

// Version identifies the stored bytes of a state: an ETag, a generation, a number of a row, or a checksum. It
// is "" for a state that does not exist.
type Version = document.Version

// Parts keeps a journal as named parts, each of at most a few hundred kilobytes. Names consist of lower case
// letters, digits, "-" and ".". It is safe for concurrent use.
type Parts interface {
	// List returns the names of all parts, in any order.
	List(ctx context.Context) ([]string, error)
	// Get returns a part; nil if there is none of that name.
	Get(ctx context.Context, name string) ([]byte, error)
	// Put stores a part, replacing one of the same name. When it returns, the part is durable.
	Put(ctx context.Context, name string, data []byte) error
	// Remove removes parts. It ignores those that do not exist.
	Remove(ctx context.Context, names []string) error
}

// Errors of services, for errors.Is.
var (
	// ErrChanged means that a state has changed since it was read.
	ErrChanged = errors.New("the state was changed by another run after this one had read it")
	// ErrUnknownHolder means that a service does not say whether a state is locked, and by whom.
	ErrUnknownHolder = errors.New("the service does not say who holds the lock")
	// ErrNoWorkspaces means that a place has room for the state of the default workspace only.
	ErrNoWorkspaces = errors.New("this backend keeps the state of one workspace only")
)

// Passing is an error that may pass: a timeout, a lost connection, an answer that asks for patience. Whether
// the request had an effect is not known.
type Passing struct {
	Err   error
	After time.Duration // that the service asks to wait for; 0 if it does not say
	Hint  string        // a sentence of advice if it does not pass; "" for none
}

// Error returns the error's text.
func (e *Passing) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Passing) Unwrap() error { return e.Err }
