package interop

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// withholding is a configuration with attributes that are kept out of the state, given and computed ones. In
// place of each KEEP is the setting, or nothing.
const withholding = `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
variable "password" {
  sensitive = true
}
resource "sim_account" "given" {
  name     = "given"
  password = var.password
  lifecycle { KEEP[password] }
}
resource "terraform_data" "given" {
  triggers_replace = var.password
  lifecycle { KEEP[triggers_replace] }
}
resource "sim_account" "made" {
  name = "made"
  lifecycle { KEEP[token] }
}
resource "sim_account" "takes" {
  name     = "takes"
  password = sim_account.made.token
  lifecycle { KEEP[password] }
}
`

var setting = regexp.MustCompile(`KEEP\[\w+\]`)

// TestWithheld has an engine that does not know ephemeral_attributes read, plan and apply a state with null
// in place of values, and the state come back, as the guide about secrets says.
func TestWithheld(t *testing.T) {
	ours, theirs := engine{"mayfly", binary}, engine{"tofu", tofu(t)}
	dir, cloud := t.TempDir(), t.TempDir()
	t.Setenv(simcloud.EnvDir, cloud)
	with := map[string]string{"main.tf": strings.ReplaceAll(withholding, "KEEP", "ephemeral_attributes = ")}
	without := map[string]string{"main.tf": setting.ReplaceAllString(withholding, "")}
	first, second := "-var=password=CANARY-horse-1", "-var=password=CANARY-horse-2"

	filetest.Lay(t, dir, with)
	ours.apply(t, dir, first)
	ours.unchanged(t, dir, first)
	stateHas(t, dir, false)

	// The other engine refuses the setting, and takes null for a difference without it.
	if out := theirs.must(t, 1, dir, "plan", "-no-color", "-input=false", first); !strings.Contains(out, "Unsupported argument") {
		t.Errorf("tofu does not refuse the setting:\n%s", out)
	}
	filetest.Lay(t, dir, without)
	if shown := theirs.must(t, 0, dir, "show", "-no-color"); strings.Contains(shown, "CANARY-horse") {
		t.Errorf("tofu shows a value:\n%s", shown)
	}
	theirs.must(t, 0, dir, "init", "-no-color", "-input=false")
	out := theirs.must(t, 2, dir, "plan", "-no-color", "-input=false", "-detailed-exitcode", first)
	if !strings.Contains(out, "Plan: 1 to add, 1 to change, 1 to destroy.") {
		t.Errorf("tofu plans something else than an update and a replacement:\n%s", out)
	}

	// Without the setting, the values go back into the state: given ones as they are, a computed one anew.
	out = ours.must(t, 1, dir, "plan", "-no-color", "-input=false", first)
	if !strings.Contains(out, "Computed value cannot come back") {
		t.Errorf("mayfly does not say that the value is gone:\n%s", out)
	}
	ours.must(t, 0, dir, "apply", "-no-color", "-input=false", "-auto-approve", first, "-replace=sim_account.made")
	stateHas(t, dir, true)
	ours.unchanged(t, dir, first)
	theirs.unchanged(t, dir, first)
	theirs.apply(t, dir, second)
	ours.unchanged(t, dir, second)

	// With the setting, they are taken out again, and nothing but the state changes.
	filetest.Lay(t, dir, with)
	out = ours.must(t, 0, dir, "apply", "-no-color", "-input=false", "-auto-approve", second)
	if !strings.Contains(out, "Resources: 0 added, 0 changed, 0 destroyed.") || strings.Count(out, "no longer stored") != 4 {
		t.Errorf("apply: got\n%s\nwant no changes but four values taken out of the state", out)
	}
	stateHas(t, dir, false)
	ours.unchanged(t, dir, second)

	t.Run("written without the setting", func(t *testing.T) { writtenMeanwhile(t, ours, theirs, dir, with, without, second) })
	ours.destroy(t, dir, second)
}

// writtenMeanwhile has the other engine write the state with null in it, for which it drops the fingerprints.
func writtenMeanwhile(t *testing.T, ours, theirs engine, dir string, with, without map[string]string, password string) {
	filetest.Lay(t, dir, without)
	theirs.must(t, 0, dir, "state", "mv", "sim_account.given", "sim_account.other")
	theirs.must(t, 0, dir, "state", "mv", "sim_account.other", "sim_account.given")
	filetest.Lay(t, dir, with)
	out := ours.must(t, 1, dir, "plan", "-no-color", "-input=false", password)
	for _, want := range []string{"(ephemeral attribute, cannot be compared)", "Replacement without a known difference", "-assume-unchanged=terraform_data.given"} {
		if !strings.Contains(out, want) {
			t.Errorf("mayfly does not say %q:\n%s", want, out)
		}
	}
	ours.must(t, 0, dir, "apply", "-no-color", "-input=false", "-auto-approve", password, "-assume-unchanged=terraform_data.given", "-replace=sim_account.made")
	stateHas(t, dir, false)
	ours.unchanged(t, dir, password)
}

// stateHas checks whether the state file has one of the values.
func stateHas(t *testing.T, dir string, want bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"CANARY-horse", "token-CANARY-made"} {
		if got := strings.Contains(string(text), secret); got != want {
			t.Errorf("whether the state has a value: %t, want %t", got, want)
		}
	}
}
