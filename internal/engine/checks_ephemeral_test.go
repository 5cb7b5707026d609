package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

const nestedEphemeral = `
resource "sim_thing" "a" {
  name = "a"
  json = jsonencode(var.v)
}
variable "v" { default = "1" }
check "c" {
  ephemeral "sim_secret" "s" {
    name = "s"
ARGS  }
  assert {
    condition     = startswith(ephemeral.sim_secret.s.value, var.v)
    error_message = "no: ${ephemeral.sim_secret.s.value}"
  }
}`

func nested(args string) string { return strings.Replace(nestedEphemeral, "ARGS", args, 1) }

// TestE32CheckNestsEphemeral opens the ephemeral block of a check for its assertions, in the plan and again
// after the changes of the apply.
func TestE32CheckNestsEphemeral(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nested(""))
	canary := map[string]cty.Value{"v": cty.StringVal("CANARY"[:3])}
	r := w.ok(command{vars: canary})
	r.checks([]string{"check.c pass"}, []string{"check.c pass"})
	window(t, r.planLog, "s")
	before(t, "opened before the change was made", applyOf(t, r.applyLog, "a").End.T, window(t, r.applyLog, "s").Open.Begin.T)
	w.has("sim_thing.a")

	r = w.ok(command{})
	r.checks([]string{"check.c fail"}, []string{"check.c fail"})
	if d := r.wants(diag.Warning, "check.c", "Check block assertion failed"); d.EvalContext != nil {
		t.Error("the values in play are kept with the diagnostic")
	}
	r = w.ok(command{mode: plan.RefreshOnly}).plans()
	window(t, r.planLog, "s")
	for name, c := range map[string]command{"destroy": {mode: plan.Destroy}, "-target": {targets: []string{"sim_thing.a"}}} {
		if n := opens(w.ok(c).log(), ""); n != 0 {
			t.Errorf("%s: got %d openings, want 0", name, n)
		}
	}
	if diags := w.validate(); diags.HasErrors() || opens(w.newEntries(), "") != 0 {
		t.Errorf("validate: got %s, want no errors and no openings", texts(diags))
	}
}

// TestE32CheckOpensUnused opens what no assertion refers to: that it can be opened is a check of its own.
func TestE32CheckOpensUnused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "v" { default = 1 }
check "c" {
  ephemeral "sim_secret" "s" { name = "s" }
  assert {
    condition     = var.v == 1
    error_message = "no"
  }
}`)
	r := w.ok(command{})
	window(t, r.planLog, "s")
	window(t, r.applyLog, "s")
}

// TestE32CheckEphemeralFailures misbehaves in every way that an ephemeral can: all are warnings, and what was
// opened is closed exactly once.
func TestE32CheckEphemeralFailures(t *testing.T) {
	t.Parallel()
	rule := func(rpc, do string) string { return `[{"rpc":"` + rpc + `","name":"s","do":"` + do + `"}]` }
	for _, row := range []struct {
		name, args, rules, want, check string
		closes                         bool
	}{
		{"open", "fail_on = \"open\"\n", "", "asked to fail on open", "fail", false},
		{"validate", "", rules(`{"rpc":"ValidateEphemeralResourceConfig","do":"error","text":"not valid","nth":2}`,
			`{"rpc":"ValidateEphemeralResourceConfig","do":"error","text":"not valid","nth":3}`), "not valid", "fail", false},
		{"close", "fail_on = \"close\"\n", "", "may still be live", "pass", true},
		{"rpc error", "", rule("OpenEphemeralResource", "rpc-error"), "ephemeral.sim_secret.s", "fail", false},
		{"error with private data", "", rule("OpenEphemeralResource", "error"), "ephemeral.sim_secret.s", "fail", true},
		{"unknown result", "", rule("OpenEphemeralResource", "unknown"), "invalid ephemeral result", "fail", true},
		{"changed config", "", rule("OpenEphemeralResource", "change-config"), "invalid ephemeral result", "fail", true},
		{"null result", "", rule("OpenEphemeralResource", "null-object"), "invalid ephemeral result", "fail", true},
		{"deferred", "", rule("OpenEphemeralResource", "deferred"), "deferred", "fail", true},
		{"close error", "", rule("CloseEphemeralResource", "rpc-error"), "may still be live", "pass", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nested(row.args))
			w.rules, w.unclosed, w.faulty = row.rules, true, true
			r := w.ok(command{vars: map[string]cty.Value{"v": cty.StringVal("CAN")}})
			r.wants(diag.Warning, row.want)
			why := ""
			if row.check == "fail" {
				why = " ephemeral.sim_secret.s could not be opened."
			}
			r.checks([]string{"check.c " + row.check + why}, []string{"check.c " + row.check + why})
			for phase, log := range map[string]simlog.Log{"plan": r.planLog, "apply": r.applyLog} {
				n := log.Count(simlog.Filter{RPC: "CloseEphemeralResource"})
				if want := map[bool]int{true: 1}[row.closes]; n != want {
					t.Errorf("%s: closed %d times, want %d", phase, n, want)
				}
			}
			w.has("sim_thing.a")
		})
	}
}

// TestE32CheckCrash ends the provider's process in the middle of opening: it is a warning of the plan that
// has nothing else to ask the provider.
func TestE32CheckCrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "v" { default = 1 }
check "c" {
  ephemeral "sim_secret" "s" { name = "s" }
  assert {
    condition     = var.v == 1
    error_message = "no"
  }
}`)
	w.rules, w.unclosed = `[{"rpc":"OpenEphemeralResource","do":"exit"}]`, true
	r := w.ok(command{planOnly: true})
	r.checks([]string{"check.c fail ephemeral.sim_secret.s could not be opened."}, nil)
}

