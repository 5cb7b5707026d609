package view

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
)

// Event implements event.Observer.
func (s *JSONStream) Event(e event.Event) {
	s.mu.Lock()
	s.tally.add(e)
	s.mu.Unlock()
	line, ok := streamEvent(e)
	if ok {
		s.write(line, e.Time)
	}
}

// streamEvent returns the message of an event (E80); it reports false for events that have no message type.
func streamEvent(e event.Event) (streamLine, bool) {
	if e.Op == event.OpInvoke {
		return invocationEvent(e)
	}
	hook := &streamHook{Resource: streamResourceOf(e.Object), IDKey: e.IDKey, IDValue: e.ID}
	line := streamLine{Hook: hook}
	name := e.Object.String() + ": "
	// Tools expect a number of whole seconds.
	elapsed := float64(int(e.Elapsed.Seconds()))
	switch {
	case e.Op == event.OpProvision:
		return provisionEvent(e, line, hook, name), true
	case e.Op == event.OpRefresh:
		switch e.Kind {
		case event.Started:
			line.Type, line.Message = "refresh_start", name+phrase(e)
		case event.Progress:
			line.Type, hook.Elapsed, line.Message = "refresh_progress", &elapsed, name+"Still refreshing... ["+idPart(e, ", ")+seconds(e.Elapsed)+" elapsed]"
		case event.Completed:
			line.Type, line.Message = "refresh_complete", name+"Refresh complete"+idText(e)
		case event.PutOff:
			line.Type, line.Message = "refresh_deferred", name+"Refresh deferred by the provider"+idText(e)
		default:
			return line, false
		}
		return line, true
	case e.Op == event.OpImport, e.Op == event.OpAdopt:
		return line, false // the plan lists imports, and reading an imported object is reported as refreshing
	}
	prefix := "apply_"
	hook.Action = string(e.Op)
	if e.Object.Resource.Mode == addr.Ephemeral {
		prefix, hook.IDKey, hook.IDValue = "ephemeral_op_", "", ""
	} else if e.Op == event.OpForget {
		hook.Action = "remove"
	}
	switch e.Kind {
	case event.Started:
		line.Type = prefix + "start"
	case event.Progress:
		line.Type, hook.Elapsed = prefix+"progress", &elapsed
	case event.Completed:
		line.Type, hook.Elapsed = prefix+"complete", &elapsed
		if e.Op == event.OpDelete {
			hook.IDKey, hook.IDValue = "", "" // nothing has them any more
		}
	case event.Failed:
		line.Type, hook.Elapsed = prefix+"errored", &elapsed
		hook.IDKey, hook.IDValue = "", ""
		line.Message = name + failure(e.Op) + " errored after " + seconds(e.Elapsed)
	case event.Deferred:
		line.Type = prefix + "deferred"
	case event.PutOff:
		line.Type, hook.Elapsed = prefix+"deferred", &elapsed
	default:
		return line, false
	}
	if line.Message == "" {
		text := phrase(e)
		if text == "" {
			return line, false
		}
		line.Message = name + text
	}
	return line, true
}

// provisionEvent completes the message of a provisioner's event. Output is in the message without escape
// sequences, and as it is in the hook.
func provisionEvent(e event.Event, line streamLine, hook *streamHook, name string) streamLine {
	hook.Provisioner, hook.IDKey, hook.IDValue = e.Provisioner, "", ""
	by := "(" + e.Provisioner + ")"
	switch e.Kind {
	case event.Started:
		line.Type, line.Message = "provision_start", name+"Provisioning with '"+e.Provisioner+"'..."
	case event.Output, event.Progress:
		line.Type, line.Message, hook.Output = "provision_progress", name+by+": "+tamePlain(e.Line), e.Line
	case event.Failed:
		line.Type, line.Message = "provision_errored", name+by+" Provisioning errored"
	default:
		line.Type, line.Message = "provision_complete", name+by+" Provisioning complete"
	}
	return line
}

// failure returns the noun of an operation in a message about its failure.
func failure(op event.Op) string {
	switch op {
	case event.OpCreate:
		return "Creation"
	case event.OpUpdate:
		return "Modifications"
	case event.OpDelete:
		return "Destruction"
	case event.OpForget:
		return "Removal"
	case event.OpOpen:
		return "Opening"
	case event.OpRenew:
		return "Renewal"
	case event.OpClose:
		return "Closing"
	default:
		return "Reading"
	}
}
