package engine

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
)

// Durations are how long operations on objects have taken in earlier runs. They decide which work starts
// first. Their methods are called concurrently.
type Durations interface {
	// Expected returns how long an operation is expected to take, at least 1. Its unit does not matter as
	// long as it is the same for all: only the order of sums counts.
	Expected(object addr.Instance, op event.Op) time.Duration
	// Took records how long an operation has taken.
	Took(object addr.Instance, op event.Op, d time.Duration)
}

// unknownDurations is for runs that nothing is known of: all operations take equally long.
type unknownDurations struct{}

// Expected implements Durations.
func (unknownDurations) Expected(addr.Instance, event.Op) time.Duration { return 1 }

// Took implements Durations.
func (unknownDurations) Took(addr.Instance, event.Op, time.Duration) {}

// expected returns how long a step is expected to take, for plan.Ranks.
func (a *applier) expected(s *plan.Step) int64 {
	return int64(a.opt.Durations.Expected(s.Change.Addr, opOf(s)))
}

// opOf returns the operation of a step that is not a gate.
func opOf(s *plan.Step) event.Op {
	switch {
	case s.Leg == plan.DestroyLeg:
		return event.OpDelete
	case s.Leg == plan.ForgetLeg:
		return event.OpForget
	case s.Change.Action == plan.Update:
		return event.OpUpdate
	case s.Change.Action == plan.Read:
		return event.OpRead
	default:
		return event.OpCreate
	}
}
