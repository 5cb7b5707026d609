package report_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/plan"
)

// row is the data of a row, with the parts that these tests look at.
type row struct {
	Address string `json:"a"`
	Kind    string `json:"k"`
	Outcome string `json:"o"`
	Took    string `json:"t"`
	Round   int    `json:"r"`
}

// pageOf returns the text of a page, and its rows.
func pageOf(t *testing.T, r *report.Report) (text string, rows []row) {
	t.Helper()
	doc, err := os.ReadFile(stored(t, r))
	if err != nil {
		t.Fatal(err)
	}
	text = string(doc)
	_, data, _ := strings.Cut(text, `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var all struct{ Rows []row }
	if strings.TrimSpace(data) == "[]" { // of a page without changes
		return text, nil
	}
	if err := json.Unmarshal([]byte(data), &all); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return text, all.Rows
}

// TestOutcomes shows what became of each change.
func TestOutcomes(t *testing.T) {
	p := planOf(t, 1)
	p.Drift = []*plan.Change{{Addr: p.Changes[0].Addr, PrevAddr: p.Changes[0].Addr, Provider: p.Changes[0].Provider, Action: plan.Update, Before: p.Changes[4].Before, After: object(t, cty.StringVal("d"), cty.NumberIntVal(1))}}
	moved, imported := *p.Changes[4], *p.Changes[4]
	moved.PrevAddr = fixture.Instance(t, "t_x.before")
	imported.Addr, imported.PrevAddr, imported.Importing = fixture.Instance(t, "t_x.imported"), fixture.Instance(t, "t_x.imported"), &plan.Importing{ID: "i"}
	p.Changes = append(p.Changes, &moved, &imported)
	hide := func(s string) string { return strings.ReplaceAll(s, "t_x", "t_y") }
	for _, apply := range []bool{false, true} {
		r := report.New("", "today", hide)
		happens := func(c *plan.Change, op event.Op, kinds ...event.Kind) {
			for _, kind := range kinds {
				r.Event(event.Event{Time: time.Unix(1, 0), Kind: kind, Op: op, Object: c.Object(), Elapsed: time.Second})
			}
		}
		happens(p.Changes[4], event.OpRead, event.Started, event.Completed) // which changes nothing
		happens(p.Changes[1], event.OpRefresh, event.Started, event.Completed)
		if apply {
			happens(p.Changes[0], event.OpCreate, event.Started, event.Completed)
			happens(p.Changes[1], event.OpDelete, event.Started)
			happens(p.Changes[2], event.OpDelete, event.Started, event.Failed)
			happens(p.Changes[2], event.OpCreate, event.Started, event.Completed)
			happens(p.Changes[2], event.OpCreate, event.Progress)
			happens(p.Changes[4], event.OpRead, event.Started, event.Completed) // in between
		}
		if err := r.Plan(p, nil, nil); err != nil {
			t.Fatal(err)
		}
		text, got := pageOf(t, r)
		want := []row{
			{"t_y.new", "drift", "", "", 1},
			{"t_y.new", "create", "done", "1 s", 1},
			{"t_y.old", "delete", "not finished", "", 1},
			{"t_y.web", "replace", "failed", "2 s", 1},
			{"", "create", "not begun", "", 1},
			{"module.m0.t_y.many[0]", "update", "not begun", "", 1},
			{"t_y.same", "move", "", "", 1},
			{"t_y.imported", "import", "not begun", "", 1},
		}
		for i := range want {
			if !apply {
				want[i].Outcome, want[i].Took = "", ""
			}
		}
		if len(got) > 4 {
			got[4].Address = "" // which is hostile
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("applied: %v\n%s", apply, diff)
		}
		if has := strings.Contains(text, "Applied: 1 done, 1 failed, 1 not finished, 3 not begun."); has != apply || !strings.Contains(text, "<h1>Plan</h1>") {
			t.Errorf("applied: %v, and the page says so: got %v, want %v", apply, has, apply)
		}
	}
}

// TestRemarks shows what a reader must know of a plan first.
func TestRemarks(t *testing.T) {
	for name, test := range map[string]struct {
		edit  func(p *plan.Plan)
		want  string
		order bool
	}{
		"whole":   {func(*plan.Plan) {}, "", true},
		"errored": {func(p *plan.Plan) { p.Errored = true }, "Planning failed.", false},
		"nothing": {func(p *plan.Plan) { p.Changes = p.Changes[4:5] }, "No changes:", false},
		"changes": {func(p *plan.Plan) { p.Extent = &plan.Extent{Objects: 9, Evaluated: 2, Rows: 5} }, "2 evaluated, of 9 objects", true},
		"in part": {func(p *plan.Plan) { p.Excludes = make([]addr.Target, 1) }, "leaves parts of the configuration out", true},
	} {
		p := planOf(t, 1)
		test.edit(p)
		r := report.New("A page", "today", nil)
		if err := r.Plan(p, nil, nil); err != nil {
			t.Fatal(err)
		}
		text, _ := pageOf(t, r)
		_, banner, has := strings.Cut(text, `<p class="banner">`)
		banner, _, _ = strings.Cut(banner, "</p>")
		if test.want != "" && !strings.Contains(banner, test.want) || test.want == "" && has && !strings.HasPrefix(banner, "The list is made") {
			t.Errorf("%s: got the banner %q, want %q", name, banner, test.want)
		}
		if order := strings.Contains(text, `class="node"`); order != test.order || !strings.Contains(text, "<h1>A page</h1>") || !strings.Contains(text, `<p class="summary">`) {
			t.Errorf("%s: the page has an order: got %v, want %v", name, order, test.order)
		}
	}
}

// TestDeferredRows has a row for each deferral, without an outcome after an apply.
func TestDeferredRows(t *testing.T) {
	p := fixture.Deferring(t)
	for _, apply := range []bool{false, true} {
		r := report.New("", "today", nil)
		if err := r.Plan(p, nil, nil); err != nil {
			t.Fatal(err)
		}
		if apply {
			r.Event(event.Event{Kind: event.Completed, Op: event.OpCreate, Object: p.Changes[0].Object()})
		}
		text, rows := pageOf(t, r)
		n := 0
		for _, row := range rows {
			if row.Kind == "deferred" && row.Outcome == "" {
				n++
			}
		}
		if n != len(p.Deferrals) || !strings.Contains(text, "9 deferred to a later plan") || !strings.Contains(text, "waits for t_x.first") {
			t.Errorf("got %d rows in %v, want %d", n, rows, len(p.Deferrals))
		}
	}
	p.Changes = nil
	r := report.New("", "today", nil)
	if err := r.Plan(p, nil, nil); err != nil {
		t.Fatal(err)
	}
	if text, _ := pageOf(t, r); !strings.Contains(text, "Nothing can be changed yet") {
		t.Error("the page does not say that everything is deferred")
	}
}
