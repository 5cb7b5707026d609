package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestUpdateThatTurnsOutEmpty plans an update because of an unknown value that comes out as it was: the
// provider is not asked to change anything.
func TestUpdateThatTurnsOutEmpty(t *testing.T) {
	t.Parallel()
	text := func(size string) string {
		return `
resource "sim_thing" "a" {
  name = "a"
  size = ` + size + `
}
resource "sim_thing" "b" {
  name = "b"
  json = jsonencode(sim_thing.a.status)
}
resource "sim_thing" "c" {
  name       = "c"
  replace_me = sim_thing.a.status
}
output "b" { value = sim_thing.b.serial }`
	}
	w := newWorld(t, text("1"))
	w.ok(command{})
	w.config(text("2"))
	r := w.ok(command{})
	r.plans("sim_thing.a update", "sim_thing.b update", "sim_thing.c delete-create replace_because_cannot_update")
	r.didInAnyOrder("update a", "delete c", "create c")
	if w.attr("sim_thing.b", "serial") != "1" || w.output("b") == "" {
		t.Errorf("got serial %s and output %q of b, want serial 1 and an output", w.attr("sim_thing.b", "serial"), w.output("b"))
	}
	w.ok(command{planOnly: true}).plans()
}

// TestModuleDependsOn defers what is in a module that depends on a pending change, also through objects that
// don't change, and so do those that depend on the module.
func TestModuleDependsOn(t *testing.T) {
	t.Parallel()
	text := func(size string) string {
		return `
resource "sim_thing" "a" {
  name = "a"
  size = ` + size + `
}
resource "sim_thing" "link" {
  name = "link"
  json = jsonencode(sim_thing.a.name)
}
module "m" {
  source     = "./m"
  depends_on = [sim_thing.link]
}
data "sim_lookup" "after" {
  name       = "b"
  depends_on = [module.m]
}
data "sim_lookup" "direct" {
  name       = "link"
  depends_on = [sim_thing.link]
}`
	}
	w := newWorld(t, text("1"))
	w.file("m/main.tf", prelude+`
data "sim_lookup" "d" { name = "a" }
resource "sim_thing" "b" {
  name = "b"
  json = jsonencode(data.sim_lookup.d.id)
}`)
	r := w.ok(command{})
	r.plans("data.sim_lookup.after read read_because_dependency_pending", "data.sim_lookup.direct read read_because_dependency_pending",
		"sim_thing.a create", "sim_thing.link create",
		"module.m.data.sim_lookup.d read read_because_dependency_pending", "module.m.sim_thing.b create")
	r.did("create a", "create link", "create b")
	w.ok(command{planOnly: true}).plans()
	w.config(text("2"))
	w.ok(command{}).plans("data.sim_lookup.after read read_because_dependency_pending", "sim_thing.a update",
		"module.m.data.sim_lookup.d read read_because_dependency_pending", "module.m.sim_thing.b update")
	r = w.ok(command{mode: plan.Destroy})
	r.did("delete b", "delete link", "delete a")
}

// TestModuleIsABarrier has what uses a module, by its outputs or in depends_on, wait for what the module
// waits for, whatever is in it.
func TestModuleIsABarrier(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" {
  name    = "a"
  fail_on = "create"
}
module "m" {
  source     = "./m"
  depends_on = [sim_thing.a]
}
resource "sim_thing" "reads" {
  name = module.m.name
}
resource "sim_thing" "follows" {
  name       = "follows"
  depends_on = [module.m]
}`)
	w.file("m/main.tf", `output "name" { value = "reads" }`)
	w.fails(command{}, "sim_thing.a", "asked to fail on create").did("create a")
	w.ok(command{planOnly: true, targets: []string{"sim_thing.reads"}}).plans("sim_thing.a create", "sim_thing.reads create")
}

// TestEphemeralsThroughModules passes a secret down by an ephemeral variable and up by an ephemeral output,
// per module instance.
func TestEphemeralsThroughModules(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
locals { delays = { a = "0s", b = "1s" } }
module "source" {
  source   = "./source"
  for_each = local.delays
  name     = each.key
}
module "sink" {
  source   = "./sink"
  for_each = local.delays
  name     = "x-${each.key}"
  delay    = each.value
  secret   = module.source[each.key].lease
}`, func(t *testing.T, w *world) {
		w.file("source/main.tf", prelude+`
variable "name" {}
ephemeral "sim_secret" "s" { name = var.name }
output "lease" {
  value     = ephemeral.sim_secret.s.lease
  ephemeral = true
}`)
		w.file("sink/main.tf", prelude+`
variable "name" {}
variable "delay" {}
variable "secret" { ephemeral = true }
locals { both = { lease = var.secret } }
resource "sim_thing" "x" {
  name      = var.name
  delay     = var.delay
  secret_wo = local.both.lease
}`)
		r := w.ok(command{})
		_, end := window(t, r.applyLog, "a").Span()
		before(t, "the window of a was closed only after the work on b", end, applyOf(t, r.applyLog, "x-b").End.T)
		if !window(t, r.applyLog, "b").Covers(applyOf(t, r.applyLog, "x-b")) {
			t.Error("the window of b does not cover its consumer")
		}
	})
}

