package deferral

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestDestructionsStuck has replacements of two objects that must wait for a deferred user of each. It gives
// what the user and changes wait for. A replacement is stuck only if nothing of it can come to an end.
func TestDestructionsStuck(t *testing.T) {
	for name, test := range map[string]struct {
		waits, mid []string // of the user of old, and of a change
		other      string   // what the user of the other object waits for
		want       int
	}{
		"only for it":                {[]string{"x.old"}, nil, "x.base", 1},
		"through a change":           {[]string{"x.mid"}, []string{"x.old"}, "x.base", 1},
		"of several":                 {[]string{"x.mid"}, []string{"x.base", "x.old"}, "x.base", 1},
		"also for something else":    {[]string{"x.base", "x.old"}, nil, "x.base", 0},
		"for something else":         {[]string{"x.base"}, nil, "x.base", 0},
		"for what is left as it is":  {[]string{"x.there", "x.old"}, nil, "x.base", 1},
		"for nothing":                {nil, nil, "x.base", 0},
		"for another":                {[]string{"x.other"}, nil, "x.base", 0},
		"for both":                   {[]string{"x.old", "x.other"}, nil, "x.base", 0},
		"both for their own":         {[]string{"x.old", "x.other"}, nil, "x.other", 2},
		"through something deferred": {[]string{"x.put_off", "x.old"}, nil, "x.base", 0},
		"for instances, one ends":    {[]string{"x.many[*]"}, nil, "x.base", 0},
	} {
		on := func(text string) plan.Dep {
			if text == "x.many[*]" {
				return plan.Dep{Resource: instance(t, "x.many[0]").Abs(), All: true}
			}
			return on(instance(t, text))
		}
		set, changes, prior := &Set{}, map[addr.Object]*plan.Change{}, state.New()
		later := func(text string, waits ...string) {
			d := &plan.Deferral{Change: &plan.Change{Addr: instance(t, text), Action: plan.NoOp}}
			for _, w := range waits {
				d.WaitsFor = append(d.WaitsFor, on(w))
			}
			set.Add(d)
		}
		change := func(text string, action plan.Action, deps ...string) {
			c := &plan.Change{Addr: instance(t, text), Action: action}
			for _, d := range deps {
				c.Deps = append(c.Deps, on(d))
			}
			changes[c.Object()] = c
		}
		change("x.base", plan.Update, "x.there")
		change("x.there", plan.NoOp)
		change("x.mid", plan.Update, test.mid...)
		change("x.many[0]", plan.Update, "x.old")
		change("x.many[1]", plan.Update)
		later("x.user", test.waits...)
		later("x.user2", test.other)
		later("x.put_off")
		for user, of := range map[string]string{"x.user": "x.old", "x.user2": "x.other"} {
			change(of, plan.DeleteThenCreate)
			prior.SetObject(addr.Object{Instance: instance(t, user)}, &state.Object{Dependencies: []addr.ConfigResource{instance(t, of).Config()}}, addr.ProviderConfig{})
		}
		d := Destructions{Set: set, Changes: changes, Prior: prior, Seeds: map[addr.Instance]*plan.Deferral{}}
		again := d.Settle()
		if len(d.Stuck) != test.want || len(d.Seeds) != 2-test.want || again != (test.want < 2) {
			t.Errorf("%s: got stuck %v, seeds %v, again %t, want %d stuck of 2", name, d.Stuck, d.Seeds, again, test.want)
		}
	}
}
