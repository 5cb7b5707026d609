package eval

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// fourConditions has a condition that passes in each kind of block; % stands for its message.
const fourConditions = `
locals {
  l   = ["a"]
  nil = null
}
resource "sim_thing" "a" {
  lifecycle {
    precondition {
      condition     = local.l[0] == "a"
      error_message = %
    }
  }
}
check "c" {
  assert {
    condition     = local.l[0] == "a"
    error_message = %
  }
}
output "o" {
  value = 1
  precondition {
    condition     = local.l[0] == "a"
    error_message = %
  }
}
variable "v" {
  default = 1
  validation {
    condition     = var.v == 1
    error_message = %
  }
}`

// The messages of conditions that pass are evaluated too: an error in each of the four kinds of blocks.
func TestMessagesOfPassingConditions(t *testing.T) {
	for _, row := range []struct{ name, message, want string }{
		{"an index", `"x ${local.l[5]}"`, "Invalid index"},
		{"a function", `upper(local.l)`, "Invalid function argument"},
		{"type", `local.l`, "Invalid error message: Unsuitable value for error message: string required"},
		{"null", `local.nil`, "Invalid error message: Unsuitable value for error message: must not be null"},
	} {
		for phase, name := range map[Phase]string{Validating: "validating", Planning: "planning"} {
			t.Run(row.name+" "+name, func(t *testing.T) {
				w := open(t, phase, strings.ReplaceAll(fourConditions, "%", row.message), nil)
				w.everything(w.task, w.run.Root)
				if phase == Validating {
					w.run.Root.ValidateChecks(w.task)
				} else {
					w.run.Root.Resources()[0].Instance(addr.NoKey).Preconditions(w.task, nil)
					w.run.Root.CheckBlocks()[0].Evaluate(w.task, nil, false)
				}
				if n := strings.Count(w.errors(), "error: "); n != 4 || strings.Count(w.errors(), row.want) != 4 {
					t.Errorf("got %d errors:\n%s\nwant 4 with %s", n, w.errors(), row.want)
				}
			})
		}
	}
}

// A message that will be hidden is a warning while planning, except that of a variable.
func TestMessagesThatAreHidden(t *testing.T) {
	const vars = `
variable "s" {
  default   = "CANARY"
  sensitive = true
}
variable "e" {
  default   = "CANARY"
  ephemeral = true
}`
	for name, want := range map[string]string{"s": "Error message refers to sensitive values", "e": "Error message refers to ephemeral values"} {
		w := planned(t, strings.ReplaceAll(fourConditions, "%", `"no ${var.`+name+`}"`)+vars)
		w.everything(w.task, w.run.Root)
		w.run.Root.Resources()[0].Instance(addr.NoKey).Preconditions(w.task, nil)
		w.run.Root.CheckBlocks()[0].Evaluate(w.task, nil, false)
		if got := w.errors(); strings.Count(got, "warning: ") != 3 || strings.Count(got, want) != 3 || strings.Contains(got, "error: ") || strings.Contains(got, "CANARY") {
			t.Errorf("%s: got\n%s\nwant 3 warnings with %s, no errors, and no secret", name, got, want)
		}
	}
}

