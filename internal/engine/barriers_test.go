package engine_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestNothingWaitsWithoutNeed runs commands whose parts take one to three seconds each. Those that are
// independent of each other run at once, so a command takes as long as its longest chain of dependencies.
func TestNothingWaitsWithoutNeed(t *testing.T) {
	t.Parallel()
	const known = `
resource "sim_thing" "known" {
  name = "known"
}
`
	for _, test := range []struct {
		name        string
		first, text string // text is applied to what first has made
		module      string // which text calls as m
		slow        string // calls of the second command that take two seconds; ReadDataSource if empty
		replace     []string
		plan, apply time.Duration
	}{
		{name: "objects without a block, beside instances that are not known yet", first: known + `
resource "sim_slow" "gone" {
  name       = "gone"
  read_delay = "3s"
}
resource "sim_slow" "fewer" {
  count      = 2
  name       = "fewer"
  read_delay = "3s"
}
`, text: known + `
data "sim_lookup" "slow" {
  name = "known"
}
resource "sim_thing" "x" {
  for_each = toset([data.sim_lookup.slow.name])
  name     = "x"
}
resource "sim_slow" "fewer" {
  count      = 1
  name       = "fewer"
  read_delay = "3s"
}
`, plan: 3 * time.Second},
		{name: "an output that opens something, beside a resource", text: `
resource "sim_slow" "x" {
  name         = "x"
  plan_delay   = "3s"
  create_delay = "0s"
}
ephemeral "sim_secret" "s" {
  name       = "s"
  open_delay = "2s"
}
output "o" {
  value = ephemeralasnull(ephemeral.sim_secret.s)
}
`, plan: 3 * time.Second, apply: 3 * time.Second},
		{name: "conditions, checks and outputs at the end of an apply", first: known, text: known + `
resource "sim_thing" "x" {
  name = "x"
}
ephemeral "sim_secret" "s" {
  count      = 3
  name       = "s"
  open_delay = "2s"
  lifecycle {
    precondition {
      condition     = sim_thing.x.id != ""
      error_message = "No id."
    }
  }
}
check "with_data" {
  data "sim_lookup" "slow" {
    name = "known"
  }
  assert {
    condition     = data.sim_lookup.slow.name == "known"
    error_message = "No name."
  }
}
check "opens" {
  assert {
    condition     = ephemeral.sim_secret.s[1].value != ""
    error_message = "No secret."
  }
}
output "o" {
  value = ephemeralasnull(ephemeral.sim_secret.s[2])
}
`, plan: 2 * time.Second, apply: 2 * time.Second},
		{name: "a destruction, beside closing what it has nothing to do with", first: `
resource "sim_slow" "second" {
  name         = "second"
  delete_delay = "3s"
}
resource "sim_slow" "first" {
  name         = sim_slow.second.id
  delete_delay = "1s"
}
`, text: `
ephemeral "sim_secret" "s" {
  name        = "s"
  close_delay = "2s"
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.lease
}
`, plan: 2 * time.Second, apply: 4 * time.Second},
		{name: "a destruction of what is closed may live in", first: `
resource "sim_slow" "host" {
  name         = "host"
  delete_delay = "1s"
  lifecycle {
    create_before_destroy = true
  }
}
`, text: `
resource "sim_slow" "host" {
  name         = "host"
  delete_delay = "1s"
  lifecycle {
    create_before_destroy = true
  }
}
ephemeral "sim_secret" "tunnel" {
  name        = sim_slow.host.id
  close_delay = "2s"
}
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.tunnel.lease
}
`, replace: []string{"sim_slow.host"}, apply: 3 * time.Second},
		{name: "configurations of providers to be validated", slow: "ValidateProviderConfig", text: `
provider "sim" {
  alias  = "a"
  region = "a"
}
provider "sim" {
  alias  = "b"
  region = "b"
}
resource "sim_thing" "a" {
  provider = sim.a
  name     = "a"
}
resource "sim_thing" "b" {
  provider = sim.b
  name     = "b"
}
`, plan: 2 * time.Second},
		{name: "import blocks", first: known, text: known + `
data "sim_lookup" "slow" {
  count = 2
  name  = "known"
}
import {
  for_each = { a = 0, b = 1 }
  to       = sim_thing.x[each.key]
  id       = data.sim_lookup.slow[each.value].id
}
resource "sim_thing" "x" {
  for_each = { a = 0, b = 1 }
  name     = "known"
}
`, plan: 2 * time.Second},
		{name: "validation rules of variables, beside what does not use them", first: known, text: known + `
module "m" {
  source = "./m"
  a      = "a"
}
`, module: `
variable "a" {
  type = string
  validation {
    condition     = data.sim_lookup.slow.name != var.a
    error_message = "Wrong."
  }
}
data "sim_lookup" "slow" {
  name = "known"
}
resource "sim_slow" "y" {
  count      = 1
  name       = "y"
  plan_delay = "3s"
}
resource "sim_slow" "z" {
  name       = var.a
  plan_delay = "1s"
}
`, plan: 3 * time.Second},
		{name: "import blocks, beside what they do not name", first: known, text: known + `
data "sim_lookup" "slow" {
  name = "known"
}
import {
  to = sim_thing.x
  id = data.sim_lookup.slow.id
}
resource "sim_thing" "x" {
  name = "known"
}
resource "sim_slow" "y" {
  name       = "y"
  plan_delay = "3s"
}
`, plan: 3 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, test.first, func(t *testing.T, w *world) {
				w.ok(command{})
				w.config(test.text)
				w.file("m/main.tf", prelude+test.module)
				w.rules = fmt.Sprintf(`[{"rpc": %q, "do": "delay", "ms": 2000}]`, cmp.Or(test.slow, "ReadDataSource"))
				var planned time.Duration
				begin := time.Now()
				now := func() time.Duration { return time.Since(begin).Round(10 * time.Millisecond) }
				r := w.ok(command{replace: test.replace, between: func() { planned = now() }, planOnly: test.apply == 0})
				if test.apply == 0 {
					planned = now()
				}
				if planned != test.plan {
					t.Errorf("planning took %s, want %s\n%s", planned, test.plan, r.planLog.Transcript(simlog.Filter{}))
				}
				if took := now() - planned; took != test.apply {
					t.Errorf("applying took %s, want %s\n%s", took, test.apply, r.applyLog.Transcript(simlog.Filter{}))
				}
			})
		})
	}
}

