package config

import (
	"maps"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
)

// semanticFiles are configurations by what is wrong with them, in their meaning or in their form.
var semanticFiles = map[bool]map[string]string{
	false: {
		"Unsupported argument":      "module \"m\" {\n  source = \"./m\"\n  in     = 1\n  other  = 2\n}",
		"Missing required argument": `module "m" { source = "./m" }`,
		"Invalid depends_on reference": `
resource "sim_thing" "a" { depends_on = [sim_thing.b.id] }
resource "sim_thing" "b" {}`,
		"Unallowed ephemeral output": "output \"o\" {\n  value     = 1\n  ephemeral = true\n}",
		"Removed resource is still declared": `
resource "sim_thing" "a" {}
removed { from = sim_thing.a }`,
		"Provider configuration not present": `resource "sim_thing" "a" { provider = sim.other }`,
		`Invalid "moved" address`:            "moved {\n  from = ephemeral.sim_thing.a\n  to   = data.sim_thing.b\n}",
		"Invalid import address expression":  "import {\n  to = data.sim_thing.a\n  id = \"a\"\n}",
	},
	true: {
		"Duplicate variable declaration": "variable \"v\" {}\nvariable \"v\" {}",
		"Invalid variable validation condition": `
locals { ok = true }
variable "v" {
  validation {
    condition     = local.ok
    error_message = "No."
  }
}`,
		"Missing required provider configuration": `module "alias" { source = "./alias" }`,
		"Provider type mismatch": `
terraform {
  required_providers {
    sim    = { source = "mayfly.dev/test/sim" }
    random = { source = "hashicorp/random" }
  }
}
provider "random" { alias = "z" }
module "plain" {
  source    = "./plain"
  providers = { sim = random.z }
}`,
	},
}

// TestFormal tells errors of meaning from those of form, which keep it from being known what a configuration
// needs.
func TestFormal(t *testing.T) {
	for formal, files := range semanticFiles {
		for _, summary := range slices.Sorted(maps.Keys(files)) {
			_, diags := (&Loader{FS: mapFS(map[string]string{
				"main.tf": files[summary], "m/m.tf": `variable "in" {}`, "plain/m.tf": `output "o" { value = 1 }`,
				"alias/m.tf": "terraform {\n  required_providers {\n    sim = { configuration_aliases = [sim.a] }\n  }\n}",
			})}).Load(".")
			if !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Summary == summary }) {
				t.Errorf("%s: not found among %s", summary, show(diags))
			}
			if left := Formal(diags); left.HasErrors() != formal {
				t.Errorf("%s: got %s of %s, want errors left: %t", summary, show(left), show(diags), formal)
			}
		}
	}
}
