package eval

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
)

func TestVariables(t *testing.T) {
	for _, c := range []struct{ name, decl, arg, want, errs string }{
		{"given", ``, `in = "x"`, `"x"`, ``},
		{"number for string", `type = string`, `in = 5`, `"5"`, ``},
		{"default", `default = "d"`, ``, `"d"`, ``},
		{"optional attributes", `type = object({ a = string, b = optional(string, "B"), c = optional(number) })`, `in = { a = 1 }`, `{a:"1" b:"B" c:null}`, ``},
		{"optional in a list", `type = list(object({ b = optional(string, "B") }))`, `in = [{}, { b = null }, { b = "x" }]`, `[{b:"B"} {b:"B"} {b:"x"}]`, ``},
		{"optional with sensitive", `type = object({ a = string, b = optional(string, "B") })`, `in = { a = sensitive("x") }`, `{a:s("x") b:"B"}`, ``},
		{"whole sensitive", `type = object({ a = string, b = optional(string, "B") })`, `in = sensitive({ a = "x" })`, `s({a:"x" b:"B"})`, ``},
		{"null", `default = "d"`, `in = null`, `null`, ``},
		{"not nullable", "default = \"d\"\n  nullable = false", `in = null`, `"d"`, ``},
		{"required not nullable", `nullable = false`, `in = null`, `unknown`, `error: main.tf:4,3-12: Required variable not set: The variable "in" must not be null: it is declared with nullable = false. What sets it to null (an option, a file, the environment or the call of its module) must give it a value.`},
		{"sensitive", `sensitive = true`, `in = "x"`, `s("x")`, ``},
		{"ephemeral", `ephemeral = true`, `in = "x"`, `e("x")`, ``},
		{"ephemeral and sensitive", "ephemeral = true\n  sensitive = true", `in = "x"`, `es("x")`, ``},
		{"wrong type", `type = number`, `in = "x"`, `unknown`, `error: main.tf:4,3-11: Invalid value for input variable: The value given for module.m.var.in is not suitable: a number is required. It is declared at m/m.tf:1.`},
		{"missing attribute", `type = object({ a = string })`, `in = {}`, `unknown`, `error: main.tf:4,3-10: Invalid value for input variable: The value given for module.m.var.in is not suitable: attribute "a" is required. It is declared at m/m.tf:1.`},
		{"wrong type of a secret", `type = map(number)`, `in = sensitive({ hunter2 = "x" })`, `unknown`, `error: main.tf:4,3-36: Invalid value for input variable: The value given for module.m.var.in is not suitable: map of number required. It is declared at m/m.tf:1.`},
		{"E4 ephemeral to plain", ``, `in = var.e`, `unknown`, "error: main.tf:4,8-13: Invalid usage of ephemeral value: Variable `in` is not marked as ephemeral. Therefore, it cannot reference an ephemeral value. In case this is actually wanted, you can add the following attribute to its declaration:\\n  ephemeral = true\\n\\nThe value is ephemeral because of var.e."},
		{"E4 nested ephemeral to plain", ``, `in = { a = [var.e] }`, `unknown`, "error: main.tf:4,8-23: Invalid usage of ephemeral value: Variable `in` is not marked as ephemeral. Therefore, it cannot reference an ephemeral value. In case this is actually wanted, you can add the following attribute to its declaration:\\n  ephemeral = true\\n\\nThe value is ephemeral because of var.e."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, `
module "m" {
  source = "./m"
  `+c.arg+`
}
variable "e" {
  default   = "E"
  ephemeral = true
}
-- m/m.tf --
variable "in" {
  `+c.decl+`
}`)
			got := show(w.run.Root.calls["m"].Child(addr.NoKey).variables["in"].Get(w.task, nil, nil))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.errs, w.errors()); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}
