package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
)

// summaries returns the distinct severities and summaries of diagnostics.
func summaries(diags diag.List) []string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Severity.String()+": "+d.Summary)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestConditionsWhileRefreshing lets conditions of every kind fail: refreshing warns, and takes over what is
// there.
func TestConditionsWhileRefreshing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "ok" { default = true }
resource "sim_thing" "x" {
  name = "x"
  size = 1
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "pre"
    }
    postcondition {
      condition     = var.ok || self.size == 0
      error_message = "post"
    }
  }
}
data "sim_lookup" "d" {
  name = "x"
  depends_on = [sim_thing.x]
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "pre of data"
    }
  }
}
output "o" {
  value = data.sim_lookup.d.size
  precondition {
    condition     = var.ok
    error_message = "output"
  }
}`)
	w.ok(command{})
	w.drift("x-1", "size", "7")
	bad := map[string]cty.Value{"ok": cty.False}
	r := w.ok(command{mode: plan.RefreshOnly, vars: bad})
	if got := summaries(r.diags()); !slices.Equal(got, []string{"warning: Module output value precondition failed", "warning: Resource postcondition failed", "warning: Resource precondition failed"}) {
		t.Errorf("diagnostics: got %q, want a warning for each of three conditions", got)
	}
	if got := w.output("o"); got != "cty.NumberIntVal(7)" {
		t.Errorf("the output: got %s, want %s", got, "cty.NumberIntVal(7)")
	}
	if got := w.checks(); !slices.Equal(got, []string{"data.sim_lookup.d fail", "output.o fail", "sim_thing.x fail"}) {
		t.Errorf("checks: got %q, want all three to fail", got)
	}
	w.ok(command{mode: plan.RefreshOnly})
	if got := w.checks(); !slices.Equal(got, []string{"data.sim_lookup.d pass", "output.o pass", "sim_thing.x pass"}) {
		t.Errorf("checks: got %q, want all three to pass", got)
	}
	w.fails(command{vars: bad}, "Resource precondition failed")
}

// TestMovesLeftOut refuses options that leave out an object that has moved.
func TestMovesLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "sim_thing" "a" { name = "a" }
resource "sim_thing" "c" {
  count = 1
  name  = "c"
}`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "b" { name = "a" }
resource "sim_thing" "c" { name = "c" }
moved {
  from = sim_thing.a
  to   = sim_thing.b
}`)
	for _, row := range []struct {
		name    string
		command command
		options string // in the error, "" for none
	}{
		{"one targeted", command{targets: []string{"sim_thing.c"}}, "-target='sim_thing.b'"},
		{"an implied move", command{targets: []string{"sim_thing.b"}}, "-target='sim_thing.c'"},
		{"old addresses", command{targets: []string{"sim_thing.a", "sim_thing.c[0]"}}, "-target='sim_thing.b'\n  -target='sim_thing.c'"},
		{"new addresses", command{targets: []string{"sim_thing.b", "sim_thing.c"}}, ""},
		{"excluded", command{excludes: []string{"sim_thing.b", "sim_thing.zz"}}, "-exclude='sim_thing.b'"},
		{"excluded by the old address", command{excludes: []string{"sim_thing.a"}}, "-exclude='sim_thing.a'"},
		{"destroying", command{mode: plan.Destroy, targets: []string{"sim_thing.c"}}, "-target='sim_thing.b'"},
		{"refreshing", command{mode: plan.RefreshOnly, excludes: []string{"sim_thing.c"}}, "-exclude='sim_thing.c'"},
		{"another one excluded", command{excludes: []string{"sim_thing.zz"}}, ""},
	} {
		row.command.planOnly = true
		r := w.run(row.command)
		if row.options == "" {
			if r.diags().HasErrors() {
				t.Errorf("%s: %s", row.name, texts(r.diags()))
			}
			continue
		}
		if d := r.wants(diag.Error, "Moved resource instances excluded by targeting"); !strings.HasSuffix(d.Detail, ":\n\n  "+row.options) {
			t.Errorf("%s: %s", row.name, d.Detail)
		}
	}
	w.ok(command{targets: []string{"sim_thing.b", "sim_thing.c"}}).plans("sim_thing.b no-op from sim_thing.a", "sim_thing.c no-op from sim_thing.c[0]")
	w.has("sim_thing.b", "sim_thing.c")
}

// TestOutputsOfRestrictedPlans lets -target and -exclude plan the outputs that depend on nothing but what is
// planned, and leave all others alone, whatever the state has.
func TestOutputsOfRestrictedPlans(t *testing.T) {
	t.Parallel()
	text := `