// TestE32CheckWaitsForConfig puts opening off to the apply, where the configuration is known.
func TestE32CheckWaitsForConfig(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"hint = sim_thing.a.id\n", "depends_on = [sim_thing.a]\n"} {
		w := newWorld(t, nested(args))
		r := w.ok(command{vars: map[string]cty.Value{"v": cty.StringVal("CAN")}})
		r.checks([]string{"check.c unknown"}, []string{"check.c pass"})
		if n := opens(r.planLog, ""); n != 0 {
			t.Errorf("%d openings in plan, want 0", n)
		}
		window(t, r.applyLog, "s")
	}
}

// TestE40CheckIsConsumer opens an ephemeral resource for the assertions of a check alone, once in each phase,
// also by way of values and modules, and keeps open for them what others use before.
func TestE40CheckIsConsumer(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, `
ephemeral "sim_secret" "direct" { name = "direct" }
ephemeral "sim_secret" "shared" { name = "shared" }
ephemeral "sim_secret" "idle" { name = "idle" }
locals { shared = ephemeral.sim_secret.shared.lease }
module "m" {
  source = "./m"
  count  = 2
}
resource "sim_thing" "user" {
  name      = "user"
  delay     = "100ms"
  secret_wo = ephemeral.sim_secret.shared.lease
}
resource "sim_slow" "last" {
  name         = "last"
  trigger      = sim_thing.user.id
  create_delay = "300ms"
}
check "c" {
  assert {
    condition     = ephemeral.sim_secret.direct.value != "" && local.shared != "" && module.m[1].value != ""
    error_message = "no"
  }
}`, func(t *testing.T, w *world) {
		w.file("m/main.tf", prelude+`
ephemeral "sim_secret" "s" { name = "inner" }
output "value" {
  value     = ephemeral.sim_secret.s.value
  ephemeral = true
}`)
		r := w.ok(command{})
		r.checks([]string{"check.c pass"}, []string{"check.c pass"})
		for _, log := range []simlog.Log{r.planLog, r.applyLog} {
			for _, name := range []string{"direct", "shared", "inner"} {
				window(t, log, name)
			}
		}
		last := call(t, r.applyLog, simlog.Filter{RPC: "ApplyResourceChange", Name: "last"})
		before(t, "opened for the check before the changes were made", last.End.T, window(t, r.applyLog, "direct").Open.Begin.T)
		if !window(t, r.applyLog, "shared").Covers(last) {
			t.Error("what the check still needs was closed and opened again, or closed too early")
		}
		if opens(r.log(), "idle") != 0 {
			t.Error("an unused ephemeral was opened")
		}
		if n := opens(w.ok(command{planOnly: true, targets: []string{"sim_slow.last"}}).log(), "direct"); n != 0 {
			t.Errorf("-target: got %d openings, want 0", n)
		}
		if n := opens(w.ok(command{planOnly: true}).plans().log(), ""); n != 3 {
			t.Errorf("without changes: got %d openings, want those of the check", n)
		}
	})
}

