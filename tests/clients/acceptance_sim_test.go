package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// The test provider as its author would serve it: in this process, over either protocol.
var (
	sim6 = map[string]func() (tfprotov6.ProviderServer, error){
		"sim":  func() (tfprotov6.ProviderServer, error) { return simprovider.New6(simOptions()) },
		"echo": echoprovider.NewProviderServer(),
	}
	sim5 = map[string]func() (tfprotov5.ProviderServer, error){
		"sim": func() (tfprotov5.ProviderServer, error) { return simprovider.New5(simOptions()) },
	}
)

func simOptions() simprovider.Options {
	o, err := simprovider.FromEnv()
	if err != nil {
		panic(err) // the test has set the environment
	}
	return o
}

// simCase is a test case over protocol 6 with a cloud of its own, in which nothing must be left.
func simCase(t *testing.T, steps ...resource.TestStep) resource.TestCase {
	t.Helper()
	cloud := fromMirror(t)
	return resource.TestCase{
		ProtoV6ProviderFactories: sim6,
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{
			tfversion.SkipBelow(tfversion.Version1_12_0), tfversion.RequireAbove(tfversion.Version1_11_0), tfversion.SkipIf(tfversion.Version1_9_0),
			tfversion.RequireNot(tfversion.Version1_10_0), tfversion.RequireBetween(tfversion.Version1_12_0, tfversion.Version1_13_0),
		},
		CheckDestroy: func(*terraform.State) error {
			left, err := simcloud.Objects(cloud)
			if err == nil && len(left) != 0 {
				err = fmt.Errorf("%d objects are left", len(left))
			}
			return err
		},
		Steps: steps,
	}
}

const thing = "sim_thing.x"

func thingBlock(arguments string) string {
	return "resource \"sim_thing\" \"x\" {\n  name = \"x\"\n" + arguments + "\n}\n"
}

func planChecks(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}

func at(path string) tfjsonpath.Path { return tfjsonpath.New(path) }

func TestAcceptLife(t *testing.T) {
	same := statecheck.CompareValue(compare.ValuesSame())
	growing := statecheck.CompareValue(compare.ValuesDiffer())
	resource.Test(t, simCase(t,
		resource.TestStep{
			Config: thingBlock("size = 1\nrule {\n  port = 80\n}\nzone {\n  name = \"a\"\n}\nnested = { k = { value = \"v\" } }") + "output \"id\" {\n  value = sim_thing.x.id\n}\n",
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(thing, plancheck.ResourceActionCreate), plancheck.ExpectNonEmptyPlan(),
					plancheck.ExpectUnknownValue(thing, at("id")), plancheck.ExpectKnownValue(thing, at("label"), knownvalue.NotNull()),
					plancheck.ExpectUnknownOutputValue("id"), plancheck.ExpectUnknownValue(thing, at("rule").AtSliceIndex(0).AtMapKey("rule_id")),
				},
				PostApplyPreRefresh:  []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan(), plancheck.ExpectKnownOutputValue("id", knownvalue.NotNull())},
			},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(thing, at("nested").AtMapKey("k").AtMapKey("value"), knownvalue.StringExact("v")),
				statecheck.ExpectKnownValue(thing, at("zone"), knownvalue.SetSizeExact(1)),
				statecheck.ExpectKnownOutputValue("id", knownvalue.StringRegexp(regexp.MustCompile(`^x-\d+$`))),
				statecheck.ExpectIdentity(thing, map[string]knownvalue.Check{"name": knownvalue.StringExact("x")}),
				statecheck.ExpectIdentityValueMatchesState(thing, at("name")),
				same.AddStateValue(thing, at("id")), growing.AddStateValue(thing, at("serial")),
			},
			Check: resource.ComposeAggregateTestCheckFunc(
				resource.TestCheckResourceAttr(thing, "rule.0.port", "80"), resource.TestCheckResourceAttr(thing, "rule.#", "1"),
				resource.TestCheckTypeSetElemNestedAttrs(thing, "zone.*", map[string]string{"name": "a"}),
				resource.TestCheckResourceAttrSet(thing, "status"), resource.TestCheckNoResourceAttr(thing, "tags"), resource.TestMatchOutput("id", regexp.MustCompile("^x")),
			),
		},
		resource.TestStep{
			Config:           thingBlock("size = 2"),
			ConfigPlanChecks: planChecks(plancheck.ExpectResourceAction(thing, plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{
				same.AddStateValue(thing, at("id")), growing.AddStateValue(thing, at("serial")), statecheck.ExpectKnownValue(thing, at("size"), knownvalue.Int64Exact(2)),
			},
		},
		resource.TestStep{
			Config:           thingBlock("size = 2\nreplace_me = \"now\""),
			ConfigPlanChecks: planChecks(plancheck.ExpectResourceAction(thing, plancheck.ResourceActionDestroyBeforeCreate)),
		},
		resource.TestStep{
			Config:           thingBlock("size = 2\nreplace_me = \"again\"\nlifecycle {\n  create_before_destroy = true\n}"),
			ConfigPlanChecks: planChecks(plancheck.ExpectResourceAction(thing, plancheck.ResourceActionCreateBeforeDestroy)),
		},
		resource.TestStep{Config: thingBlock("size = 3\nreplace_me = \"again\""), PlanOnly: true, ExpectNonEmptyPlan: true},
		resource.TestStep{
			Config: "removed {\n  from = sim_thing.x\n  lifecycle {\n    destroy = true\n  }\n}\n", ConfigPlanChecks: planChecks(plancheck.ExpectResourceAction(thing, plancheck.ResourceActionDestroy)),
		},
	))
}