resource "sim_thing" "x" {
  name = "x"
  size = 1
}
resource "sim_thing" "y" { name = "y" }
data "sim_lookup" "d" {
  name = "y"
  depends_on = [sim_thing.y]
}
output "x" { value = sim_thing.x.size }
output "d" { value = data.sim_lookup.d.id }
`
	w := newWorld(t, text+`
output "both" { value = "${sim_thing.x.id} ${data.sim_lookup.d.id}" }
output "gone" { value = "gone" }
`)
	w.ok(command{})
	w.config(text + `
output "both" { value = "${sim_thing.x.id} and ${data.sim_lookup.d.id}" }
output "new" { value = "new" }
`)
	w.drift("x-1", "size", "7")
	outputs := func(c command) []string {
		t.Helper()
		c.planOnly = true
		var out []string
		for _, o := range w.ok(c).plan.Outputs {
			out = append(out, o.Name+" "+o.Action.String())
		}
		return out
	}
	for _, row := range []struct {
		name    string
		command command
		want    []string
	}{
		{"all", command{}, []string{"both update", "d no-op", "gone delete", "new create", "x no-op"}},
		{"target", command{targets: []string{"sim_thing.x"}}, []string{"x no-op"}},
		{"target of a data source", command{targets: []string{"data.sim_lookup.d"}}, []string{"d no-op"}},
		{"exclude", command{excludes: []string{"data.sim_lookup.d"}}, []string{"x no-op"}},
		{"exclude what the data source depends on", command{excludes: []string{"sim_thing.y"}}, []string{"x no-op"}},
		{"refresh all", command{mode: plan.RefreshOnly}, []string{"both update", "d no-op", "gone delete", "new create", "x update"}},
		{"refresh one", command{mode: plan.RefreshOnly, targets: []string{"sim_thing.x"}}, []string{"x update"}},
		{"destroy one", command{mode: plan.Destroy, targets: []string{"sim_thing.x"}}, nil},
		{"destroy all but one", command{mode: plan.Destroy, excludes: []string{"sim_thing.x"}}, nil},
		{"destroy all", command{mode: plan.Destroy}, []string{"both delete", "d delete", "gone delete", "x delete"}},
	} {
		if got := outputs(row.command); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
	w.rules = `[{"rpc":"ReadDataSource","do":"error"}]`
	w.ok(command{targets: []string{"sim_thing.x"}})
	w.ok(command{excludes: []string{"data.sim_lookup.d"}})
	w.ok(command{mode: plan.Destroy, targets: []string{"sim_thing.x"}})
	if got := w.output("d") + w.output("gone"); got != "y-1gone" {
		t.Errorf("outputs that no plan was about: got %q, want %q", got, "y-1gone")
	}
}

// TestDataAfterDestroy leaves no data sources in the state, not even those that were read for the
// configuration of a provider. With -target and -exclude those stay that nothing asked to destroy.
func TestDataAfterDestroy(t *testing.T) {
	t.Parallel()
	text := `
resource "sim_thing" "base" { name = "base" }
data "sim_lookup" "prefix" { name = "base" }
data "sim_lookup" "other" { name = "base" }
provider "sim" {
  alias  = "p"
  prefix = data.sim_lookup.prefix.id
}
resource "sim_thing" "x" {
  provider = sim.p
  name     = "x"
}`
	for _, row := range []struct {
		name    string
		command command
		want    []string
	}{
		{"all", command{}, nil},
		{"target", command{targets: []string{"sim_thing.x"}}, []string{"data.sim_lookup.other", "data.sim_lookup.prefix", "sim_thing.base"}},
		{"target of a data source", command{targets: []string{"data.sim_lookup.prefix"}}, []string{"data.sim_lookup.other", "sim_thing.base", "sim_thing.x"}},
		{"exclude", command{excludes: []string{"data.sim_lookup.other", "sim_thing.base"}}, []string{"data.sim_lookup.other", "sim_thing.base"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, text)
			w.ok(command{targets: []string{"sim_thing.base"}})
			w.ok(command{})
			row.command.mode = plan.Destroy
			w.ok(row.command)
			w.has(row.want...)
		})
	}
	t.Run("not read before", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text)
		w.ok(command{targets: []string{"sim_thing.base"}})
		w.ok(command{})
		w.config(strings.ReplaceAll(text, `lookup.prefix`, `lookup.renamed`) + `
