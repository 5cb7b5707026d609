package suite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/suite"
)

// conditions returns a module with conditions of every kind. The variable bad says which of them fails.
func conditions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"main.tf", "m/main.tf"} {
		text, err := os.ReadFile(filepath.Join("testdata/conditions", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

// TestExpectedFailures expects failures by instance and by block, in the module and in those that it calls.
// One that was expected of another instance ends the file; one that doesn't come fails the run, like the
// assertion that it has.
func TestExpectedFailures(t *testing.T) {
	files := conditions(t)
	for _, test := range []struct {
		bad, expected string
		plan, apply   suite.Verdict
	}{
		{"", `check.c`, suite.Fail, suite.Fail},
		{"one", `terraform_data.one`, suite.Fail, suite.Pass},
		{"each-a", `terraform_data.each["a"]`, suite.Pass, suite.Error},
		{"each-a", `terraform_data.each`, suite.Pass, suite.Error},
		{"each-a", `terraform_data.each["b"]`, suite.Error, suite.Error},
		{"each", `terraform_data.each["b"]`, suite.Error, suite.Error},
		{"each", `terraform_data.each["a"], terraform_data.each["b"]`, suite.Pass, suite.Error},
		{"each-post-a", `terraform_data.each["a"]`, suite.Pass, suite.Error},
		{"each-late-a", `terraform_data.each["a"]`, suite.Fail, suite.Pass},
		{"each-late-a", `terraform_data.each["b"]`, suite.Fail, suite.Error},
		{"count-0", `terraform_data.count[0]`, suite.Pass, suite.Error},
		{"count-0", `terraform_data.count[1]`, suite.Error, suite.Error},
		{"data-a", `data.sim_lookup.d["a"]`, suite.Pass, suite.Error},
		{"data-a", `data.sim_lookup.d["b"]`, suite.Error, suite.Error},
		{"late-data-a", `data.sim_lookup.late["a"]`, suite.Fail, suite.Pass},
		{"late-data-a", `data.sim_lookup.late`, suite.Fail, suite.Pass},
		{"late-data-a", `data.sim_lookup.late["b"]`, suite.Fail, suite.Error},
		{"eph-a", `ephemeral.sim_secret.e["a"]`, suite.Pass, suite.Error},
		{"eph-a", `ephemeral.sim_secret.e`, suite.Pass, suite.Error},
		{"eph-a", `ephemeral.sim_secret.e["b"]`, suite.Error, suite.Error},
		{"eph-post", `ephemeral.sim_secret.p`, suite.Pass, suite.Error},
		{"check", `check.c`, suite.Pass, suite.Pass},
		{"check", `check.nested`, suite.Error, suite.Error},
		{"nested", `check.nested`, suite.Pass, suite.Pass},
		{"late-check", `check.late`, suite.Pass, suite.Pass},
		{"", `check.late`, suite.Fail, suite.Fail},
		{"output", `output.o`, suite.Pass, suite.Error},
		{"output", `output.late`, suite.Error, suite.Error},
		{"late-output", `output.late`, suite.Fail, suite.Pass},
		{"in-variable", `module.m.var.bad`, suite.Pass, suite.Error},
		{"in-0", `module.m.terraform_data.inner[0]`, suite.Pass, suite.Error},
		{"in-0", `module.m.terraform_data.inner`, suite.Pass, suite.Error},
		{"in-0", `module.m.terraform_data.inner[1]`, suite.Error, suite.Error},
		{"ms-x", `module.ms["x"].terraform_data.inner`, suite.Pass, suite.Error},
		{"ms-x", `module.ms.terraform_data.inner`, suite.Pass, suite.Error},
		{"ms-x", `module.ms.terraform_data.inner[0], module.ms["x"].terraform_data.inner[1]`, suite.Pass, suite.Error},
		{"ms-x", `module.ms["y"].terraform_data.inner`, suite.Error, suite.Error},
		{"in-output", `module.m.output.o`, suite.Pass, suite.Error},
		{"in-check", `module.m.check.c`, suite.Pass, suite.Pass},
		{"in-check", `module.ms.check.c`, suite.Error, suite.Error},
	} {
		t.Run(test.bad+" "+test.expected, func(t *testing.T) {
			r := newRig(t, files)
			for command, want := range map[string]suite.Verdict{"plan": test.plan, "apply": test.apply} {
				text := fmt.Sprintf("run \"r\" {\n  command = %s\n  variables {\n    bad = %q\n  }\n  expect_failures = [%s]\n  assert {\n    condition     = var.bad == %q\n    error_message = \"m\"\n  }\n}\n", command, test.bad, test.expected, test.bad)
				if err := os.WriteFile("a.tftest.hcl", []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				outcome, _ := r.execute()
				if run := outcome[0].Runs[0]; run.Verdict != want {
					t.Errorf("%s: got %s, want %s: %v", command, run.Verdict, want, run.Diags)
				}
			}
		})
	}
}

// TestExpectedTooEarly expects failures that keep the apply from being carried out: each is shown, with what
// it prevents, beside one that was not expected. A plan shows only what was not expected.
func TestExpectedTooEarly(t *testing.T) {
	r := newRig(t, map[string]string{"main.tf": `
variable "a" {
  default = 0
  validation {
    condition     = var.a > 0
    error_message = "It is not positive."
  }
}
resource "terraform_data" "r" {
  lifecycle {
    precondition {
      condition     = var.a > 1
      error_message = "It is too small."
    }
  }
}
output "o" {
  value = var.a
  precondition {
    condition     = var.a > 2
    error_message = "It is small."
  }
}`})
	for _, test := range []struct{ command, a, expected, want string }{
		{"apply", "0", "var.a", "Invalid value for variable, Invalid Variable in test file"},
		{"apply", "1", "terraform_data.r, output.o", "Resource precondition failed, Module output value precondition failed, " +
			"Expected failure while planning, Expected failure while planning"},
		{"apply", "1", "terraform_data.r", "Module output value precondition failed, Resource precondition failed, Expected failure while planning"},
		{"plan", "1", "terraform_data.r", "Module output value precondition failed"},
	} {
		text := fmt.Sprintf("run \"r\" {\n  command = %s\n  variables {\n    a = %s\n  }\n  expect_failures = [%s]\n}\n", test.command, test.a, test.expected)
		if err := os.WriteFile("a.tftest.hcl", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		outcome, _ := r.execute()
		inOrder := func(list string) []string { return slices.Sorted(strings.SplitSeq(list, ", ")) } // the checks run side by side
		if run := outcome[0].Runs[0]; !slices.Equal(inOrder(summaries(run.Diags)), inOrder(test.want)) || run.Verdict != suite.Error {
			t.Errorf("%s of %s: %s with %s, want %s", test.command, test.a, run.Verdict, summaries(run.Diags), test.want)
		}
	}
}

// TestMocksKeepTheContract has arguments under mocks that the provider refuses, some of them known only in
// the apply.
func TestMocksKeepTheContract(t *testing.T) {
	for argument, want := range map[string]string{
		`name = "a"`:                             "",
		`name = null`:                            "Missing required argument",
		`name = ["a"]`:                           "Incorrect attribute value type",
		`size = 1`:                               "Missing required argument",
		"name = \"a\"\n  fail_on = \"validate\"": "Simulated provider failed",
		"name = \"a\"\n  fail_on = var.on":       "Simulated provider failed",
		"name = sim_thing.other.serial == 0 ? null : \"a\"":                           "Missing required argument",
		"name = \"a\"\n  fail_on = sim_thing.other.serial == 0 ? \"validate\" : null": "Simulated provider failed",
		"name = \"a\"\n  json = sim_thing.other.id":                                   "Simulated provider failed",
	} {
		r := newRig(t, map[string]string{
			"main.tf":      prelude + "variable \"on\" {\n  default = null\n}\nresource \"sim_thing\" \"other\" {\n  name = \"o\"\n}\nresource \"sim_thing\" \"a\" {\n  " + argument + "\n}\n",
			"a.tftest.hcl": "mock_provider \"sim\" {}\nrun \"r\" {\n  variables {\n    on = \"validate\"\n  }\n}\n",
		})
		files, _ := r.execute()
		if got := summaries(files[0].Runs[0].Diags); got != want {
			t.Errorf("%s: got %s, want %s", argument, got, want)
		}
	}
}
