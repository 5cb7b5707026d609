package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// departing is a resource whose destroy-time provisioner uses something ephemeral; more stands in its block,
// command in the provisioner.
func departing(secret, more, command string) string {
	return `
ephemeral "sim_secret" "s" {
  name = "s"
  ` + secret + `
}
resource "sim_thing" "x" {
  name = "x"
  ` + more + `
  provisioner "local-exec" {
    when        = destroy
    command     = "` + command + `"
    environment = { V = ephemeral.sim_secret.s.value }
  }
}`
}

// TestE72ClosedInEveryEnding relies on the check that every command makes: what was opened is closed exactly
// once. The object stays in the state, and is not tainted, unless it was destroyed.
func TestE72ClosedInEveryEnding(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text, rule string
		words            []string
		gone             bool
		opened           int
	}{
		{name: "success", text: departing("", "", `test -n \"$V\"`), gone: true, opened: 1},
		{name: "provisioner fails", text: departing("", "", "echo $V; exit 4"), words: []string{"sim_thing.x", "exit status 4"}, opened: 1},
		{name: "provisioner may fail", text: departing("", "", "exit 4\"\n on_failure = \"continue"), gone: true, opened: 1},
		{name: "opening fails", text: departing(`fail_on = "open"`, "", "true"), words: []string{"asked to fail on open"}, opened: 1},
		{name: "closing fails", text: departing(`fail_on = "close"`, "", "true"), words: []string{"Ephemeral resource may still be live"}, gone: true, opened: 1},
		{name: "destroying fails", text: departing("", `fail_on = "delete"`, "true"), words: []string{"asked to fail on delete"}, opened: 1},
		{name: "postcondition fails", text: departing(`lifecycle {
		    postcondition {
		      condition     = !terraform.applying || self.value == "no"
		      error_message = "not so"
		    }
		  }`, "", "true"), words: []string{"postcondition failed"}, opened: 1},
		{name: "no such attribute", text: departing("", "", "${self.nope}"), words: []string{"nope"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
			w.ok(command{})
			w.config(row.text)
			if row.name == "destroying fails" {
				w.ok(command{})
			}
			r := w.run(command{mode: plan.Destroy})
			if r.diags().HasErrors() != (row.words != nil) {
				t.Errorf("diagnostics: got %s, want errors with %q (none if empty)", texts(r.diags()), row.words)
			}
			if row.words != nil {
				r.wants(diag.Error, row.words...)
			}
			if got := opens(r.applyLog, "s"); got != row.opened {
				t.Errorf("%d openings in apply, want %d", got, row.opened)
			}
			if row.gone {
				w.has()
			} else {
				w.has("sim_thing.x")
			}
		})
	}
}

// TestE72WindowAroundTheStep runs the provisioners before the destruction, and what is used is open until
// that is over.
func TestE72WindowAroundTheStep(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, departing("", "", "true")+`
resource "sim_slow" "tail" {
  name         = "tail"
  delete_delay = "1s"
}
ephemeral "sim_secret" "other" { name = "other" }
resource "sim_thing" "plain" {
  name              = "plain"
  secret_wo         = ephemeral.sim_secret.other.value
  secret_wo_version = 1
}`, func(t *testing.T, w *world) {
		w.ok(command{})
		r := w.ok(command{mode: plan.Destroy})
		if n := opens(r.log(), "other"); n != 0 {
			t.Errorf("E40: %d openings for an object without destroy-time provisioners, want 0", n)
		}
		if n := opens(r.planLog, ""); n != 0 {
			t.Errorf("E40: %d openings in plan, want 0", n)
		}
		s, x := window(t, r.applyLog, "s"), applyOf(t, r.applyLog, "x")
		before(t, "opened after the destruction had begun", s.Open.End.T, x.Begin.T)
		before(t, "closed before the destruction was over", x.End.T, s.Closes[0].Begin.T)
		before(t, "E51: open for longer than the step", s.Closes[0].Begin.T, applyOf(t, r.applyLog, "tail").End.T)
		if got := r.kinds(event.OpProvision, "sim_thing.x"); !slices.Equal(got, []event.Kind{event.Started, event.Output, event.Completed}) {
			t.Errorf("events of the provisioner: got %v, want %v", got, []event.Kind{event.Started, event.Output, event.Completed})
		}
		if got := w.journal.trail; !slices.Contains(got, "begin provision sim_thing.x") {
			t.Errorf("journal: %q", got)
		}
	})
}

