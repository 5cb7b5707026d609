package deferral

import (
	"maps"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// Triggers finds changes that must wait because an action which they trigger does: it would never be invoked
// otherwise. The zero value has none. Wait and Need may be called concurrently.
type Triggers struct {
	mu      sync.Mutex
	waiting map[addr.Instance][]plan.Dep // of instances with an action that waits: all that their actions wait for
	needs   map[addr.Instance][]plan.Dep // dependencies of the actions of an instance that wait for nothing yet
}

// Wait notes that an action waits for the given objects. The trigger is nil if -invoke names the action: the
// error is about that one.
func (tr *Triggers) Wait(trigger *plan.ActionTrigger, on []plan.Dep) {
	tr.note(&tr.waiting, trigger, on)
}

// Need notes the dependencies of an action that waits for nothing yet.
func (tr *Triggers) Need(trigger *plan.ActionTrigger, deps []plan.Dep) {
	tr.note(&tr.needs, trigger, deps)
}

func (tr *Triggers) note(in *map[addr.Instance][]plan.Dep, trigger *plan.ActionTrigger, deps []plan.Dep) {
	if trigger == nil {
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if *in == nil {
		*in = map[addr.Instance][]plan.Dep{}
	}
	(*in)[trigger.Resource] = append((*in)[trigger.Resource], deps...)
}

// Defer adds the changes that must wait to seeds, which the next attempt defers. Others follow from these:
// all that depends on them is deferred, so that more actions must wait, and so on. They are seeds too, since
// an attempt for each of them would take quadratic time. planned returns the instances of the plan, with the
// dependencies that each waits for if they are deferred. Defer returns true if there are any such changes.
func (tr *Triggers) Defer(changes map[addr.Object]*plan.Change, seeds map[addr.Instance]*plan.Deferral, planned func() map[addr.Instance][]plan.Dep) (again bool) {
	found := map[addr.Instance][]plan.Dep{}
	for a, on := range tr.waiting {
		if changes[addr.Object{Instance: a}] != nil {
			found[a] = on
		}
	}
	if len(found) == 0 {
		return false
	}
	deps := planned()
	var others Dependents
	for a, on := range deps {
		others.Add(a, on)
	}
	for a, on := range tr.needs {
		others.Add(a, on)
	}
	var later Set
	for a := range others.Take(slices.Collect(maps.Keys(found))) {
		later.AddSilent(a)
	}
	for a, needs := range tr.needs {
		_, already := found[a]
		on := later.Touched(needs)
		if already || len(on) == 0 || len(later.Touched(deps[a])) > 0 || changes[addr.Object{Instance: a}] == nil {
			continue // the next attempt defers one that itself depends on something deferred anyway
		}
		found[a] = on
	}
	for a, on := range found {
		seeds[a] = &plan.Deferral{Change: changes[addr.Object{Instance: a}], Reason: plan.DeferredPrereq, WaitsFor: on}
	}
	return true
}
