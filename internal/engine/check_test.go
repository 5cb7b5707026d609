package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// canary begins every secret that the tests and the provider use.
const canary = "CANARY"

// checkAlways checks what holds for every command, however it ended: no secret in anything that is kept or
// shown, every opening closed exactly once, no complaint of the provider about the engine, every operation
// that began also ended.
func (w *world) checkAlways(r *result) {
	w.t.Helper()
	for _, d := range r.diags() {
		w.noSecret("a diagnostic", d.String()+d.Address)
	}
	for _, ev := range r.events {
		w.noSecret("an event", ev.ID+ev.Line+ev.Object.String())
		for _, d := range ev.Diags {
			w.noSecret("the diagnostics of an event", d.String())
		}
	}
	w.noSecret("the state", string(w.store.Get(store.DefaultWorkspace)))
	if w.journal != nil {
		w.noSecret("the journal", w.journal.text.String())
	}
	if r.plan != nil {
		w.noSecret("the plan", planText(r.plan))
	}
	if left := r.log().Unclosed(); len(left) > 0 && !w.unclosed {
		w.t.Errorf("not closed exactly once: %v", left)
	}
	for _, e := range r.log() {
		if strings.Contains(e.Err, "Engine broke the contract") && !w.faulty {
			w.t.Errorf("%s %s.%s: %s", e.RPC, e.Type, e.Name, e.Err)
		}
	}
	for _, d := range r.diags() {
		if strings.HasPrefix(d.Summary, "Bug in") {
			w.t.Errorf("%s", d)
		}
	}
	balanced(w.t, r.events)
}

func (w *world) noSecret(where, text string) {
	w.t.Helper()
	if i := strings.Index(text, canary); i >= 0 {
		w.t.Errorf("a secret stands in %s: …%s", where, text[max(0, i-80):min(len(text), i+60)])
	}
}

// planText is everything that a plan holds of values.
func planText(p *plan.Plan) string {
	var sb strings.Builder
	for _, c := range slices.Concat(p.Changes, p.Drift) {
		sb.Write(c.Before.Packed())
		sb.Write(c.After.Packed())
		sb.Write(c.PriorPrivate)
		sb.Write(c.PlannedPrivate)
	}
	for _, o := range p.Outputs {
		sb.Write(o.After.Packed())
	}
	for _, v := range p.Variables {
		sb.Write(v.Packed())
	}
	return sb.String()
}

// balanced checks that every operation that was started ended once.
func balanced(t *testing.T, events []event.Event) {
	t.Helper()
	running := map[string]int{}
	for _, ev := range events {
		key := fmt.Sprint(ev.Op, " ", ev.Object)
		switch ev.Kind {
		case event.Started:
			running[key]++
		case event.Completed, event.Failed, event.PutOff:
			running[key]--
		}
	}
	for key, n := range running {
		if n != 0 {
			t.Errorf("%s: started and ended events differ by %d, want 0", key, n)
		}
	}
}

// ok runs a command that must succeed.
func (w *world) ok(c command) *result {
	w.t.Helper()
	r := w.run(c)
	for _, d := range r.diags() {
		if d.Severity == diag.Error {
			w.t.Fatalf("unexpected error: %s", d)
		}
	}
	return r
}

// fails runs a command that must end with an error whose text holds all of the words.
func (w *world) fails(c command, words ...string) *result {
	w.t.Helper()
	r := w.run(c)
	r.wants(diag.Error, words...)
	return r
}

// wants checks that some diagnostic of the severity holds all of the words.
func (r *result) wants(s diag.Severity, words ...string) diag.Diagnostic {
	r.w.t.Helper()
	for _, d := range r.diags() {
		text := d.Address + " " + d.String()
		if d.Severity == s && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			return d
		}
	}
	r.w.t.Fatalf("no %s holds %q; there are: %s", s, words, texts(r.diags()))
	return diag.Diagnostic{}
}

func texts(diags diag.List) string {
	var sb strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&sb, "\n  %s %s %s", d.Severity, d.Address, d)
	}
	return sb.String()
}