// awaitFile waits until another process has made a file, for half a minute at most.
func awaitFile(path string) {
	for range 1500 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestInterruptedDeparture stops the command, runs no other, and destroys nothing.
func TestInterruptedDeparture(t *testing.T) {
	t.Parallel()
	for _, onFailure := range []string{"fail", "continue"} {
		t.Run(onFailure, func(t *testing.T) {
			t.Parallel()
			begun := filepath.Join(t.TempDir(), "begun") // what the command prints is not shown
			w := newWorld(t, departing("", "", "touch "+begun+"; exec sleep 30\"\n    on_failure = \""+onFailure))
			w.ok(command{})
			soft, cancel := context.WithCancel(t.Context())
			defer cancel()
			begin := time.Now()
			r := w.fails(command{mode: plan.Destroy, soft: soft, onEvent: during(event.OpProvision, "sim_thing.x", func() {
				awaitFile(begun)
				cancel()
			})}, "interrupted")
			if d := time.Since(begin); d > 15*time.Second {
				t.Errorf("the command took %s", d)
			}
			r.did()
			w.has("sim_thing.x")
			w.exists("x")
		})
	}
}

// TestE72ExcludedAndTargeted leaves an object whose provisioner needs what is excluded, and takes along what
// needs a targeted one.
func TestE72ExcludedAndTargeted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "key" { name = "key" }
ephemeral "sim_secret" "s" { name = sim_thing.key.name }
resource "sim_thing" "x" {
  name = "x"
  provisioner "local-exec" {
    when        = destroy
    command     = "test -n \"$V\""
    environment = { V = ephemeral.sim_secret.s.value }
  }
}
resource "sim_thing" "y" { name = "y" }`)
	r := w.ok(command{})
	before(t, "made before what its provisioner needs", applyOf(t, r.applyLog, "key").End.T, applyOf(t, r.applyLog, "x").Begin.T)
	w.ok(command{mode: plan.Destroy, planOnly: true, excludes: []string{"ephemeral.sim_secret.s"}}).plans("sim_thing.y delete")
	w.ok(command{mode: plan.Destroy, planOnly: true, targets: []string{"sim_thing.x"}}).plans("sim_thing.x delete")
	r = w.ok(command{mode: plan.Destroy, targets: []string{"sim_thing.key"}})
	r.plans("sim_thing.key delete", "sim_thing.x delete").did("delete x", "delete key")
	w.has("sim_thing.y")
}

// TestForgetNeedsNoProvider forgets where the provider can no longer be configured, and would refuse each
// call.
func TestForgetNeedsNoProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
provider "sim" { alias = "gone" }
resource "sim_thing" "x" {
  provider = sim.gone
  name     = "x"
}`)
	w.ok(command{})
	w.config(`removed {
  from = sim_thing.x
  lifecycle { destroy = false }
}`)
	r := w.ok(command{})
	for _, rpc := range []string{"ConfigureProvider", "ReadResource", "PlanResourceChange", "ApplyResourceChange"} {
		if n := r.log().Count(simlog.Filter{RPC: rpc}); n != 0 {
			t.Errorf("%d calls of %s, want 0", n, rpc)
		}
	}
	r.plans("sim_thing.x forget delete_because_no_resource_config")
	if n := r.applied.Counts.Forget; n != 1 {
		t.Errorf("%d forgotten, want 1", n)
	}
	w.has()
	w.exists("x")
}

// TestWhatTheStateSaysOfDestroying holds for deposed objects and for instances that the configuration no
// longer has, also while everything is destroyed, and the block for the instances that it has.
func TestWhatTheStateSaysOfDestroying(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  for_each = toset(["a", "b"])
  name     = each.key
  lifecycle { destroy = true }
}`)
	object := func(key, more string) string {
		return `{"index_key":"` + key + `","schema_version":1,"skip_destroy":true,"attributes":{"id":"` + key + `-1","name":"` + key + `"}` + more + `}`
	}
	w.store.Put("default", []byte(`{"version":4,"terraform_version":"1.5.0","serial":7,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"sim_thing",
"name":"x","provider":"provider[\"mayfly.dev/test/sim\"]","instances":[`+
		object("a", "")+","+object("a", `,"deposed":"0badcafe"`)+","+object("b", "")+","+object("c", "")+`]}]}`))
	w.ok(command{planOnly: true, skipRefresh: true, mode: plan.Destroy}).plans(
		`sim_thing.x["a"] delete`, `sim_thing.x["a"] (deposed object 0badcafe) forget forgot_because_lifecycle_destroy_in_state`,
		`sim_thing.x["b"] delete`, `sim_thing.x["c"] forget forgot_because_lifecycle_destroy_in_state`)
	w.ok(command{planOnly: true, skipRefresh: true}).plans(
		`sim_thing.x["a"] update`, `sim_thing.x["a"] (deposed object 0badcafe) forget forgot_because_lifecycle_destroy_in_state`,
		`sim_thing.x["b"] update`, `sim_thing.x["c"] forget forgot_because_lifecycle_destroy_in_state`)
	w.config("removed {\n from = sim_thing.x\n lifecycle { destroy = false }\n}")
	w.ok(command{planOnly: true, skipRefresh: true}).plans(
		`sim_thing.x["a"] forget forgot_because_lifecycle_destroy_in_state`, `sim_thing.x["a"] (deposed object 0badcafe) forget forgot_because_lifecycle_destroy_in_state`,
		`sim_thing.x["b"] forget forgot_because_lifecycle_destroy_in_state`, `sim_thing.x["c"] forget forgot_because_lifecycle_destroy_in_state`)
	w.config("removed {\n from = sim_thing.x\n lifecycle { destroy = true }\n}")
	w.ok(command{planOnly: true, skipRefresh: true}).plans(
		`sim_thing.x["a"] delete delete_because_no_resource_config`, `sim_thing.x["a"] (deposed object 0badcafe) delete`,
		`sim_thing.x["b"] delete delete_because_no_resource_config`, `sim_thing.x["c"] delete delete_because_no_resource_config`)
}

// TestE14DepartureAndCreationOpenTheirOwn opens what changes meanwhile twice: as it was for the old object's
// provisioner, as it is for the new one's.
func TestE14DepartureAndCreationOpenTheirOwn(t *testing.T) {
	t.Parallel()
	text := func(n string) string {
		return `
