package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Locals become ephemeral by what they are computed from.
func TestE20_LocalsBecomeEphemeral(t *testing.T) {
	text := `
variable "var1" { type = string }
variable "var2" { type = string }
variable "var3" {
  type      = string
  ephemeral = true
}
locals {
  eg1 = var.var1 == "" ? var.var2 : var.var1 // not ephemeral
  eg2 = var.var2                             // not ephemeral
  eg3 = var.var3 == "" ? var.var2 : var.var1 // ephemeral because of var3 conditional
  eg4 = var.var1 == "" ? var.var2 : var.var3 // ephemeral because of var3 usage
  eg5 = "${var.var3}-${var.var1}"            // ephemeral because of var3 usage
  eg6 = local.eg4                            // ephemeral because of eg4 is ephemeral
}`
	for _, var1 := range []string{"", "v1"} {
		w := open(t, Planning, text, map[string]cty.Value{"var1": cty.StringVal(var1), "var2": cty.StringVal("v2"), "var3": cty.StringVal("v3")})
		for name, want := range map[string]bool{"eg1": false, "eg2": false, "eg3": true, "eg4": true, "eg5": true, "eg6": true} {
			if v := w.run.Root.locals[name].Get(w.task, nil, nil); value.Contains(v, value.Ephemeral) != want {
				t.Errorf("var1 = %q, %s: got %s, want it ephemeral: %t", var1, name, show(v), want)
			}
		}
		w.clean()
	}
	w := open(t, Validating, text, nil)
	for name, want := range map[string]bool{"eg1": false, "eg2": false, "eg3": true, "eg4": true, "eg5": true, "eg6": true} {
		if v := w.run.Root.locals[name].Get(w.task, nil, nil); value.Contains(v, value.Ephemeral) != want {
			t.Errorf("validating, %s: got %s, want it ephemeral: %t", name, show(v), want)
		}
	}
}

const markedVars = `
variable "e" {
  default   = "E"
  ephemeral = true
}
variable "s" {
  default   = "S"
  sensitive = true
}
variable "es" {
  default   = "ES"
  ephemeral = true
  sensitive = true
}
variable "eo" {
  default   = { k = "v" }
  ephemeral = true
}
variable "p" { default = "P" }
module "old" {
  source = "./old"
  s      = var.s
}
locals { x = EXPR }
-- old/m.tf --
variable "s" {}
output "d" {
  value      = "D"
  deprecated = "use new"
}
output "des" {
  value      = var.s
  deprecated = "use new"
  ephemeral  = true
}
output "both" {
  value     = { plain = "x", secret = var.s }
  ephemeral = true
  sensitive = true
}`

var markCases = []struct{ expr, want string }{
	{`{ a = var.e, b = var.p, c = var.s }`, `{a:e("E") b:"P" c:s("S")}`},
	{`[var.e, var.p, var.es]`, `[e("E") "P" es("ES")]`},
	{`{ a = var.e, b = var.p }.b`, `"P"`},
	{`[for x in [var.e, var.p] : upper(x)]`, `[e("E") "P"]`},
	{`"${var.e}${var.s}"`, `es("ES")`},
	{`var.e == var.s`, `es(false)`},
	{`var.e == "E" && var.s == "S"`, `es(true)`},
	{`merge({ a = var.e }, { b = var.s })`, `{a:e("E") b:s("S")}`},
	{`upper(var.es)`, `es("ES")`},
	{`sensitive(var.e)`, `es("E")`},
	{`nonsensitive(var.es)`, `e("ES")`},
	{`module.old.d`, `d("D")`},
	{`"${module.old.d}-${var.e}"`, `de("D-E")`},
	{`module.old.des`, `des("S")`},
	{`module.old.both.plain`, `es("x")`},
	{`"${var.s}${module.old.d}"`, `ds("SD")`},
	// no leaks of one bit
	{`can(var.e)`, `true`}, // whatever it is, it is one
	{`can(tonumber(var.e))`, `e(false)`},
	{`try(tonumber(var.e), "other")`, `e("other")`},
	{`try(var.e, "other")`, `e("E")`},
	{`length(var.e)`, `e(1)`},
	{`length(var.eo)`, `e(1)`},
	{`keys(var.eo)`, `e(["k"])`},
	{`contains(keys(var.eo), "k")`, `e(true)`},
	{`var.e != ""`, `e(true)`},
	{`var.e == null`, `e(false)`},
	{`var.e == "E" ? 1 : 2`, `e(1)`},
	{`var.p == "P" ? 1 : var.e`, `e("1")`},
	{`issensitive(var.es)`, `true`},
	{`[for k, v in var.eo : k]`, `e(["k"])`},
	{`[for x in ["a", "b"] : x if x == var.e]`, `e([])`},
	{`lookup({ E = 1 }, var.e, 0)`, `e(1)`},
	{`{ E = 1 }[var.e]`, `e(1)`},
	{`{ (var.e) = 1 }`, `e({E:1})`},
	// null in the place of what is ephemeral
	{`ephemeralasnull(var.e)`, `null`},
	{`ephemeralasnull(var.es)`, `s(null)`},
	{`ephemeralasnull({ a = var.e, b = var.s, c = [var.e, 1] })`, `{a:null b:s("S") c:[null 1]}`},
	{`var.p == "P" ? "x" : ephemeralasnull(var.e)`, `"x"`},
	{`ephemeralasnull("plain")`, `"plain"`},
	{`tofu.applying`, `e(false)`},
	{`terraform.applying ? 1 : 0`, `e(0)`},
}

