package deferral

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
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

// TestProducers has a deferred user of a value which refers to an object that was replaced. The producer of
// the value waits for the user, unless the user waits for it; the wait of the old object does not count.
func TestProducers(t *testing.T) {
	account, user, base, other := instance(t, "x.account"), instance(t, "x.user"), instance(t, "x.base"), instance(t, "x.other")
	made := &plan.Change{Addr: account, Action: plan.Update}
	for name, test := range map[string]struct {
		deposed addr.Deposed
		stuck   bool
	}{
		"the object": {addr.Current, true}, "its old one": {"0123abcd", false},
	} {
		set := &Set{}
		for _, d := range []*plan.Deferral{
			{Change: &plan.Change{Addr: user, Action: plan.Create}, WaitsFor: []plan.Dep{on(base)}},
			{Change: &plan.Change{Addr: base, Deposed: test.deposed, Action: plan.Delete}, WaitsFor: []plan.Dep{on(other)}},
			{Change: &plan.Change{Addr: other, Action: plan.Update}, WaitsFor: []plan.Dep{on(account)}},
		} {
			set.Add(d)
		}
		p := Producers{
			Set: set, Changes: map[addr.Object]*plan.Change{made.Object(): made}, Seeds: map[addr.Instance]*plan.Deferral{},
			Users: func(*plan.Change) []addr.Instance { return []addr.Instance{user} },
		}
		again, stuck := p.Defer([]*plan.Change{made})
		if again == test.stuck || len(stuck) > 0 != test.stuck || p.Seeds[account] != nil == test.stuck {
			t.Errorf("%s waits: got again %t, stuck %v, seeds %v, want stuck %t", name, again, stuck, p.Seeds, test.stuck)
		}
	}
}