func TestAcceptErrors(t *testing.T) {
	resource.Test(t, simCase(t,
		resource.TestStep{Config: thingBlock("fail_on = \"validate\""), ExpectError: regexp.MustCompile(`validate`)},
		resource.TestStep{Config: thingBlock("fail_on = \"plan\""), ExpectError: regexp.MustCompile(`plan`)},
		resource.TestStep{Config: thingBlock("fail_on = \"create\""), ExpectError: regexp.MustCompile(`create`)},
		resource.TestStep{Config: thingBlock("absent = 1"), ExpectError: regexp.MustCompile(`(?s)on terraform_plugin_test.tf line.*absent`)},
		resource.TestStep{Config: thingBlock("size = 1")},
		resource.TestStep{Config: thingBlock("size = 2\nfail_on = \"update\""), ExpectError: regexp.MustCompile(`update`)},
		resource.TestStep{Config: thingBlock("size = 1")},
	))
}

func TestAcceptRefresh(t *testing.T) {
	c := simCase(t)
	cloud := os.Getenv(simcloud.EnvDir)
	vanish := func() {
		left, err := simcloud.Objects(cloud)
		ok(t, "objects", err)
		for _, o := range left {
			ok(t, "removing", os.Remove(simcloud.ObjectPath(cloud, o.ID)))
		}
	}
	c.Steps = []resource.TestStep{
		{Config: thingBlock("size = 1")},
		{RefreshState: true, RefreshPlanChecks: resource.RefreshPlanChecks{PostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		{PreConfig: vanish, RefreshState: true, ExpectNonEmptyPlan: true},
		{Config: thingBlock("size = 1"), ConfigPlanChecks: planChecks(plancheck.ExpectResourceAction(thing, plancheck.ResourceActionCreate))},
		{Config: thingBlock("size = 1"), Destroy: true},
	}
	t.Setenv(resource.EnvTfAccRefreshAfterApply, "1")
	resource.Test(t, c)
}

func TestAcceptImport(t *testing.T) {
	ignore := []string{"secret_wo"}
	resource.Test(t, simCase(t,
		resource.TestStep{Config: thingBlock("size = 1\ntags = { a = \"b\" }")},
		resource.TestStep{ResourceName: thing, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: ignore},
		resource.TestStep{
			ResourceName: thing, ImportState: true, ImportStateKind: resource.ImportBlockWithID,
			ImportPlanChecks: resource.ImportPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectKnownValue(thing, at("size"), knownvalue.Int64Exact(1))}},
		},
		resource.TestStep{ResourceName: thing, ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity},
		resource.TestStep{
			ResourceName: thing, ImportState: true, ImportStateCheck: func(states []*terraform.InstanceState) error {
				if len(states) != 1 || states[0].Attributes["tags.a"] != "b" {
					return errors.New("the imported object lacks its tags")
				}
				return nil
			},
			ImportStateIdFunc: func(s *terraform.State) (string, error) { return s.RootModule().Resources[thing].Primary.ID, nil },
		},
		resource.TestStep{ResourceName: thing, ImportState: true, ImportStateId: "nobody-7", ExpectError: regexp.MustCompile(`non-existent`)},
	))
}

// TestAcceptVariables passes variables of every kind, as JSON that is written to the directory, and
// configurations that are directories and files.
func TestAcceptVariables(t *testing.T) {
	dir := t.TempDir()
	text := "variable \"size\" {\n  type = number\n}\nvariable \"tags\" {\n  type = map(string)\n}\nvariable \"on\" {\n  type = list(bool)\n}\n" +
		thingBlock("size = var.on[0] ? var.size : 0\ntags = var.tags")
	filetest.Write(t, filepath.Join(dir, "main.tf"), text)
	variables := config.Variables{
		"size": config.IntegerVariable(7), "tags": config.MapVariable(map[string]config.Variable{"k": config.StringVariable("v")}), "on": config.ListVariable(config.BoolVariable(true)),
	}
	check := []statecheck.StateCheck{
		statecheck.ExpectKnownValue(thing, at("size"), knownvalue.Int64Exact(7)),
		statecheck.ExpectKnownValue(thing, at("tags"), knownvalue.MapExact(map[string]knownvalue.Check{"k": knownvalue.StringExact("v")})),
	}
	resource.Test(t, simCase(t,
		resource.TestStep{Config: text, ExpectError: regexp.MustCompile(`size`)},
		resource.TestStep{ConfigDirectory: config.StaticDirectory(dir), ConfigVariables: variables, ConfigStateChecks: check},
		resource.TestStep{ConfigFile: config.StaticFile(filepath.Join(dir, "main.tf")), ConfigVariables: variables, ConfigStateChecks: check},
	))
}

