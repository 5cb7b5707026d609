package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// defers checks the deferrals of the plan, as "ADDRESS ACTION REASON" and the addresses that it waits for.
func (r *result) defers(want ...string) *result {
	r.w.t.Helper()
	var got []string
	for _, d := range r.plan.Deferrals {
		text := d.Change.Object().String() + " " + d.Change.Action.String() + " " + string(d.Reason)
		for _, w := range d.WaitsFor {
			text += " " + w.String()
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		r.w.t.Errorf("the plan defers: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return r
}

func TestDeferredRepetition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "each" {
  for_each = toset([sim_thing.base.id])
  name     = "each${length(each.key)}"
}
module "m" {
  source = "./m"
  count  = length(sim_thing.base.id)
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode([sim_thing.each, module.m[*].id])
}
resource "sim_thing" "alone" {
  name = "alone"
  json = jsonencode(sim_thing.base.id)
}
output "o" { value = module.m[*].id }
output "p" { value = "always" }`)
	w.file("m/main.tf", prelude+`
resource "sim_thing" "in" {
  count = 1
  name  = "in"
}
output "id" { value = sim_thing.in[0].id }`)
	r := w.ok(command{deferral: true}).defers(
		`sim_thing.each["*"] create instance_count_unknown sim_thing.base`,
		`sim_thing.user create deferred_prereq sim_thing.each module.m`,
		`module.m["*"].sim_thing.in[0] create instance_count_unknown sim_thing.base`,
	)
	w.exists("alone", "base")
	if len(r.plan.Outputs) != 1 || r.plan.Outputs[0].Name != "p" {
		t.Errorf("outputs: got %v, want p alone", r.plan.Outputs)
	}
	r = w.ok(command{deferral: true}).defers()
	w.exists("alone", "base", "each6", "in", "in", "in", "in", "in", "in", "user")
	w.ok(command{deferral: true}).did()
	if len(r.plan.Outputs) != 2 {
		t.Errorf("outputs: got %v, want 2", r.plan.Outputs)
	}
}

func TestDeferredProvider(t *testing.T) {
	t.Parallel()
	const text = `
resource "sim_thing" "base" { name = "base" }
provider "sim" {
  alias  = "late"
  region = "r${sim_thing.base.serial}"
}
resource "sim_thing" "late" {
  provider = sim.late
  name     = "late"
}
data "sim_lookup" "late" {
  provider = sim.late
  name     = "base"
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode(sim_thing.late.id)
}
ephemeral "sim_secret" "late" {
  provider = sim.late
  name     = "s"
}
resource "sim_thing" "secret" {
  name      = "secret"
  secret_wo = ephemeral.sim_secret.late.value
}
output "o" { value = sim_thing.late.id }`
	w := newWorld(t, text)
	w.ok(command{deferral: true}).defers(
		"data.sim_lookup.late read provider_config_unknown sim_thing.base",
		"sim_thing.late create provider_config_unknown sim_thing.base",
		"sim_thing.secret create deferred_prereq sim_thing.base",
		"sim_thing.user create deferred_prereq sim_thing.late",
	)
	w.exists("base")
	w.ok(command{deferral: true}).defers()
	w.exists("base", "late", "secret", "user")
	w.ok(command{deferral: true}).defers().did()
	// The objects stay as they are while the provider's configuration is unknown again, and without being
	// read. An object that does not change needs no value.
	updated := strings.Replace(text, `name = "base" }`, `name = "base", size = 2 }`, 1)
	updated = strings.NewReplacer(", size", "\n  size", "2 }", "2\n}", `{ name = "base"`, "{\n  name = \"base\"").Replace(updated)
	w.config(updated)
	r := w.ok(command{deferral: true}).defers(
		"data.sim_lookup.late read provider_config_unknown sim_thing.base",
		"sim_thing.late no-op provider_config_unknown sim_thing.base",
		"sim_thing.user no-op deferred_prereq sim_thing.late",
	).did("update base")
	if got := r.planLog.Count(simlog.Filter{RPC: "ReadResource"}); got != 2 {
		t.Errorf("objects that were read: got %d, want 2", got)
	}
	// An object that is gone from the configuration waits for its provider too.
	w.config(strings.NewReplacer("= 2", "= 3", `resource "sim_thing" "late"`, `resource "sim_thing" "later"`, "sim_thing.late.id", "1").Replace(updated))
	w.ok(command{deferral: true}).defers(
		"data.sim_lookup.late read provider_config_unknown sim_thing.base",
		"sim_thing.late delete provider_config_unknown sim_thing.base",
		"sim_thing.later create provider_config_unknown sim_thing.base",
	)
	w.ok(command{deferral: true}).defers().didInAnyOrder("delete late", "create late")
}

func TestDeferredImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "a" { name = "a" }`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "a" { name = "a" }
resource "sim_thing" "base" { name = "base" }
import {
  to = sim_thing.b
  id = sim_thing.base.serial > 0 ? sim_thing.a.id : ""
}
resource "sim_thing" "b" { name = "a" }
import {
  for_each = toset([sim_thing.base.id])
  to       = sim_thing.c["x"]
  id       = each.key
}
resource "sim_thing" "c" {
  for_each = toset(["x"])
  name     = "base"
}`)
	w.ok(command{deferral: true}).defers(
		`sim_thing.b create absent_prereq sim_thing.base`,
		`sim_thing.c["x"] create absent_prereq sim_thing.base`,
	)
	w.exists("a", "base")
	r := w.ok(command{deferral: true}).defers()
	w.exists("a", "base")
	if len(r.plan.Changes) != 4 {
		t.Errorf("changes: got %d, want 4", len(r.plan.Changes))
	}
}

// TestKeptWhileUndecided refreshes the objects of a block whose instances are unknown, at any depth, and
// takes none for an orphan.
func TestKeptWhileUndecided(t *testing.T) {
	t.Parallel()
	text := func(base, keys string) string {
		return `
resource "sim_thing" "base" {
  name = "base"
  size = ` + base + `
}
locals { keys = ` + keys + ` }
resource "sim_thing" "each" {
  for_each = local.keys
  name     = "each-${each.key}"
}
module "m" {
  source   = "./m"
  for_each = local.keys
  name     = each.key
}`
	}
	w := newWorld(t, text("1", `toset(["a", "b"])`))
	w.file("m/main.tf", prelude+`
variable "name" {}
module "n" {
  source = "../n"
  count  = 2
  name   = "${var.name}-${count.index}"
}`)
	w.file("n/main.tf", prelude+`
variable "name" {}
resource "sim_thing" "x" { name = var.name }
data "sim_lookup" "x" { name = sim_thing.x.name }`)
	w.ok(command{})
	all := w.live()
	w.config(text("2", `toset([for k in ["a", "b"] : k if sim_thing.base.serial != 77])`))
	r := w.ok(command{deferral: true})
	r.did("update base")
	if got := r.planLog.Count(simlog.Filter{RPC: "ReadResource"}); got != len(all) {
		t.Errorf("objects that were read: got %d, want %d", got, len(all))
	}
	r.defers(
		`sim_thing.each["*"] create instance_count_unknown sim_thing.base`,
		`module.m["*"].module.n[0].data.sim_lookup.x read instance_count_unknown sim_thing.base`,
		`module.m["*"].module.n[0].sim_thing.x create instance_count_unknown sim_thing.base`,
		`module.m["*"].module.n[1].data.sim_lookup.x read instance_count_unknown sim_thing.base`,
		`module.m["*"].module.n[1].sim_thing.x create instance_count_unknown sim_thing.base`,
	)
	w.ok(command{deferral: true}).defers().did()
}

func TestProviderDefers(t *testing.T) {
	t.Parallel()
	for _, rpc := range []string{"PlanResourceChange", "ReadDataSource", "OpenEphemeralResource"} {
		t.Run(rpc, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "found" { name = "found" }
data "sim_lookup" "x" {
  name = "found"
}
ephemeral "sim_secret" "x" { name = "x" }
resource "sim_thing" "y" { name = "y" }
resource "sim_thing" "user" {
  name      = "user"
  secret_wo = ephemeral.sim_secret.x.value
  json      = jsonencode([data.sim_lookup.x.id, sim_thing.x.id])
}`)
			w.ok(command{targets: []string{"sim_thing.found"}})
			w.rules = `[{"rpc":"` + rpc + `","do":"deferred","nth":1,"shared":true}]`
			r := w.run(command{deferral: true, planOnly: true})
			for _, d := range r.plan.Deferrals {
				t.Log(d.Change.Object(), d.Reason, d.WaitsFor)
			}
			if len(r.plan.Deferrals) == 0 || r.planDiags.HasErrors() {
				t.Errorf("nothing is deferred: %v", r.planDiags)
			}
		})
	}
}

