package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// JSONStream writes a run as JSON messages, one per line, in the types that tools know: terraform-exec and CI
// systems follow a run by them. It is safe for concurrent use.
//
// The members of messages are in streamline.go; members about events, commands for the state and tests are
// written in streamevent.go, streamcommand.go and streamtest.go.
type JSONStream struct {
	following
	enc *json.Encoder
	now func() time.Time

	program string
}

// NewJSONStream returns a stream to w. now supplies the time of messages that are not events.
func NewJSONStream(w io.Writer, now func() time.Time) *JSONStream {
	return &JSONStream{enc: json.NewEncoder(w), now: now}
}

// write writes one message under the lock, so that lines are never mixed. A zero time is replaced by the
// current one.
func (s *JSONStream) write(line streamLine, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line.Level = cmp.Or(line.Level, "info")
	if at.IsZero() {
		at = s.now()
	}
	line.Module, line.Timestamp = "mayfly.ui", at.Format("2006-01-02T15:04:05.000000Z07:00")
	if err := s.enc.Encode(line); err != nil && s.err == nil {
		s.err = err
	}
}

// Version writes the message that must come first, which calls the program by a name. It has the versions
// under the names by which tools of each engine look for them, or of the one engine that the user has chosen;
// ui is the version of the message types.
func (s *JSONStream) Version(name string, v document.Versions) {
	s.program = name
	line := streamLine{Message: name + " " + v.Compat, Type: "version", Terraform: v.Compat, OpenTofu: v.Compat, Product: v.Product, UI: "1.2"}
	switch v.Engine {
	case compat.Terraform:
		line.OpenTofu = ""
	case compat.OpenTofu:
		line.Terraform = ""
	}
	s.write(line, time.Time{})
}

// Program returns the name of the program in the first message.
func (s *JSONStream) Program() string { return s.program }

// Log writes a message without a type: a line that people would read without -json.
func (s *JSONStream) Log(message string) {
	s.write(streamLine{Message: message}, time.Time{})
}

// Notice writes a message about the run itself, such as an interrupt. Its type says that it is for people.
func (s *JSONStream) Notice(message string) {
	s.write(streamLine{Message: message, Type: "log"}, time.Time{})
}

// Diagnostics writes a message per diagnostic.
func (s *JSONStream) Diagnostics(list diag.List, src document.Sources) {
	s.diagnostics(list, src, TestMessage{})
}

// diagnostics writes a message per diagnostic, sorted by source position. of names the test file and run that
// they belong to, if any.
func (s *JSONStream) diagnostics(list diag.List, src document.Sources, of TestMessage) {
	for _, d := range document.Diagnostics(list, src) {
		line := streamLine{Level: "error", Message: "Error: " + d.Summary, Type: "diagnostic", Diagnostic: &d, TestMessage: of}
		if d.Severity == diag.Warning.String() {
			line.Level, line.Message = "warn", "Warning: "+d.Summary
		}
		s.write(line, time.Time{})
	}
}

// Round writes the message that the round with a number begins. A run has one only from the second round on.
func (s *JSONStream) Round(number int) {
	s.write(streamLine{Message: fmt.Sprintf("Round %d", number), Type: "round", Round: number}, time.Time{})
}

// Rounds writes the message that a run of several rounds has ended, with the numbers of changes of all of
// them. converged is false if the plan of its last round was not carried out.
func (s *JSONStream) Rounds(message string, last int, made plan.Counts, converged bool) {
	s.write(streamLine{Message: message, Type: "rounds", Rounds: &streamRounds{Converged: converged, Last: last}, Changes: streamCountsOf(made, "apply")}, time.Time{})
}

// Saved writes the messages about a saved plan before it is applied: one for each change that involves a
// provider, and for each deferred change.
func (s *JSONStream) Saved(p *plan.Plan) {
	s.changes(p, func(c *plan.Change) bool { return c.Action != plan.NoOp })
	s.deferrals(p.Deferrals)
	s.invocations(p)
}

// deferrals writes a message for each change that is left to a later plan.
func (s *JSONStream) deferrals(list []*plan.Deferral) {
	for _, d := range list {
		s.write(streamLine{
			Message: d.Change.Object().String() + " " + DeferralHeadline(d), Type: "deferred_change", Change: streamChangeOf(d.Change),
			Deferral: &streamDeferral{Reason: string(d.Reason), WaitsFor: d.Awaited()},
		}, time.Time{})
	}
}

// changes writes a message for each change that people see and that which selects. Ephemeral instances are
// opened, not changed (E80).
func (s *JSONStream) changes(p *plan.Plan, which func(*plan.Change) bool) {
	for _, c := range shownChanges(p.Changes) {
		if c.Addr.Resource.Mode == addr.Ephemeral || !which(c) {
			continue
		}
		change := streamChangeOf(c)
		s.write(streamLine{Message: fmt.Sprintf("%s: Plan to %s", c.Addr, change.Action), Type: "planned_change", Change: change}, time.Time{})
	}
}

// Plan writes the messages of a plan: drift, changes, deferred changes, their counts, how far the plan has
// gone and the changed outputs, in this order.
func (s *JSONStream) Plan(p *plan.Plan) {
	for _, c := range p.Drift {
		change := streamChangeOf(c)
		s.write(streamLine{Message: fmt.Sprintf("%s: Drift detected (%s)", c.Addr, change.Action), Type: "resource_drift", Change: change}, time.Time{})
	}
	s.changes(p, func(*plan.Change) bool { return true })
	s.deferrals(p.Deferrals)
	s.invocations(p)
	s.counts(p.Counts(), planSummary(p), "plan")
	if scope := document.ScopeOf(p.Extent); scope != nil {
		s.write(streamLine{Message: ScopeLine(p.Extent), Type: "plan_scope", Scope: scope}, time.Time{})
	}
	outputs := map[string]streamOutput{}
	for _, o := range p.Outputs {
		outputs[o.Name] = streamOutput{document.OutputValue{Sensitive: p.SensitiveOutput(o)}, streamAction(o.Action)}
	}
	if len(outputs) > 0 {
		s.write(streamLine{Message: fmt.Sprintf("Outputs: %d", len(outputs)), Type: "outputs", Outputs: outputs}, time.Time{})
	}
}

// Applied writes the closing message of an apply or destroy.
func (s *JSONStream) Applied(n plan.Counts, destroy bool) {
	operation := "apply"
	if destroy {
		operation = "destroy"
	}
	s.counts(n, ApplySummary(n, destroy), operation)
}

// Outputs writes the message about all outputs, even if there are none. Sensitive values are left out. An
// error names an output that cannot be decoded; then nothing is written.
func (s *JSONStream) Outputs(outputs map[string]*state.Output) error {
	values, err := document.OutputValues(outputs)
	if err != nil {
		return err
	}
	out := make(map[string]streamOutput, len(values))
	for name, o := range values {
		if o.Sensitive {
			o.Value = nil
		}
		out[name] = streamOutput{OutputValue: o}
	}
	s.write(streamLine{Message: fmt.Sprintf("Outputs: %d", len(out)), Type: "outputs", Outputs: out}, time.Time{})
	return nil
}

// counts writes the message with the numbers of an operation: "plan", "apply" or "destroy".
func (s *JSONStream) counts(n plan.Counts, message, operation string) {
	s.write(streamLine{Message: message, Type: "change_summary", Changes: streamCountsOf(n, operation)}, time.Time{})
}
