package engine_test

import (
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// checks returns the stored results of conditions as "config status".
func (w *world) checks() []string {
	var out []string
	for _, c := range w.state().Checks {
		out = append(out, c.Config+" "+string(c.Status))
	}
	slices.Sort(out)
	return out
}

func TestConditions(t *testing.T) {
	t.Parallel()
	text := func(pre, post string) string {
		return `
locals { one = 1 }
resource "sim_thing" "x" {
  name = "x"
  lifecycle {
    precondition {
      condition     = ` + pre + `
      error_message = "pre failed"
    }
    postcondition {
      condition     = ` + post + `
      error_message = "post failed"
    }
  }
}
resource "sim_thing" "y" {
  name = "y"
  json = jsonencode(sim_thing.x.id)
}`
	}
	t.Run("hold", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("local.one == 1", "self.id == \"x-1\""))
		r := w.ok(command{})
		if i := slices.IndexFunc(r.plan.Checks, func(c state.CheckResult) bool { return c.Config == "sim_thing.x" }); i < 0 || r.plan.Checks[i].Status != state.CheckUnknown {
			t.Errorf("checks of the plan: got %+v, want sim_thing.x unknown", r.plan.Checks)
		}
		if got := w.checks(); !slices.Equal(got, []string{"sim_thing.x pass"}) {
			t.Errorf("checks: got %q, want %q", got, []string{"sim_thing.x pass"})
		}
	})
	t.Run("precondition fails", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("local.one == 2", "self.name == \"x\""))
		r := w.fails(command{}, "sim_thing.x", "Resource precondition failed", "pre failed")
		if n := r.log().Count(simlog.Filter{RPC: "PlanResourceChange"}); n != 0 {
			t.Errorf("%d resources were planned, want 0: neither x nor what depends on it may be", n)
		}
	})
	t.Run("postcondition fails in plan", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("local.one == 1", "self.label == \"no\""))
		w.fails(command{}, "Resource postcondition failed", "post failed")
		w.exists()
	})
	t.Run("postcondition fails in apply", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("local.one == 1", "self.id == \"no\""))
		r := w.fails(command{}, "Resource postcondition failed", "post failed")
		r.did("create x")
		w.has("sim_thing.x") // exists, is not tainted, and what depends on it was not begun
		if got := w.checks(); !slices.Equal(got, []string{"sim_thing.x fail"}) {
			t.Errorf("checks: got %q, want %q", got, []string{"sim_thing.x fail"})
		}
	})
}

// TestFailureIsolation fails one of five: only what depends on it is passed over.
func TestFailureIsolation(t *testing.T) {
	t.Parallel()
	text := func(failOn string) string {
		return `
resource "sim_thing" "r" {
  count   = 5
  name    = "r${count.index}"
  fail_on = count.index == 2 ? ` + failOn + ` : null
}
resource "sim_thing" "d" {
  count = 5
  name  = "d${count.index}"
  json  = jsonencode(sim_thing.r[count.index].id)
}
output "d0" { value = sim_thing.d[0].id }
output "d2" { value = sim_thing.d[2].id }
`
	}
	w := newWorld(t, text(`"create"`))
	r := w.fails(command{}, "sim_thing.r[2]", "asked to fail on create")
	if r.errors() != 1 {
		t.Errorf("got %d errors, want 1: %s", r.errors(), texts(r.diags()))
	}
	w.exists("d0", "d1", "d3", "d4", "r0", "r1", "r3", "r4")
	if w.output("d0") != "d0-1" || w.output("d2") != "" {
		t.Errorf("outputs: got d0 = %q, d2 = %q, want \"d0-1\", none", w.output("d0"), w.output("d2"))
	}
	w.config(text("null"))
	w.ok(command{}).plans("sim_thing.d[2] create", "sim_thing.r[2] create")

	w = newWorld(t, text(`"plan"`))
	r = w.fails(command{}, "sim_thing.r[2]", "asked to fail on plan")
	if r.errors() != 1 {
		t.Errorf("got %d errors, want 1: %s", r.errors(), texts(r.diags()))
	}
	if n := r.planLog.Count(simlog.Filter{RPC: "PlanResourceChange"}); n != 9 {
		t.Errorf("%d were planned, want all but the dependent of the failed one: 9", n)
	}
}

// TestDestroyFailureBlocksWhatItUses keeps what an object that could not be destroyed depends on.
func TestDestroyFailureBlocksWhatItUses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
resource "sim_thing" "b" {
  name    = "b"
  json    = jsonencode(sim_thing.a.id)
  fail_on = "delete"
}
resource "sim_thing" "c" { name = "c" }`)
	w.ok(command{})
	r := w.fails(command{mode: plan.Destroy}, "sim_thing.b", "asked to fail on delete")
	r.didInAnyOrder("delete b", "delete c")
	w.has("sim_thing.a", "sim_thing.b")
}

func TestDataDeferral(t *testing.T) {
	t.Parallel()
	text := func(size string) string {
		return `
