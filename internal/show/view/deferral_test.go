package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestDeferredGolden shows every reason, then plans that change nothing, or only detect changes, or fail.
func TestDeferredGolden(t *testing.T) {
	p := fixture.Deferring(t)
	var sb strings.Builder
	sb.WriteString(planText(t, p, nil, Options{Width: 78}))
	if err := Left(&sb, p, Options{Width: 78}); err != nil {
		t.Fatal(err)
	}
	only := *p
	only.Changes, only.Deferrals = nil, p.Deferrals[:1]
	refresh := only
	refresh.Mode, refresh.Drift = plan.RefreshOnly, []*plan.Change{{Addr: p.Changes[0].Addr, Action: plan.Delete, Before: p.Changes[0].After}}
	quiet := refresh
	quiet.Drift = nil
	failed := only
	failed.Errored = true
	for _, p := range []*plan.Plan{&only, &refresh, &quiet, &failed} {
		sb.WriteString("==========\n" + planText(t, p, nil, Options{Width: 78}))
	}
	golden(t, "deferred.txt", sb.String())
}

// TestManyDeferred shows one of many deferrals that are alike, and ends the list of what is left.
func TestManyDeferred(t *testing.T) {
	p := fixture.Deferring(t)
	same := p.Deferrals[6]
	p.Deferrals = nil
	for i := range foldAbove + 2 {
		c := *same.Change
		c.Addr.Key = addr.IntKey(i)
		p.Deferrals = append(p.Deferrals, &plan.Deferral{Change: &c, Reason: same.Reason, WaitsFor: same.WaitsFor})
	}
	got := planText(t, p, nil, Options{Fold: true})
	if strings.Count(got, "is deferred:") != 1 || !strings.Contains(got, "  # 11 more like it, among t_x.after[1] to t_x.after[11]\n") || !strings.Contains(got, "12 deferred.") {
		t.Errorf("got\n%s\nwant one deferral in full, and 11 like it", got)
	}
	if got = planText(t, p, nil, Options{}); strings.Count(got, "is deferred:") != 12 {
		t.Errorf("without folding: got\n%s\nwant 12 deferrals", got)
	}
	var left strings.Builder
	if err := Left(&left, p, Options{}); err != nil || !strings.Contains(left.String(), "  - and 2 more\n") || strings.Contains(left.String(), "after[10]") {
		t.Errorf("left %s, %v", left.String(), err)
	}
	left.Reset()
	if err := Left(&left, &plan.Plan{}, Options{}); err != nil || left.Len() > 0 {
		t.Errorf("nothing is left: %q, %v", left.String(), err)
	}
}

// TestKeptReplaced says that the old object stays, and does not count it as destroyed.
func TestKeptReplaced(t *testing.T) {
	p := fixture.Deferring(t)
	c := *p.Deferrals[8].Change
	c.Action, c.KeepsReplaced = plan.CreateThenDelete, true
	p.Changes = []*plan.Change{&c}
	got := planText(t, p, nil, Options{})
	if !strings.Contains(got, "# (the old object stays until a later plan,") || !strings.Contains(got, "Plan: 1 to add, 0 to change, 0 to destroy, 9 deferred.") {
		t.Errorf("got\n%s", got)
	}
}

// TestDeferredProducer says of an object that makes a value for a deferred one, not of one that takes values,
// that the other is deferred.
func TestDeferredProducer(t *testing.T) {
	for computed, want := range map[bool]string{true: "is deferred: what takes a value that it makes is deferred", false: "is deferred: it depends on something that is deferred"} {
		d := &plan.Deferral{Reason: plan.DeferredPrereq, Change: &plan.Change{Action: plan.Create, Withheld: []plan.Withheld{{Computed: computed}}}}
		if got := DeferralHeadline(d); got != want {
			t.Errorf("with a computed value %v: got %q, want %q", computed, got, want)
		}
	}
}

// TestDeferredStream has a message for each deferral, in a new plan and in a saved one, and a number.
func TestDeferredStream(t *testing.T) {
	p := fixture.Deferring(t)
	for name, write := range map[string]func(*JSONStream){"plan": func(s *JSONStream) { s.Plan(p) }, "saved": func(s *JSONStream) { s.Saved(p) }} {
		var buf bytes.Buffer
		write(NewJSONStream(&buf, time.Now))
		n := 0
		for line := range strings.Lines(buf.String()) {
			var m struct {
				Type   string `json:"type"`
				Change struct {
					Action   string `json:"action"`
					Resource struct {
						Addr string `json:"addr"`
						Key  any    `json:"resource_key"`
					} `json:"resource"`
				} `json:"change"`
				Deferral struct {
					Reason   string   `json:"reason"`
					WaitsFor []string `json:"waits_for"`
				} `json:"deferral"`
				Changes struct {
					Defer int `json:"defer"`
				} `json:"changes"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if m.Type == "change_summary" && m.Changes.Defer != len(p.Deferrals) {
				t.Errorf("the summary: got %s, want %d deferred", line, len(p.Deferrals))
			}
			if m.Type != "deferred_change" {
				continue
			}
			if n == 0 && (m.Change.Resource.Addr != `t_x.many["*"]` || m.Change.Resource.Key != "*" || m.Change.Action != "create" ||
				m.Deferral.Reason != "instance_count_unknown" || strings.Join(m.Deferral.WaitsFor, " ") != "t_x.first") {
				t.Errorf("the first: got %s, want the block t_x.many, which waits for t_x.first", line)
			}
			if want := map[int]string{3: "import", 4: "create"}[n]; want != "" && m.Change.Action != want {
				t.Errorf("%s: got %s, want %s", m.Change.Resource.Addr, m.Change.Action, want)
			}
			n++
		}
		if n != len(p.Deferrals) {
			t.Errorf("%s: got %d messages, want %d, in\n%s", name, n, len(p.Deferrals), buf.String())
		}
	}
}
