package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

const twoProviders = `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
    old = { source = "mayfly.dev/other/sim" }
  }
}
`

// TestMovedToAnotherProvider has the provider of the new address take over an object of the same type name,
// with its private data.
func TestMovedToAnotherProvider(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"sim_thing", "sim_slow"} {
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.file("main.tf", twoProviders+`
resource "`+typ+`" "x" {
  provider = old
  name     = "x"
}`)
			w.ok(command{})
			w.file("main.tf", twoProviders+`
resource "`+typ+`" "y" {
  provider = sim
  name     = "x"
}
moved {
  from = `+typ+`.x
  to   = `+typ+`.y
}`)
			r := w.ok(command{})
			e := call(t, r.planLog, simlog.Filter{RPC: "MoveResourceState", Name: "x"})
			if string(e.Begin.Private) != `{"applied":"create","serial":1}` {
				t.Errorf("private data sent: got %s, want %s as after the creation", e.Begin.Private, `{"applied":"create","serial":1}`)
			}
			at, err := addr.ParseInstance(typ + ".y")
			if err != nil {
				t.Fatal(err)
			}
			if _, got := w.journal.Object(addr.Object{Instance: at}); got.Provider.String() != "mayfly.dev/test/sim" {
				t.Errorf("provider in the state: got %s, want mayfly.dev/test/sim", got)
			}
			w.has(typ + ".y")
			w.ok(command{planOnly: true}).plans()
		})
	}
}

// TestMoveWithoutCapability tells what to do where the provider cannot take over objects of other types, and
// upgrades those of the same type name.
func TestMoveWithoutCapability(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_old" "x" { name = "x" }`)
	w.ok(command{})
	w.env["SIM_SCHEMA"] = "no-capabilities"
	w.config(`
resource "sim_thing" "y" { name = "x" }
moved {
  from = sim_old.x
  to   = sim_thing.y
}`)
	w.fails(command{planOnly: true}, "Move of another resource type is not supported", "import the object")

	w = newWorld(t, "")
	w.file("main.tf", twoProviders+`
resource "sim_slow" "x" {
  provider = old
  name     = "x"
}`)
	w.ok(command{})
	w.env["SIM_SCHEMA"] = "no-capabilities"
	w.file("main.tf", twoProviders+`
resource "sim_slow" "y" { name = "x" }
moved {
  from = sim_slow.x
  to   = sim_slow.y
}`)
	w.ok(command{})
	w.has("sim_slow.y")
}

// TestMovesOverOccupiedAddresses has two objects on one chain of moves: each goes one step at most to where
// another was, and none takes the other's place.
func TestMovesOverOccupiedAddresses(t *testing.T) {
	t.Parallel()
	const chain = `
moved {
  from = sim_thing.a
  to   = sim_thing.b
}
moved {
  from = sim_thing.b
  to   = sim_thing.c
}`
	for name, test := range map[string]struct {
		made  string
		id    string
		wants []string
	}{
		"both":        {`resource "sim_thing" "a" { name = "a" }` + "\n" + `resource "sim_thing" "b" { name = "b" }`, "b-2", []string{"sim_thing.a", "sim_thing.b"}},
		"first":       {`resource "sim_thing" "a" { name = "a" }`, "a-1", nil},
		"both, last ": {`resource "sim_thing" "a" { name = "a" }` + "\n" + `resource "sim_thing" "c" { name = "c" }`, "c-2", []string{"sim_thing.b", "sim_thing.c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.made)
			w.ok(command{parallelism: 1})
			id := w.attr("sim_thing."+test.id[:1], "id")
			w.config(`resource "sim_thing" "c" { name = "` + test.id[:1] + `" }` + chain)
			r := w.ok(command{})
			if got := w.attr("sim_thing.c", "id"); got != id {
				t.Errorf("sim_thing.c: got %s, want %s", got, id)
			}
			if test.wants != nil {
				r.wants(1, append([]string{"Move to an occupied address"}, test.wants...)...)
			}
			w.has("sim_thing.c")
		})
	}
}

// TestDeferredMoveOfAnotherType defers objects that come from another type. They stay where they are in the
// state until the plan in which their provider converts them: it would take them for its own otherwise.
func TestDeferredMoveOfAnotherType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_old" "x" { name = "x" }
resource "sim_old" "y" { name = "y" }
resource "sim_old" "z" { name = "z" }`)
	w.ok(command{})
	w.rules = `[{"rpc":"PlanResourceChange","name":"z","do":"deferred"}]`
	w.config(`
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "converted" { name = "z" }
resource "sim_thing" "many" {
  for_each = toset([sim_thing.base.id])
  name     = "x"
}
resource "sim_thing" "late" {
  name = "y"
  json = jsonencode(keys(sim_thing.many))
}
moved {
  from = sim_old.x
  to   = sim_thing.many["base-3"]
}
moved {
  from = sim_old.y
  to   = sim_thing.late
}
moved {
  from = sim_old.z
  to   = sim_thing.converted
}`)
	r := w.ok(command{deferral: true}).defers(
		"sim_thing.converted no-op resource_config_unknown",
		"sim_thing.late no-op deferred_prereq sim_thing.many",
		`sim_thing.many["base-3"] no-op instance_count_unknown sim_thing.base`,
		`sim_thing.many["*"] create instance_count_unknown sim_thing.base`,
	).did("create base")
	if got := r.planLog.Count(simlog.Filter{RPC: "UpgradeResourceState"}); got != 0 {
		t.Errorf("upgrades: got %d, want none of objects of another type", got)
	}
	w.has("sim_old.x", "sim_old.y", "sim_thing.base", "sim_thing.converted")
	w.rules = ""
	r = w.ok(command{deferral: true}).defers()
	if got := r.planLog.Count(simlog.Filter{RPC: "MoveResourceState", Name: "y"}); got != 1 {
		t.Errorf("conversions of y: got %d, want 1", got)
	}
	w.exists("base", "x", "y", "z")
}
