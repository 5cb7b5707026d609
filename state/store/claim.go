package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// Claimer is implemented by managers of states that several runs may change at the same time. A run of such a
// manager calls Read, Claim, BeginRun, the run's End, and Unlock, in this order. It may call Lock in place of
// Claim, which claims the whole state.
type Claimer interface {
	// Claim claims a scope, all at once, and then compares the rows that it relies on. It fails with a
	// *ClaimedError if another run has a claim on a part of it, and with a *StaleError if rows have changed;
	// nothing is claimed then. With wait, the run takes a place among those that wait, which it keeps for
	// some seconds: the caller calls again with the same info, and without wait to give up. Unlock needs the
	// ID of the result.
	Claim(ctx context.Context, scope *state.Scope, info LockInfo, wait bool) (*Held, error)
}

// Unfinisher is implemented by managers that know the operations of runs which others have not recovered.
type Unfinisher interface {
	// Unfinished returns the operations that the run has begun and not ended whose lock or claims have that
	// ID.
	Unfinished(ctx context.Context, id string) ([]state.Unfinished, error)
}

// Held are the claims of a run.
type Held struct {
	ID string
	// Writes reports whether the run may change the objects of an instance. Of the optional claims of a
	// scope, it has those that were free and whose rows have not changed.
	Writes func(addr.Instance) bool
}

// Conflict is a claim of another run.
type Conflict struct {
	Subject string // words for the claimed part of the state
	Run     LockInfo
	Waiting bool // the run does not have the claim yet, but came first
	// Lapsed are the operations that the run has begun and not ended, although it has given no sign of life
	// for some time.
	Lapsed []state.Unfinished
}

// ClaimedError reports that other runs have claims on parts of a state that a run needs. It wraps a
// *LockError.
type ClaimedError struct {
	Conflicts []Conflict // at least one
}

// Error names the claimed parts, the runs, and operations that have not ended.
func (e *ClaimedError) Error() string {
	var sb strings.Builder
	sb.WriteString("other runs have claimed parts of the state that this one needs:")
	for _, c := range e.Conflicts {
		does := "claimed by"
		if c.Waiting {
			does = "awaited by"
		}
		fmt.Fprintf(&sb, "\n  - %s, %s %s, run %s", c.Subject, does, (&LockError{Info: &c.Run}).Holder(), c.Run.ID)
	}
	told := map[string]bool{}
	for _, c := range e.Conflicts {
		if len(c.Lapsed) == 0 || told[c.Run.ID] {
			continue
		}
		told[c.Run.ID] = true
		fmt.Fprintf(&sb, "\n\nThe run %s has given no sign of life for some time, but these operations have begun and not ended, so their objects may still be changing:", c.Run.ID)
		for _, u := range c.Lapsed {
			fmt.Fprintf(&sb, "\n  - %s (%s)", u.Object, u.Action)
		}
	}
	return sb.String()
}

// Unwrap returns a *LockError about the first of the runs.
func (e *ClaimedError) Unwrap() error { return &LockError{Info: &e.Conflicts[0].Run} }

// StaleRow is a row that is not as it was read.
type StaleRow struct {
	Name   string    // the address of an object, an output or a check
	Change string    // "was changed", "is new", "was removed" or "may have been changed without a record"
	Run    *LockInfo // that has changed it; nil if unknown
}

// StaleError reports that rows have changed which a plan relies on.
type StaleError struct {
	Rows []StaleRow // at least one, in order
}

// Error names the first of the rows.
func (e *StaleError) Error() string {
	const most = 20
	var sb strings.Builder
	sb.WriteString("parts of the state that the plan relies on have changed since:")
	for _, r := range e.Rows[:min(len(e.Rows), most)] {
		fmt.Fprintf(&sb, "\n  - %s %s", r.Name, r.Change)
		if r.Run != nil {
			fmt.Fprintf(&sb, " by %s, run %s", (&LockError{Info: r.Run}).Holder(), r.Run.ID)
		}
	}
	if more := len(e.Rows) - most; more > 0 {
		fmt.Fprintf(&sb, "\n  and %d more", more)
	}
	return sb.String()
}

// Claim claims a scope. While another run has a claim on a part of it, Claim waits as Take does. Claims take
// the place of a lock and are held also with NoLock, but are not waited for then.
func (l Locking) Claim(ctx context.Context, c Claimer, scope *state.Scope, info LockInfo) (*Held, error) {
	info = l.noted(info)
	wait := l.LockTimeout > 0 && !l.NoLock
	if !wait {
		return c.Claim(ctx, scope, info, false)
	}
	var held *Held
	err := l.patiently(ctx, func() (err error) {
		held, err = c.Claim(ctx, scope, info, true)
		return err
	})
	if errors.As(err, new(*ClaimedError)) && ctx.Err() == nil { // which gives up the place among those that wait
		held, err = c.Claim(ctx, scope, info, false)
	}
	return held, err
}
