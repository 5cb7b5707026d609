package plan

import "testing"

// TestWhyDeferred tells what waits for a change from what a change waits for.
func TestWhyDeferred(t *testing.T) {
	t.Parallel()
	made := []Withheld{{Computed: true}}
	for want, d := range map[string]Deferral{
		"its instances are known only after an apply":          {Reason: DeferredCountUnknown, Change: &Change{Action: Create}},
		"its provider cannot be configured yet":                {Reason: DeferredProviderConfig, Change: &Change{Action: Delete}},
		"something that has to exist first does not exist yet": {Reason: DeferredAbsent, Change: &Change{Action: Create}},
		"its provider needs to know more of its configuration": {Reason: DeferredConfigUnknown, Change: &Change{Withheld: made}},
		"something else that is deferred may need it":          {Reason: DeferredPrereq, Change: &Change{Action: DeleteThenCreate, Withheld: made}},
		"what takes a value that it makes is deferred":         {Reason: DeferredPrereq, Change: &Change{Action: Create, Withheld: made}},
		"it depends on something that is deferred":             {Reason: DeferredPrereq, Change: &Change{Action: Create, Withheld: []Withheld{{}}}},
	} {
		if got := d.Why(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
