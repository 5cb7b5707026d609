package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// TestPutOff has a provider put off opening an ephemeral resource. Plans name it wherever objects wait for
// its value: in an argument, through another ephemeral resource, and in the configuration of a provider.
func TestPutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
provider "sim" {
  alias = "late"
  token = ephemeral.sim_secret.late["x"].value
}
ephemeral "sim_secret" "late" {
  for_each = toset(["x"])
  name     = "late"
}
ephemeral "sim_secret" "chain" {
  name = "n${length(ephemeral.sim_secret.late["x"].value)}"
}
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "user" {
  name      = "user"
  secret_wo = ephemeral.sim_secret.late["x"].value
}
resource "sim_thing" "chain" {
  name      = "chain"
  secret_wo = ephemeral.sim_secret.chain.value
}
resource "sim_thing" "configured" {
  provider = sim.late
  name     = "configured"
}`)
	w.rules = `[{"rpc":"OpenEphemeralResource","name":"late","do":"deferred"}]`
	w.ok(command{deferral: true, planOnly: true}).defers(
		`sim_thing.chain create deferred_prereq ephemeral.sim_secret.late["x"]`,
		`sim_thing.configured create provider_config_unknown ephemeral.sim_secret.late["x"]`,
		`sim_thing.user create deferred_prereq ephemeral.sim_secret.late["x"]`,
	)
}

// TestActionWaits has actions whose configuration has to wait. Only a change that triggers one waits with it.
func TestActionWaits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ argument, waits string }{
		"object":    {`text = jsonencode(sim_thing.u)`, "sim_thing.u"},
		"ephemeral": {`secret = ephemeral.sim_secret.s[0].value`, "sim_thing.base"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := func(base, size int, events, condition string) string {
				return fmt.Sprintf(`
resource "sim_thing" "base" {
  name = "base"
  size = %d
}
resource "sim_thing" "u" {
  count = min(sim_thing.base.serial, 1)
  name  = "u"
}
ephemeral "sim_secret" "s" {
  count = min(sim_thing.base.serial, 1)
  name  = "s"
}
action "sim_note" "n" {
  config {
    name = "noted"
    %s
  }
}
resource "sim_thing" "t" {
  name = "t"
  size = %d
  lifecycle {
    action_trigger {
      events    = [%s]
      condition = %s
      actions   = [action.sim_note.n]
    }
  }
}`, base, test.argument, size, events, condition)
			}
			const both = "after_create, after_update"
			undecided := `sim_thing.u["*"] create instance_count_unknown sim_thing.base`
			w := newWorld(t, text(1, 1, both, "true"))
			for _, condition := range []string{"true", "jsonencode(sim_thing.u) != null"} { // which waits too
				w.config(text(1, 1, both, condition))
				w.ok(command{deferral: true, planOnly: true}).defers("sim_thing.t create deferred_prereq "+map[bool]string{true: test.waits, false: "sim_thing.u"}[condition == "true"], undecided)
			}
			w.config(text(1, 1, "before_update", "true"))
			w.ok(command{deferral: true, planOnly: true}).defers(undecided)
			w.config(text(1, 1, both, "true"))
			w.ok(command{deferral: true})
			if n := w.ok(command{deferral: true}).applyLog.Count(simlog.Filter{RPC: "InvokeAction"}); n != 1 {
				t.Errorf("invocations: got %d, want 1", n)
			}
			w.config(text(2, 1, both, "true"))
			w.ok(command{deferral: true, planOnly: true}).defers(undecided)
			w.config(text(2, 2, "after_create", "true"))
			w.ok(command{deferral: true, planOnly: true}).defers(undecided)
			w.config(text(2, 2, both, "true"))
			w.ok(command{deferral: true, planOnly: true}).defers("sim_thing.t update deferred_prereq "+test.waits, undecided)
		})
	}
}

// TestActionLost has an action that is not invoked although the change that triggers it is made, which no
// later plan makes up for.
func TestActionLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "bad" { name = "bad" }
action "sim_note" "n" {
  config {
    name = "noted"
    text = sim_thing.bad.id
  }
}
resource "sim_thing" "t" {
  name = "t"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.n]
    }
  }
}`)
	w.rules = `[{"rpc":"ApplyResourceChange","name":"bad","do":"rpc-error"}]`
	w.fails(command{}, "Actions were not invoked", "sim_thing.t", "-invoke=action.sim_note.n")
	w.exists("t")
	w = newWorld(t, `
action "sim_note" "n" {
  config { name = "noted" }
}
resource "sim_thing" "bad" {
  name = "bad"
  lifecycle {
    action_trigger {
      events  = [before_create, after_create]
      actions = [action.sim_note.n]
    }
  }
}`)
	w.rules = `[{"rpc":"ApplyResourceChange","name":"bad","do":"rpc-error"}]`
	if n := w.fails(command{}, "failed").errors(); n != 1 {
		t.Errorf("errors: got %d, want one, as the next plan has the action again", n)
	}
	w.config(`
resource "sim_thing" "bad" { name = "bad" }
action "sim_note" "n" {
  config {
    name = "noted"
    text = sim_thing.bad.id
  }
}
resource "sim_thing" "t" {
  name = "t"
  lifecycle {
    action_trigger {
      events  = [before_create]
      actions = [action.sim_note.n]
    }
  }
}`)
	if n := w.fails(command{}, "failed").errors(); n != 1 {
		t.Errorf("errors: got %d, want one, as neither the change nor its action is made", n)
	}
}

