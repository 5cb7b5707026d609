package plan

import (
	"cmp"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TriggerEvent is the moment in the change of a resource at which actions are invoked. It is named as in the
// language.
type TriggerEvent string

// The events. A replacement creates the new object.
const (
	BeforeCreate TriggerEvent = "before_create"
	AfterCreate  TriggerEvent = "after_create"
	BeforeUpdate TriggerEvent = "before_update"
	AfterUpdate  TriggerEvent = "after_update"
)

// IsBefore reports whether the event comes before the object is changed.
func (e TriggerEvent) IsBefore() bool { return e == BeforeCreate || e == BeforeUpdate }

// Triggers returns the events that an action of a change causes, in their order.
func (a Action) Triggers() []TriggerEvent {
	switch {
	case a == Create || a.IsReplace():
		return []TriggerEvent{BeforeCreate, AfterCreate}
	case a == Update:
		return []TriggerEvent{BeforeUpdate, AfterUpdate}
	default:
		return nil
	}
}

// FailurePolicy is the treatment of the rest of a run when an action fails.
type FailurePolicy string

// The policies.
const (
	HaltOnFailure     FailurePolicy = "halt"     // nothing that depends on the resource goes on
	TaintOnFailure    FailurePolicy = "taint"    // nor that, and the object is tainted
	ContinueOnFailure FailurePolicy = "continue" // the failure is a warning
)

// ActionTrigger is the cause of an invocation: a trigger of a resource, by the position of its block, and the
// position of the action in its list.
type ActionTrigger struct {
	Resource  addr.Instance
	Event     TriggerEvent
	Block     int
	Position  int
	OnFailure FailurePolicy
}

// Invocation is one planned invocation of an action. Nothing of it is in any state.
type Invocation struct {
	Action   addr.Instance
	Provider addr.ProviderConfig
	Trigger  *ActionTrigger // nil for one that the user asked for by the address of the action
	// Config is the configuration, for showing it. It may have unknown parts, and is null at the paths of
	// Ephemeral, where values are ephemeral or in write-only attributes.
	Config    value.Durable
	Ephemeral []cty.Path
	// Undecided is set if the condition of the trigger is not known yet: the apply decides.
	Undecided bool
	Deps      []Dep // of the configuration and the condition, without the resource that triggers it
}

// Invoking reports whether the plan only invokes actions that the user asked for.
func (p *Plan) Invoking() bool {
	return slices.ContainsFunc(p.Invocations, func(i *Invocation) bool { return i.Trigger == nil })
}

// SortInvocations puts the invocations of triggers in order: by the resource, the event, and the positions of
// the trigger and of the action in it.
func (p *Plan) SortInvocations() {
	slices.SortStableFunc(p.Invocations, func(a, b *Invocation) int {
		x, y := a.Trigger, b.Trigger
		if x == nil || y == nil {
			return 0
		}
		after := func(e TriggerEvent) int {
			if e.IsBefore() {
				return 0
			}
			return 1
		}
		return cmp.Or(x.Resource.Compare(y.Resource), cmp.Compare(after(x.Event), after(y.Event)), cmp.Compare(x.Block, y.Block), cmp.Compare(x.Position, y.Position))
	})
}

// Triggered returns the invocations that changes trigger, by the instance that changes and in their order.
func (p *Plan) Triggered() map[addr.Instance][]*Invocation {
	out := map[addr.Instance][]*Invocation{}
	for _, i := range p.Invocations {
		if i.Trigger != nil {
			out[i.Trigger.Resource] = append(out[i.Trigger.Resource], i)
		}
	}
	return out
}

// invocations adds the steps that invoke the actions of triggers: before the apply leg of the resource, after
// the dependencies of the actions, or between the apply leg and everything that depends on it.
func (b *stepBuilder) invocations(all []*Invocation) {
	steps := map[TriggerEvent]map[int]int32{}
	for _, inv := range all {
		if inv.Trigger == nil {
			continue
		}
		i, ok := b.current[inv.Trigger.Resource]
		if !ok || b.apply[i] < 0 || b.changes[i].Action == NoOp {
			continue
		}
		of := steps[inv.Trigger.Event]
		if of == nil {
			of = map[int]int32{}
			steps[inv.Trigger.Event] = of
		}
		step, ok := of[i]
		if !ok {
			step = b.step(Step{Leg: InvokeLeg, Change: b.changes[i], Before: inv.Trigger.Event.IsBefore()})
			of[i] = step
			b.around(i, step)
		}
		b.steps[step].Invocations = append(b.steps[step].Invocations, inv)
	}
}

// afterDependencies orders steps with invocations after the dependencies of the actions. Actions after the
// change of an instance may read others of the same resource, as far as these are changed: if they waited for
// each other's actions, they would wait in a cycle.
func (b *stepBuilder) afterDependencies() {
	for i, n := 0, len(b.steps); i < n; i++ {
		s := b.steps[i]
		for _, inv := range s.Invocations {
			for _, d := range inv.Deps {
				if !s.Before && d.Resource.Config() == s.Change.Addr.Config() {
					b.afterLegs(int32(i), []Dep{d}, b.apply, b.changed)
				} else {
					b.after(int32(i), []Dep{d})
				}
			}
		}
	}
}

// around orders a step with invocations and the legs of the change that triggers them.
func (b *stepBuilder) around(i int, step int32) {
	c := b.changes[i]
	if b.steps[step].Before {
		b.edge(step, b.apply[i], ruleBefore)
		if c.Action == DeleteThenCreate {
			b.edge(b.destroy[i], step, ruleDestroyFirst)
		}
		return
	}
	b.edge(b.apply[i], step, ruleAfter)
	b.done[i] = step
	if c.Action == CreateThenDelete {
		b.edge(step, b.destroy[i], ruleCreateFirst)
	}
}
