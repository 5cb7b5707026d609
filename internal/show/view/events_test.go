package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// life is the events of a run with everything in it.
func life(t testing.TB) []event.Event {
	t.Helper()
	at := time.Date(2026, 11, 21, 1, 2, 3, 456000, time.UTC)
	object := func(s string) addr.Object { return addr.Object{Instance: fixture.Instance(t, s)} }
	m, d, e := object(`module.a["k"].terraform_data.x[0]`), object("data.local_file.d"), object("ephemeral.random_password.p")
	deposed := m
	deposed.Deposed = "77427eaf"
	ev := func(o addr.Object, op event.Op, k event.Kind, elapsed time.Duration) event.Event {
		return event.Event{Time: at, Kind: k, Op: op, Object: o, Elapsed: elapsed}
	}
	id := func(e event.Event) event.Event {
		e.IDKey, e.ID = "id", "i-1\x1b[2J"
		return e
	}
	provision := func(k event.Kind, line string) event.Event {
		e := ev(m, event.OpProvision, k, 0)
		e.Provisioner, e.Line = "local-exec", line
		return e
	}
	return []event.Event{
		id(ev(m, event.OpImport, event.Started, 0)), ev(m, event.OpImport, event.Completed, 0),
		id(ev(m, event.OpRefresh, event.Started, 0)), id(ev(m, event.OpRefresh, event.Progress, 10*time.Second)), id(ev(m, event.OpRefresh, event.Completed, 0)),
		ev(d, event.OpRead, event.Started, 0), ev(d, event.OpRead, event.Progress, 10*time.Second), id(ev(d, event.OpRead, event.Completed, 12*time.Second)),
		ev(e, event.OpOpen, event.Deferred, 0), ev(e, event.OpOpen, event.Started, 0), ev(e, event.OpOpen, event.Progress, 10*time.Second),
		ev(e, event.OpOpen, event.Completed, 900*time.Millisecond),
		ev(e, event.OpOpen, event.PutOff, time.Second), ev(d, event.OpRead, event.PutOff, time.Second),
		id(ev(m, event.OpImport, event.PutOff, time.Second)), id(ev(m, event.OpRefresh, event.PutOff, time.Second)),
		id(ev(m, event.OpAdopt, event.Started, 0)), id(ev(m, event.OpAdopt, event.Completed, 0)),
		ev(m, event.OpCreate, event.Started, 0), ev(m, event.OpCreate, event.Progress, 70*time.Second),
		provision(event.Started, ""), provision(event.Output, "\x1b[31mred\x1b[0m \x1b]0;title\x07plain\r"), provision(event.Completed, ""),
		id(ev(m, event.OpCreate, event.Completed, 71*time.Second)),
		id(ev(m, event.OpUpdate, event.Started, 0)), id(ev(m, event.OpUpdate, event.Progress, 10*time.Second)), id(ev(m, event.OpUpdate, event.Completed, 0)),
		ev(e, event.OpRenew, event.Started, 0), ev(e, event.OpRenew, event.Completed, 0),
		id(ev(deposed, event.OpDelete, event.Started, 0)), ev(deposed, event.OpDelete, event.Failed, 2*time.Second),
		id(ev(m, event.OpDelete, event.Started, 0)), ev(m, event.OpDelete, event.Completed, 2*time.Second),
		ev(m, event.OpForget, event.Started, 0), ev(m, event.OpForget, event.Completed, 0),
		ev(e, event.OpClose, event.Started, 0), ev(e, event.OpClose, event.Failed, 30*time.Second),
	}
}

func TestE80_HumanLines(t *testing.T) {
	var buf bytes.Buffer
	h := NewHumanObserver(&buf, Options{})
	for _, e := range life(t) {
		h.Event(e)
	}
	golden(t, "events.txt", buf.String())
	want := plan.Counts{Import: 1, Add: 1, Change: 1, Destroy: 1, Forget: 1}
	if diff := cmp.Diff(want, h.Counts()); diff != "" {
		t.Error(diff)
	}
	if got := ApplySummary(want, false); got != "Apply complete! Resources: 1 imported, 1 added, 1 changed, 1 destroyed, 1 forgotten." {
		t.Error(got)
	}
	if got := ApplySummary(plan.Counts{Destroy: 10}, true); got != "Destroy complete! Resources: 10 destroyed." {
		t.Error(got)
	}
	buf.Reset()
	quiet := NewHumanObserver(&buf, Options{Concise: true})
	coloured := NewHumanObserver(&buf, Options{Color: true})
	var above bytes.Buffer
	withStatus := NewHumanObserver(&above, Options{StatusLine: true})
	for _, e := range life(t) {
		quiet.Event(e)
		withStatus.Event(e)
	}
	if out := above.String(); strings.Contains(out, "Still") || !strings.Contains(out, "Creating...") || withStatus.Counts() != want {
		t.Errorf("beside a status line: got %q and %+v, want creations without waits, and %+v", out, withStatus.Counts(), want)
	}
	if buf.Len() > 0 || quiet.Counts() != want {
		t.Errorf("concise output is %q, counted was %v, want %v", buf.String(), quiet.Counts(), want)
	}
	for _, e := range life(t) {
		coloured.Event(e)
	}
	if out := buf.String(); strings.Contains(out, "\x1b]") || strings.Contains(out, "\x1b[2J") || !strings.Contains(out, "\x1b[31mred") {
		t.Errorf("escapes are not tamed: %q", out)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("pipe closed")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestObserverWriteError(t *testing.T) {
	h := NewHumanObserver(brokenWriter{}, Options{})
	s := NewJSONStream(brokenWriter{}, time.Now)
	for _, e := range life(t) {
		h.Event(e)
		s.Event(e)
	}
	if !errors.Is(h.Err(), errBroken) || !errors.Is(s.Err(), errBroken) {
		t.Errorf("errors are lost: %v, %v", h.Err(), s.Err())
	}
}

func TestE80_Stream(t *testing.T) {
	var buf bytes.Buffer
	now := func() time.Time { return time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC) }
	s := NewJSONStream(&buf, now)
	s.Version("OpenTofu", testVersions)
	for _, e := range life(t) {
		s.Event(e)
	}
	s.Diagnostics(diag.Warnf("Odd", "Something is odd."), nil)
	schemas := fixture.LoadSchemas(t)
	s.Plan(fixture.Plan(t, "actions.plan.json", schemas))
	s.Plan(fixture.Plan(t, "free.plan.json", schemas))
	outputs := map[string]*state.Output{
		"pub": {Value: fixture.Seal(t, cty.NumberIntVal(1))}, "sec": {Value: fixture.Seal(t, cty.StringVal("hunter2").Mark(value.Sensitive)), Sensitive: true},
	}
	s.Applied(s.Counts(), false)
	if err := s.Outputs(outputs); err != nil {
		t.Fatal(err)
	}
	s.Log("done")
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	golden(t, "stream.jsonl", buf.String())
	if strings.Contains(buf.String(), "hunter2") {
		t.Error("a sensitive output is in the stream")
	}
	for line := range strings.SplitSeq(strings.TrimSpace(buf.String()), "\n") {
		msg, err := tfjson.UnmarshalLogMessage([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if msg.Message() == "" || msg.Timestamp().IsZero() || !json.Valid([]byte(line)) {
			t.Errorf("incomplete message: %s", line)
		}
	}
}
