package engine_test

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// firstMistakes are mistakes that validating finds, each beside an ephemeral resource that the plan would
// open, a data source that it would read, and an object in the state that it would refresh.
var firstMistakes = []struct{ name, text, want, rule string }{
	{
		name: "unreferenced ephemeral block", text: `ephemeral "sim_secret" "z" { name = "z" }`, want: "ephemeral.sim_secret.z",
		rule: `{"rpc":"ValidateEphemeralResourceConfig","name":"z","do":"error","text":"not like this"}`,
	},
	{name: "ephemeral block in a module", text: `module "m" { source = "./child" }`, want: "module.m.ephemeral.sim_secret.s"},
	{name: "ephemeral block that would be deferred", text: `
		ephemeral "sim_secret" "z" {
		  name    = sim_thing.new.id
		  fail_on = "validate"
		}
		resource "sim_thing" "new" { name = "new" }
		resource "sim_thing" "y" {
		  name      = "y"
		  secret_wo = ephemeral.sim_secret.z.value
		}`, want: "asked to fail on validate"},
	{name: "ephemeral value in enabled", text: `
		resource "sim_thing" "y" {
		  name = "y"
		  lifecycle { enabled = ephemeral.sim_secret.s.value != "" }
		}`, want: "Invalid enabled argument"},
	{name: "ephemeral value in count", text: `
		resource "sim_thing" "y" {
		  count = length(ephemeral.sim_secret.s.value)
		  name  = "y"
		}`, want: "Invalid count argument"},
	{name: "cycle over depends_on", text: `
		ephemeral "sim_secret" "z" {
		  name       = "z"
		  depends_on = [sim_thing.y]
		}
		resource "sim_thing" "y" {
		  name       = "y"
		  depends_on = [ephemeral.sim_secret.z]
		}`, want: "ephemeral.sim_secret.z waits for sim_thing.y"},
	{name: "cycle of all instances", text: `
		ephemeral "sim_secret" "z" {
		  count      = 2
		  name       = "z"
		  depends_on = [sim_thing.y]
		}
		resource "sim_thing" "y" {
		  count     = 2
		  name      = "y"
		  secret_wo = join(",", ephemeral.sim_secret.z[*].value)
		}`, want: "sim_thing.y waits for ephemeral.sim_secret.z"},
	{name: "block without instances", text: `
		resource "sim_thing" "y" {
		  count   = 0
		  name    = "y"
		  fail_on = "validate"
		}`, want: "asked to fail on validate"},
	{name: "unused output of a module", text: `module "n" { source = "./output" }`, want: "Invalid function argument"},
	{name: "data source", text: `data "sim_lookup" "y" { name = ["y"] }`, want: "data.sim_lookup.y"},
	{name: "provider configuration", text: `
		provider "sim" {
		  alias  = "y"
		  region = ["y"]
		}
		resource "sim_thing" "y" {
		  provider = sim.y
		  name     = "y"
		}`, want: "Incorrect attribute value type"},
}

// TestPlanValidatesFirst finds each mistake in every mode before anything is opened, read or refreshed.
func TestPlanValidatesFirst(t *testing.T) {
	t.Parallel()
	const around = `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.value
}
data "sim_lookup" "x" {
  name       = "x"
  depends_on = [sim_thing.x]
}
`
	for _, row := range firstMistakes {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, around)
			w.file("child/main.tf", prelude+"ephemeral \"sim_secret\" \"s\" {\n  name    = \"c\"\n  fail_on = \"validate\"\n}")
			w.file("output/main.tf", `output "o" { value = tonumber("x") }`)
			w.ok(command{})
			w.config(around + row.text)
			if row.rule != "" {
				w.rules = rules(row.rule)
			}
			for _, c := range []command{{}, {mode: plan.RefreshOnly}, {mode: plan.Destroy}, {targets: []string{"sim_thing.x"}}, {excludes: []string{"sim_thing.x"}}} {
				c.planOnly = true
				r := w.fails(c, row.want)
				for _, rpc := range []string{"OpenEphemeralResource", "ReadDataSource", "ReadResource", "ConfigureProvider"} {
					if n := r.planLog.Count(simlog.Filter{RPC: rpc}); n != 0 {
						t.Errorf("mode %v: %d calls of %s, want 0", c.mode, n, rpc)
					}
				}
			}
		})
	}
}

// TestPlanAsksOnce has a provider validate what is wholly known once, and what is known of a block before
// each of its instances.
func TestPlanAsksOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
provider "sim" { region = "r" }
resource "sim_thing" "known" { name = "known" }
resource "sim_thing" "alike" {
  count = 3
  name  = "alike"
}
resource "sim_thing" "each" {
  count = 3
  name  = "each-${count.index}"
}
data "sim_lookup" "known" {
  name       = "known"
  depends_on = [sim_thing.known]
}`)
	r := w.ok(command{})
	for rpc, want := range map[string]int{"ValidateResourceConfig": 1 + 1 + 4, "ValidateDataResourceConfig": 1, "ValidateProviderConfig": 1} {
		if n := r.planLog.Count(simlog.Filter{RPC: rpc}); n != want {
			t.Errorf("%d calls of %s, want %d", n, rpc, want)
		}
	}
}

// TestPlanWarnsOnce reports a provider's warning about a block once per instance, or once for the block if it
// has none.
func TestPlanWarnsOnce(t *testing.T) {
	t.Parallel()
	for count, want := range map[string]int{"0": 1, "1": 1, "3": 3} {
		w := newWorld(t, "resource \"sim_thing\" \"x\" {\n  count = "+count+"\n  name  = \"x-${count.index}\"\n}")
		w.rules = rules(`{"rpc":"ValidateResourceConfig","do":"warning","text":"rather not"}`)
		if r := w.ok(command{planOnly: true}); len(r.planDiags) != want {
			t.Errorf("count %s: got %v, want %d", count, texts(r.planDiags), want)
		}
	}
}
