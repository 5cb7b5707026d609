package withheld

import (
	"testing"

	"github.com/mayfly-iac/mayfly/plan"
)

// TestChangesOfComputed asks which changes make computed values, and which take them out of the state.
func TestChangesOfComputed(t *testing.T) {
	for name, test := range map[string]struct {
		action      plan.Action
		deposed     bool
		computed    bool
		status      plan.WithheldStatus
		makes, take bool
	}{
		"made":            {plan.Create, false, true, plan.WithheldChanged, true, false},
		"made by a given": {plan.Create, false, false, plan.WithheldChanged, false, false},
		"the same":        {plan.Update, false, true, plan.WithheldSame, false, false},
		"no change":       {plan.NoOp, false, true, plan.WithheldChanged, false, false},
		"destroyed":       {plan.Delete, false, true, plan.WithheldChanged, false, false},
		"forgotten":       {plan.Forget, false, true, plan.WithheldChanged, false, false},
		"an old object":   {plan.Update, true, true, plan.WithheldChanged, false, false},
		"taken out":       {plan.Update, false, true, plan.WithheldStored, plan.WithheldStored.Differs(), true},
		"imported":        {plan.Update, false, true, plan.WithheldImported, plan.WithheldImported.Differs(), true},
		"given, stored":   {plan.Update, false, false, plan.WithheldStored, false, false},
	} {
		c := &plan.Change{Action: test.action, Withheld: []plan.Withheld{{Computed: test.computed, Status: test.status}}}
		if test.deposed {
			c.Deposed = "0123abcd"
		}
		if got := MakesComputed(c); got != test.makes {
			t.Errorf("%s: got makes %t, want %t", name, got, test.makes)
		}
		if got := TakesOutComputed(c); got != test.take {
			t.Errorf("%s: got takes out %t, want %t", name, got, test.take)
		}
	}
}