data "sim_lookup" "renamed" { name = "base" }`)
		w.ok(command{mode: plan.Destroy, targets: []string{"sim_thing.x"}})
		w.has("data.sim_lookup.other", "data.sim_lookup.prefix", "sim_thing.base")
	})
}

// TestNoImportWhileRefreshing takes over nothing that the plan does not show.
func TestNoImportWhileRefreshing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.ok(command{})
	w.config(`
resource "sim_thing" "y" { name = "x" }
import {
  to = sim_thing.y
  id = "x-1"
}
import {
  to = sim_thing.undeclared
  id = "x-1"
}
removed {
  from = sim_thing.x
  lifecycle { destroy = false }
}`)
	w.ok(command{mode: plan.RefreshOnly})
	w.has("sim_thing.x")
}

// TestOutputsOfFailedApply stores what was known when planning, and leaves alone what was not.
func TestOutputsOfFailedApply(t *testing.T) {
	t.Parallel()
	text := func(size, failOn string) string {
		return `
resource "sim_thing" "x" {
  name    = "x"
  size    = ` + size + `
  fail_on = ` + failOn + `
}
output "known" { value = "size ${sim_thing.x.size}" }
output "unknown" { value = "serial ${sim_thing.x.serial}" }
output "gone" { value = sim_thing.x.size == 1 ? "1" : null }
`
	}
	w := newWorld(t, text("1", `"create"`))
	w.fails(command{}, "asked to fail on create")
	if got := []string{w.output("known"), w.output("unknown"), w.output("gone")}; !slices.Equal(got, []string{"size 1", "", "1"}) {
		t.Errorf("outputs after a failed creation: got %q, want %q", got, []string{"size 1", "", "1"})
	}
	w.config(text("1", "null"))
	w.ok(command{})
	w.config(text("2", `"update"`))
	w.fails(command{}, "asked to fail on update")
	if got := []string{w.output("known"), w.output("unknown"), w.output("gone")}; !slices.Equal(got, []string{"size 2", "serial 1", ""}) {
		t.Errorf("outputs after a failed update: got %q, want %q", got, []string{"size 2", "serial 1", ""})
	}
}

// TestPreconditionsOfRestrictedPlans evaluates the preconditions of an output, of the root module or another,
// where the output is part of the plan. All others are unknown.
func TestPreconditionsOfRestrictedPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "ok" { default = true }
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "y" {
  name = "y"
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "of y"
    }
  }
}
module "m" {
  source = "./m"
  ok     = var.ok
}
output "x" {
  value = sim_thing.x.label
  precondition {
    condition     = var.ok
    error_message = "of x"
  }
}
output "later" {
  value = sim_thing.x.label
  precondition {
    condition     = var.ok || sim_thing.x.serial < 0
    error_message = "of later"
  }
}`)
	w.file("m/main.tf", prelude+`
variable "ok" {}
resource "sim_thing" "in" { name = "in" }
output "o" {
  value = sim_thing.in.label
  precondition {
    condition     = var.ok
    error_message = "of the module"
  }
}`)
	bad := map[string]cty.Value{"ok": cty.False}
	for _, row := range []struct {
		name    string
		command command
		failed  []string // messages
		checks  []string
	}{
		{"target", command{targets: []string{"sim_thing.x"}}, []string{"of x"}, nil},
		{"target of a module", command{targets: []string{"module.m"}}, []string{"of the module"}, nil},
		{"exclude", command{excludes: []string{"sim_thing.x", "module.m"}}, []string{"of y"}, nil},
		{"exclude all", command{excludes: []string{"sim_thing.x", "sim_thing.y", "module.m"}}, nil, []string{"module.m.output.o unknown", "output.later unknown", "output.x unknown", "sim_thing.y unknown"}},
		{"destroy", command{mode: plan.Destroy}, nil, []string{"module.m.output.o unknown", "output.later unknown", "output.x unknown", "sim_thing.y unknown"}},
	} {
		row.command.planOnly, row.command.vars = true, bad
		r := w.run(row.command)
		var failed, checks []string
		for _, d := range r.diags() {
			failed = append(failed, d.Detail)
		}
		for _, c := range r.plan.Checks {
			checks = append(checks, c.Config+" "+string(c.Status))
		}
		if !slices.Equal(failed, row.failed) || row.checks != nil && !slices.Equal(checks, row.checks) {
			t.Errorf("%s: got %q failing, the checks %q, want %q, %q", row.name, failed, checks, row.failed, row.checks)
		}
	}
}

