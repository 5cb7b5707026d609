package event

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// recorded is an observer that keeps what it receives.
type recorded struct{ events, details []Event }

func (r *recorded) Event(e Event)  { r.events = append(r.events, e) }
func (r *recorded) Detail(e Event) { r.details = append(r.details, e) }

// TestReportRedacts looks at each text of an event on its own.
func TestReportRedacts(t *testing.T) {
	out := &recorded{}
	r := NewReporter(out, time.Now, func(s string) string { return strings.ReplaceAll(s, "canary", "***") })
	given := diag.Errorf("canary", "a canary")
	for _, e := range []Event{{ID: "id-canary"}, {Line: "it says canary"}, {Diags: given}} {
		r.Report(e)
	}
	r.Flush()
	if len(out.events) != 3 {
		t.Fatalf("got %d events, want 3", len(out.events))
	}
	if id, line, diags := out.events[0].ID, out.events[1].Line, out.events[2].Diags; id != "id-***" || line != "it says ***" || diags[0].Summary != "***" || diags[0].Detail != "a ***" {
		t.Errorf("shown: got %q, %q, %v, want *** in place of the secret", id, line, diags)
	}
	if given[0].Summary != "canary" {
		t.Error("the diagnostics that were given have changed")
	}
}

// same compares addresses.
var same = cmp.Comparer(func(a, b addr.Object) bool { return a == b })

// TestReporter begins and ends operations for an observer that asks for details, and for one that does not.
func TestReporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, begin := &recorded{}, time.Now()
		r := NewReporter(out, time.Now, nil)
		obj := addr.Object{Instance: addr.Instance{Resource: addr.Resource{Type: "a", Name: "b"}}}
		set := time.Unix(1, 0)
		r.Report(Event{Kind: Started, Time: set})
		end := r.Begin(OpUpdate, obj, plan.Update, "id", "i-1")
		time.Sleep(25 * time.Second)
		end(diag.Errorf("a", "b"), "id", "i-2")
		time.Sleep(25 * time.Second) // nothing more is reported
		r.Begin(OpUpdate, obj, plan.Update, "", "")(nil, "", "")
		r.BeginDeferrable(OpRead, obj, plan.Read, "", "")(true, nil, "", "")
		r.BeginDeferrable(OpRead, obj, plan.Read, "", "")(true, diag.Errorf("a", "b"), "", "")
		r.BeginDeferrable(OpRead, obj, plan.Read, "", "")(false, nil, "id", "i-3")
		r.BeginInvocation(obj.Instance, nil)(nil)
		for _, ok := range []bool{true, false} {
			endDetail := r.BeginDetail(OpUse, obj, &ok)
			time.Sleep(time.Second)
			endDetail()
		}
		r.Detail(Event{Kind: Started, Time: set})
		r.Detail(Event{Kind: Progress})
		r.Flush()
		at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
		want := []Event{
			{Kind: Started, Time: set},
			{Kind: Started, Op: OpUpdate, Object: obj, Action: plan.Update, IDKey: "id", ID: "i-1", Time: at(0)},
			{Kind: Progress, Op: OpUpdate, Object: obj, Action: plan.Update, IDKey: "id", ID: "i-1", Time: at(10), Elapsed: 10 * time.Second},
			{Kind: Progress, Op: OpUpdate, Object: obj, Action: plan.Update, IDKey: "id", ID: "i-1", Time: at(20), Elapsed: 20 * time.Second},
			{Kind: Failed, Op: OpUpdate, Object: obj, Action: plan.Update, IDKey: "id", ID: "i-2", Time: at(25), Elapsed: 25 * time.Second, Diags: diag.Errorf("a", "b")},
			{Kind: Started, Op: OpUpdate, Object: obj, Action: plan.Update, Time: at(50)},
			{Kind: Completed, Op: OpUpdate, Object: obj, Action: plan.Update, Time: at(50)},
			{Kind: Started, Op: OpRead, Object: obj, Action: plan.Read, Time: at(50)},
			{Kind: PutOff, Op: OpRead, Object: obj, Action: plan.Read, Time: at(50)},
			{Kind: Started, Op: OpRead, Object: obj, Action: plan.Read, Time: at(50)},
			{Kind: Failed, Op: OpRead, Object: obj, Action: plan.Read, Time: at(50), Diags: diag.Errorf("a", "b")},
			{Kind: Started, Op: OpRead, Object: obj, Action: plan.Read, Time: at(50)},
			{Kind: Completed, Op: OpRead, Object: obj, Action: plan.Read, IDKey: "id", ID: "i-3", Time: at(50)},
			{Kind: Started, Op: OpInvoke, Object: obj, Time: at(50)},
			{Kind: Completed, Op: OpInvoke, Object: obj, Time: at(50)},
		}
		if diff := cmp.Diff(want, out.events, same); diff != "" {
			t.Error(diff)
		}
		details := []Event{
			{Kind: Started, Op: OpUse, Object: obj, Time: at(50)},
			{Kind: Completed, Op: OpUse, Object: obj, Time: at(51), Elapsed: time.Second},
			{Kind: Started, Op: OpUse, Object: obj, Time: at(51)},
			{Kind: Failed, Op: OpUse, Object: obj, Time: at(52), Elapsed: time.Second},
			{Kind: Started, Time: set},
			{Kind: Progress, Time: at(52)},
		}
		if diff := cmp.Diff(details, out.details, same); diff != "" {
			t.Error(diff)
		}
		plain := NewReporter(ObserverFunc(func(e Event) { t.Errorf("an observer without details receives %v", e) }), time.Now, nil)
		plain.Detail(Event{})
		ok := true
		plain.BeginDetail(OpUse, obj, &ok)()
		if bugs := plain.Flush(); bugs != nil || plain.Detailed() {
			t.Errorf("details are asked for: %v", bugs)
		}
		plain.Await(context.Background(), context.Background())
		none := NewReporter(nil, time.Now, nil)
		none.Report(Event{})
		if bugs := none.Flush(); bugs != nil {
			t.Errorf("without an observer: %v", bugs)
		}
	})
}

