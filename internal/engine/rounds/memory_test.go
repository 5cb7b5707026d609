package rounds

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func instance(t *testing.T, text string) addr.Instance {
	t.Helper()
	a, err := addr.ParseInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func on(a addr.Instance) plan.Dep { return plan.Dep{Resource: a.Abs(), Key: a.Key} }

// any returns the address of all instances of a block.
func anyOf(a addr.Instance) addr.Instance {
	a.Key = addr.AnyKey
	return a
}

func change(a addr.Instance, action plan.Action) *plan.Change {
	return &plan.Change{Addr: a, Action: action}
}

func deferral(a addr.Instance, waits ...plan.Dep) *plan.Deferral {
	return &plan.Deferral{Change: change(a, plan.Create), Reason: plan.DeferredCountUnknown, WaitsFor: waits}
}

// gone returns the deferral of a destruction.
func gone(a addr.Instance, waits ...plan.Dep) *plan.Deferral {
	return &plan.Deferral{Change: change(a, plan.Delete), Reason: plan.DeferredPrereq, WaitsFor: waits}
}

func TestNoMemory(t *testing.T) {
	var m *Memory
	a := instance(t, "x.a")
	m.See(addr.Object{Instance: a})
	m.Applied(&plan.Plan{Changes: []*plan.Change{change(a, plan.Create)}})
	if m.Seen(addr.Object{Instance: a}) || m.Settled(a) || m.Change(a) != nil || !m.Time().IsZero() {
		t.Error("got something remembered, want nothing without a memory")
	}
}

func TestMemory(t *testing.T) {
	m := New(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))
	if got := m.Time(); got.Nanosecond() != 0 || got.Second() != 5 {
		t.Errorf("got time %s, want no fractions of a second", got)
	}
	made, same, gone, left := instance(t, "x.made"), instance(t, "x.same"), instance(t, "x.gone"), instance(t, "x.left")
	old := change(same, plan.Delete)
	old.Deposed = "0123abcd"
	m.Applied(&plan.Plan{
		Changes:   []*plan.Change{change(made, plan.Create), change(same, plan.NoOp), change(gone, plan.Delete), old},
		Deferrals: []*plan.Deferral{deferral(left)},
	})
	for a, want := range map[addr.Instance]bool{made: true, same: true, gone: false, left: false} {
		if got := m.Settled(a); got != want {
			t.Errorf("%s: got settled %t, want %t", a, got, want)
		}
		if got := m.Seen(addr.Object{Instance: a}); got != want {
			t.Errorf("%s: got seen %t, want %t", a, got, want)
		}
	}
	if m.Seen(addr.Object{Instance: same, Deposed: "0123abcd"}) {
		t.Error("got a destroyed object seen, want it forgotten")
	}
	m.forget(addr.Object{Instance: same})
	if m.Settled(same) || m.Seen(addr.Object{Instance: same}) || !m.Settled(made) {
		t.Error("got an object remembered that another run has changed, want it forgotten, and no other")
	}
	if got := m.Change(made); got == nil || got.Action != plan.Create {
		t.Errorf("got change %v, want the creation", got)
	}
	if got := m.Change(same); got != nil {
		t.Errorf("got change %v, want none of an object that stayed as it was", got)
	}
}

