package engine_test

import "testing"

// TestIdentityLearntByReading loses the identity of an object when it is made, as a provider that knows none
// yet does, and finds it in the state when reading tells one, or tells it in another version, although
// nothing else is new.
func TestIdentityLearntByReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.rules = rules(quoted("ApplyResourceChange", `"do":"no-identity"`), quoted("PlanResourceChange", `"do":"no-identity"`))
	w.ok(command{})
	if got := string(w.object("sim_thing.x").Identity); got != "" {
		t.Fatalf("identity of the new object: got %s, want none", got)
	}
	w.rules = ""
	w.ok(command{}).plans()
	if got := string(w.object("sim_thing.x").Identity); got != `{"name":"x"}` {
		t.Errorf("after reading, the identity: got %q, want %q", got, `{"name":"x"}`)
	}
	w.rules = rules(quoted("ReadResource", `"do":"change-identity","text":"other"`))
	w.ok(command{}).plans()
	if got := string(w.object("sim_thing.x").Identity); got != `{"name":"other"}` {
		t.Errorf("after reading another one, the identity: got %q, want %q", got, `{"name":"other"}`)
	}
}
