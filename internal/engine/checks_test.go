package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// checkLines renders the results of check blocks, one object per line; blocks without objects stand for
// themselves.
func checkLines(results []state.CheckResult) []string {
	var out []string
	for _, r := range results {
		if r.Kind != "check" {
			continue
		}
		if len(r.Objects) == 0 {
			out = append(out, r.Config+" (none) "+string(r.Status))
		}
		for _, o := range r.Objects {
			text := o.Addr + " " + string(o.Status)
			if len(o.Failures) > 0 {
				text += " " + strings.Join(o.Failures, "|")
			}
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// checks compares the results of check blocks in the plan and in the stored state.
func (r *result) checks(planned, stored []string) {
	r.w.t.Helper()
	if diff := cmp.Diff(planned, checkLines(r.plan.Checks)); diff != "" {
		r.w.t.Errorf("checks of the plan (-want +got):\n%s", diff)
	}
	if stored == nil {
		return
	}
	if diff := cmp.Diff(stored, checkLines(r.w.state().Checks)); diff != "" {
		r.w.t.Errorf("checks in the state (-want +got):\n%s", diff)
	}
}

// reads is how often data sources of the name were read.
func reads(log simlog.Log, name string) int {
	return log.Count(simlog.Filter{RPC: "ReadDataSource", Name: name})
}

// TestE34CheckIsDecidedWhenItCanBe evaluates checks in the plan and again, with what has become of it, at the
// end of the apply.
func TestE34CheckIsDecidedWhenItCanBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "size" { default = 1 }
resource "sim_thing" "a" {
  name = "a"
  size = var.size
}
check "known" {
  assert {
    condition     = sim_thing.a.size == 1
    error_message = "size is ${sim_thing.a.size}"
  }
}
check "later" {
  assert {
    condition     = sim_thing.a.serial == 1
    error_message = "serial is ${sim_thing.a.serial}"
  }
  assert {
    condition     = sim_thing.a.size != 2
    error_message = "size is two"
  }
}`)
	r := w.ok(command{})
	r.checks([]string{"check.known pass", "check.later unknown"}, []string{"check.known pass", "check.later pass"})
	r.wants(diag.Warning, "check.later", "Check block assertion known after apply")
	r = w.ok(command{vars: map[string]cty.Value{"size": cty.NumberIntVal(2)}})
	r.checks([]string{"check.known fail size is 2", "check.later fail size is two"},
		[]string{"check.known fail size is 2", "check.later fail serial is 2|size is two"})
	r.wants(diag.Warning, "check.later", "Check block assertion failed", "serial is 2")
}

// TestE34CheckPerModuleInstance has one object per instance of a module, and none for a module without
// instances.
func TestE34CheckPerModuleInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" {
  source   = "./m"
  for_each = toset(["a", "b.check.c"])
  name     = each.key
}
module "none" {
  source = "./m"
  count  = 0
  name   = "none"
}`)
	w.file("m/main.tf", prelude+`
variable "name" {}
resource "sim_thing" "x" { name = var.name }
check "c" {
  data "sim_lookup" "d" { name = sim_thing.x.name }
  assert {
    condition     = data.sim_lookup.d.id == "a-1"
    error_message = "id is ${data.sim_lookup.d.id}"
  }
}`)
	r := w.ok(command{})
	r.checks(
		[]string{`module.m["a"].check.c unknown`, `module.m["b.check.c"].check.c unknown`, "module.none.check.c (none) pass"},
		[]string{`module.m["a"].check.c pass`, `module.m["b.check.c"].check.c fail id is b.check.c-1`, "module.none.check.c (none) pass"})
	if n := r.errors(); n != 0 {
		t.Errorf("got %d errors, want 0", n)
	}
}

const nestedData = `
resource "sim_thing" "a" {
  name = "a"
  size = SIZE
}
resource "sim_thing" "other" {
  name = "other"
  size = OTHER
}
check "c" {
  data "sim_lookup" "d" { name = "a" }
  assert {
    condition     = data.sim_lookup.d.size == 1
    error_message = "size is ${data.sim_lookup.d.size}"
  }
}`

// TestNestedDataIsReadAgain reads the data source of a check in the plan, and again when all changes are
// made.
func TestNestedDataIsReadAgain(t *testing.T) {
	t.Parallel()
	text := func(size, other string) string {
		return strings.NewReplacer("SIZE", size, "OTHER", other).Replace(nestedData)
	}
	w := newWorld(t, text("1", "1"))
	r := w.ok(command{}) // before there is anything to read, which is a warning
	r.plans("data.sim_lookup.d read read_because_check_nested", "sim_thing.a create", "sim_thing.other create")
	failed := r.wants(diag.Warning, "data.sim_lookup.d")
	r.checks([]string{"check.c fail " + failed.Summary + ": " + failed.Detail}, []string{"check.c pass"})
	w.has("data.sim_lookup.d", "sim_thing.a", "sim_thing.other")

	w.config(text("1", "2"))
	r = w.ok(command{})
	r.checks([]string{"check.c pass"}, []string{"check.c pass"})
	if p, a := reads(r.planLog, "a"), reads(r.applyLog, "a"); p != 1 || a != 1 {
		t.Errorf("read %d times in plan and %d in apply, want once each", p, a)
	}
	before(t, "the data source was read before the last change was made", applyOf(t, r.applyLog, "other").End.T,
		call(t, r.applyLog, simlog.Filter{RPC: "ReadDataSource"}).Begin.T)

	w.config(text("2", "2"))
	w.ok(command{}).checks([]string{"check.c pass"}, []string{"check.c fail size is 2"})
	r = w.ok(command{mode: plan.RefreshOnly}).plans()
	r.checks([]string{"check.c fail size is 2"}, []string{"check.c fail size is 2"})
}

// TestNestedDataOutage has the data source of a check fail in the apply: all changes are made, the check
// fails, and the state keeps no data from before.
func TestNestedDataOutage(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("SIZE", "1", "OTHER", "1").Replace(nestedData)
	for _, do := range []string{"error", "rpc-error", "unknown", "null-object", "wrong-type", "garbage", "deferred"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, text)
			w.ok(command{})
			w.rules = `[{"rpc":"ReadDataSource","nth":2,"shared":true,"do":"` + do + `"}]`
			r := w.ok(command{})
			stored := checkLines(w.state().Checks)
			if len(stored) != 1 || !strings.HasPrefix(stored[0], "check.c fail ") {
				t.Errorf("stored checks: got %q, want one that fails: check.c", stored)
			}
			r.checks([]string{"check.c pass"}, nil)
			w.has("sim_thing.a", "sim_thing.other")
		})
	}
}

