package view

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
)

// actionHook is an invocation of an action: a planned one, or one that an event is about. It has no
// configuration: the document of the plan does.
type actionHook struct {
	Action    streamResource   `json:"action"`
	Lifecycle *actionLifecycle `json:"lifecycle,omitempty"` // the trigger, if there is one
	Invoke    *struct{}        `json:"invoke,omitempty"`    // the user asked for it
	Message   string           `json:"message,omitempty"`
	Elapsed   *float64         `json:"elapsed_seconds,omitempty"`
}

// actionLifecycle is the trigger of an invocation.
type actionLifecycle struct {
	Resource streamResource `json:"triggering_resource"`
	Event    string         `json:"trigger_event"`
	Block    int            `json:"trigger_index"`
	Position int            `json:"actions_index"`
}

func newActionHook(a addr.Instance, t *plan.ActionTrigger) *actionHook {
	out := &actionHook{Action: streamResourceOf(addr.Object{Instance: a})}
	if t == nil {
		out.Invoke = &struct{}{}
		return out
	}
	out.Lifecycle = &actionLifecycle{
		Resource: streamResourceOf(addr.Object{Instance: t.Resource}), Event: document.TriggerEvent(t.Event), Block: t.Block, Position: t.Position,
	}
	return out
}

// invocations writes a message for each planned invocation.
func (s *JSONStream) invocations(p *plan.Plan) {
	for _, i := range p.Invocations {
		s.write(streamLine{Message: i.Action.String() + ": Plan to invoke", Type: "planned_action_invocation", Invocation: newActionHook(i.Action, i.Trigger)}, time.Time{})
	}
}

// invocationEvent returns the message of an event about an action.
func invocationEvent(e event.Event) (streamLine, bool) {
	hook := newActionHook(e.Object.Instance, e.Trigger)
	line := streamLine{Hook: hook}
	name := e.Object.String() + ": "
	elapsed := float64(int(e.Elapsed.Seconds()))
	switch e.Kind {
	case event.Started:
		line.Type, line.Message = "action_start", name+phrase(e)
	case event.Output:
		line.Type, line.Message, hook.Message = "action_progress", name+tamePlain(e.Line), e.Line
	case event.Progress:
		line.Type, line.Message, hook.Elapsed = "action_progress", name+phrase(e), &elapsed
	case event.Completed:
		line.Type, line.Message, hook.Elapsed = "action_complete", name+phrase(e), &elapsed
	case event.Failed:
		line.Type, line.Message, hook.Elapsed = "action_errored", name+"Invocation errored after "+seconds(e.Elapsed), &elapsed
	default:
		return line, false
	}
	return line, true
}
