package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

func TestE13_OutputOfWriteOnlyAttribute(t *testing.T) {
	for expr, bad := range map[string]bool{
		`sim_thing.a.password_wo`: true, `local.wo`: true, `"${sim_thing.a.rule[0].value_wo}x"`: true, `sim_thing.k["x"].password_wo`: true,
		`[for t in sim_thing.k : t.password_wo]`: true, `values(sim_thing.k)[*].password_wo`: true, `sim_thing.a["password_wo"]`: true, `local.whole.password_wo`: true,
		`[for t in [local.whole] : t["password_wo"]]`: true, `module.m.wo`: true, `module.m.given`: true, `module.m.whole.password_wo`: true, `values(module.k)[*].wo`: true,
		`module.k["x"].wo`: true, `sim_thing.a`: false, `module.m.whole`: false, `[for t in sim_thing.k : t.name]`: false, `module.m.name`: false,
		`sim_thing.a.name`: false, `sim_thing.a.rule[0].value`: false, `nonsensitive(sim_thing.a.token)`: false,
	} {
		text := `
resource "sim_thing" "a" {}
resource "sim_thing" "k" { for_each = toset(["x"]) }
locals {
  wo    = sim_thing.a.password_wo
  whole = sim_thing.a
}
module "m" {
  source = "./m"
  given  = sim_thing.a.password_wo
}
module "k" {
  source   = "./m"
  for_each = toset(["x"])
}
output "o" {
  value = ` + expr + `
  EXPR
}
-- m/m.tf --
variable "given" { default = null }
resource "sim_thing" "in" {}
output "given" { value = var.given }
output "wo" { value = sim_thing.in.password_wo }
output "whole" { value = sim_thing.in }
output "name" { value = sim_thing.in.name }
`
		_, diags := compile(t, replaceExpr(text, ""))
		if got := strings.Contains(lines(diags), "Output refers to a write-only attribute"); got != bad {
			t.Errorf("%s: got %s, want a reference to a write-only attribute reported: %t", expr, lines(diags), bad)
		}
		if _, diags := compile(t, replaceExpr(text, "sensitive = true")); diags != nil {
			t.Errorf("%s, sensitive: %s", expr, lines(diags))
		}
	}
}

func TestImports(t *testing.T) {
	w := planned(t, `
locals { ids = { a = "i-a", b = "i-b" } }
resource "sim_thing" "one" {}
resource "sim_thing" "k" { for_each = local.ids }
import {
  to = sim_thing.one
  id = "i-${local.ids.a}"
}
import {
  for_each = local.ids
  to       = sim_thing.k[each.key]
  id       = each.value
}
import {
  to = module.m.sim_thing.inner[1]
  id = "x"
}
import {
  for_each = [{ key = "a", id = "r-a" }]
  to       = sim_thing.r[each.value.key]
  id       = "${each.key}-${each.value.id}"
}
import {
  for_each = tolist(["q"])
  to       = sim_thing.c[each.key]
  id       = each.value
}
import {
  for_each = toset(["x"])
  to       = module.n[each.key].module.deep[local.ids.a].sim_thing.inner["y"]
  id       = each.value
}
resource "sim_thing" "r" { for_each = toset(["a"]) }
resource "sim_thing" "c" { count = 1 }
module "m" { source = "./m" }
module "n" {
  source   = "./n"
  for_each = toset(["x"])
}
-- m/m.tf --
resource "sim_thing" "inner" { count = 2 }
-- n/n.tf --
module "deep" {
  source   = "./deep"
  for_each = toset(["i-a"])
}
-- n/deep/d.tf --
resource "sim_thing" "inner" { for_each = toset(["y"]) }`)
	var got []string
	for _, i := range w.imports() {
		got = append(got, i.To.String()+"="+i.ID)
	}
	w.clean()
	if d := cmp.Diff([]string{
		`sim_thing.one=i-i-a`, `sim_thing.k["a"]=i-a`, `sim_thing.k["b"]=i-b`, `module.m.sim_thing.inner[1]=x`,
		`sim_thing.r["a"]=0-r-a`, `sim_thing.c[0]=q`, `module.n["x"].module.deep["i-a"].sim_thing.inner["y"]=x`,
	}, got); d != "" {
		t.Error(d)
	}
}