// TestNestedDataWaits reads the data source of a check during apply only, if its configuration is not known
// or what it depends on is to change.
func TestNestedDataWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
check "unknown" {
  data "sim_lookup" "u" { name = trimsuffix(sim_thing.a.id, "-1") }
  assert {
    condition     = data.sim_lookup.u.serial == 1
    error_message = "no"
  }
}
check "pending" {
  data "sim_lookup" "p" {
    name       = "a"
    depends_on = [sim_thing.a]
  }
  assert {
    condition     = data.sim_lookup.p.serial == 1
    error_message = "no"
  }
}`)
	r := w.ok(command{})
	r.plans("data.sim_lookup.p read read_because_dependency_pending", "data.sim_lookup.u read read_because_config_unknown", "sim_thing.a create")
	r.checks([]string{"check.pending unknown", "check.unknown unknown"}, []string{"check.pending pass", "check.unknown pass"})
	if n := reads(r.planLog, ""); n != 0 {
		t.Errorf("%d reads in plan, want 0", n)
	}
	w.ok(command{planOnly: true}).plans("data.sim_lookup.p read read_because_check_nested", "data.sim_lookup.u read read_because_check_nested")
}

// TestE34CheckAfterFailure leaves undecided what a failed change was to bring, and decides the rest.
func TestE34CheckAfterFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "good" { name = "good" }
resource "sim_thing" "bad" {
  name    = "bad"
  fail_on = "create"
}
check "good" {
  assert {
    condition     = sim_thing.good.serial == 2
    error_message = "serial is ${sim_thing.good.serial}"
  }
}
check "bad" {
  assert {
    condition     = sim_thing.bad.name == "bad"
    error_message = "no"
  }
}
check "data" {
  data "sim_lookup" "d" { name = sim_thing.bad.id }
  assert {
    condition     = data.sim_lookup.d.size == 1
    error_message = "no"
  }
}`)
	r := w.fails(command{}, "sim_thing.bad", "asked to fail")
	r.checks([]string{"check.bad pass", "check.data unknown", "check.good unknown"},
		[]string{"check.bad unknown", "check.data unknown", "check.good fail serial is 1"})
	if n := reads(r.applyLog, ""); n != 0 {
		t.Errorf("got %d reads, want 0", n)
	}
}

// TestE34CheckNotEvaluated names the runs that leave checks alone: nothing of theirs is read.
func TestE34CheckNotEvaluated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.NewReplacer("SIZE", "1", "OTHER", "1").Replace(nestedData))
	unknown := []string{"check.c (none) unknown"}
	r := w.ok(command{targets: []string{"sim_thing.a"}})
	r.checks(unknown, unknown)
	if n := reads(r.log(), ""); n != 0 {
		t.Errorf("-target: got %d reads, want 0", n)
	}
	w.ok(command{})
	w.ok(command{excludes: []string{"sim_thing.other", "data.sim_lookup.d"}}).checks(unknown, unknown)
	r = w.ok(command{mode: plan.Destroy})
	r.checks(unknown, unknown)
	if n := reads(r.log(), ""); n != 0 {
		t.Errorf("destroy: got %d reads, want 0", n)
	}
}

// TestTargetedNestedData reads a data source that is targeted by itself, once, and keeps it.
func TestTargetedNestedData(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.NewReplacer("SIZE", "1", "OTHER", "1").Replace(nestedData))
	w.ok(command{targets: []string{"sim_thing.a"}})
	r := w.ok(command{targets: []string{"data.sim_lookup.d"}}).plans("data.sim_lookup.d read read_because_check_nested")
	if n := reads(r.applyLog, ""); n != 1 {
		t.Errorf("got %d reads, want 1", n)
	}
	w.has("data.sim_lookup.d", "sim_thing.a")
}

