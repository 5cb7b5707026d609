//go:build unix

package canary

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// stateStore is a block that configures a state store, its provider and their parts from ephemeral values.
const stateStore = `
terraform {
  state_store "sim_files" {
    provider "sim" {
      token  = var.by_option
      prefix = var.by_args
      region = "eu"
    }
    dir   = "canary"
    key   = var.by_env
    note  = sha256(var.by_auto)
    fault = var.fault
    label { text = var.by_file.password }
  }
}

variable "fault" {
  default = "none"
}
`

// TestNothingLeaksOfStateStores keeps the state in a provider that is configured from ephemeral values, which
// also fails, ends while it holds the lock, and refuses its configuration.
func TestNothingLeaksOfStateStores(t *testing.T) {
	t.Parallel()
	s := newSite(t, shipped, "main")
	dir := simcloud.StateDir(filepath.Join(s.outside, "cloud"), "canary")
	s.stored = func() []byte {
		all, err := os.ReadFile(simcloud.StatePath(dir, "default"))
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		return all
	}
	s.bring("store.tf", stateStore)
	s.bring("by.auto.tfvars.json", s.values.autoFile(t))
	for _, st := range []step{
		{args: "init VARS -plugin-dir=" + mirror, prints: "Successfully configured"},
		{args: "apply VARS -auto-approve", prints: "Apply complete"},
		{args: "plan VARS -out=p"},
		{args: "show VARS -json p", prints: "sim_vault"},
		{args: "apply VARS p", prints: "Apply complete"},
		{args: "workspace new VARS other", prints: "other"},
		{args: "workspace select VARS default"},
		{args: "init VARS -reconfigure -plugin-dir=" + mirror + " -var fault=fail-write"},
		{args: "apply VARS -auto-approve -var trigger=2 -var fault=fail-write", exit: 1, prints: "asked to fail to write"},
		{args: "init VARS -reconfigure -plugin-dir=" + mirror + " -var fault=exit-write"},
		{args: "apply VARS -auto-approve -var trigger=3 -var fault=exit-write", exit: 1, prints: "has ended"},
		{args: "init VARS -reconfigure -plugin-dir=" + mirror + " -var fault=fail-configure", exit: 1, prints: "asked to fail to configure"},
		{args: "init VARS -reconfigure -plugin-dir=" + mirror},
		{args: "apply VARS -auto-approve -var trigger=4", prints: "Apply complete"},
		{args: "init VARS -migrate-state -force-copy -plugin-dir=" + mirror, files: map[string]string{"store.tf": ""}, exit: 1, prints: "the key of the state store is wrong"},
		{args: "init VARS -reconfigure -plugin-dir=" + mirror},
	} {
		s.run(st)
	}
	if len(s.stored()) == 0 {
		t.Error("the provider has stored nothing")
	}
	s.report()
}
