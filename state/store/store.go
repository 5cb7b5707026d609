// Package store defines a place that keeps states: workspaces, each with one state, a lock, and the results
// of a run that has not ended. The stores themselves are its sub-packages.
//
// It may import state, diag and the packages that these may import. It must not know configuration, plans,
// providers or the engine.
package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// DefaultWorkspace is the workspace that always exists.
const DefaultWorkspace = "default"

// Store keeps the states of workspaces. It is safe for concurrent use. A store is created without a request
// or an access to files, so that an unused one costs nothing and cannot fail.
type Store interface {
	// Workspaces returns the sorted names of the workspaces, preceded by the default one, even if that has
	// no state.
	Workspaces(ctx context.Context) ([]string, error)
	// CreateWorkspace creates a workspace without a state. It fails with ErrWorkspaceExists if the name
	// exists.
	CreateWorkspace(ctx context.Context, name string) error
	// DeleteWorkspace removes a workspace and its state. It fails with ErrNoWorkspace, or with ErrNotEmpty
	// if the state still manages objects and force is not set. The default workspace cannot be deleted. The
	// caller should hold the workspace's lock until just before.
	DeleteWorkspace(ctx context.Context, name string, force bool) error
	// Manager returns access to a workspace's state. A workspace that does not exist is created by the
	// first lock or write.
	Manager(name string) (Manager, error)
}

// Manager gives access to the state of one workspace. A Manager is a handle of one run: two of them exclude
// each other by the lock, also within one process. Its methods are safe for concurrent use. A run that
// changes the state calls Lock, Read, BeginRun, the run's End, and Unlock, in this order; one that only reads
// needs nothing but Read.
type Manager interface {
	// Lock takes the workspace's lock without waiting, see Locking. It returns a *LockError if the
	// lock is held. Unlock needs the returned ID.
	Lock(ctx context.Context, info LockInfo) (id string, err error)
	// Unlock releases the lock.
	Unlock(ctx context.Context, id string) error
	// Read returns the stored state, or nil if there is none. It includes results in a journal left by an
	// interrupted run; see Recoverer.
	Read(ctx context.Context) (*state.File, error)
	// BeginRun begins a run that changes rows of base, which is the state last read or, if there is none, a
	// new one. It fails if the stored state is another one by now. version is the program's version.
	BeginRun(ctx context.Context, base *state.File, version string) (state.Run, error)
	// Write stores f unchanged in place of the state as a whole; the caller chooses the serial. When it
	// returns, f is durable and the journal of a run is closed and removed, so all operations recorded there
	// should have ended. If a lock was taken and has been lost, it fails with ErrLockLost and stores nothing.
	// If ctx is canceled it continues, as far as the store can.
	Write(ctx context.Context, f *state.File) error
}

// Recoverer is implemented by managers of states that other runs may leave something with: results in a
// journal, which Read takes into account, and a lock.
type Recoverer interface {
	// Recovered returns the recovery by the last Read, or by the BeginRun or Write in its place; nil for
	// none.
	Recovered() *Recovered
	// ForceUnlock releases the lock with that ID, also another run's. It fails with ErrNotLocked if there is
	// none. It fails with a *LockError that contains the lock's information if the lock has another ID or
	// cannot be released while its holder lives.
	ForceUnlock(ctx context.Context, id string) error
	// CheckUnlock returns the error that ForceUnlock would return now, as far as that can be determined
	// without releasing anything.
	CheckUnlock(ctx context.Context, id string) error
	// RefuseRun returns an error if the run that info describes must not use the state, which Lock would
	// return: the state may be one that only runs elsewhere may change.
	RefuseRun(ctx context.Context, info LockInfo) error
}

// PartReader is implemented by managers that can read a part of a state.
type PartReader interface {
	// ReadPart is Read with the objects of a part only. A run that begins with the result leaves all others
	// as they are, and the state that its end returns has only that part.
	ReadPart(ctx context.Context, part state.Part) (*state.File, error)
	// ReadMore returns the instances of another part, as they are now, that keep wants. They belong to the
	// part that was read from then on.
	ReadMore(ctx context.Context, part state.Part, keep func(addr.Instance) bool) (*state.State, error)
}

// Outline says how much of a state an OutlineReader reads.
type Outline int

const (
	// Providers is one instance of each provider.
	Providers Outline = iota
	// Addresses are all objects, with their addresses alone: not even providers.
	Addresses
	// Entries are all objects with their providers, dependencies, and whether they are tainted.
	Entries
)