// TestAcceptLeases opens ephemerals of the test provider and looks at what came out through another provider.
func TestAcceptLeases(t *testing.T) {
	c := simCase(t, resource.TestStep{
		Config: `
ephemeral "sim_secret" "s" {
  name = "s"
}
provider "echo" {
  data = ephemeral.sim_secret.s
}
resource "echo" "e" {}
` + thingBlock("secret_wo = ephemeral.sim_secret.s.lease\nsecret_wo_version = 1"),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.e", at("data").AtMapKey("value"), knownvalue.NotNull()),
			statecheck.ExpectKnownValue(thing, at("secret_wo"), knownvalue.Null()),
		},
	})
	cloud := os.Getenv(simcloud.EnvDir)
	resource.Test(t, c)
	if open, err := simcloud.OpenLeases(cloud); err != nil || len(open) != 0 {
		t.Errorf("open leases: got %d, %v, want none", len(open), err)
	}
}

func TestAcceptProtocol5(t *testing.T) {
	c := simCase(t,
		resource.TestStep{
			Config:            thingBlock("size = 1") + "data \"sim_lookup\" \"l\" {\n  name = sim_thing.x.name\n}\n",
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue("data.sim_lookup.l", at("size"), knownvalue.Int64Exact(1))},
			Check:             resource.TestCheckResourceAttrPair(thing, "id", "data.sim_lookup.l", "id"),
		},
		resource.TestStep{ResourceName: thing, ImportState: true, ImportStateVerify: true},
		resource.TestStep{Config: thingBlock("size = 1"), Destroy: true},
		resource.TestStep{Config: "resource \"sim_legacy\" \"l\" {\n  name = \"l\"\n  value = \"v\"\n}\n", Check: resource.TestCheckResourceAttr("sim_legacy.l", "value", "V")},
	)
	c.ProtoV6ProviderFactories, c.ProtoV5ProviderFactories = nil, sim5
	resource.Test(t, c)
}

// TestAcceptExternal goes from a released version of the provider to another and to the one under
// development, as authors do to try upgrades.
func TestAcceptExternal(t *testing.T) {
	external := func(version string) map[string]resource.ExternalProvider {
		return map[string]resource.ExternalProvider{"sim": {Source: simcloud.Source, VersionConstraint: version}}
	}
	c := simCase(t)
	c.ProtoV6ProviderFactories = nil
	c.Steps = []resource.TestStep{
		{ExternalProviders: external("1.0.0"), Config: thingBlock("size = 1")},
		{ExternalProviders: external("1.1.0"), Config: thingBlock("size = 1"), PlanOnly: true},
		{ExternalProviders: external("~> 1.0"), Config: thingBlock("size = 2")},
	}
	resource.Test(t, c)
}

// TestAcceptLogs has the library ask for logs, which must not get into what it parses.
func TestAcceptLogs(t *testing.T) {
	logs := t.TempDir()
	t.Setenv("TF_ACC_LOG", "TRACE")
	t.Setenv("TF_LOG_PATH_MASK", filepath.Join(logs, "%s.log"))
	c := simCase(t)
	c.ProtoV6ProviderFactories = nil
	c.ExternalProviders = map[string]resource.ExternalProvider{"sim": {Source: simcloud.Source}}
	c.Steps = []resource.TestStep{{Config: thingBlock("size = 1")}}
	resource.Test(t, c)
	files, err := filepath.Glob(filepath.Join(logs, "*.log"))
	ok(t, "logs", err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		ok(t, "log", err)
		all.Write(text)
	}
	if !strings.Contains(all.String(), "terraform-provider-sim") {
		t.Errorf("the logs have nothing of the provider in %q", files)
	}
}

// TestAcceptParallel runs test cases beside each other, as large suites do.
func TestAcceptParallel(t *testing.T) {
	fromMirror(t)
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			name := fmt.Sprintf("x%d", i)
			resource.ParallelTest(t, resource.TestCase{
				ProtoV6ProviderFactories: sim6,
				Steps: []resource.TestStep{{
					Config: "resource \"sim_thing\" \"x\" {\n  name = \"" + name + "\"\n}\n", Check: resource.TestCheckResourceAttr(thing, "name", name),
				}},
			})
		})
	}
}