resource "sim_thing" "key" {
  name = "key"
  size = ` + n + `
}
ephemeral "sim_secret" "s" { name = "s-${sim_thing.key.serial}" }
resource "sim_thing" "x" {
  name       = "x"
  replace_me = "` + n + `"
  provisioner "local-exec" {
    command     = "case $V in *-s-` + n + `) ;; *) exit 5;; esac"
    environment = { V = ephemeral.sim_secret.s.value }
  }
  provisioner "local-exec" {
    when        = destroy
    command     = "case $V in *-s-1) ;; *) exit 6;; esac"
    environment = { V = ephemeral.sim_secret.s.value }
  }
}`
	}
	w := newWorld(t, text("1"))
	w.ok(command{})
	w.config(text("2"))
	r := w.ok(command{})
	if a, b := window(t, r.applyLog, "s-1"), window(t, r.applyLog, "s-2"); a.Open.Begin.T > b.Open.Begin.T {
		t.Error("opened in the wrong order")
	}
}

// TestDepartureOfOtherKey tells that an object made before its block was repeated otherwise has no such key.
func TestDepartureOfOtherKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  count = 2
  name  = "x-${count.index}"
}`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "x" {
  for_each = toset(["a"])
  name     = each.key
  provisioner "local-exec" {
    when    = destroy
    command = "true ${each.key}"
  }
}`)
	w.fails(command{}, "Invalid reference from destroy provisioner", "each.key has no value for sim_thing.x[0]")
	w.config(`
removed {
  from = sim_thing.x
  lifecycle { destroy = true }
  provisioner "local-exec" {
    when    = destroy
    command = "test ${self.name} = x-${count.index}"
  }
}`)
	w.ok(command{}).didInAnyOrder("delete x-0", "delete x-1")
}

// TestRemovedWithinModules evaluates the provisioners of a removed block in the instance of the module that
// declares it.
func TestRemovedWithinModules(t *testing.T) {
	t.Parallel()
	const module = `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
variable "name" {}
`
	w := newWorld(t, `
module "m" {
  source   = "./m"
  for_each = toset(["a", "b"])
  name     = each.key
}`)
	w.file("m/main.tf", module+`
module "inner" {
  source = "./inner"
  name   = var.name
}`)
	w.file("m/inner/main.tf", module+`resource "sim_thing" "x" { name = var.name }`)
	w.ok(command{})
	w.file("m/inner/main.tf", module)
	w.file("m/main.tf", module+`
ephemeral "sim_secret" "s" { name = var.name }
removed {
  from = module.inner.sim_thing.x
  lifecycle { destroy = true }
  provisioner "local-exec" {
    when        = destroy
    command     = "case $V in *-${self.name}) ;; *) exit 3;; esac"
    environment = { V = ephemeral.sim_secret.s.value }
  }
}`)
	if diags := w.validate(); diags.HasErrors() {
		t.Errorf("validate: %s", texts(diags))
	}
	r := w.ok(command{})
	r.didInAnyOrder("delete a", "delete b")
	window(t, r.applyLog, "a")
	window(t, r.applyLog, "b")
	w.has()
}

// TestDepartureOfImported is that of an object which is imported and replaced at once.
func TestDepartureOfImported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{})
	w.config("removed {\n from = sim_thing.x\n lifecycle { destroy = false }\n}")
	w.ok(command{})
	w.config(`
import {
  to = sim_thing.y
  id = "x-1"
}
resource "sim_thing" "y" {
  name = "y"
  provisioner "local-exec" {
    when    = destroy
    command = "test ${self.name} = x"
  }
}`)
	r := w.ok(command{}).did("delete x", "create y")
	if got := r.kinds(event.OpProvision, "sim_thing.y"); len(got) == 0 {
		t.Error("no provisioner ran")
	}
}
