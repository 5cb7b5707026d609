package engine_test

import (
	"slices"
	"testing"
)

// TestConditionsOfDeferred are not said to hold before they are evaluated.
func TestConditionsOfDeferred(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "each" {
  for_each = toset([sim_thing.base.id])
  name     = "each"
}
output "base" {
  value = sim_thing.base.name
  precondition {
    condition     = sim_thing.base.serial >= 0
    error_message = "base"
  }
}
output "each" {
  value = [for e in sim_thing.each : e.name]
  precondition {
    condition     = length(sim_thing.each) > 0
    error_message = "each"
  }
}`)
	for _, want := range [][]string{{"output.base pass", "output.each unknown"}, {"output.base pass", "output.each pass"}} {
		w.ok(command{deferral: true})
		if got := w.checks(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