// TestPreconditionFailsWhenApplying keeps the old value of the output, and stores others.
func TestPreconditionFailsWhenApplying(t *testing.T) {
	t.Parallel()
	text := func(size, serial string) string {
		return `
resource "sim_thing" "x" {
  name = "x"
  size = ` + size + `
}
output "x" {
  value = sim_thing.x.size
  precondition {
    condition     = sim_thing.x.serial == ` + serial + `
    error_message = "of x"
  }
}
output "y" { value = sim_thing.x.size }`
	}
	w := newWorld(t, text("1", "1"))
	w.ok(command{})
	w.config(text("2", "1"))
	w.fails(command{targets: []string{"sim_thing.x"}}, "of x")
	if x, y := w.output("x"), w.output("y"); x != "cty.NumberIntVal(1)" || y != "cty.NumberIntVal(2)" {
		t.Errorf("outputs: got x = %s, y = %s, want 1, 2", x, y)
	}
	w.config(text("2", "2"))
	w.ok(command{})
	if x := w.output("x"); x != "cty.NumberIntVal(2)" {
		t.Errorf("outputs: x: got %s, want %s", x, "cty.NumberIntVal(2)")
	}
}

// TestValidationsOfRestrictedPlans evaluates a validation that refers to a data source only if the plan
// includes that.
func TestValidationsOfRestrictedPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "v" {
  default = "x"
  validation {
    condition     = var.v == data.sim_lookup.d.name
    error_message = "v is not the name"
  }
}
resource "sim_thing" "x" { name = "x" }
resource "sim_thing" "y" { name = "y" }
data "sim_lookup" "d" { name = "x" }`)
	w.ok(command{targets: []string{"sim_thing.x"}})
	bad := map[string]cty.Value{"v": cty.StringVal("y")}
	w.fails(command{vars: bad}, "v is not the name")
	w.fails(command{vars: bad, targets: []string{"data.sim_lookup.d"}}, "v is not the name")
	r := w.ok(command{vars: bad, targets: []string{"sim_thing.y"}, planOnly: true})
	if n := r.log().Count(simlog.Filter{RPC: "ReadDataSource"}); n != 0 {
		t.Errorf("%d data sources were read for a validation, want 0", n)
	}
	w.ok(command{vars: bad, excludes: []string{"data.sim_lookup.d"}, planOnly: true})
}

// TestKnownOutputsAreKept compares a value that is not known yet with a default of another type, which takes
// its place if it is null in the end. An output that the plan knew keeps what the plan promised.
func TestKnownOutputsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
module "m" {
  source = "./m"
  in     = uuid() == "" ? "foo" : null
}
output "known" { value = module.m.differs }
output "partly" { value = [true, module.m.in] }
`)
	w.file("m/m.tf", `
variable "in" {
  nullable = false
  default  = { a = 1 }
}
output "differs" { value = var.in != { a = 1 } }
output "in" { value = var.in }
`)
	w.ok(command{})
	got := map[string]string{}
	for name, o := range w.state().Outputs {
		v, err := o.Value.Unmarked()
		if err != nil {
			t.Fatal(err)
		}
		got[name] = v.GoString()
	}
	if got["known"] != "cty.True" || !strings.Contains(got["partly"], `"a"`) {
		t.Errorf("outputs: got %v, want known true, and partly with \"a\"", got)
	}
}
