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

// TestProducersCrosswise has two producers whose users wait for the other one: if both waited for their
// users, none could ever be made.
func TestProducersCrosswise(t *testing.T) {
	set, made, users := &Set{}, map[addr.Object]*plan.Change{}, map[addr.Instance]addr.Instance{}
	var changes []*plan.Change
	for _, n := range []struct{ of, user, awaited string }{{"x.a", "x.u", "x.b"}, {"x.b", "x.v", "x.a"}} {
		c := &plan.Change{Addr: instance(t, n.of), Action: plan.Create}
		made[c.Object()], users[c.Addr] = c, instance(t, n.user)
		changes = append(changes, c)
		set.Add(&plan.Deferral{Change: &plan.Change{Addr: users[c.Addr], Action: plan.Create}, WaitsFor: []plan.Dep{on(instance(t, n.awaited))}})
	}
	p := Producers{Set: set, Changes: made, Seeds: map[addr.Instance]*plan.Deferral{}, Users: func(c *plan.Change) []addr.Instance { return []addr.Instance{users[c.Addr]} }}
	if again, stuck := p.Defer(changes); again || len(stuck) != 2 {
		t.Errorf("got again %t, %d stuck, want false, 2", again, len(stuck))
	}
}
