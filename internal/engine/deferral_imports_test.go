package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// TestDeferredImportIsLeft has a provider put off the plan of an object that is imported: it is not in the
// state before a plan shows the import. It is read once, though the plan is made twice because of the action.
func TestDeferredImportIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "a" { name = "a" }`)
	w.ok(command{})
	w.config(`
removed {
  from = sim_thing.a
  lifecycle { destroy = false }
}
import {
  to = sim_thing.b
  id = "a-1"
}
resource "sim_thing" "b" { name = "a" }
resource "sim_thing" "base" { name = "base" }
provider "sim" {
  alias  = "late"
  region = "r${sim_thing.base.serial}"
}
action "sim_note" "n" {
  provider = sim.late
  config { name = "noted" }
}
resource "sim_thing" "x" {
  name = "x"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.n]
    }
  }
}`)
	w.rules = `[{"rpc":"PlanResourceChange","name":"a","do":"deferred"}]`
	r := w.ok(command{deferral: true}).defers(
		"sim_thing.b create resource_config_unknown",
		"sim_thing.x create deferred_prereq sim_thing.base",
	)
	b := r.plan.Deferrals[0].Change
	if b.Importing == nil || b.Importing.ID != "a-1" {
		t.Errorf("got import %v, want the one of a-1", b.Importing)
	}
	if r.plan.Prior.Object(b.Object()) != nil {
		t.Error("got the object in the state of a plan that defers its import, want it left out")
	}
	if got := r.planLog.Count(simlog.Filter{RPC: "ImportResourceState"}); got != 1 {
		t.Errorf("imports: got %d, want 1", got)
	}
	w.rules = ""
	r = w.ok(command{deferral: true}).defers().did("create x")
	if c := r.plan.Changes[0]; c.Addr != b.Addr || c.Importing == nil {
		t.Errorf("got %s %v, want the import of %s", c.Addr, c.Importing, b.Addr)
	}
}

// TestUnknownImportWithoutBlock has import blocks without resource blocks whose objects are not known yet.
func TestUnknownImportWithoutBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
import {
  to = sim_thing.new
  id = sim_thing.base.id
}`)
	w.fails(command{deferral: true, generate: true}, "Cannot generate configuration yet", "sim_thing.new")
	w.config(`
resource "sim_thing" "base" { name = "base" }
import {
  for_each = toset([sim_thing.base.id])
  to       = sim_thing.new[each.key]
  id       = each.key
}`)
	w.fails(command{deferral: true, planOnly: true}, "Configuration for import target does not exist", "sim_thing.new")
}