// OutlineReader is implemented by managers that know which objects a state has without reading them.
type OutlineReader interface {
	// ReadOutline is Read with objects that have no attributes, without the aliases of their providers, and
	// without outputs and results of checks. Nothing can be planned or stored with the result.
	ReadOutline(ctx context.Context, what Outline) (*state.File, error)
}

// ChangeReader is implemented by managers that note all changes since a configuration was last applied. Their
// runs are state.Recorders.
type ChangeReader interface {
	// HashKey returns the random key that hashes of blocks and of configurations are made with. If the state
	// has none, the next claim by this manager stores it, unless another run has stored one: the hashes of
	// the later run are left out then. Nil says that nothing can be compared by hashes. at is the time by the
	// clock of the store.
	HashKey(ctx context.Context) (key []byte, at time.Time, err error)
	// ReadChanged returns the units that are due for a configuration with these hashes, all at one moment.
	// Objects are to be read after it. Without hashes, or a state, nothing is Complete.
	ReadChanged(ctx context.Context, hashes state.BlockHashes) (*state.Changed, error)
	// Records returns the records that a query asks for, as they are now, in the order of their units' keys
	// and without void ones.
	Records(ctx context.Context, q state.RecordQuery) ([]state.Record, error)
	// LastRead returns the managed instances of the state that no plan is known to have read for an age.
	LastRead(ctx context.Context, age time.Duration) ([]addr.Instance, error)
}

// InFiles is implemented by managers that keep states in files.
type InFiles interface {
	// SamePlace reports whether other keeps the state of the same workspace in the same place, although
	// their stores may differ.
	SamePlace(other Manager) bool
	// CheckWritable returns an error if the state or its backup cannot be written where they are configured
	// to be. It changes nothing and does not need the lock.
	CheckWritable() error
	// RedirectedTo returns the path of the file that options name in place of the backend's file; "" if the
	// state is written where the backend keeps it.
	RedirectedTo() string
	// Files returns the files of the state and its backup that exist.
	Files() []string
	// Rekey stores the state and its backups again without changing them, encrypted by the present rules. If
	// the state cannot be read, it fails and has changed nothing; a backup that cannot be read stays as it
	// is.
	Rekey(ctx context.Context) ([]Rekeyed, error)
}

// SamePlace reports whether two managers are known to keep their states in the same place.
func SamePlace(a, b Manager) bool {
	f, ok := a.(InFiles)
	return ok && f.SamePlace(b)
}

// CheckWritable returns an error if it is known beforehand that m cannot write. Call it before an operation
// that changes the state.
func CheckWritable(m Manager) error {
	if f, ok := m.(InFiles); ok {
		return f.CheckWritable()
	}
	return nil
}

// RedirectedTo returns the path of the file that m writes in place of the backend's file; "" for none.
func RedirectedTo(m Manager) string {
	if f, ok := m.(InFiles); ok {
		return f.RedirectedTo()
	}
	return ""
}

// Errors of stores, for errors.Is.
var (
	ErrNoWorkspace     = errors.New("there is no such workspace")
	ErrWorkspaceExists = errors.New("the workspace already exists")
	ErrNotEmpty        = errors.New("the workspace's state still manages objects")
	ErrDefault         = errors.New("the default workspace cannot be deleted")
	ErrLockLost        = errors.New("the lock on the state has been lost")
	ErrEmptied         = errors.New("the state has been lost")
)

// JournaledError is returned by Manager.Write and Run.End if the state could not be stored but nothing is
// lost: the run's results are in a journal, from which the next run that locks the state recovers them.
type JournaledError struct {
	Journal string // its file
	Err     error
}

// Error gives the reason why the state could not be stored.
func (e *JournaledError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *JournaledError) Unwrap() error { return e.Err }

// UnsavedError is returned by Run.End, for a state that other runs change as well, if the run could not be
// ended as it should. The state that End returns must not be stored in place of the rows: that would undo the
// changes of other runs.
type UnsavedError struct {
	Kept string               // the file with results, which the next run on this machine puts into the state; "" for none
	Lost []state.ObjectChange // that are recorded nowhere
	Err  error
}

// Error gives the reason.
func (e *UnsavedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnsavedError) Unwrap() error { return e.Err }

