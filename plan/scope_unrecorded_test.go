package plan

import (
	"maps"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// TestScopeOfUnrecorded has plans rely on the late results and freed operations of their instances.
func TestScopeOfUnrecorded(t *testing.T) {
	stored := state.New()
	freed, inModule := state.FreedOperation("t.a[1]", "r", 1), state.LateResult("module.m.t.a[0]", "r", 2)
	stored.Unrecorded = state.RowSet{freed: {1}, inModule: {2}, {Address: "damaged", Unrecorded: "x"}: {3}}
	a := inst(t, "t.a[1]")
	creation := func(deps ...Dep) *Plan {
		return &Plan{Changes: []*Change{{Addr: inst(t, "t.b"), Action: Create, Deps: deps}}}
	}
	for name, test := range map[string]struct {
		plan *Plan
		want []state.RowName
	}{
		"another instance":   {creation(), nil},
		"the instance":       {&Plan{Changes: []*Change{{Addr: a, Action: Create}}}, []state.RowName{freed}},
		"one that is read":   {creation(Dep{Resource: a.Abs(), Key: a.Key}), []state.RowName{freed}},
		"the resource":       {creation(Dep{Resource: a.Abs(), All: true}), []state.RowName{freed}},
		"the block":          {creation(Dep{Resource: inst(t, "module.m.t.a[0]").Abs(), All: true, Modules: true}), []state.RowName{inModule}},
		"the whole state":    {&Plan{Mode: Destroy}, []state.RowName{freed, inModule}},
		"dependents of both": {&Plan{Changes: []*Change{{Addr: inst(t, "t.c"), Action: Delete, Deps: nil}}}, nil},
	} {
		got := state.RowSet{}
		for _, rows := range Scope(test.plan, ScopeOptions{Stored: stored}).Relied {
			maps.Copy(got, rows)
		}
		delete(got, state.RowName{Address: "damaged", Unrecorded: "x"})
		want := state.RowSet{}
		for _, n := range test.want {
			want[n] = stored.Unrecorded[n]
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: got the rows %v, want %v", name, got, want)
		}
	}
}

// TestScopeNotesMoves has scopes name the instances that move, and those that are imported.
func TestScopeNotesMoves(t *testing.T) {
	p := &Plan{Changes: []*Change{
		{Addr: inst(t, "t.new"), PrevAddr: inst(t, "t.old"), Action: NoOp},
		{Addr: inst(t, "t.i"), Action: NoOp, Importing: &Importing{ID: "i"}},
		{Addr: inst(t, "t.u"), Action: Update},
	}}
	s := Scope(p, ScopeOptions{Stored: state.New()})
	if want := map[string]string{"t.old": "t.new"}; !maps.Equal(s.Moved, want) {
		t.Errorf("got the moves %v, want %v", s.Moved, want)
	}
	if want := []string{"t.i"}; !slices.Equal(s.Imported, want) {
		t.Errorf("got the imports %v, want %v", s.Imported, want)
	}

	stored := state.New()
	for _, text := range []string{"t.old", "t.gone", "t.changed"} {
		stored.SetObject(addr.Object{Instance: inst(t, text)}, &state.Object{}, addr.ProviderConfig{})
	}
	next := stored.Copy()
	if err := next.Move(inst(t, "t.old"), inst(t, "t.new")); err != nil {
		t.Fatal(err)
	}
	next.RemoveInstance(inst(t, "t.gone"))
	next.SetObject(addr.Object{Instance: inst(t, "t.changed")}, &state.Object{}, addr.ProviderConfig{})
	next.SetObject(addr.Object{Instance: inst(t, "t.created")}, &state.Object{}, addr.ProviderConfig{})
	if s, want := ScopeOfChange(stored, next), map[string]string{"t.old": "t.new"}; !maps.Equal(s.Moved, want) {
		t.Errorf("a change by hand: got the moves %v, want %v", s.Moved, want)
	}
}