func TestImportErrors(t *testing.T) {
	for id, want := range map[string]string{
		`var.e`:          "The id of an import must not be ephemeral: it is kept in the plan.",
		`sensitive("x")`: "The id of an import must not be sensitive",
		`sim_thing.u.id`: "The id of an import must be known when planning",
		`var.n`:          "The id of an import must not be null.",
		`["x"]`:          "The id of an import must be a string, but this is a tuple.",
		`local.nope`:     "Reference to undeclared local value",
	} {
		w := planned(t, `
variable "e" {
  default   = "x"
  ephemeral = true
}
variable "n" { default = null }
resource "sim_thing" "u" {}
resource "sim_thing" "a" {}
import {
  to = sim_thing.a
  id = `+id+`
}`)
		w.host.unknownIDs = true
		w.imports()
		if got := w.errors(); !strings.Contains(got, want) {
			t.Errorf("%s: got %s", id, got)
		}
	}
}

func TestImportAddressErrors(t *testing.T) {
	const block = `
variable "e" {
  default   = "x"
  ephemeral = true
}
resource "sim_thing" "u" {}
module "m" {
  source   = "./m"
  for_each = toset(["x"])
}
import {
  FOR_EACH
  to = TO
  id = "x"
}
-- m/m.tf --
resource "sim_thing" "a" {}`
	for _, c := range []struct{ forEach, to, want string }{
		{"", `module.m[var.e].sim_thing.a`, "An ephemeral value cannot choose the instance to import to"},
		{"", `module.m[sensitive("x")].sim_thing.a`, "A sensitive value cannot choose the instance to import to"},
		{`for_each = [sensitive("x")]`, `module.m[each.value].sim_thing.a`, "A sensitive value cannot choose the instance to import to"},
		{"", `module.m[sim_thing.u.id].sim_thing.a`, "depends on what is known only after apply"},
		{"", `module.m[local.nope].sim_thing.a`, "Reference to undeclared local value"},
		{"", `module.m[each.key].sim_thing.a`, "in context without for_each"},
		{"", `module.m[{}].sim_thing.a`, "an instance key must be a string or a whole number"},
		{`for_each = toset([{}])`, `module.m["x"].sim_thing.a`, "must be a map, an object, a set of strings, a tuple, or a list, but this is a set of object"},
		{`for_each = null`, `module.m["x"].sim_thing.a`, "must not be null"},
	} {
		w := planned(t, strings.NewReplacer("FOR_EACH", c.forEach, "TO", c.to).Replace(block))
		w.host.unknownIDs = true
		w.imports()
		if got := w.errors(); !strings.Contains(got, c.want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s, %s: got %s", c.forEach, c.to, got)
		}
	}
}

func TestProviderFunctions(t *testing.T) {
	for expr, want := range map[string]string{
		`provider::sim::twice("x")`: `"xx"`, `provider::sim::twice(sensitive("x"))`: `s("xx")`, `provider::sim::twice(var.e)`: `e("EE")`,
		`upper(provider::sim::twice("x"))`: `"XX"`,
	} {
		w := planned(t, replaceExpr(markedVars, expr))
		if got := w.local("x"); got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
		w.clean()
	}
	for expr, want := range map[string]string{
		`provider::sim::twice("fail")`:            "twice cannot take that",
		`provider::sim::twice(sensitive("fail"))`: "the provider's message is hidden",
		`provider::sim::thrice("x")`:              `has no function "thrice" (did you mean "twice"?)`,
	} {
		w := planned(t, replaceExpr(markedVars, expr))
		w.local("x")
		if got := w.errors(); !strings.Contains(got, want) {
			t.Errorf("%s: got %s", expr, got)
		}
	}
}

