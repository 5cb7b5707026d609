package deferral

import (
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestAddMoved moves objects to all kinds of places. Those in blocks with unknown instances are shown, once.
func TestAddMoved(t *testing.T) {
	at := func(text string) addr.Instance {
		a, err := addr.ParseInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	many, base := at("t_a.many"), plan.Dep{Resource: at("t_a.base").Abs()}
	var s Set
	s.AddBlock(addr.Target{Resource: &many.Resource})
	s.AddBlock(addr.Target{Resource: &addr.Resource{Mode: addr.Data, Type: "t_a", Name: "many"}})
	s.Add(&plan.Deferral{Change: &plan.Change{Addr: many.Abs().Instance(addr.AnyKey)}, WaitsFor: []plan.Dep{base}})
	s.Add(&plan.Deferral{Change: &plan.Change{Addr: at(`t_a.many["own"]`)}, Reason: plan.DeferredPrereq})
	moves, prior, changes := map[addr.Instance]addr.Instance{}, state.New(), map[addr.Object]*plan.Change{}
	for _, text := range []string{`t_a.many["moved"]`, `t_a.many["own"]`, `t_a.many["changed"]`, `t_a.many["gone"]`, `data.t_a.many["moved"]`, `t_a.other["moved"]`} {
		to := at(text)
		moves[to] = at("t_a.old")
		if text != `t_a.many["gone"]` {
			prior.SetObject(addr.Object{Instance: to}, &state.Object{SchemaVersion: 3}, addr.ProviderConfig{})
		}
	}
	changes[addr.Object{Instance: at(`t_a.many["changed"]`)}] = &plan.Change{}
	s.AddMoved(moves, prior, changes)
	var got []string
	for _, d := range s.List() {
		got = append(got, d.Change.Addr.String()+" "+string(d.Reason))
		if c := d.Change; c.Addr == at(`t_a.many["moved"]`) && (c.PrevAddr != at("t_a.old") || c.SchemaVersion != 3 || len(d.WaitsFor) != 1 || d.WaitsFor[0] != base) {
			t.Errorf("moved: got %+v, %v, want the address that it had, and what the block waits for", c, d.WaitsFor)
		}
	}
	want := []string{`t_a.many["*"] `, `t_a.many["moved"] instance_count_unknown`, `t_a.many["own"] deferred_prereq`}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("entries: got %q, want %q", got, want)
	}
}
