package engine_test

import (
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
)

// crossed returns a configuration in which old is to be replaced if there is another version. An existing
// object of old, counted, has keys that wait, if count says so, for the update of counter. That waits, with
// its action, for an object that waits for the replacement. more is added to the block of old.
func crossed(version, count, more string) string {
	return `
resource "sim_thing" "old" {
  name       = "old"
  replace_me = "` + version + `"
  ` + more + `
}
resource "sim_thing" "reader" {
  name = "reader"
  json = jsonencode(sim_thing.old.id)
}
action "sim_note" "a" {
  count = min(sim_thing.reader.serial, 1)
  config { name = "noted" }
}
resource "sim_thing" "counter" {
  name = "counter"
  size = ` + version + `
  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.sim_note.a[0]]
    }
  }
}
resource "sim_thing" "counted" {
  count = ` + count + `
  name  = "counted"
  json  = jsonencode(sim_thing.old.id)
}`
}

// counterDecides is the count that an update of counter makes known.
const counterDecides = "min(sim_thing.counter.serial, 1)"

// TestReplacementWaitsThroughAction has no plan that could go on, unless the new object is made first.
func TestReplacementWaitsThroughAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, crossed("1", "1", ""))
	w.ok(command{})
	w.config(crossed("2", counterDecides, ""))
	w.fails(command{deferral: true}, "Objects wait for each other", "sim_thing.old", "sim_thing.counted[0]", "create_before_destroy")
	w.config(crossed("2", counterDecides, "lifecycle {\n create_before_destroy = true\n }"))
	w.ok(command{deferral: true})
	w.ok(command{deferral: true})
	w.ok(command{deferral: true}).defers()
}

// TestReplacementWaitsForKnownKeys defers a replacement for an object whose keys depend on the replaced one,
// with a value that is known in advance, and on an update. The next plan makes the replacement.
func TestReplacementWaitsForKnownKeys(t *testing.T) {
	t.Parallel()
	text := func(version, keys string) string {
		return `
resource "sim_thing" "base" {
  name = "base"
  size = ` + version + `
}
resource "sim_thing" "old" {
  name       = "old"
  replace_me = "` + version + `"
}
resource "sim_thing" "user" {
  for_each = toset(` + keys + `)
  name     = "user"
  json     = jsonencode(sim_thing.old.id)
}`
	}
	w := newWorld(t, text("1", `["old"]`))
	w.ok(command{})
	w.config(text("2", "sim_thing.base.serial > 0 ? [sim_thing.old.name] : []"))
	w.ok(command{deferral: true}).defers(
		`sim_thing.old delete-create deferred_prereq sim_thing.user["old"]`,
		`sim_thing.user["*"] create instance_count_unknown sim_thing.base sim_thing.old`,
	).did("update base")
	w.ok(command{deferral: true}).defers()
}

// TestCycleBesideOtherChanges has a cycle of deferrals in a run where something else changes in every plan.
// The round that gets no further names the cycle.
func TestCycleBesideOtherChanges(t *testing.T) {
	t.Parallel()
	const changing = "\noutput \"never_the_same\" { value = uuid() }"
	w := newWorld(t, crossed("1", "1", "")+changing)
	w.ok(command{})
	w.config(crossed("2", counterDecides, "") + changing)
	memory := rounds.New(time.Now())
	w.ok(command{deferral: true, memory: memory})
	w.fails(command{deferral: true, memory: memory}, "Objects wait for each other", "sim_thing.old", "sim_thing.counted[0]")
}