func TestTriggered(t *testing.T) {
	seal := func(name string) value.Durable {
		v := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(name), "other": cty.StringVal(name + "2")})
		d, err := value.Seal(v, v.Type(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		trigger string
		action  plan.Action
		before  string
		want    bool
	}{
		{`sim_thing.up[0]`, plan.Update, "a", true},
		{`sim_thing.up[0]`, plan.NoOp, "a", false},
		{`sim_thing.up[1]`, plan.Update, "a", false},
		{`sim_thing.up[7]`, plan.Update, "a", false},
		{`sim_thing.up`, plan.Update, "a", true},
		{`sim_thing.up[0].name`, plan.Update, "a", true},
		{`sim_thing.up[0].name`, plan.Update, "b", false},
		{`sim_thing.up[0].name`, plan.Create, "b", true},
	} {
		w := planned(t, `
resource "sim_thing" "up" { count = 2 }
resource "sim_thing" "a" {
  lifecycle { replace_triggered_by = [`+c.trigger+`] }
}`)
		changed, _ := addr.ParseInstance("sim_thing.up[0]")
		got := w.instance("sim_thing.a").Triggered(w.task, func(i addr.Instance) *plan.Change {
			if i != changed {
				return nil
			}
			return &plan.Change{Action: c.action, Before: seal(c.before), After: seal("b")}
		})
		if got != c.want {
			t.Errorf("%s: got %v, want %v", c.trigger, got, c.want)
		}
		if log := w.host.taken(); strings.Contains(log, "[7]") {
			t.Errorf("an instance that is not there was demanded: %s", log)
		}
		w.clean()
	}
}

func TestWhyGone(t *testing.T) {
	w := planned(t, `
resource "sim_thing" "c" { count = 1 }
resource "sim_thing" "k" { for_each = toset(["a"]) }
resource "sim_thing" "off" {
  lifecycle { enabled = false }
}
resource "sim_thing" "s" {}
module "m" {
  source = "./m"
  count  = 1
}
-- m/m.tf --
resource "sim_thing" "r" {}`)
	for a, want := range map[string]plan.Reason{
		`sim_thing.c[3]`: plan.DeleteCountIndex, `sim_thing.k["z"]`: plan.DeleteEachKey, `sim_thing.off`: plan.DeleteDisabled, `sim_thing.gone`: plan.DeleteNoConfig,
		`sim_thing.s[0]`: plan.DeleteRepetition, `sim_thing.c`: plan.DeleteRepetition, `module.m[4].sim_thing.r`: plan.DeleteNoModule, `module.x.sim_thing.r`: plan.DeleteNoConfig,
	} {
		i, err := addr.ParseInstance(a)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.run.WhyGone(i); got != want {
			t.Errorf("%s: got %v, want %v", a, got, want)
		}
	}
	w.clean()
}

// Diagnostics come in the same order in every run.
func TestOrderOfDiagnostics(t *testing.T) {
	text := `
variable "a" {
  default = ""
  validation {
    condition     = var.a != ""
    error_message = "A."
  }
}
variable "b" {
  default = ""
  validation {
    condition     = var.b != ""
    error_message = "B."
  }
}
variable "c" {
  default = ""
  validation {
    condition     = var.c != ""
    error_message = "C."
  }
}`
	first := ""
	for range 20 {
		w := planned(t, text)
		w.run.Root.CheckVariables(w.task, nil)
		var got string
		for _, d := range w.run.Diags.List() {
			got += d.Detail[:2]
		}
		if first == "" {
			first = got
		}
		if got != first || got != "A.B.C." {
			t.Fatalf("got %s after %s, want \"A.B.C.\" each time", got, first)
		}
	}
}

func (w *world) imports() (targets []ImportTarget) {
	for _, b := range w.run.cfg.Tree.Root.Imports {
		for _, evaluate := range w.run.Root.ImportTargets(w.task, b) {
			if target := evaluate(w.task); !target.Failed {
				targets = append(targets, target)
			}
		}
	}
	return targets
}