// Marks stand at the elements that they belong to, survive together, and are not lost by asking about a value
// in another way.
func TestE21_E22_E23_MarksThroughExpressions(t *testing.T) {
	for _, c := range markCases {
		t.Run(c.expr, func(t *testing.T) {
			w := planned(t, replaceExpr(markedVars, c.expr))
			if diff := cmp.Diff(c.want, w.local("x")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.HasPrefix(c.want, "d") {
				w.oneWarning("Value derived from a deprecated source")
				return
			}
			w.clean()
		})
	}
}

func TestApplyingIsTrueInApply(t *testing.T) {
	text := `locals { x = [tofu.applying, terraform.applying] }`
	for phase, want := range map[Phase]string{Planning: `[e(false) e(false)]`, Applying: `[e(true) e(true)]`, Validating: `[e(unknown) e(unknown)]`} {
		if got := open(t, phase, text, nil).local("x"); got != want {
			t.Errorf("phase %d: got %s, want %s", phase, got, want)
		}
	}
}

func TestOutputTypes(t *testing.T) {
	for _, c := range []struct{ name, typ, value, want, errs string }{
		{"converted", `number`, `"5"`, `5`, ``},
		{"optional attributes", `object({ a = string, b = optional(string, "B") })`, `{ a = 1 }`, `{a:"1" b:"B"}`, ``},
		{"sensitive", `string`, `sensitive(5)`, `s("5")`, ``},
		{"wrong type", `number`, `"x"`, `unknown`, `error: m/m.tf:3,13-16: Invalid output value: The value of module.m.output.o does not have the declared type: a number is required.`},
		{"wrong type of a secret", `map(number)`, `sensitive({ hunter2 = "x" })`, `unknown`, `error: m/m.tf:3,13-41: Invalid output value: The value of module.m.output.o does not have the declared type: map of number required.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, fmt.Sprintf("module \"m\" { source = \"./m\" }\n-- m/m.tf --\noutput \"o\" {\n  type = %s\n  value   = %s\n  sensitive = %t\n}", c.typ, c.value, strings.Contains(c.value, "sensitive")))
			got := show(w.run.Root.calls["m"].Child(addr.NoKey).outputs["o"].Get(w.task, nil, nil))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.errs, w.errors()); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRootVariables(t *testing.T) {
	text := `
variable "req" { type = string }
variable "nn" {
  default  = "d"
  nullable = false
}
output "o" { value = [var.req, var.nn] }`
	w := planned(t, text)
	w.output("o")
	if e := w.errors(); !strings.Contains(e, `No value for required variable: The root module's input variable "req" is not set`) || strings.Count(e, "\n") != 0 {
		t.Error(e)
	}
	w = open(t, Planning, text, map[string]cty.Value{"req": cty.StringVal("r"), "nn": cty.NullVal(cty.String)})
	if got := w.output("o"); got != `["r" "d"]` {
		t.Error(got)
	}
	w.clean()
}

// Values pass through modules with all their marks, and validations may look at other objects.
func TestValidation(t *testing.T) {
	text := `
variable "p" {
  default   = "short"
  ephemeral = true
}
module "a" {
  source = "./a"
  p      = var.p
  size   = 3
}
-- a/a.tf --
variable "p" { ephemeral = true }
variable "size" {}
module "b" {
  source = "../b"
  p      = var.p
  size   = var.size
}
-- b/b.tf --
variable "p" {
  ephemeral = true
  validation {
    condition     = length(var.p) > 9
    error_message = "The password ${var.p} is too short."
  }
}
variable "size" {
  validation {
    condition     = var.size > local.limit && var.size > length(sim_thing.t.id)
    error_message = "${var.size} is not above ${local.limit}."
  }
}
locals { limit = 5 }
resource "sim_thing" "t" {}
`
	w := planned(t, text)
	w.everything(w.task, w.run.Root)
	want := `error: a/a.tf:5,12-17: Invalid value for variable: The error message refers to ephemeral values, so it is not shown. Leave them out (b/b.tf:5).\n\nThis was checked by the validation rule at b/b.tf:3.
error: a/a.tf:6,12-20: Invalid value for variable: 3 is not above 5.\n\nThis was checked by the validation rule at b/b.tf:9.`
	if diff := cmp.Diff(want, w.errors()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(w.errors(), "short.") {
		t.Error("the secret is shown")
	}
	var status []string
	for _, r := range w.run.Checks.Results() {
		status = append(status, r.Config)
	}
	if d := cmp.Diff([]string{"module.a.module.b.var.p", "module.a.module.b.var.size"}, status); d != "" {
		t.Error(d)
	}
}

func TestOutputs(t *testing.T) {
	for _, c := range []struct{ name, decl, want, errs string }{
		{"plain", `value = "x"`, `"x"`, ``},
		{"sensitive", "value = \"x\"\n  sensitive = true", `s("x")`, ``},
		{"E12 ephemeral with a plain value", "value = \"x\"\n  ephemeral = true", `e("x")`, ``},
		{"E12 all marks", "value = { a = var.s }\n  ephemeral = true\n  deprecated = \"no\"", `de({a:s("S")})`, ``},
		{"sensitive value in a module", `value = var.s`, `s("S")`, ``},
		{"E11", `value = var.e`, `unknown`, "error: m/m.tf:10,11-16: Output not marked as ephemeral: In order to allow this output to store ephemeral values add `ephemeral = true` attribute to it.\\n\\nThe value is ephemeral because of module.m.var.e."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, `
module "m" { source = "./m" }
-- m/m.tf --
variable "s" {
  default   = "S"
  sensitive = true
}
variable "e" {
  default   = "E"
  ephemeral = true
}
output "o" {
  `+c.decl+`
}`)
			got := show(w.run.Root.calls["m"].Child(addr.NoKey).outputs["o"].Get(w.task, nil, nil))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.errs, w.errors()); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestE11_RootOutput(t *testing.T) {
	w := planned(t, `
variable "e" {
  default   = "E"
  ephemeral = true
}
output "o" { value = "x${var.e}" }
output "s" { value = sim_thing.a.token }
output "fine" { value = ephemeralasnull(var.e) }
resource "sim_thing" "a" {}`)
	w.output("o")
	w.output("s")
	if got := w.output("fine"); got != "null" {
		t.Error(got)
	}
	want := `error: main.tf:6,22-33: Ephemeral value in a root module output: An output of the root module is stored in the state, so it can neither hold an ephemeral value nor be marked as ephemeral. To output the rest of the value, pass it through ephemeralasnull, which puts null in place of the ephemeral parts.\n\nThe value is ephemeral because of var.e.
error: main.tf:7,22-39: Output refers to sensitive values: To reduce the risk of showing a secret by accident, an output of the root module whose value is sensitive must say so: add the argument\n    sensitive = true`
	if diff := cmp.Diff(want, w.errors()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOutputPreconditions(t *testing.T) {
	w := planned(t, `
resource "sim_thing" "a" { name = "n" }
output "good" {
  value = 1
  precondition {
    condition     = sim_thing.a.name == "n"
    error_message = "Never."
  }
}
output "bad" {
  value = 1
  precondition {
    condition     = sim_thing.a.name == ""
    error_message = "The name is ${sim_thing.a.name}."
  }
}`)
	if unmet := w.run.Root.OutputPreconditions(w.task, nil); len(unmet) != 1 || unmet[0].Addr() != "output.bad" {
		t.Errorf("unmet preconditions: got %v, want that of output.bad", unmet)
	}
	if d := cmp.Diff(`error: output.bad: main.tf:13,21-43: Module output value precondition failed: The name is n.`, w.errors()); d != "" {
		t.Error(d)
	}
}

// Ephemeral values outside of write-only attributes are refused where they stand, with the way by which they
// got there.
func TestE3_InvalidUse(t *testing.T) {
	const why = `cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.`
	const keep = `\n\nTo keep the value out of the state, add to the lifecycle block: ephemeral_attributes = [`
	const tail = `\n\nIf null will do in its place, pass it through the ephemeralasnull function.`
	for _, c := range []struct{ name, body, want string }{
		{"attribute", `name = var.password`, `main.tf:12,10-22: Invalid use of an ephemeral value: "name" ` + why + `\n\nThe value is ephemeral because of var.password.` + keep + `name]` + tail},
		{"through locals", `name = local.url`, `main.tf:12,10-19: Invalid use of an ephemeral value: "name" ` + why + `\n\nThe value is ephemeral because of local.url ← local.inner ← var.password.` + keep + `name]` + tail},
		{"sibling", `password = var.password`, `main.tf:12,14-26: Invalid use of an ephemeral value: "password" ` + why + ` The write-only attribute "password_wo" is meant for such values.\n\nThe value is ephemeral because of var.password.` + tail},
		{"element", `list = ["a", local.url]`, `main.tf:12,16-25: Invalid use of an ephemeral value: "list[1]" ` + why + `\n\nThe value is ephemeral because of local.url ← local.inner ← var.password.` + keep + `list[*]]` + tail},
		{"map element", `tags = { a = "b", c = ephemeral.sim_secret.s.token }`, `main.tf:12,25-53: Invalid use of an ephemeral value: "tags[\"c\"]" ` + why + `\n\nThe value is ephemeral because of ephemeral.sim_secret.s.` + keep + `tags["c"]]` + tail},
		{"block", "rule {\n    value = module.m.o\n  }", `main.tf:13,13-23: Invalid use of an ephemeral value: "rule[0].value" ` + why + ` The write-only attribute "rule[0].value_wo" is meant for such values.\n\nThe value is ephemeral because of module.m.o ← module.m.var.i ← var.password.` + tail},
		{"dynamic block", "rule { value_wo = var.password }\n  dynamic \"rule\" {\n    for_each = [\"x\"]\n    content {\n      value = \"${rule.value}${var.password}\"\n    }\n  }", `main.tf:16,15-45: Invalid use of an ephemeral value: "rule[1].value" ` + why + ` The write-only attribute "rule[1].value_wo" is meant for such values.\n\nThe value is ephemeral because of var.password.` + tail},
		{"iterator of a dynamic block", "dynamic \"rule\" {\n    for_each = [var.password]\n    content {\n      value = rule.value\n    }\n  }", `main.tf:13,16-30: Invalid use of an ephemeral value: "rule[0].value" ` + why + ` The write-only attribute "rule[0].value_wo" is meant for such values.\n\nThe value is ephemeral because of var.password.` + tail},
		{"applying", `name = tofu.applying ? "a" : "b"`, `main.tf:12,10-35: Invalid use of an ephemeral value: "name" ` + why + `\n\nThe value is ephemeral because of tofu.applying.` + keep + `name]` + tail},
		{"unchosen branch", `name = var.password == "" ? "a" : "b"`, `main.tf:12,10-40: Invalid use of an ephemeral value: "name" ` + why + `\n\nThe value is ephemeral because of var.password.` + keep + `name]` + tail},
		{"chosen by a secret", "dynamic \"rule\" {\n    for_each = [1]\n    content {\n      value = { hunter2 = \"a\" }[var.password]\n    }\n  }", `main.tf:15,15-46: Invalid use of an ephemeral value: "rule[0].value" ` + why + ` The write-only attribute "rule[0].value_wo" is meant for such values.\n\nThe value is ephemeral because of var.password.` + tail},
		{"branch not taken", `name = local.yes ? "a" : var.password`, `main.tf:12,10-40: Invalid use of an ephemeral value: "name" ` + why + `\n\nThe value is ephemeral because of var.password.` + keep + `name]` + tail},
		{"write-only", "password_wo = local.url\n  rule { value_wo = var.password }", ``},
	} {
		for _, phase := range []Phase{Planning, Validating} {
			t.Run(c.name, func(t *testing.T) {
				w := open(t, phase, `variable "password" {
  default   = "hunter2"
  ephemeral = true
}
locals {
  inner = "x${var.password}"
  url   = local.inner
  yes   = true
}
ephemeral "sim_secret" "s" {}
resource "sim_thing" "a" {
  `+c.body+`
}
module "m" {
  source = "./m"
  i      = var.password
}
-- m/m.tf --
variable "i" { ephemeral = true }
output "o" {
  value     = var.i
  ephemeral = true
}`, nil)
				w.demand(w.task, w.instance("sim_thing.a"))
				want := c.want
				if want != "" {
					want = "error: sim_thing.a: " + want
				}
				if diff := cmp.Diff(want, w.errors()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestE33_DataTakesNoEphemeralValues(t *testing.T) {
	w := planned(t, `
ephemeral "sim_secret" "s" {}
data "sim_data" "d" { name = ephemeral.sim_secret.s.token }
data "sim_data" "ok" { depends_on = [ephemeral.sim_secret.s] }`)
	w.demand(w.task, w.instance("data.sim_data.d"))
	w.demand(w.task, w.instance("data.sim_data.ok"))
	want := `error: data.sim_data.d: main.tf:3,30-58: Invalid use of an ephemeral value: "name" cannot accept an ephemeral value because it belongs to a data block, whose arguments are written to the state.\n\nThe value is ephemeral because of ephemeral.sim_secret.s.\n\nIf null will do in its place, pass it through the ephemeralasnull function.`
	if diff := cmp.Diff(want, w.errors()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whether apply is under way may decide about ephemeral blocks, and about no others; other ephemeral values
// may not.
func TestE35_ApplyingDecidesAboutEphemeralBlocks(t *testing.T) {
	for _, c := range []struct {
		name, body  string
		plan, apply int // instances; -1 for an error
	}{
		{"count", `count = tofu.applying ? 1 : 0`, 0, 1},
		{"count by terraform", `count = terraform.applying ? 2 : 1`, 1, 2},
		{"enabled", `lifecycle { enabled = tofu.applying }`, 0, 1},
		{"through a local", `count = local.on ? 1 : 0`, 0, 1},
		{"a secret", `count = length(var.secret)`, -1, -1},
		{"a secret beside", `count = tofu.applying && var.secret == "" ? 1 : 0`, -1, -1},
		{"a secret in the branch", `count = tofu.applying ? length(var.secret) : 0`, -1, -1},
		{"another ephemeral", `count = tofu.applying ? length(ephemeral.sim_secret.other.token) : 0`, -1, -1},
		{"for_each", `for_each = tofu.applying ? toset(["a"]) : toset([])`, -1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for phase, want := range map[Phase]int{Planning: c.plan, Applying: c.apply} {
				w := open(t, phase, `
variable "secret" {
  default   = "xx"
  ephemeral = true
}
locals { on = tofu.applying }
ephemeral "sim_secret" "other" {}
ephemeral "sim_secret" "a" {
  `+c.body+`
}`, nil)
				instances, ok := w.instance("ephemeral.sim_secret.a").Resource.Instances(w.task)
				if got := len(instances); ok != (want >= 0) || ok && got != want {
					t.Errorf("phase %d: %d instances, got %v, want %v: %s", phase, got, ok, (want >= 0), w.errors())
				}
			}
		})
	}
}