// TestUrgentStepComesNext applies a chain beside other steps. While results become durable, which takes a
// disk a moment, a step of the chain keeps its slot for the next one: a step that is less urgent would have
// it for a second. It does not keep it for as long as a slow service takes: the others begin meanwhile.
func TestUrgentStepComesNext(t *testing.T) {
	t.Parallel()
	text := ""
	for _, name := range []string{"a", "b", "c", "x", "y", "z"} {
		text += "resource \"sim_slow\" \"" + name + "\" {\nname = \"" + name + "\"\ncreate_delay = \"1s\"\n"
		if after := map[string]string{"b": "a", "c": "b"}[name]; after != "" {
			text += "depends_on = [sim_slow." + after + "]\n"
		}
		text += "}\n"
	}
	inVirtualTime(t, text, func(t *testing.T, w *world) {
		for _, test := range []struct {
			parallelism int
			takes, want time.Duration
		}{{2, 20 * time.Millisecond, 3060 * time.Millisecond}, {1, 3 * time.Second, 12050 * time.Millisecond}} {
			w.endTakes = test.takes
			c := command{}
			c.parallelism = test.parallelism
			var begin time.Time
			c.between = func() { begin = time.Now() }
			r := w.ok(c)
			if took := time.Since(begin).Round(10 * time.Millisecond); took != test.want {
				t.Errorf("applying with results that become durable in %s took %s, want %s\n%s", test.takes, took, test.want, r.applyLog.Transcript(simlog.Filter{}))
			}
			w.endTakes = 0
			w.ok(command{mode: plan.Destroy})
		}
	})
}

// TestSlowJournal has one slot and a journal that takes two seconds to make a result durable. The next
// operation does not wait for that, but one that depends on the result does.
func TestSlowJournal(t *testing.T) {
	t.Parallel()
	const text = `
resource "sim_slow" "a" {
  name         = "a"
  create_delay = "1s"
  delete_delay = "1s"
}
resource "sim_slow" "b" {
  name         = "b"
  create_delay = "1s"
  delete_delay = "1s"
}
resource "sim_slow" "c" {
  name         = sim_slow.a.name
  create_delay = "1s"
  delete_delay = "1s"
  depends_on   = [sim_slow.a]
}
`
	inVirtualTime(t, text, func(t *testing.T, w *world) {
		w.endTakes = 2 * time.Second
		for _, c := range []struct {
			command
			want time.Duration
			why  string
		}{
			{command{}, 6 * time.Second, "b is created while a becomes durable, and c after that"},
			{command{mode: plan.Destroy}, 6 * time.Second, "b is destroyed while c becomes durable, and a after that"},
		} {
			c.parallelism = 1
			var begin time.Time
			c.between = func() { begin = time.Now() }
			r := w.ok(c.command)
			if took := time.Since(begin).Round(10 * time.Millisecond); took != c.want {
				t.Errorf("applying took %s, want %s: %s\n%s", took, c.want, c.why, r.applyLog.Transcript(simlog.Filter{}))
			}
		}
	})
}
