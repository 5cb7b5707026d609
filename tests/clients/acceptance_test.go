package clients

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/mayfly-iac/mayfly/internal/provider/keep"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/serve"
)

// served are the providers as a provider's author tests them: in the test process, to which the program under
// test connects.
func served() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"keep": func() (tfprotov6.ProviderServer, error) { return serve.New(keep.New(keep.Options{})), nil },
		"echo": echoprovider.NewProviderServer(),
	}
}

// accept runs the steps with a store of their own.
func accept(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	t.Setenv("KEEP_PATH", t.TempDir()+"/keep.age")
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: served(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps:                    steps,
	})
}

func secretBlock(arguments string) string {
	return "resource \"keep_secret\" \"s\" {\n  name = \"s\"\n" + arguments + "\n}\n"
}

// TestAcceptChosenVersion is a test that asks for a version of Terraform, which would be skipped otherwise.
func TestAcceptChosenVersion(t *testing.T) {
	steps := 0
	run := func(t *testing.T) {
		t.Setenv("KEEP_PATH", t.TempDir()+"/keep.age")
		resource.Test(t, resource.TestCase{
			ProtoV6ProviderFactories: served(),
			TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_15_0)},
			Steps: []resource.TestStep{{
				Config: "terraform {\n  required_version = \">= 1.15\"\n}\n" + secretBlock("value_wo = \"one\"\n  value_wo_version = 1"),
				Check: func(*terraform.State) error {
					steps++
					return nil
				},
			}},
		})
	}
	t.Run("without", run)
	t.Setenv("MAYFLY_COMPATIBILITY", "terraform-1.16")
	t.Run("with", run)
	if steps != 1 {
		t.Errorf("%d of the runs were not skipped, want 1", steps)
	}
}

func TestAcceptSecret(t *testing.T) {
	const address = "keep_secret.s"
	version := func(n int64) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(address, tfjsonpath.New("version"), knownvalue.Int64Exact(n)),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("value_wo"), knownvalue.Null()),
			statecheck.ExpectSensitiveValue(address, tfjsonpath.New("value_wo")),
		}
	}
	before := func(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
		return resource.ConfigPlanChecks{PreApply: checks}
	}
	accept(t,
		resource.TestStep{
			Config: secretBlock(`value_wo = "one"
  value_wo_version = 1`),
			ConfigPlanChecks: before(
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("version")),
				plancheck.ExpectSensitiveValue(address, tfjsonpath.New("value_wo")),
			),
			ConfigStateChecks: version(1),
			Check:             resource.TestCheckResourceAttr(address, "id", "keep:secret/s"),
		},
		resource.TestStep{
			Config: secretBlock(`value_wo = "two"
  value_wo_version = 1`),
			ConfigPlanChecks:  before(plancheck.ExpectEmptyPlan()),
			ConfigStateChecks: version(1),
		},
		resource.TestStep{
			Config: secretBlock(`value_wo = "two"
  value_wo_version = 2`),
			ConfigPlanChecks:  before(plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)),
			ConfigStateChecks: version(2),
		},
		resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateId: "s", ImportStateVerify: true,
			ImportStateVerifyIgnore: []string{"value_wo", "value_wo_version"},
		},
		resource.TestStep{RefreshState: true},
		resource.TestStep{
			Config: secretBlock(`value_wo = "two"
  value_wo_version = 2
  description = "in place"`),
			ConfigPlanChecks: before(
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("version"), knownvalue.Int64Exact(2)),
			),
			ConfigStateChecks: version(2),
		},
	)
}

func TestAcceptReplace(t *testing.T) {
	const address = "keep_note.n"
	config := func(name string) string {
		return "resource \"keep_note\" \"n\" {\n  name = \"" + name + "\"\n  text = \"t\"\n}\n"
	}
	accept(t,
		resource.TestStep{Config: config("a")},
		resource.TestStep{
			Config:           config("b"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionReplace)}},
		},
		resource.TestStep{Taint: []string{address}, Config: config("b")},
		resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateId: "b",
		},
		resource.TestStep{
			Config: config(""), ExpectError: regexp.MustCompile(`(?i)name`),
		},
		resource.TestStep{Config: config("b"), Destroy: true},
	)
}

// TestAcceptEphemeral sees the ephemeral value the only way there is: through a provider that is configured
// with it.
func TestAcceptEphemeral(t *testing.T) {
	accept(t, resource.TestStep{
		Config: secretBlock(`value_wo = "seen"
  value_wo_version = 1`) + `
ephemeral "keep_secret" "s" {
  name = keep_secret.s.id
}
provider "echo" {
  data = ephemeral.keep_secret.s
}
resource "echo" "e" {}
`,
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.e", tfjsonpath.New("data").AtMapKey("value"), knownvalue.StringExact("seen")),
			statecheck.ExpectKnownValue("echo.e", tfjsonpath.New("data").AtMapKey("version"), knownvalue.Int64Exact(1)),
		},
	})
}