// TestProviderIsConfiguredToDefer announces deferral to a provider in a plan with the option, and not in an
// apply: that begins with another process if the provider has put off an answer.
func TestProviderIsConfiguredToDefer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "y" { name = "y" }`)
	allowed := func(log simlog.Log) (got []bool) {
		for _, c := range log.Calls(simlog.Filter{RPC: "ConfigureProvider"}) {
			got = append(got, c.Begin.Caps["deferral"])
		}
		return got
	}
	if got := allowed(w.run(command{planOnly: true}).planLog); !slices.Equal(got, []bool{false}) {
		t.Errorf("without the option: got %v, want one configuration without deferral", got)
	}
	w.rules = `[{"rpc":"PlanResourceChange","do":"deferred","nth":1,"shared":true}]`
	r := w.ok(command{deferral: true})
	if plan, apply := allowed(r.planLog), allowed(r.applyLog); !slices.Equal(plan, []bool{true}) || !slices.Equal(apply, []bool{false}) {
		t.Errorf("configurations that allow deferral: got %v and %v, want one that does in the plan and one that does not in the apply", plan, apply)
	}
}

// TestDestructionWaits has destructions wait for deferred objects that depend on the destroyed ones.
func TestDestructionWaits(t *testing.T) {
	t.Parallel()
	const text = `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "old" { name = "old" }
