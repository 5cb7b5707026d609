package static

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

func TestUnmet(t *testing.T) {
	for _, c := range []struct{ name, arguments, condition, message, want string }{
		{"met", "", `var.v == "CANARY"`, `"no"`, ""},
		{"not met", "", `var.v != "CANARY"`, `"not this"`, "not this"},
		{"other variables", "", `var.v == var.set`, `"unlike ${var.set}"`, "unlike given"},
		{"a default", "", `var.v == var.with`, `"unlike ${local.with}"`, "unlike (def)"},
		{"a variable without a value", "", `var.v == var.missing`, `"no"`, ""},
		{"a resource", "", `var.v == terraform_data.x.id`, `"no"`, ""},
		{"a time", "", `var.v == timestamp()`, `"no"`, ""},
		{"an error in the rule", "", `var.v + 1 == 2`, `"no"`, ""},
		{"a rule that is no truth", "", `[var.v]`, `"no"`, ""},
		{"a message with an error", "", `var.v == ""`, `"${file("none")}"`, "This condition was not met."},
		{"an empty message", "", `var.v == ""`, `" "`, "This condition was not met."},
		{"an unknown message", "", `var.v == ""`, `timestamp()`, "This condition was not met."},
		{"ephemeral", "ephemeral = true", `var.v == ""`, `"short"`, "short"},
		{"an ephemeral message", "ephemeral = true", `var.v == ""`, `"not ${var.v}"`, "The error message refers to ephemeral values, so it is not shown."},
		{"a sensitive message", "sensitive = true", `var.v == ""`, `"not ${var.v}"`, "The error message refers to sensitive values, so it is not shown."},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(`
variable "set" {}
variable "missing" {}
variable "with" { default = "def" }
locals { with = "(${var.with})" }
resource "terraform_data" "x" {}
variable "v" {
  ` + c.arguments + `
  validation {
    condition     = ` + c.condition + `
    error_message = ` + c.message + `
  }
}`)}}}
			tree, diags := l.Load(".")
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			e := New(Options{RootDir: ".", WorkDir: t.TempDir(), Variable: func(_ *config.Module, v *config.Variable) (cty.Value, diag.List) {
				switch v.Name {
				case "set":
					return cty.StringVal("given"), nil
				case "v":
					return cty.StringVal("CANARY"), nil
				}
				return cty.NilVal, nil
			}})
			got := e.Unmet(tree.Root, tree.Root.Variables["v"])
			if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0].Detail, c.want+"\n")) {
				t.Errorf("%v, want %q", got, c.want)
			}
			if c.arguments != "" && strings.Contains(fmt.Sprint(got), "CANARY") {
				t.Errorf("arguments %q: got %v, want it without the secret", c.arguments, got)
			}
		})
	}
}