resource "sim_thing" "a" {
  name = "a"
  size = ` + size + `
}
data "sim_lookup" "d" {
  name       = "a"
  depends_on = [sim_thing.a]
}
resource "sim_thing" "b" {
  name = "b"
  size = data.sim_lookup.d.size
}`
	}
	w := newWorld(t, text("1"))
	r := w.ok(command{})
	r.plans("data.sim_lookup.d read read_because_dependency_pending", "sim_thing.a create", "sim_thing.b create")
	if r.planLog.Count(simlog.Filter{RPC: "ReadDataSource"}) != 0 || r.applyLog.Count(simlog.Filter{RPC: "ReadDataSource"}) != 1 {
		t.Error("the data source must be read once, during apply")
	}
	if w.attr("sim_thing.b", "size") != "1" {
		t.Errorf("b.size: got %s, want %s", w.attr("sim_thing.b", "size"), "1")
	}
	r = w.ok(command{planOnly: true}).plans()
	if r.planLog.Count(simlog.Filter{RPC: "ReadDataSource"}) != 1 {
		t.Error("without a pending change the data source is read during plan")
	}
	w.config(text("2"))
	w.ok(command{}).plans("data.sim_lookup.d read read_because_dependency_pending", "sim_thing.a update", "sim_thing.b update")
	if w.attr("sim_thing.b", "size") != "2" {
		t.Errorf("b.size: got %s, want %s", w.attr("sim_thing.b", "size"), "2")
	}
}

func TestDataWithUnknownConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
data "sim_lookup" "d" {
  name = trimsuffix(sim_thing.a.id, "-1")
}
output "label" { value = data.sim_lookup.d.id }`)
	w.ok(command{}).plans("data.sim_lookup.d read read_because_config_unknown", "sim_thing.a create")
	if w.output("label") != "a-1" {
		t.Errorf("output: got %q, want %q", w.output("label"), "a-1")
	}
}

func TestParallelismBound(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
resource "sim_slow" "x" {
  count        = 8
  name         = "x${count.index}"
  create_delay = "40ms"
  plan_delay   = "20ms"
}`, func(t *testing.T, w *world) {
		r := w.ok(command{parallelism: 3})
		for _, rpc := range []string{"PlanResourceChange", "ApplyResourceChange"} {
			if got := r.log().MaxConcurrency(simlog.Filter{RPC: rpc}); got != 3 {
				t.Errorf("%s: %d at once, want 3", rpc, got)
			}
		}
	})
}

// TestResultIsDurableBeforeItsDependent reads the journal's order.
func TestResultIsDurableBeforeItsDependent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
resource "sim_thing" "b" {
  name = "b"
  json = jsonencode(sim_thing.a.id)
}`)
	w.ok(command{})
	want := []string{"begin create sim_thing.a", "commit", "begin create sim_thing.b", "commit"}
	if !slices.Equal(w.journal.trail, want) {
		t.Errorf("journal: got %q, want %q", w.journal.trail, want)
	}
}

// TestUpgradeOfStoredState plans with a state of an older schema version.
func TestUpgradeOfStoredState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "x" {
  name = "x"
  size = 3
}`)
	w.ok(command{})
	w.store.Put("default", []byte(`{"version":4,"terraform_version":"1.5.0","serial":7,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"sim_thing",
"name":"x","provider":"provider[\"mayfly.dev/test/sim\"]","instances":[{"schema_version":0,"attributes":{"id":"x-1","name":"x","size":"3","labels":null}}]}]}`))
	r := w.ok(command{})
	call(t, r.planLog, simlog.Filter{RPC: "UpgradeResourceState"})
	r.plans().did()
	if o := w.object("sim_thing.x"); o.SchemaVersion != 1 || w.attr("sim_thing.x", "serial") != "1" {
		t.Errorf("got schema version %d, serial %s, want 1, 1", o.SchemaVersion, w.attr("sim_thing.x", "serial"))
	}
	r = w.ok(command{planOnly: true}).plans()
	if n := r.planLog.Count(simlog.Filter{RPC: "UpgradeResourceState"}); n != 0 {
		t.Errorf("an object of the current version was upgraded %d times, want 0", n)
	}
}

// openLeases is how many ephemerals the cloud still has open.
func (w *world) openLeases() int {
	w.t.Helper()
	n, err := simcloud.OpenLeases(w.cloud)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(n)
}
