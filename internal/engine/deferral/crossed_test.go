package deferral

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestCrossed has a replacement that waits for a user of the object. The instances of the user are known once
// a counter is updated, and the counter waits for a reader of the object, which waits for the replacement.
func TestCrossed(t *testing.T) {
	old, user, counter, reader := instance(t, "x.old"), instance(t, "x.user[0]"), instance(t, "x.counter[0]"), instance(t, "x.reader")
	users := user.Abs().Instance(addr.AnyKey)
	all := plan.Dep{Resource: counter.Abs(), All: true}
	for name, test := range map[string]struct {
		reason plan.DeferralReason
		waits  plan.Dep // of the user
		action plan.Action
		uses   addr.Instance // in the state of the user
		seeds  []addr.Instance
		reads  addr.Instance // what the reader waits for
		want   bool
	}{
		"an instance":        {plan.DeferredCountUnknown, on(counter), plan.DeleteThenCreate, old, []addr.Instance{old, counter}, old, true},
		"a resource":         {plan.DeferredCountUnknown, all, plan.DeleteThenCreate, old, []addr.Instance{old, counter}, old, true},
		"provider":           {plan.DeferredProviderConfig, all, plan.DeleteThenCreate, old, []addr.Instance{old, counter}, old, true},
		"a seed is gone":     {plan.DeferredCountUnknown, all, plan.DeleteThenCreate, old, []addr.Instance{instance(t, "x.gone[1]"), counter}, old, true},
		"nothing has to be":  {plan.DeferredPrereq, on(counter), plan.DeleteThenCreate, old, []addr.Instance{old, counter}, old, false},
		"it may stay":        {plan.DeferredCountUnknown, on(counter), plan.DeleteThenCreate, old, []addr.Instance{old}, old, false},
		"creates first":      {plan.DeferredCountUnknown, on(counter), plan.CreateThenDelete, old, []addr.Instance{old, counter}, old, false},
		"is not used":        {plan.DeferredCountUnknown, on(counter), plan.DeleteThenCreate, reader, []addr.Instance{old, counter}, old, false},
		"has an end":         {plan.DeferredCountUnknown, on(counter), plan.DeleteThenCreate, old, []addr.Instance{old, counter}, instance(t, "x.base"), false},
		"another resource's": {plan.DeferredCountUnknown, on(instance(t, "x.base")), plan.DeleteThenCreate, old, []addr.Instance{old, counter}, old, false},
	} {
		set, seeds, prior := &Set{}, map[addr.Instance]*plan.Deferral{}, state.New()
		prior.SetObject(addr.Object{Instance: user}, &state.Object{Dependencies: []addr.ConfigResource{test.uses.Config()}}, addr.ProviderConfig{})
		for _, d := range []*plan.Deferral{
			{Change: &plan.Change{Addr: old, Action: test.action}, Reason: plan.DeferredPrereq, WaitsFor: []plan.Dep{on(user)}},
			{Change: &plan.Change{Addr: users, Action: plan.Create}, Reason: test.reason, WaitsFor: []plan.Dep{test.waits}},
			{Change: &plan.Change{Addr: counter, Action: plan.Update}, Reason: plan.DeferredPrereq, WaitsFor: []plan.Dep{on(reader)}},
			{Change: &plan.Change{Addr: reader, Action: plan.NoOp}, Reason: plan.DeferredPrereq, WaitsFor: []plan.Dep{on(test.reads)}},
		} {
			set.Add(d)
		}
		for _, a := range test.seeds {
			seeds[a] = &plan.Deferral{Change: &plan.Change{Addr: a, Action: plan.Update}}
		}
		got := set.Crossed(prior, seeds)
		if len(got) > 0 != test.want {
			t.Errorf("%s: got crossed %v, want %t", name, got, test.want)
		}
		if test.want && (len(got) != 1 || got[0].Change.Addr != old || got[0].WaitsFor[0] != on(user)) {
			t.Errorf("%s: got %v, want %s, which waits for %s", name, got, old, user)
		}
	}
}