// errors counts the errors of the command.
func (r *result) errors() int {
	n := 0
	for _, d := range r.diags() {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

// actions are the planned changes other than no-op, as "address action reason".
func (r *result) actions() []string {
	var out []string
	if r.plan == nil {
		return nil
	}
	for _, c := range r.plan.Changes {
		if c.Action == plan.NoOp && !c.Moved() && c.Importing == nil {
			continue
		}
		text := c.Object().String() + " " + c.Action.String()
		if c.Reason != plan.NoReason {
			text += " " + string(c.Reason)
		}
		if c.Moved() {
			text += " from " + c.PrevAddr.String()
		}
		if c.Importing != nil {
			text += " import"
		}
		out = append(out, text)
	}
	return out
}

// plans checks the planned changes.
func (r *result) plans(want ...string) *result {
	r.w.t.Helper()
	if got := r.actions(); !slices.Equal(got, want) {
		r.w.t.Errorf("planned changes:\n  got  %q\n  want %q", got, want)
	}
	return r
}

// did checks what was really done to the cloud during apply, in order: "create sim_thing.a".
func (r *result) did(want ...string) *result {
	r.w.t.Helper()
	if got := applied(r.applyLog); !slices.Equal(got, want) {
		r.w.t.Errorf("applied:\n  got  %q\n  want %q", got, want)
	}
	return r
}

// applied are the apply calls of a transcript in the order of their begins.
func applied(log simlog.Log) []string {
	var out []string
	for _, c := range log.Calls(simlog.Filter{RPC: "ApplyResourceChange"}) {
		out = append(out, c.Begin.Action+" "+c.Begin.Name)
	}
	return out
}

// didInAnyOrder is did without the order.
func (r *result) didInAnyOrder(want ...string) *result {
	r.w.t.Helper()
	got := slices.Sorted(slices.Values(applied(r.applyLog)))
	if slices.Sort(want); !slices.Equal(got, want) {
		r.w.t.Errorf("applied, in any order:\n  got  %q\n  want %q", got, want)
	}
	return r
}

// call returns the only call that matches.
func call(t *testing.T, log simlog.Log, f simlog.Filter) simlog.Call {
	t.Helper()
	calls := log.Calls(f)
	if len(calls) != 1 {
		t.Fatalf("%+v: got %d calls, want 1\n%s", f, len(calls), log.Transcript(simlog.Filter{}))
	}
	return calls[0]
}

// applyOf returns the only apply call for the object name.
func applyOf(t *testing.T, log simlog.Log, name string) simlog.Call {
	t.Helper()
	return call(t, log, simlog.Filter{RPC: "ApplyResourceChange", Name: name})
}

// opens is how often ephemerals of the name were opened ("" for any).
func opens(log simlog.Log, name string) int {
	return log.Count(simlog.Filter{RPC: "OpenEphemeralResource", Name: name})
}

// window returns the only opening of the ephemeral.
func window(t *testing.T, log simlog.Log, name string) simlog.Window {
	t.Helper()
	var found []simlog.Window
	for _, w := range log.Windows() {
		if w.Name == name {
			found = append(found, w)
		}
	}
	if len(found) != 1 || len(found[0].Closes) == 0 {
		t.Fatalf("%d openings of %s that were closed, want 1\n%s", len(found), name, log.Transcript(simlog.Filter{}))
	}
	return found[0]
}

// before checks that one moment of the transcript came before another.
func before(t *testing.T, what string, first, second int64) {
	t.Helper()
	if first > second {
		t.Errorf("%s: the second came %s too early", what, time.Duration(first-second))
	}
}

// pids are the processes that served calls.
func pids(log simlog.Log) int {
	seen := map[int]struct{}{}
	for _, e := range log {
		seen[e.PID] = struct{}{}
	}
	return len(seen)
}

// state returns the stored state.
func (w *world) state() *state.State {
	w.t.Helper()
	m, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.stored(m).State
}

// addresses lists the objects of the state.
func (w *world) addresses() []string {
	var out []string
	for a, in := range w.state().AllInstances() {
		if in.Current != nil {
			text := a.String()
			if in.Current.Tainted {
				text += " tainted"
			}
			out = append(out, text)
		}
		for range in.DeposedKeys() {
			out = append(out, a.String()+" deposed")
		}
	}
	return out
}

// has checks the objects of the state.
func (w *world) has(want ...string) {
	w.t.Helper()
	if got := w.addresses(); !slices.Equal(got, want) {
		w.t.Errorf("objects in the state:\n  got  %q\n  want %q", got, want)
	}
}

// object returns the stored current object, failing if there is none.
func (w *world) object(address string) *state.Object {
	w.t.Helper()
	in, err := addr.ParseInstance(address)
	if err != nil {
		w.t.Fatal(err)
	}
	o := w.state().Object(addr.Object{Instance: in})
	if o == nil {
		w.t.Fatalf("the state has no %s, only %q", address, w.addresses())
	}
	return o
}

// attr returns an attribute of a stored object as JSON text.
func (w *world) attr(address, name string) string {
	w.t.Helper()
	var attrs map[string]json.RawMessage
	if err := json.Unmarshal(w.object(address).JSON(), &attrs); err != nil {
		w.t.Fatal(err)
	}
	return string(attrs[name])
}

// live lists the names of the objects that exist in the cloud.
func (w *world) live() []string {
	w.t.Helper()
	objects, err := simcloud.Objects(w.cloud)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, o := range objects {
		out = append(out, o.Name)
	}
	return out
}

// exists checks the names of the objects in the cloud.
func (w *world) exists(want ...string) {
	w.t.Helper()
	if got := w.live(); !slices.Equal(got, want) {
		w.t.Errorf("objects in the cloud: got %q, want %q", got, want)
	}
}

// drift changes an object behind the engine's back.
func (w *world) drift(id, attr, value string) {
	w.t.Helper()
	o, err := simcloud.ReadObject(w.cloud, id)
	if err == nil {
		o.Attrs[attr] = json.RawMessage(value)
		err = simcloud.WriteObject(w.cloud, o)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// output returns the JSON-like text of a stored root output, "" if there is none.
func (w *world) output(name string) string {
	w.t.Helper()
	o := w.state().Outputs[name]
	if o == nil {
		return ""
	}
	v, err := o.Value.Unmarked()
	if err != nil {
		w.t.Fatal(err)
	}
	if v.Type() == cty.String {
		return v.AsString()
	}
	return v.GoString()
}

// kinds are the events of an operation on an object, in order.
func (r *result) kinds(op event.Op, object string) []event.Kind {
	var out []event.Kind
	for _, ev := range r.events {
		if ev.Op == op && ev.Object.String() == object {
			out = append(out, ev.Kind)
		}
	}
	return out
}