// TestOtherPhase has ephemeral resources that are there only in an apply. The objects that they refer to are
// made, or planned, before their users.
func TestOtherPhase(t *testing.T) {
	t.Parallel()
	const text = `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "u" {
  count = min(sim_thing.base.serial, 1)
  name  = "u"
}
ephemeral "sim_secret" "s" {
  count = tofu.applying ? 1 : 0
  name  = "s"
  hint  = HINT
}
resource "sim_thing" "t" {
  name      = "t"
  secret_wo = one(ephemeral.sim_secret.s[*].value)
}`
	w := newWorld(t, strings.ReplaceAll(text, "HINT", "sim_thing.base.id"))
	w.ok(command{excludes: []string{"sim_thing.u"}})
	w.exists("base", "t")
	w = newWorld(t, strings.ReplaceAll(text, "HINT", "sim_thing.u[0].id"))
	w.ok(command{deferral: true}).defers("sim_thing.t create deferred_prereq sim_thing.u[0]", `sim_thing.u["*"] create instance_count_unknown sim_thing.base`)
	w.ok(command{deferral: true}).defers()
	w.exists("base", "t", "u")
}

// TestExcludedUndecided leaves out a block that others need, whose instances are not known: they are neither
// deferred nor changed, and nothing waits for them.
func TestExcludedUndecided(t *testing.T) {
	t.Parallel()
	text := func(generation int) string {
		return fmt.Sprintf(`
resource "sim_thing" "base" {
  name       = "base"
  replace_me = "g%d"
}
resource "sim_thing" "out" {
  name = "out"
  json = jsonencode(sim_thing.base.id)
}
resource "sim_thing" "many" {
  count = min(sim_thing.base.serial, 1)
  name  = "many"
  json  = jsonencode(sim_thing.out.id)
}
resource "sim_thing" "chain" {
  count = min(sim_thing.many[0].serial, 1)
  name  = "chain"
}
module "m" {
  source = "./m"
  count  = min(sim_thing.many[0].serial, 1)
}
import {
  to = sim_thing.imported
  id = min(sim_thing.many[0].serial, 1) > 0 ? "imported-0" : ""
}
resource "sim_thing" "imported" { name = "imported" }`, generation)
	}
	w := newWorld(t, text(1))
	w.file("m/main.tf", prelude+`
resource "sim_thing" "in" { name = "in" }`)
	out := command{deferral: true, excludes: []string{"sim_thing.out"}}
	w.ok(out).defers()
	w.exists("base")
	w.config(strings.ReplaceAll(text(1), `"imported-0"`, "sim_thing.base.id"))
	for range 3 {
		w.ok(command{deferral: true, excludes: []string{"sim_thing.imported"}})
	}
	w.exists("base", "chain", "in", "many", "out")
	w.config(text(2))
	w.ok(out).defers()
	w.exists("base", "chain", "in", "many", "out")
}