resource "sim_thing" "user" {
  for_each = toset(["a"])
  name     = "user"
  json     = jsonencode(sim_thing.old.id)
}`
	w := newWorld(t, text)
	w.ok(command{})
	late := strings.NewReplacer(`name = "base" }`, `name = "new" }`, `toset(["a"])`, `toset(sim_thing.base.serial > 0 ? ["a"] : [])`)
	// The object is not in the configuration any more, and the deferred object depends on it.
	w.config(strings.NewReplacer(`resource "sim_thing" "old" { name = "old" }`, "", "sim_thing.old.id", "1").Replace(late.Replace(text)))
	w.ok(command{deferral: true}).defers(
		`sim_thing.old delete deferred_prereq sim_thing.user["a"]`,
		`sim_thing.user["*"] create instance_count_unknown sim_thing.base`,
	)
	w.exists("new", "old", "user")
	w.ok(command{deferral: true}).defers().did("update user", "delete old")
}

// TestReplacementWaits defers a replacement as a whole, or its second half.
func TestReplacementWaits(t *testing.T) {
	t.Parallel()
	text := func(base, replace, keys, lifecycle string) string {
		return `
resource "sim_thing" "base" {
  name = "base"
  size = ` + base + `
}
resource "sim_thing" "old" {
  name       = "old"
  replace_me = "` + replace + `"
  ` + lifecycle + `
}
resource "sim_thing" "reader" {
  name = "reader"
  json = jsonencode(sim_thing.old.id)
}
resource "sim_thing" "user" {
  for_each = toset(` + keys + `)
  name     = "user"
  json     = jsonencode(sim_thing.old.id)
}`
	}
	const keys = `sim_thing.base.serial > 0 ? ["a"] : []`
	t.Run("as a whole", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("1", "1", `["a"]`, ""))
		w.ok(command{})
		w.config(text("2", "2", keys, ""))
		r := w.ok(command{deferral: true}).defers(
			`sim_thing.old delete-create deferred_prereq sim_thing.user["a"]`,
			`sim_thing.reader no-op deferred_prereq sim_thing.old`,
			`sim_thing.user["*"] create instance_count_unknown sim_thing.base`,
		)
		if got := r.planLog.Count(simlog.Filter{RPC: "ReadResource"}); got != 4 {
			t.Errorf("objects that were read: got %d, want 4", got)
		}
		r.did("update base")
		w.ok(command{deferral: true}).defers()
		w.ok(command{deferral: true}).defers().did()
	})
	t.Run("the second half", func(t *testing.T) {
		t.Parallel()
		const first = "lifecycle {\n create_before_destroy = true\n }"
		w := newWorld(t, text("1", "1", `["a"]`, first))
		w.ok(command{})
		w.config(text("2", "2", keys, first))
		memory := rounds.New(time.Now())
		w.ok(command{deferral: true, memory: memory}).defers(`sim_thing.user["*"] create instance_count_unknown sim_thing.base`).didInAnyOrder("update base", "create old", "update reader")
		r := w.ok(command{deferral: true, memory: memory}).defers().did("update user", "delete old")
		if got := r.planLog.Count(simlog.Filter{RPC: "ReadResource", Name: "old"}); got != 0 {
			t.Errorf("reads of the old object: got %d, want 0: the first round has read it", got)
		}
	})
	t.Run("stuck", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("1", "1", `["a"]`, ""))
		w.ok(command{})
		w.config(text("1", "2", `sim_thing.old.serial > 0 ? ["a"] : []`, ""))
		w.fails(command{deferral: true}, "Objects wait for each other", "sim_thing.old", `sim_thing.user["a"]`, "create_before_destroy")
	})
}

// TestDeferredAction defers the change that triggers an action which must wait.
func TestDeferredAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
provider "sim" {
  alias  = "late"
  region = "r${sim_thing.base.serial}"
}
action "sim_note" "a" {
  provider = sim.late
  config { name = "noted" }
}
resource "sim_thing" "x" {
  name = "x"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.a]
    }
  }
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode(sim_thing.x.id)
}`)
	w.ok(command{deferral: true}).defers(
		"sim_thing.user create deferred_prereq sim_thing.x",
		"sim_thing.x create deferred_prereq sim_thing.base",
	)
	w.exists("base")
	r := w.ok(command{deferral: true}).defers()
	if len(r.plan.Invocations) != 1 {
		t.Errorf("invocations: got %d, want 1", len(r.plan.Invocations))
	}
}

