package report_test

import (
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

// inRounds returns a report of two rounds. The first defers a block and an object, and the second fails to
// update t_x.web, which the first replaces.
func inRounds(t testing.TB) *report.Report {
	t.Helper()
	first, second := planOf(t, 0), planOf(t, 0)
	first.Changes[0].Addr = fixture.Instance(t, "t_x.producer")
	first.Changes[0].PrevAddr = first.Changes[0].Addr
	block := &plan.Change{Addr: fixture.Instance(t, "module.m.t_x.many"), Action: plan.Create, Provider: first.Changes[0].Provider, After: object(t, cty.StringVal(hostile), cty.NumberIntVal(7))}
	block.Addr.Key = addr.AnyKey
	block.PrevAddr = block.Addr
	kept := &plan.Change{Addr: fixture.Instance(t, "t_x.kept"), PrevAddr: fixture.Instance(t, "t_x.kept"), Provider: block.Provider, Before: first.Changes[4].Before, After: first.Changes[4].After}
	first.Deferrals = []*plan.Deferral{
		{Change: block, Reason: plan.DeferredCountUnknown, WaitsFor: []plan.Dep{{Resource: first.Changes[0].Addr.Abs(), All: true}}},
		{Change: kept, Reason: plan.DeferredPrereq},
	}
	updated := *second.Changes[2]
	updated.Action, updated.RequiredReplace = plan.Update, nil
	created := *second.Changes[0]
	second.Changes = []*plan.Change{&updated, &created}

	r := report.New("Apply", "today", nil)
	happens := func(c *plan.Change, op event.Op, kinds ...event.Kind) {
		for _, kind := range kinds {
			r.Event(event.Event{Time: time.Unix(1, 0), Kind: kind, Op: op, Object: c.Object(), Elapsed: time.Second})
		}
	}
	begins := func() {
		r.Detail(event.Event{Time: time.Unix(1, 0), Kind: event.Started, Op: event.OpPlanning})
		r.Detail(event.Event{Time: time.Unix(1, 0), Kind: event.Completed, Op: event.OpPlanning})
	}
	begins()
	if err := r.Plan(first, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range first.Changes[:4] {
		happens(c, event.OpCreate, event.Started, event.Completed)
	}
	begins()
	if err := r.Plan(second, nil, nil); err != nil {
		t.Fatal(err)
	}
	happens(&updated, event.OpUpdate, event.Started, event.Failed)
	return r
}

// TestActionsAreCounted counts the actions that the changes of all rounds trigger. They have no rows: the
// changes have them.
func TestActionsAreCounted(t *testing.T) {
	r := report.New("Apply", "today", nil)
	for range 2 {
		p := planOf(t, 0)
		for range 2 {
			p.Invocations = append(p.Invocations, &plan.Invocation{Trigger: &plan.ActionTrigger{Resource: fixture.Instance(t, "t_x.other")}})
		}
		if err := r.Plan(p, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Content().Actions; got != 4 {
		t.Errorf("got %d actions, want 4", got)
	}
	for _, row := range r.Content().Rows {
		if row.Kind == "invoke" {
			t.Errorf("got a row for %s, want none", row.Address)
		}
	}
}

// TestRounds keeps the changes of rounds apart, with the outcome of each.
func TestRounds(t *testing.T) {
	text, got := pageOf(t, inRounds(t))
	want := []row{
		{"t_x.producer", "create", "done", "1 s", 1},
		{"t_x.old", "delete", "done", "1 s", 1},
		{"t_x.web", "replace", "done", "1 s", 1},
		{"", "create", "done", "1 s", 1},
		{`module.m.t_x.many["*"]`, "deferred", "", "", 1},
		{"t_x.kept", "deferred", "", "", 1},
		{"t_x.web", "update", "failed", "1 s", 2},
		{"t_x.new", "create", "not begun", "", 2},
	}
	if len(got) > 3 {
		got[3].Address = "" // which is hostile
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"Round 1: Plan: 3 to add, 0 to change, 2 to destroy, 2 deferred. Applied: 4 done.",
		"Round 2: Plan: 1 to add, 1 to change, 0 to destroy. Applied: 0 done, 1 failed, 1 not begun.",
		"is deferred: its instances are known only after an apply",
		"It waits for t_x.producer.",
		"stays as it is for now: it depends on something that is deferred",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "deferred to a later plan, which") {
		t.Error("the page of a run that has got to a complete plan says that it is not complete")
	}
}

// TestOrderOfRounds draws the order of each round if there is one in any of them.
func TestOrderOfRounds(t *testing.T) {
	for _, tt := range []struct {
		changes []int // of each round
		want    int   // drawings
	}{{[]int{2, 1}, 2}, {[]int{2, 0}, 1}, {[]int{1, 1}, 0}} {
		r := report.New("Apply", "today", nil)
		for _, n := range tt.changes {
			r.Detail(event.Event{Time: time.Unix(1, 0), Kind: event.Started, Op: event.OpPlanning})
			r.Detail(event.Event{Time: time.Unix(1, 0), Kind: event.Completed, Op: event.OpPlanning})
			p := planOf(t, 0)
			p.Changes = p.Changes[:n]
			if err := r.Plan(p, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		text, _ := pageOf(t, r)
		_, order, _ := strings.Cut(text, `<section id="order">`)
		if got := strings.Count(order, "<h3>Round "); got != tt.want {
			t.Errorf("orders of rounds with %v changes: got %d drawings, want %d", tt.changes, got, tt.want)
		}
	}
}

// TestDeferredInBrowser looks at the parts of the page of a run in rounds.
func TestDeferredInBrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	path := stored(t, inRounds(t))
	parts := `[...document.querySelectorAll("#list .part, #list h4")].map(e => e.textContent).join(", ")`
	for _, dark := range []bool{false, true} {
		b.open(path, 1200, dark)
		b.want(parts, "Round 1, Root module, Round 1: deferred, Root module, module.m, Round 2, Root module", poorContrast, "",
			`document.querySelectorAll("#list details.deferred").length`, "2")
		b.picture("rounds")
	}
	b.text(`document.querySelectorAll("#list details.deferred summary").forEach(s => s.click())`)
	b.until(`document.querySelectorAll("#list details.deferred pre").length`, "2")
	b.text(`(document.querySelector("#find").value = "waits for", document.querySelector("#find").dispatchEvent(new Event("input")))`)
	b.until(parts, "Round 1: deferred, module.m")
	b.open(path, 400, false)
	b.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
	b.picture("rounds narrow")
	if len(b.errors) > 0 {
		t.Errorf("the browser reports %q", b.errors)
	}
}

// TestIncompletePlan says at the head of a page that something is left.
func TestIncompletePlan(t *testing.T) {
	p := planOf(t, 0)
	p.Deferrals = []*plan.Deferral{{Change: p.Changes[0], Reason: plan.DeferredProviderConfig}}
	p.Changes = nil
	r := report.New("Plan", "today", nil)
	if err := r.Plan(p, nil, nil); err != nil {
		t.Fatal(err)
	}
	text, _ := pageOf(t, r)
	if !strings.Contains(text, `<p class="banner">Nothing can be changed yet`) || !strings.Contains(text, "0 to destroy, 1 deferred.") {
		t.Error("the page does not say that the plan is not complete")
	}
	if strings.Contains(text, "Round 1") {
		t.Error("the page of a single plan speaks of rounds")
	}
}