// Validating holds constant arguments of calls, and defaults of called modules, against the validation rules;
// a root variable's default may never be used.
func TestValidationsOfArguments(t *testing.T) {
	const module = `
-- m/m.tf --
variable "n" {
  type    = number
  default = 1
  validation {
    condition     = var.n > 5
    error_message = "The number ${var.n} is too small."
  }
}
output "n" { value = var.n > 5 ? 1 : tonumber("x") }`
	for _, row := range []struct{ name, text, want string }{
		{"constant", "locals { three = 3 }\nmodule \"m\" {\n  source = \"./m\"\n  n = local.three\n}", "main.tf:4,7-18: Invalid value for variable: The number 3 is too small."},
		{"no instance", "module \"m\" {\n  source = \"./m\"\n  count = 0\n  n = 3\n}", "main.tf:4,7-8: Invalid value for variable: The number 3 is too small."},
		{"default", "module \"m\" { source = \"./m\" }", "m/m.tf:1,1-13: Invalid value for variable: The number 1 is too small."},
		{"right", "module \"m\" {\n  source = \"./m\"\n  n = 7\n}", ""},
		{"unknown", "variable \"x\" { default = 3 }\nmodule \"m\" {\n  source = \"./m\"\n  n = var.x\n}", ""},
		{"secret", "module \"m\" {\n  source = \"./m\"\n  n = sensitive(3)\n}", "is not shown"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := open(t, Validating, row.text+module, nil)
			w.everything(w.task, w.run.Root)
			if got := w.errors(); row.want == "" && got != "" || !strings.Contains(got, row.want) || strings.Count(got, "error: ") > 1 {
				t.Errorf("got:\n%s\nwant one error with %q (none if empty)", got, row.want)
			}
		})
	}
}

// The connection of a provisioner that works on this machine must be right all the same.
func TestUnusedConnections(t *testing.T) {
	for text, want := range map[string]string{
		`user = "x"`:                      `Missing required argument: The argument "host" is required`,
		"host = \"x\"\n port = \"p\"":     `Incorrect attribute value type: Inappropriate value for attribute "port"`,
		"host = \"x\"\n type = \"winrm\"": "",
		"host = self.id":                  "",
	} {
		w := open(t, Validating, "resource \"sim_thing\" \"a\" {\n  connection {\n"+text+"\n}\n  provisioner \"local-exec\" { command = \"true\" }\n}", nil)
		_, diags := w.instance("sim_thing.a").EvalConnection(w.task, nil, 0, w.instance("sim_thing.a").Value(w.task, nil))
		if got := lines(diags); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %q", text, got, want)
		}
	}
}

// What was compared in a condition that is false is shown unless it is a reference, written out, and
// not secret.
func TestComparedValues(t *testing.T) {
	const vars = `
variable "names" { default = ["a", "b", "a"] }
variable "o" { default = { a = { x = 1 }, b = 2 } }
variable "n" { default = 3 }
variable "s" {
  default   = ["CANARY"]
  sensitive = true
}
`
	for cond, want := range map[string]string{
		`var.n % 2 == 0`:   `var.n % 2 is 1`,
		`(var.n % 2) != 1`: `(var.n % 2) is 1`,
		`var.n == 4`:       ``,
		`length(var.names) == length(distinct(var.names))`: `length(var.names) is 3; length(distinct(var.names)) is 2`,
		`var.n == 3 && var.n + 1 > 4`:                      `var.n + 1 is 4`,
		`var.n + 1 > 4 && tonumber(var.names[0]) > 1`:      `var.n + 1 is 4`,
		`var.n + 1 > 4 || var.n + 2 > 5`:                   `var.n + 1 is 4; var.n + 2 is 5`,
		`var.o == { a = { x = 2 }, b = 2 }`:                `var.o.a.x is 1`,
		`distinct(var.names) == ["a", "c"]`:                `distinct(var.names)[1] is "b"`,
		`distinct(var.names) == var.names`:                 `distinct(var.names) is list of string with 2 elements`,
		`length(var.s) > 1`:                                ``,
		`upper(var.s[0]) == var.names[0]`:                  ``,
		`var.s == ["x"]`:                                   ``,
	} {
		text := vars + "output \"o\" {\n  value = 1\n  precondition {\n    condition = " + cond + "\n    error_message = \"No.\"\n  }\n}\n"
		w := planned(t, text)
		w.everything(w.task, w.run.Root)
		w.run.Root.OutputPreconditions(w.task, nil)
		var got []string
		for _, d := range w.run.Diags.List() {
			for _, p := range d.Parts {
				got = append(got, text[p.Range.Start.Byte:p.Range.End.Byte]+p.Path+" "+p.Statement)
			}
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s: got %s, want %s", cond, got, want)
		}
	}
}
