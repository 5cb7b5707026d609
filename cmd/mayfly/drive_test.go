package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"
)

// TestDrivenByTools drives the program with the library that wrappers use.
func TestDrivenByTools(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := filepath.Join(t.TempDir(), "mayfly"), t.TempDir()
	if err := os.WriteFile(bin, fmt.Appendf(nil, "#!/bin/sh\nMAYFLY_TEST_MAIN=1 exec '%s' \"$@\"\n", self), 0o755); err != nil {
		t.Fatal(err)
	}
	const config = `
variable "v" {}
resource "terraform_data" "d" { input = var.v }
output "o" { value = terraform_data.d.output }
`
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	tf, err := tfexec.NewTerraform(dir, bin)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	tf.SetStderr(&stderr)
	ctx := context.Background()
	check := func(step string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %s\n%s", step, err, stderr.String())
		}
	}
	if v, _, err := tf.Version(ctx, true); err != nil || v.LessThan(minimumVersion) {
		t.Fatalf("version %s: %v", v, err)
	}
	functions, err := tf.MetadataFunctions(ctx)
	check("metadata functions", err)
	if f := functions.Signatures["try"]; f == nil || f.VariadicParameter == nil {
		t.Errorf("the signature of try is %v", f)
	}
	inStyle, _, err := tf.FormatCheck(ctx)
	check("fmt -check", err)
	if !inStyle {
		t.Error("fmt -check found something to do")
	}
	text, err := tf.FormatString(ctx, "a=1\n")
	check("fmt -", err)
	if text != "a = 1\n" {
		t.Errorf("formatted: %q", text)
	}
	check("init", tf.Init(ctx, tfexec.Upgrade(true)))
	valid, err := tf.Validate(ctx)
	check("validate", err)
	if !valid.Valid {
		t.Errorf("not valid: %v", valid.Diagnostics)
	}
	changes, err := tf.Plan(ctx, tfexec.Var("v=1"), tfexec.Out("tfplan"))
	check("plan", err)
	if !changes {
		t.Error("the plan has no changes")
	}
	planned, err := tf.ShowPlanFile(ctx, "tfplan")
	check("show plan", err)
	if len(planned.ResourceChanges) != 1 || !planned.ResourceChanges[0].Change.Actions.Create() {
		t.Errorf("planned %v", planned.ResourceChanges)
	}
	check("apply", tf.Apply(ctx, tfexec.DirOrPlan("tfplan")))
	shown, err := tf.Show(ctx)
	check("show", err)
	if got := shown.Values.RootModule.Resources; len(got) != 1 || got[0].Address != "terraform_data.d" {
		t.Errorf("the state has %v", got)
	}
	outputs, err := tf.Output(ctx)
	check("output", err)
	if got := string(outputs["o"].Value); got != `"1"` {
		t.Errorf("output %s", got)
	}
	check("refresh", tf.Refresh(ctx, tfexec.Var("v=1")))
	check("taint", tf.Taint(ctx, "terraform_data.d"))
	check("untaint", tf.Untaint(ctx, "terraform_data.d"))
	check("state mv", tf.StateMv(ctx, "terraform_data.d", "terraform_data.e"))
	check("state rm", tf.StateRm(ctx, "terraform_data.e"))
	check("workspace new", tf.WorkspaceNew(ctx, "w"))
	names, current, err := tf.WorkspaceList(ctx)
	check("workspace list", err)
	if len(names) != 2 || current != "w" {
		t.Errorf("workspaces %q, %q selected", names, current)
	}
	check("workspace select", tf.WorkspaceSelect(ctx, "default"))
	check("workspace delete", tf.WorkspaceDelete(ctx, "w"))
	_, err = tf.ProvidersSchema(ctx)
	check("providers schema", err)
	check("destroy", tf.Destroy(ctx, tfexec.Var("v=1")))
}