// TestAssertionErrors distinguishes invalid assertions from those that are not met.
func TestAssertionErrors(t *testing.T) {
	t.Parallel()
	check := func(condition, message string) string {
		return `
variable "v" { default = "a" }
variable "s" {
  default   = "` + canary + `-s"
  sensitive = true
}
variable "e" {
  default   = "` + canary + `-e"
  ephemeral = true
}
check "c" {
  assert {
    condition     = ` + condition + `
    error_message = ` + message + `
  }
}`
	}
	for _, row := range []struct{ name, condition, message, err, checks string }{
		{"met", `var.v == "a"`, `"no"`, "", "check.c pass"},
		{"not met", `var.v == "b"`, `"v is ${var.v}"`, "", "check.c fail v is a"},
		{"ephemeral condition", `var.e == "b"`, `"v is ${var.v}"`, "", "check.c fail v is a"},
		{"ephemeral message", `var.v == "b"`, `"e is ${var.e}"`, "", "check.c fail"},
		{"sensitive message", `var.s == "b"`, `"s is ${var.s}"`, "", "check.c fail"},
		{"bad message", `var.v == "b"`, `"v is ${tonumber(var.v)}"`, "", "check.c fail This condition was not met, and its error message could not be evaluated."},
		{"null condition", `var.v == "a" ? null : true`, `"no"`, "Invalid condition result", "check.c error"},
		{"failing function", `tonumber(var.v) == 1`, `"no"`, "Invalid function argument", "check.c error"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, check(row.condition, row.message))
			r := w.run(command{})
			if (r.errors() > 0) != (row.err != "") {
				t.Errorf("errors: got %s, want %q (none if empty)", texts(r.diags()), row.err)
			}
			if row.err != "" {
				r.wants(diag.Error, row.err)
			}
			r.checks([]string{row.checks}, nil)
			if diags := w.validate(); diags.HasErrors() {
				t.Errorf("validate: %s", texts(diags))
			}
		})
	}
}

// TestScopedNames keeps the name of a nested block within its check.
func TestScopedNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text string }{
		{"output", `output "o" { value = data.sim_lookup.d.id }`},
		{"depends_on", "resource \"sim_thing\" \"x\" {\n name = \"x\"\n depends_on = [data.sim_lookup.d]\n}"},
		{"another check", "check \"d\" {\n assert {\n condition = data.sim_lookup.d.id == \"\"\n error_message = \"no\"\n }\n}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.NewReplacer("SIZE", "1", "OTHER", "1").Replace(nestedData)+"\n"+row.text)
			w.fails(command{planOnly: true}, "Reference to scoped resource", "data.sim_lookup.d")
			if !w.validate().HasErrors() {
				t.Error("valid")
			}
		})
	}
}

// TestModuleDependsOnSkipsChecks keeps what checks read out of what depends_on of a module waits for and
// fails with.
func TestModuleDependsOnSkipsChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" { source = "./m" }
data "sim_lookup" "after" {
  name       = "x"
  depends_on = [module.m]
}`)
	w.file("m/main.tf", prelude+`
resource "sim_thing" "x" { name = "x" }
check "c" {
  data "sim_lookup" "nothing" { name = "nothing" }
  assert {
    condition     = data.sim_lookup.nothing.size == 1
    error_message = "no"
  }
}`)
	w.ok(command{})
	r := w.ok(command{planOnly: true}).plans("module.m.data.sim_lookup.nothing read read_because_check_nested")
	if n := reads(r.planLog, "x"); n != 1 {
		t.Errorf("data.sim_lookup.after was read %d times in plan, want 1", n)
	}
}

// TestInterruptedCheck interrupts while the data source of a check is read, in either phase.
func TestInterruptedCheck(t *testing.T) {
	t.Parallel()
	for _, nth := range []int{1, 2} {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, strings.NewReplacer("SIZE", "1", "OTHER", "1").Replace(nestedData), func(t *testing.T, w *world) {
				w.ok(command{targets: []string{"sim_thing.a"}})
				w.rules = fmt.Sprintf(`[{"rpc":"ReadDataSource","nth":%d,"shared":true,"do":"hang-until-stop"}]`, nth)
				soft, cancel := context.WithCancel(t.Context())
				defer cancel()
				started := 0
				r := w.run(command{soft: soft, onEvent: func(ev event.Event) {
					if ev.Kind == event.Started && ev.Op == event.OpRead {
						if started++; started == nth {
							time.AfterFunc(100*time.Millisecond, cancel) // the call is on its way
						}
					}
				}})
				if nth == 1 {
					r.wants(diag.Error, "Interrupted")
					return
				}
				w.has("sim_thing.a", "sim_thing.other")
				r.checks([]string{"check.c pass"}, []string{"check.c unknown"})
				r.wants(diag.Warning, "Checks not completed")
			})
		})
	}
}