// TestNoProgressAfterTheEnd has a report of progress begin just before the operation ends, which holds it up.
func TestNoProgressAfterTheEnd(t *testing.T) {
	out := &recorded{}
	r := NewReporter(out, time.Now, nil)
	p := &progress{r: r, of: Event{Kind: Progress}, begin: time.Now()}
	p.start()
	p.end()
	p.report()
	if bugs := r.Flush(); bugs != nil || len(out.events) != 0 {
		t.Errorf("reported: got %v, %v, want nothing", out.events, bugs)
	}
}

// TestObservers passes events on to several observers, of which some ask for details.
func TestObservers(t *testing.T) {
	var plain []Event
	a, b := &recorded{}, &recorded{}
	all := Observers(ObserverFunc(func(e Event) { plain = append(plain, e) }), nil, a, b)
	d, ok := all.(DetailObserver)
	if !ok {
		t.Fatal("nothing asks for details")
	}
	event, detail := Event{ID: "event"}, Event{ID: "detail"}
	d.Event(event)
	d.Detail(detail)
	for name, got := range map[string][]Event{"plain": plain, "the first": a.events, "the second": b.events} {
		if diff := cmp.Diff([]Event{event}, got, same); diff != "" {
			t.Errorf("events for %s: %s", name, diff)
		}
	}
	for name, got := range map[string][]Event{"the first": a.details, "the second": b.details} {
		if diff := cmp.Diff([]Event{detail}, got, same); diff != "" {
			t.Errorf("details for %s: %s", name, diff)
		}
	}
	one := Observers(ObserverFunc(func(e Event) { plain = append(plain, e) }))
	if _, ok := one.(DetailObserver); ok {
		t.Error("an observer without details asks for them")
	}
	if one.Event(event); len(plain) != 2 {
		t.Error("the only observer misses an event")
	}
}