// TestDeferredActionInstances defers the change that triggers an action whose instances are not known: they
// depend on something that is deferred, or that the plan changes.
func TestDeferredActionInstances(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		repeat, key, waits string
		excluded           string // a block without which there is no need for the action
	}{
		"deferred":  {"count = length(sim_thing.u)", "0", "sim_thing.u", "sim_thing.u"},
		"undecided": {"for_each = toset([sim_thing.base.id])", `"base-1"`, "sim_thing.base", "sim_thing.t"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
resource "sim_thing" "u" {
  for_each = toset([sim_thing.base.id])
  name     = "u"
}
action "sim_note" "n" {
  `+test.repeat+`
  config { name = "noted" }
}
resource "sim_thing" "t" {
  name = "t"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.sim_note.n[`+test.key+`]]
    }
  }
}
resource "sim_thing" "user" {
  name = "user"
  json = jsonencode(sim_thing.t.id)
}`)
			w.fails(command{}, "Invalid", "for_each")
			w.ok(command{excludes: []string{"sim_thing.u", test.excluded}, planOnly: true}).plans("sim_thing.base create")
			w.ok(command{deferral: true}).defers(
				"sim_thing.t create deferred_prereq "+test.waits,
				`sim_thing.u["*"] create instance_count_unknown sim_thing.base`,
				"sim_thing.user create deferred_prereq sim_thing.t",
			)
			w.exists("base")
			if r := w.ok(command{deferral: true}).defers(); len(r.plan.Invocations) != 1 {
				t.Errorf("invocations: got %d, want 1", len(r.plan.Invocations))
			}
		})
	}
}

// TestDependencyOnUndecidedModule keeps the recorded dependencies of an object that stays as it is, while the
// instances of a module that it depends on are unknown.
func TestDependencyOnUndecidedModule(t *testing.T) {
	t.Parallel()
	text := func(size int) string {
		return fmt.Sprintf(`
resource "sim_thing" "base" {
  name = "base"
  size = %d
}
module "m" {
  source = "./m"
  count  = min(sim_thing.base.serial, 1)
}
ephemeral "sim_secret" "s" {
  name = "s"
  hint = module.m[0].id
}
resource "sim_thing" "user" {
  name              = "user"
  secret_wo         = ephemeral.sim_secret.s.value
  secret_wo_version = 1
}`, size)
	}
	w := newWorld(t, text(1))
	w.file("m/main.tf", prelude+`
resource "sim_thing" "in" { name = "in" }
output "id" { value = sim_thing.in.id }`)
	w.ok(command{deferral: true})
	w.ok(command{deferral: true})
	w.config(text(2))
	w.ok(command{deferral: true}).defers(`module.m["*"].sim_thing.in create instance_count_unknown sim_thing.base`)
	if got, want := fmt.Sprint(w.object("sim_thing.user").Dependencies), "[module.m.sim_thing.in sim_thing.base]"; got != want {
		t.Errorf("dependencies: got %s, want %s", got, want)
	}
}