// TestE40CheckOutsideFailure has the ephemeral resource that a check refers to fail: it is not the check's,
// so it is an error.
func TestE40CheckOutsideFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" {
  name    = "s"
  fail_on = "open"
}
check "c" {
  assert {
    condition     = ephemeral.sim_secret.s.value != ""
    error_message = "no"
  }
}`)
	r := w.fails(command{}, "ephemeral.sim_secret.s", "asked to fail on open")
	r.checks([]string{"check.c unknown"}, nil)
}

// TestE32InterruptedCheck interrupts while the ephemeral block of a check is being opened, or while it is
// used.
func TestE32InterruptedCheck(t *testing.T) {
	t.Parallel()
	for _, hard := range []bool{false, true} {
		inVirtualTime(t, nested("open_delay = \"400ms\"\n"), func(t *testing.T, w *world) {
			soft, cancel := context.WithCancel(t.Context())
			ctx, insist := context.WithCancel(t.Context())
			if !hard {
				insist = func() {}
			}
			opened := 0
			r := w.run(command{soft: soft, ctx: ctx, onEvent: func(ev event.Event) {
				if ev.Kind == event.Started && ev.Op == event.OpOpen {
					if opened++; opened == 2 {
						time.AfterFunc(100*time.Millisecond, func() { cancel(); insist() })
					}
				}
			}})
			cancel()
			w.has("sim_thing.a")
			if n := r.errors(); n != 0 && !hard {
				t.Errorf("got %s, want no errors after a soft interrupt", texts(r.diags()))
			}
			left := w.openLeases()
			if left != 0 {
				t.Errorf("hard %v: %d still open, want 0", hard, left)
			}
		})
	}
}

// TestE32CheckPerModuleOpens has an ephemeral of its own for each instance of a module, none of which stays
// open for another.
func TestE32CheckPerModuleOpens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" {
  source   = "./m"
  for_each = toset(["a", "b", "c"])
  name     = each.key
}`)
	w.file("m/main.tf", prelude+`
variable "name" {}
check "c" {
  ephemeral "sim_secret" "s" { name = var.name }
  assert {
    condition     = ephemeral.sim_secret.s.lease != ""
    error_message = "no"
  }
}`)
	r := w.ok(command{})
	lines := []string{`module.m["a"].check.c pass`, `module.m["b"].check.c pass`, `module.m["c"].check.c pass`}
	r.checks(lines, lines)
	for _, name := range []string{"a", "b", "c"} {
		window(t, r.planLog, name)
		window(t, r.applyLog, name)
	}
}

// TestE32CheckThroughEphemeralProvider reads and opens with a provider that is itself configured from an
// ephemeral resource.
func TestE32CheckThroughEphemeralProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "token" { name = "token" }
provider "sim" {
  alias = "t"
  token = ephemeral.sim_secret.token.lease
}
resource "sim_thing" "a" { name = "a" }
check "data" {
  data "sim_lookup" "d" {
    provider = sim.t
    name     = sim_thing.a.name
  }
  assert {
    condition     = data.sim_lookup.d.serial == 1
    error_message = "no"
  }
}
check "ephemeral" {
  ephemeral "sim_secret" "s" {
    provider = sim.t
    name     = "s"
  }
  assert {
    condition     = ephemeral.sim_secret.s.value != ""
    error_message = "no"
  }
}`)
	r := w.ok(command{})
	r.checks([]string{"check.data unknown", "check.ephemeral pass"}, []string{"check.data pass", "check.ephemeral pass"})
	for _, log := range []simlog.Log{r.planLog, r.applyLog} {
		_, end := window(t, log, "token").Span()
		_, inner := window(t, log, "s").Span()
		before(t, "the token was closed before what was opened with it", inner, end)
	}
	w.rules = `[{"rpc":"ReadDataSource","do":"error","text":"denied"}]`
	failed := w.run(command{planOnly: true})
	failed.checks([]string{"check.data fail data.sim_lookup.d could not be read.", "check.ephemeral pass"}, nil)
}
