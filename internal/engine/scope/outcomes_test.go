package scope

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// settling is a run that notes the instances that are settled at its end.
type settling struct {
	state.Run
	settled []addr.Instance
}

func (s *settling) Settle(instances ...addr.Instance) { s.settled = append(s.settled, instances...) }

func named(name string) addr.Instance {
	return addr.AbsResource{Resource: addr.Resource{Mode: addr.Managed, Type: "test_thing", Name: name}}.Instance(addr.NoKey)
}

func object(t *testing.T, text string) *state.Object {
	t.Helper()
	v := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(text)})
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestOutcomes finds which steps leave something to do.
func TestOutcomes(t *testing.T) {
	plain := &eval.Instance{Resource: &eval.Resource{Block: &blocks.Resource{}}}
	guarded := &eval.Instance{Resource: &eval.Resource{Block: &blocks.Resource{Postconditions: []blocks.Condition{{}}}}}
	drifted, same, free, removed, left := named("drifted"), named("same"), named("free"), named("removed"), named("left")
	base := state.New()
	for _, a := range []addr.Instance{drifted, same, free} {
		base.SetObject(addr.Object{Instance: a}, object(t, "old"), addr.ProviderConfig{})
	}
	change := func(a addr.Instance, text string) state.ObjectChange {
		return state.ObjectChange{Object: addr.Object{Instance: a}, New: object(t, text)}
	}
	run := &settling{}
	var o Outcomes
	p := &plan.Plan{Base: base, Mode: plan.Normal, Scope: &state.Scope{Left: []string{left.String()}}, Changes: []*plan.Change{{Addr: removed, Action: plan.Delete}, {Addr: free, Deposed: "00000001", Action: plan.Delete}, {Addr: same, Action: plan.Update}}}
	kept := o.Recordable(run, p, func(a addr.Instance) bool { return a == free },
		[]state.ObjectChange{change(drifted, "new"), change(same, "old"), change(free, "new")})
	if u := o.Unwritten(); !u.Touched(plan.Dep{Resource: drifted.Abs()}) || u.Touched(plan.Dep{Resource: same.Abs()}) || u.Touched(plan.Dep{Resource: free.Abs()}) {
		t.Error("got other rows that are not as the plan has them, want the one of the drifted instance")
	}
	if len(kept) != 1 || kept[0].Object.Instance != free {
		t.Errorf("got the changes %v, want the one that may be written", kept)
	}
	of := func(from addr.Instance) *plan.Change {
		return &plan.Change{Addr: named("user"), Action: plan.Update, Deps: []plan.Dep{{Resource: from.Abs()}, {}}}
	}
	for _, c := range []struct {
		from    addr.Instance
		in      *eval.Instance
		settled bool // when the step ends
		later   bool // when its postconditions have passed
	}{
		{free, plain, true, false},
		{same, plain, true, false},
		{drifted, plain, false, false},
		{free, guarded, false, true},
		{drifted, guarded, false, false},
		{removed, plain, false, false},
		{left, plain, false, false},
		{left, guarded, false, false},
	} {
		run.settled = nil
		got := o.Applied(of(c.from), c.in, state.Hash{7}, change(named("user"), "new"))
		if got.Step.Given != (state.Hash{7}) || got.Step.Settled != c.settled || len(got.Step.Reads) != 1 || got.Step.Reads[0] != state.InstanceSubject(c.from) {
			t.Errorf("got the step %+v of one that is evaluated from %s, want settled=%v", got.Step, c.from, c.settled)
		}
		if o.Passed(of(c.from), c.in, false) || len(run.settled) > 0 {
			t.Errorf("got %v settled by conditions that have failed, want none", run.settled)
		}
		if !o.Passed(of(c.from), c.in, true) || (len(run.settled) == 1) != c.later {
			t.Errorf("got %v settled later of one that is evaluated from %s, want %v", run.settled, c.from, c.later)
		}
	}
	current := addr.Object{Instance: named("user")}
	aside := addr.Object{Instance: named("user"), Deposed: "00000001"}
	for _, c := range []struct {
		reason plan.Reason
		obj    addr.Object
		failed bool
		want   bool
	}{
		{plan.DeleteNoConfig, current, false, true},
		{plan.DeleteEachKey, current, false, true},
		{plan.DeleteNoConfig, current, true, false},
		{plan.DeleteNoConfig, aside, false, false},
		{plan.ReplaceTainted, current, false, false},
		{plan.NoReason, current, false, false},
	} {
		if got := o.Removed(&plan.Change{Addr: named("user"), Action: plan.Delete, Reason: c.reason}, c.obj, c.failed); (got.Step != nil) != c.want || got.Object != c.obj {
			t.Errorf("got %+v of a removed object with the reason %q, want settled=%v", got, c.reason, c.want)
		}
	}
	all := (&Outcomes{}).Recordable(run, &plan.Plan{Base: base}, nil, []state.ObjectChange{change(free, "new")})
	if len(all) != 1 {
		t.Errorf("got %d changes of a run that may write all, want 1", len(all))
	}
}
