package store

import (
	"context"
	"errors"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// Historian is implemented by managers of states that keep their runs, and former versions of objects,
// outputs and checks. Its methods take no lock and change nothing. A run is named by the ID of its LockInfo,
// or by the beginning of it.
type Historian interface {
	// Runs returns the runs that have claimed a part of the state, the newest first: at most the
	// given number, or all if that is 0.
	Runs(ctx context.Context, most int) ([]PastRun, error)
	// Versions returns the present and former versions of the objects of an instance, of an output or of the
	// results of a check, the newest first.
	Versions(ctx context.Context, of state.Subject) ([]ObjectVersion, error)
	// At returns the content that the state had at a moment: some instances, outputs and checks, or all.
	// ErrForgotten is returned if it is not known any more, or never was.
	At(ctx context.Context, m Moment, of ...state.Subject) (*Past, error)
	// Active returns the runs that have claims, and those that wait for some, the oldest first.
	Active(ctx context.Context) ([]ActiveRun, error)
}

// RunStatus says how a run stands.
type RunStatus string

// The statuses of runs.
const (
	RunWaits   RunStatus = "waiting" // for claims
	RunRuns    RunStatus = "running"
	RunEnded   RunStatus = "ended"
	RunLeft    RunStatus = "left"         // it has given its claims back without ending as it should
	RunLapsed  RunStatus = "lapsed"       // it has given no sign of life for some time
	RunFreed   RunStatus = "force-unlock" // its claims were freed by force
	RunUnknown RunStatus = "unknown"
)

// PastRun is a run that has begun to change a state.
type PastRun struct {
	Info    LockInfo
	Status  RunStatus
	Began   time.Time
	Ended   time.Time // zero for one that has not ended
	Changes int       // how many objects it has changed or removed, as often as it did
}

// ObjectVersion is the content of an object, an output or a check from one change to the next.
type ObjectVersion struct {
	Object addr.Object // zero for an output or a check
	From   time.Time
	By     *LockInfo // the run that has written it; nil if unknown
	First  bool      // the object did not exist before, or nothing is known of that
	Until  time.Time // zero for the present one
	Next   *LockInfo // the run that has replaced or removed it; nil for the present one, or if unknown
	Last   bool      // the object was removed then
}

// Moment is a point in time: the end of a run, or now for one that has not ended, unless Run is "".
type Moment struct {
	Run  string
	Time time.Time
}

// Past is the content that a state had at a moment.
type Past struct {
	State   *state.State // without outputs and checks unless Results is set
	Results bool         // whether the outputs and checks of that moment are known
	Lineage string       // of the state
	At      time.Time
	Run     *LockInfo // the run that has ended then; nil for none
}

// ActiveRun is a run that has claims, or waits for some.
type ActiveRun struct {
	Info       LockInfo
	Status     RunStatus // RunWaits, RunRuns or RunLapsed
	Began      time.Time
	LeaseUntil time.Time // when it lapses, or has lapsed, unless it gives a sign of life
	Claims     []ActiveClaim
	Operations []ActiveOperation // that have begun and not ended
	Openings   []state.Opening   // ephemeral instances that are open
}

// ActiveClaim is a claim of a run on a part of a state.
type ActiveClaim struct {
	Subject string // words for the part
	Mode    state.ClaimMode
}

// ActiveOperation is an operation on an object that has begun and not ended.
type ActiveOperation struct {
	Object addr.Object
	Action string
	Since  time.Time
}

// Errors of a Historian, for errors.Is.
var (
	ErrNoRun     = errors.New("there is no such run")
	ErrForgotten = errors.New("former versions are not kept for so long")
)

// Querier is implemented by managers of stores that answer questions in SQL.
type Querier interface {
	// Query carries out a statement that only reads, on the documented views, which have no sensitive values.
	// The statement is given up after the timeout.
	Query(ctx context.Context, statement string, timeout time.Duration) (*Table, error)
}

// Table is the answer to a statement. Values are nil, texts, numbers, booleans, times, lists of texts, and
// json.RawMessage.
type Table struct {
	Columns []string
	Rows    [][]any
}