// TestFailedOpeningBlocksItsConsumersOnly tells one error, whatever the number of consumers.
func TestFailedOpeningBlocksItsConsumersOnly(t *testing.T) {
	t.Parallel()
	text := `
ephemeral "sim_secret" "s" {
  name    = "s"
  fail_on = "open"
}
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "direct" {
  count     = 3
  name      = "direct${count.index}"
  secret_wo = ephemeral.sim_secret.s.lease
}
resource "sim_thing" "by_provider" {
  count    = 3
  provider = sim.p
  name     = "p${count.index}"
}
resource "sim_thing" "good" { name = "good" }`
	w := newWorld(t, text)
	r := w.fails(command{}, "ephemeral.sim_secret.s", "asked to fail on open")
	if n := opens(r.log(), "s"); r.errors() != 1 || n != 1 {
		t.Errorf("got %d openings, %s, want one, one error", n, texts(r.diags()))
	}
	if n := r.planLog.Count(simlog.Filter{RPC: "PlanResourceChange"}); n != 1 {
		t.Errorf("%d resources were planned, want good alone", n)
	}

	w = newWorld(t, strings.Replace(text, `fail_on = "open"`, "", 1))
	w.rules = rules(`{"rpc":"OpenEphemeralResource","do":"rpc-error","nth":2}`)
	r = w.run(command{})
	if r.errors() != 1 {
		t.Errorf("errors: got %s, want 1", texts(r.diags()))
	}
	w.has("sim_thing.good")
}

// TestOneConfigureErrorForAll tells a provider's refusal once.
func TestOneConfigureErrorForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  count = 5
  name  = "x${count.index}"
}`)
	w.rules = rules(`{"rpc":"ConfigureProvider","do":"error","text":"bad token"}`)
	if r := w.fails(command{}, "bad token"); r.errors() != 1 {
		t.Errorf("errors: got %s, want 1", texts(r.diags()))
	}
}

// TestCrashTellsOnce has one error for a crash, however many resources the provider has.
func TestCrashTellsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  count = 8
  name  = "x${count.index}"
}`)
	w.rules = rules(`{"rpc":"ApplyResourceChange","do":"exit","when":"before","nth":3,"text":"last words"}`)
	r := w.fails(command{parallelism: 1}, "stopped unexpectedly", "last words")
	if r.errors() != 1 {
		t.Errorf("errors: got %s, want 1", texts(r.diags()))
	}
	if n := len(w.addresses()); n != 2 {
		t.Errorf("%d objects in the state, want the 2 that were made before: %q", n, w.addresses())
	}
}

// TestCrashAfterAnswer keeps the result of the call that was answered.
func TestCrashAfterAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "after" {
  name  = "after"
  json  = jsonencode(sim_thing.x.id)
  delay = "2s"
}`)
	w.rules = rules(quoted("ApplyResourceChange", `"do":"exit","when":"after","ms":100`))
	w.fails(command{}, "sim_thing.after", "stopped unexpectedly")
	w.has("sim_thing.x")
}

// TestDestroyIgnoresConditions destroys although a precondition would fail.
func TestDestroyIgnoresConditions(t *testing.T) {
	t.Parallel()
	text := func(want string) string {
		return `
ephemeral "sim_secret" "s" {
  name = "s"
  lifecycle {
    postcondition {
      condition     = self.hint == ` + want + `
      error_message = "no"
    }
  }
}
resource "sim_thing" "x" {
  name = "x"
  lifecycle {
    precondition {
      condition     = terraform.workspace == "default" && ` + want + ` == null
      error_message = "no"
    }
  }
}`
	}
	w := newWorld(t, text("null"))
	w.ok(command{})
	w.config(text(`"other"`))
	r := w.ok(command{mode: plan.Destroy})
	if n := opens(r.log(), ""); n != 0 {
		t.Errorf("got %d openings, want 0", n)
	}
	w.exists()
}

// TestSensitivityIsStored marks what came from a sensitive variable, and takes the mark away without a change
// of the object.
func TestSensitivityIsStored(t *testing.T) {
	t.Parallel()
	text := func(sensitive string) string {
		return `
variable "v" {
  type      = string
  sensitive = ` + sensitive + `
}
resource "sim_thing" "x" {
  name = "x"
  json = jsonencode(var.v)
}`
	}
	vars := map[string]cty.Value{"v": cty.StringVal("value")}
	w := newWorld(t, text("true"))
	w.ok(command{vars: vars})
	if n := len(w.object("sim_thing.x").Sensitive); n < 2 { // json, and what the schema says
		t.Errorf("%d sensitive paths", n)
	}
	w.ok(command{vars: vars, planOnly: true}).plans()
	w.config(text("false"))
	w.ok(command{vars: vars}).plans("sim_thing.x update").did()
	w.ok(command{vars: vars, planOnly: true}).plans()
}

// TestPrivateDataIsHandedOn follows the private data from one run to the next.
func TestPrivateDataIsHandedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	r := w.ok(command{})
	answered := string(applyOf(t, r.applyLog, "x").End.Private)
	r = w.ok(command{planOnly: true})
	for _, rpc := range []string{"ReadResource", "PlanResourceChange"} {
		if got := string(call(t, r.planLog, simlog.Filter{RPC: rpc}).Begin.Private); got != answered || got == "" {
			t.Errorf("%s was sent the private data: got %q, want %q", rpc, got, answered)
		}
	}
}

// TestJournalFails starts nothing further once a result could not be made durable.
func TestJournalFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chain)
	w.failAfter = 3 // begin and end of a, begin of b
	r := w.fails(command{}, "Result could not be recorded", "no space left")
	r.did("create a", "create b")
	if !slices.Equal(w.addresses(), []string{"sim_thing.a", "sim_thing.b"}) {
		t.Errorf("the state in memory was not written at the end: got %q, want %q", w.addresses(), []string{"sim_thing.a", "sim_thing.b"})
	}
}
