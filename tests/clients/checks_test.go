package clients

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"
)

var checksConfig = map[string]string{
	"main.tf": `
variable "size" {
  default = 1
}
resource "terraform_data" "x" {
  input = var.size
}
check "later" {
  assert {
    condition     = terraform_data.x.output == 2
    error_message = "output is ${terraform_data.x.output}"
  }
}
check "unreadable" {
  data "terraform_remote_state" "other" {
    backend = "local"
    config  = { path = "missing.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.other.outputs.x == 1
    error_message = "no"
  }
}
module "m" {
  source = "./m"
  count  = 2
  index  = count.index
}
`,
	"m/main.tf": `
variable "index" {}
check "inner" {
  assert {
    condition     = var.index == 0
    error_message = "index is ${var.index}"
  }
}
`,
}

// checkText is what a document says of checks: address to status and messages.
func checkText(checks []tfjson.CheckResultStatic) map[string]string {
	out := map[string]string{}
	for _, c := range checks {
		out[c.Address.ToDisplay] = string(c.Address.Kind) + " " + c.Address.Module + " " + c.Address.Name + " " + string(c.Status)
		for _, in := range c.Instances {
			if in.Address.ToDisplay == c.Address.ToDisplay {
				continue
			}
			text := string(in.Status)
			for _, p := range in.Problems {
				text += " " + p.Message
			}
			out[in.Address.ToDisplay] = text
		}
	}
	return out
}

// TestChecks reads the results of checks from the documents of a plan and of a state. A failing check fails
// no command.
func TestChecks(t *testing.T) {
	tf, ctx := initialized(t, checksConfig), t.Context()
	_, err := tf.Plan(ctx, tfexec.Out("saved"))
	ok(t, "plan", err)
	plan, err := tf.ShowPlanFile(ctx, "saved")
	ok(t, "show plan", err)
	want := map[string]string{
		"check.later": "check  later unknown", "check.unreadable": "check  unreadable fail", "module.m.check.inner": "check module.m inner fail",
		"module.m[0].check.inner": "pass", "module.m[1].check.inner": "fail index is 1",
	}
	if diff := cmp.Diff(want, checkText(plan.Checks)); diff != "" {
		t.Errorf("checks of the plan (-want +got):\n%s", diff)
	}
	for _, c := range plan.ResourceChanges {
		if c.Address == "data.terraform_remote_state.other" && !c.Change.Actions.Read() {
			t.Errorf("%s: %v", c.Address, c.Change.Actions)
		}
	}
	ok(t, "apply", tf.Apply(ctx, tfexec.DirOrPlan("saved")))
	state, err := tf.Show(ctx)
	ok(t, "show", err)
	want["check.later"] = "check  later fail"
	if diff := cmp.Diff(want, checkText(state.Checks)); diff != "" {
		t.Errorf("checks of the state (-want +got):\n%s", diff)
	}
}
