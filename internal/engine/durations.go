package engine

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/order"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
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

// expected returns how long an operation is expected to take. If nothing is known, all take equally long.
func (h *host) expected(object addr.Instance, op event.Op) int64 {
	if h.opt.Durations == nil {
		return 1
	}
	return int64(h.opt.Durations.Expected(object, op))
}

// timed begins an operation in a session. The function that it returns ends the operation and records how
// long it has taken if it is one on an object.
func (h *host) timed(user any, op event.Op) (end func()) {
	if h.opt.Durations == nil || op == event.OpEvaluate {
		return func() {}
	}
	var object addr.Instance
	switch user := user.(type) {
	case *eval.Instance:
		object = user.Addr()
	case addr.Object:
		object = user.Instance
	default:
		return func() {}
	}
	if m := object.Resource.Mode; m == addr.List || m == addr.Action {
		return func() {} // nothing is ordered by how long these take
	}
	begin := h.opt.Now()
	return func() { h.opt.Durations.Took(object, op, h.opt.Now().Sub(begin)) }
}

// weight returns how long a step is expected to take, for plan.Ranks.
func (a *applier) weight(s *plan.Step) int64 {
	if s.Leg == plan.InvokeLeg {
		return 1
	}
	return a.expected(s.Change.Addr, order.Op(s))
}
