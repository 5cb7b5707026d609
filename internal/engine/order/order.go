// Package order carries out the steps of a plan in parallel, each after those that come before it, and those
// with the longest way behind them first; and says in which order instances are planned.
//
// It may import plan, whose steps it takes, event, for the names of operations, and blocks and eval, whose
// references say which work is behind an instance. It must not know how a step is carried out.
package order

import (
	"cmp"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// ordering carries out steps, each after those that come before it.
type ordering struct {
	steps []plan.Step
	ranks []int64
	pool  *future.Pool
	run   func(t *future.Task, i int32, skip bool) bool

	mu    sync.Mutex // protects all below
	needs []int32    // of each step: how many of those before it are still to be done
	bad   []bool     // one of those before it has failed or was passed over
}

// Queue has the pool call run for every step. A step is ready once the calls for all steps before it
// have returned; of the ready ones, those with the highest rank start first. skip is set if run returned
// false for a step before it.
func Queue(pool *future.Pool, steps []plan.Step, ranks []int64, run func(t *future.Task, i int32, skip bool) bool) {
	o := &ordering{steps: steps, ranks: ranks, pool: pool, run: run, needs: make([]int32, len(steps)), bad: make([]bool, len(steps))}
	var ready []int32
	for i := range steps {
		if o.needs[i] = steps[i].Needs; o.needs[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	o.start(ready)
}

// start queues steps that are ready, the highest rank first, because a free worker takes the first that it
// gets.
func (o *ordering) start(ready []int32) {
	slices.SortStableFunc(ready, func(i, j int32) int { return cmp.Compare(o.ranks[j], o.ranks[i]) })
	for _, i := range ready {
		o.pool.GoRanked(o.ranks[i], func(t *future.Task) { o.carryOut(t, i) })
	}
}

// carryOut runs a step and starts the steps that were waiting for it alone.
func (o *ordering) carryOut(t *future.Task, i int32) {
	o.mu.Lock()
	skip := o.bad[i]
	o.mu.Unlock()
	for _, e := range o.steps[i].Next {
		t.Next = max(t.Next, o.ranks[e.To])
	}
	ok := o.run(t, i, skip)
	o.mu.Lock()
	var ready []int32
	for _, e := range o.steps[i].Next {
		o.bad[e.To] = o.bad[e.To] || !ok
		if o.needs[e.To]--; o.needs[e.To] == 0 {
			ready = append(ready, e.To)
		}
	}
	o.mu.Unlock()
	o.start(ready)
}

// Op returns the operation of a step that is not a gate.
func Op(s *plan.Step) event.Op {
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
