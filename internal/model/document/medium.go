package document

import (
	"context"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Medium keeps one document, as one run sees it: files of this machine, or a place in a service. Its methods
// are called one after the other, and none of them while the Manager waits for another.
type Medium interface {
	Lock
	Content
	Journals
}

// Lock is the lock of a document, for one run.
type Lock interface {
	// Lock takes the lock without waiting. It fails with a *store.LockError if the lock is held.
	Lock(ctx context.Context, info store.LockInfo) error
	// Unlock releases the lock with that ID, which the run has. It calls end, which ends the journal of the
	// run, before others can take the lock.
	Unlock(ctx context.Context, id string, end func(context.Context) error) error
	// NotOwn returns the error for a lock that the run should release and does not have. own is the ID of the
	// lock that it has; "" for none.
	NotOwn(ctx context.Context, id, own string) error
	// Check returns an error if the run had a lock and has lost it, or if a write would fail for another
	// reason that can be found out beforehand.
	Check(ctx context.Context) error
}

// Version identifies the stored bytes of a document: an ETag, a generation, a number of a row, or a checksum.
type Version string

// Stored is the content of a medium.
type Stored struct {
	Data     []byte
	Version  Version     // of the content that a write would replace
	File     *state.File // that Data stands for; nil for none
	Journals []Journal   // in the order in which their runs began
	// Missing is called if there is neither a document nor a journal with results. It returns the path of an
	// object in place of a document; "" for none. It fails if a document was lost. It may be nil.
	Missing func() (path string, err error)
}

// Content is the stored form of a document.
type Content interface {
	// Load reads the document, and finds the journals beside it. own is the journal of the run; nil for none.
	Load(ctx context.Context, own LogFile) (Stored, error)
	// Store replaces the document and returns its new version. When it returns, data is durable. It fails if
	// the version was not was.
	Store(ctx context.Context, data []byte, was Version) (Version, error)
	// Changed returns the error for a document that has changed since the run read it.
	Changed() error
}

// Journals are the journals beside a document.
type Journals interface {
	// Begin returns the file of the journal of a run, which is created by the first record. Until then, the
	// document must have the version that guarded calls its argument with, if that can be found out.
	Begin(guarded func(check func(was Version) error) error) LogFile
	// Unsettled reports whether the journal of another run may have come since the document was read. locked
	// reports whether the run has the lock.
	Unsettled(locked bool) bool
	// Claim fails with a *store.LockError if a run whose journal was found may be alive, and with ErrGone if
	// it has just ended. Otherwise, it keeps others away from document and journals until release is called.
	// If release is not nil, they must be read again.
	Claim(ctx context.Context) (release func(), err error)
	// Remove removes journals that have no effect any more.
	Remove(ctx context.Context, journals []Journal) error
}

// Journal is the journal of a run that has not ended, or not as it should.
type Journal interface {
	// Text returns the content; nil if there is none any more.
	Text(ctx context.Context) ([]byte, error)
	// Append adds a record behind the first size bytes, which are intact. It returns when that is durable.
	Append(ctx context.Context, record []byte, size int64) error
	// SetAside keeps a journal without a readable record under another path, which it returns, unless it can
	// be removed like others.
	SetAside() (path string, err error)
	// Refuse adds advice to err about a journal that cannot be merged into the document. lacks describes the
	// document in that case.
	Refuse(err error, lacks string) error
}

// LogFile is the file of the journal of a run.
type LogFile interface {
	state.LogFile
	// Started reports whether anything was written.
	Started() bool
	// Keeps reports whether the results in the journal will be recovered although the document could not be
	// stored for the reason err.
	Keeps(err error) bool
	// Close ends the journal and leaves it for the next run to recover.
	Close() error
	// Remove ends the journal and removes it. saved reports that the document has its results.
	Remove(ctx context.Context, saved bool) error
}
