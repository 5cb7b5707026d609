package planfile

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// invocation is the stored form of plan.Invocation.
type invocation struct {
	Action    instance `json:"action"`
	Provider  int      `json:"provider"`
	Trigger   *trigger `json:"trigger,omitempty"`
	Config    *sealed  `json:"config,omitempty"`
	Ephemeral []path   `json:"ephemeral,omitempty"`
	Undecided bool     `json:"undecided,omitempty"`
	Deps      []dep    `json:"deps,omitempty"`
}

// trigger is the stored form of plan.ActionTrigger.
type trigger struct {
	Resource  instance `json:"resource"`
	Event     string   `json:"event"`
	Block     int      `json:"block,omitempty"`
	Position  int      `json:"position,omitempty"`
	OnFailure string   `json:"on_failure"`
}

var (
	triggerEvents   = []plan.TriggerEvent{plan.BeforeCreate, plan.AfterCreate, plan.BeforeUpdate, plan.AfterUpdate}
	failurePolicies = []plan.FailurePolicy{plan.HaltOnFailure, plan.TaintOnFailure, plan.ContinueOnFailure}
)

// encodeInvocations encodes the invocations of a plan.
func encodeInvocations(e *encoder, x *failing, list []*plan.Invocation) (out []invocation) {
	for _, i := range list {
		one := invocation{
			Action: e.instance(x, i.Action), Provider: e.provider(x, i.Provider), Config: e.sealed(x, "action "+i.Action.Resource.Type, i.Config),
			Ephemeral: e.paths(x, i.Ephemeral), Undecided: i.Undecided, Deps: e.deps(x, i.Deps),
		}
		if t := i.Trigger; t != nil {
			one.Trigger = &trigger{Resource: e.instance(x, t.Resource), Event: string(t.Event), Block: t.Block, Position: t.Position, OnFailure: string(t.OnFailure)}
		}
		out = append(out, one)
	}
	return out
}

// decodeInvocations decodes the invocations of a plan.
func decodeInvocations(d *decoder, list []invocation) (out []*plan.Invocation) {
	for _, i := range list {
		one := &plan.Invocation{
			Action: d.instance(i.Action), Provider: d.provider(i.Provider), Config: d.value(i.Config),
			Ephemeral: d.paths(i.Ephemeral), Undecided: i.Undecided, Deps: d.deps(i.Deps),
		}
		if r := one.Action.Resource; r.Mode != addr.Action || r.Type == "" || r.Name == "" {
			d.fail("it invokes something that is not an action")
		}
		if t := i.Trigger; t != nil {
			one.Trigger = &plan.ActionTrigger{
				Resource: d.instance(t.Resource), Event: plan.TriggerEvent(t.Event), Block: t.Block, Position: t.Position, OnFailure: plan.FailurePolicy(t.OnFailure),
			}
			if !slices.Contains(triggerEvents, one.Trigger.Event) || !slices.Contains(failurePolicies, one.Trigger.OnFailure) || t.Block < 0 || t.Position < 0 {
				d.fail("it invokes an action for a reason that is not valid")
			}
		}
		out = append(out, one)
	}
	return out
}