// CheckWorkspaceName returns an error unless name is a valid workspace name: as in other engines, it must
// not need escaping in a URL path.
func CheckWorkspaceName(name string) error {
	if name == "" || name == "." || name == ".." || url.PathEscape(name) != name {
		return fmt.Errorf("%q cannot be the name of a workspace. Use letters, digits, and the characters -._~$&+=:@ only", name)
	}
	return nil
}

// Cipher encrypts the data of a store: state files as a whole, and records of journals.
type Cipher interface {
	state.Sealer
	// EncryptState returns the stored form of a state file with the given lineage and serial.
	EncryptState(plain []byte, of state.Meta) ([]byte, error)
	// DecryptState reverses EncryptState, and returns the lineage and serial that the stored form has in
	// clear; nil if it has none. If the configuration allows unencrypted files, it returns them unchanged.
	DecryptState(stored []byte) (plain []byte, of *state.Meta, err error)
}

// SealerOf returns c as the sealer of a journal; nil if c is nil.
func SealerOf(c Cipher) state.Sealer {
	if c == nil {
		return nil // not a nil Cipher in an interface that is not nil
	}
	return c
}

// Encode returns the bytes that a store keeps for f. c may be nil. The cipher gets lineage and serial as
// well, since it stores them in clear.
func Encode(f *state.File, c Cipher) ([]byte, error) {
	b, err := state.Write(f)
	if err != nil || c == nil {
		return b, err
	}
	if b, err = c.EncryptState(b, f.Meta); err != nil {
		return nil, fmt.Errorf("encrypting the state: %w", err)
	}
	return b, nil
}

// Decode reads the result of Encode. It returns nil for no data. c may be nil. If the stored form says
// something in clear about lineage and serial, it must match the content: stores compare states by it.
func Decode(stored []byte, c Cipher) (*state.File, error) {
	if c == nil || len(stored) == 0 {
		return state.Read(stored)
	}
	plain, clear, err := c.DecryptState(stored)
	if err != nil {
		return nil, fmt.Errorf("the state cannot be decrypted: %w", err)
	}
	f, err := state.Read(plain)
	if err == nil && clear != nil && f != nil && (f.Serial != clear.Serial || f.Lineage != clear.Lineage) {
		return nil, fmt.Errorf("the state cannot be used: it was altered. What it says in clear about its lineage and serial is not what the encrypted state says")
	}
	return f, err
}

// Recode returns the stored form, by the present rules, of a file that may have been written by former ones:
// a backup must not be easier to read than the state. c may be nil.
func Recode(stored []byte, c Cipher) ([]byte, error) {
	if c == nil || len(stored) == 0 {
		return stored, nil
	}
	plain, of, err := c.DecryptState(stored)
	if err != nil {
		return nil, err
	}
	if of == nil {
		f, err := state.Read(plain)
		if f == nil || err != nil {
			return nil, err
		}
		of = &f.Meta
	}
	return c.EncryptState(plain, *of)
}

// CheckPush returns an error if pushing next over stored would lose data, see PushConflict.
func CheckPush(stored, next *state.File) error {
	why := PushConflict(stored, next)
	if why == "" {
		return nil
	}
	only := "the stored state is not needed any more"
	switch {
	case stored.Lineage == next.Lineage && stored.Serial > next.Serial:
		only = "the changes made since then may be lost"
	case stored.Lineage == next.Lineage:
		only = "the stored one is wrong"
	}
	return fmt.Errorf("%s. Force the push only if %s", why, only)
}

// PushConflict says, without a full stop, why data would be lost if next took the place of stored: next has
// another lineage, an older serial, or the same serial with other content. It returns "" if nothing would be
// lost. stored may be nil. An empty stored state may be replaced by one of another lineage.
func PushConflict(stored, next *state.File) string {
	switch {
	case stored == nil || state.Unchanged(stored, next) && stored.Serial == next.Serial:
		return ""
	case stored.Lineage != next.Lineage && !stored.State.Empty():
		return fmt.Sprintf("the stored state has the lineage %q, and the new one has %q, so they do not belong together", stored.Lineage, next.Lineage)
	case stored.Lineage == next.Lineage && stored.Serial > next.Serial:
		return fmt.Sprintf("the stored state has serial %d, and the new one has only %d, so it is older", stored.Serial, next.Serial)
	case stored.Lineage == next.Lineage && stored.Serial == next.Serial:
		return fmt.Sprintf("both states have serial %d but differ", next.Serial)
	}
	return ""
}
