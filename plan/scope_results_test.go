package plan

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// TestScopeResults has the units of claimed outputs and checks, and none of others.
func TestScopeResults(t *testing.T) {
	deps := change(t, "t.x update uses t.a").Deps
	check := func(name string) state.Subject { return state.Subject{Kind: state.OneCheck, Addr: name} }
	stored := storedState(t)
	stored.Checks = []state.CheckResult{{Config: "check.gone"}, {Config: "check.same", Status: state.CheckPass}}
	p := &Plan{
		Outputs: []*OutputChange{{Name: "new", Action: Create, Deps: deps}, {Name: "same", Action: NoOp}},
		Checks:  []state.CheckResult{{Config: "check.new", Status: state.CheckPass}, {Config: "check.same", Status: state.CheckPass}, {Config: "t.a", Kind: "resource", Status: state.CheckPass}},
	}
	unit := state.Finding{Unit: state.Unit{Kind: state.CheckUnit, Addr: "check.new"}, Block: state.Block{Name: "check.new"}}
	got := Scope(p, ScopeOptions{Stored: stored, Units: map[string][]state.Finding{"check.new": {unit}}}).Results
	output := state.Subject{Kind: state.OneOutput, Addr: "new"}
	if len(got) != 4 || len(got[output]) != 1 || len(got[output][0].Reads) != 1 || got[output][0].Block.String() != "output.new" {
		t.Errorf("got the results %+v, want the ones of an output and three checks", got)
	}
	for s, n := range map[state.Subject]int{check("check.new"): 1, check("check.gone"): 0, check("t.a"): 0} {
		if units, is := got[s]; !is || len(units) != n {
			t.Errorf("got %d units of %s, claimed: %v, want %d", len(units), s.Key(), is, n)
		}
	}
	gone := change(t, "t.a delete")
	p.Changes = []*Change{gone}
	if got := Scope(p, ScopeOptions{Stored: stored}); len(got.Results[output]) > 0 || len(got.Left) > 0 {
		t.Errorf("got the units %+v of an output without an object that the plan removes, and %v left; want none", got.Results[output], got.Left)
	}
	p.Changes = nil
	if got := Scope(p, ScopeOptions{Stored: stored, Left: []addr.Instance{gone.Addr}}); len(got.Results[output]) > 0 || len(got.Left) != 1 {
		t.Errorf("got the units %+v of an output without an object that the plan leaves, and %v left; want none, and one left", got.Results[output], got.Left)
	}
	if got := ScopeOfChange(state.New(), stored); len(got.Results) != 0 {
		t.Errorf("got the results %+v of a command without a configuration, want none", got.Results)
	}
}