// TestStuck runs through pairs of plans: the last one that was applied, and the next one.
func TestStuck(t *testing.T) {
	w, v, x, u := instance(t, "x.w"), instance(t, "x.v"), instance(t, "x.x"), instance(t, "x.u")
	inner := instance(t, "module.m.x.y")
	inner.Module = addr.RootInstance.Child("m", addr.AnyKey)
	call := plan.Dep{Resource: addr.AbsResource{Module: addr.RootInstance.Child("m", addr.NoKey)}}
	plans := func(changes []*plan.Change, deferrals ...*plan.Deferral) *plan.Plan {
		return &plan.Plan{Changes: changes, Deferrals: deferrals}
	}
	old := deferral(w, on(v))
	old.Change = &plan.Change{Addr: w, Deposed: "0123abcd", Action: plan.Delete}
	creates, keeps := []*plan.Change{change(w, plan.Create)}, []*plan.Change{change(w, plan.NoOp)}
	tests := map[string]struct {
		last, next *plan.Plan
		stuck      bool
	}{
		"complete":                     {nil, plans(creates), false},
		"first":                        {nil, plans(creates, deferral(x)), false},
		"first without a change":       {nil, plans(keeps, deferral(x)), true},
		"errored":                      {nil, &plan.Plan{Deferrals: []*plan.Deferral{deferral(x)}, Errored: true}, false},
		"less":                         {plans(creates, deferral(x), deferral(v)), plans(keeps, deferral(x)), false},
		"waited for it":                {plans(creates, deferral(anyOf(x), on(w))), plans(keeps, deferral(x), deferral(v)), false},
		"its old object must stay":     {plans(creates, deferral(anyOf(x), on(w))), plans([]*plan.Change{change(x, plan.Update)}, old), false},
		"its old instance must stay":   {plans(creates, deferral(anyOf(x), on(w))), plans([]*plan.Change{change(x, plan.Create)}, gone(w, on(v))), false},
		"an old instance is destroyed": {plans(creates, deferral(anyOf(x), on(w))), plans([]*plan.Change{change(w, plan.Delete)}, deferral(v)), false},
		"more destructions wait":       {plans(creates, deferral(x), deferral(v)), plans(creates, deferral(x), gone(w, on(x)), gone(u, on(x))), false},
		"fewer destructions wait":      {plans(creates, deferral(x), gone(w, on(x))), plans(creates, deferral(x)), false},
		"as many destructions wait":    {plans(creates, deferral(x), gone(w, on(x))), plans(creates, deferral(x), gone(w, on(x))), true},
		"waits for ever":               {plans(creates, deferral(x)), plans(keeps, deferral(x)), true},
		"other changes":                {plans(creates, deferral(x)), plans([]*plan.Change{change(v, plan.Update)}, deferral(x)), true},
		"changes in every plan":        {plans(creates, deferral(x, on(w))), plans([]*plan.Change{change(w, plan.Update)}, deferral(x, on(w))), true},
		"waited for unknown instances": {plans(creates, deferral(anyOf(v)), deferral(x, on(v))), plans(keeps, deferral(x), deferral(w)), false},
		"they are still unknown":       {plans(creates, deferral(anyOf(v)), deferral(x, on(v))), plans(keeps, deferral(anyOf(v)), deferral(x, on(v))), true},
		"waited for a module":          {plans(creates, deferral(inner), deferral(x, call)), plans(keeps, deferral(x), deferral(w)), false},
		"it is still unknown":          {plans(creates, deferral(inner), deferral(x, call)), plans(keeps, deferral(inner), deferral(x, call)), true},
	}
	for name, test := range tests {
		m := New(time.Now())
		if test.last != nil {
			m.Stuck(test.last)
			m.Applied(test.last)
		}
		if got := m.Stalled(test.next); !test.next.Complete() && !test.next.Errored && got != test.stuck {
			t.Errorf("%s: got stalled %t, want %t", name, got, test.stuck)
		}
		diags := m.Stuck(test.next)
		if diags.HasErrors() != test.stuck {
			t.Errorf("%s: got stuck %t, want %t", name, !test.stuck, test.stuck)
		}
		if test.stuck && !strings.Contains(diags[0].Detail, test.next.Deferrals[0].Change.Addr.String()) {
			t.Errorf("%s: got %q, want the address in it", name, diags[0].Detail)
		}
		done := test.stuck && strings.Contains(diags[0].Detail, "Everything else has been applied")
		if want := test.stuck && test.last != nil && !test.next.Changed(); done != want {
			t.Errorf("%s: got %t that everything else has been applied, want %t", name, done, want)
		}
	}
}

// TestStuckNamesOldObjects has an old object, whose address is the one of the new object, among those that a
// run is stuck with.
func TestStuckNamesOldObjects(t *testing.T) {
	old := gone(instance(t, "x.w"))
	old.Change.Deposed = "0123abcd"
	diags := New(time.Now()).Stuck(&plan.Plan{Deferrals: []*plan.Deferral{old}})
	if !diags.HasErrors() || !strings.Contains(diags[0].Detail, "x.w (deposed object 0123abcd): ") {
		t.Errorf("got %v, want the key of the old object in it", diags)
	}
}

// TestStalledWithoutMemory has a plan by itself, which is stalled if it changes nothing.
func TestStalledWithoutMemory(t *testing.T) {
	var m *Memory
	x := instance(t, "x.x")
	for action, want := range map[plan.Action]bool{plan.NoOp: true, plan.Update: false} {
		if got := m.Stalled(&plan.Plan{Changes: []*plan.Change{change(x, action)}, Deferrals: []*plan.Deferral{deferral(x)}}); got != want {
			t.Errorf("%s: got stalled %t, want %t", action, got, want)
		}
	}
}

// TestStuckInTurns has objects that change in every other plan, so that as many are deferred in turn: such a
// run must end.
func TestStuckInTurns(t *testing.T) {
	w, x, y := instance(t, "x.w"), instance(t, "x.x"), instance(t, "x.y")
	few := &plan.Plan{Changes: []*plan.Change{change(w, plan.NoOp)}, Deferrals: []*plan.Deferral{deferral(x)}}
	many := &plan.Plan{Changes: []*plan.Change{change(w, plan.Update)}, Deferrals: []*plan.Deferral{deferral(x, on(w)), deferral(y, on(w))}}
	m := New(time.Now())
	for round := range 10 {
		p := many
		if round%2 == 1 {
			p = few
		}
		if m.Stuck(p).HasErrors() {
			if round < 2 {
				t.Errorf("got stuck in round %d, want a round after something became known", round)
			}
			return
		}
		m.Applied(p)
	}
	t.Error("got rounds without end")
}

// TestKept keeps a value for an object that two rounds defer.
func TestKept(t *testing.T) {
	of, user, other := instance(t, "x.of"), instance(t, "x.user"), instance(t, "x.other")
	path := cty.GetAttrPath("token")
	m := New(time.Now())
	m.Keep(of, path, cty.StringVal("earlier"))
	m.Keep(of, path, cty.StringVal("s3cret"))
	m.Keep(other, path, cty.StringVal("unused"))
	kept := func(o addr.Object) bool {
		_, ok := m.Kept(o, path)
		return ok
	}
	with := func(missed ...addr.Instance) *plan.Plan {
		c := change(of, plan.NoOp)
		c.Withheld = []plan.Withheld{{Path: path, Computed: true, Missed: missed}}
		return &plan.Plan{Changes: []*plan.Change{c, change(other, plan.NoOp)}, Deferrals: []*plan.Deferral{deferral(anyOf(user))}}
	}
	m.Applied(with(anyOf(user)))
	if v, ok := m.Kept(addr.Object{Instance: of}, path); !ok || !v.RawEquals(cty.StringVal("s3cret")) {
		t.Errorf("got value kept %t, want the last one of an object that a deferred one waits for", ok)
	}
	if kept(addr.Object{Instance: other}) || kept(addr.Object{Instance: of, Deposed: "0123abcd"}) || len(m.AllKept()) != 1 {
		t.Errorf("got %d values kept, want the one that is needed", len(m.AllKept()))
	}
	m.Applied(with(user)) // which the plan does not defer
	if kept(addr.Object{Instance: of}) {
		t.Error("got the value kept, want it dropped once nothing waits for it")
	}
	m.Keep(of, path, cty.StringVal("s3cret"))
	if m.forget(addr.Object{Instance: of}); kept(addr.Object{Instance: of}) {
		t.Error("got the value kept of an object that another run has changed, want it dropped")
	}
	var none *Memory
	none.Keep(of, path, cty.StringVal("s3cret"))
	if _, ok := none.Kept(addr.Object{Instance: of}, path); ok || none.AllKept() != nil {
		t.Error("got a value kept, want none without a memory")
	}
}

// TestForgetOthers forgets the objects that differ between two states, but not those of the run's own plan.
func TestForgetOthers(t *testing.T) {
	other, changed, adopted, same := instance(t, "x.other"), instance(t, "x.changed"), instance(t, "x.adopted"), instance(t, "x.same")
	all := []addr.Instance{other, changed, adopted, same}
	stateOf := func(text string) *state.State {
		st := state.New()
		for _, a := range all {
			if a == same {
				text = "as before"
			}
			st.SetObject(addr.Object{Instance: a}, storetest.Object(t, text), storetest.Provider)
		}
		return st
	}
	own := &plan.Plan{
		Changes: []*plan.Change{change(changed, plan.Update), change(other, plan.NoOp)},
		Adopted: []state.ObjectChange{{Object: addr.Object{Instance: adopted}}},
	}
	for _, test := range []struct {
		name string
		own  *plan.Plan
		want []addr.Instance
	}{
		{"after an apply", own, []addr.Instance{changed, adopted, same}},
		{"before a plan", nil, []addr.Instance{same}},
	} {
		m := New(time.Now())
		for _, a := range all {
			m.See(addr.Object{Instance: a})
		}
		m.ForgetOthers(stateOf("before"), stateOf("after"), test.own)
		var got []addr.Instance
		for _, a := range all {
			if m.Seen(addr.Object{Instance: a}) {
				got = append(got, a)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v remembered, want %v", test.name, got, test.want)
		}
	}
	var none *Memory
	none.ForgetOthers(stateOf("before"), stateOf("after"), nil)
}

func TestOwn(t *testing.T) {
	p, none := &plan.Plan{}, (*Memory)(nil)
	if got := none.Own(p); got != nil {
		t.Errorf("got %p without a memory, want nil", got)
	}
	if got := New(time.Time{}).Own(p); got != p {
		t.Errorf("got %p, want %p", got, p)
	}
}
