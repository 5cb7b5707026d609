package clients

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func TestValidate(t *testing.T) {
	good, err := initialized(t, secretsConfig).Validate(t.Context())
	ok(t, "validate", err)
	if !good.Valid || good.ErrorCount != 0 || len(good.Diagnostics) != 0 {
		t.Errorf("valid configuration: got %+v, want it valid without diagnostics", good)
	}
	bad, err := project(t, map[string]string{"main.tf": "variable \"p\" {\n  ephemeral = true\n}\noutput \"p\" {\n  value = var.p\n}\n"}).Validate(t.Context())
	ok(t, "validate", err)
	if bad.Valid || bad.ErrorCount != 1 || len(bad.Diagnostics) != bad.ErrorCount+bad.WarningCount {
		t.Fatalf("ephemeral value in an output: got %+v, want one error, counted among the diagnostics", bad)
	}
	d := bad.Diagnostics[0]
	if d.Severity != tfjson.DiagnosticSeverityError || d.Range == nil || d.Range.Filename != "main.tf" || d.Range.Start.Line != 5 || d.Snippet == nil {
		t.Errorf("diagnostic: got %+v, want an error on line 5 of main.tf with a snippet", d)
	}
}

func TestProvidersSchema(t *testing.T) {
	got, err := initialized(t, secretsConfig).ProvidersSchema(t.Context())
	ok(t, "providers schema", err)
	ok(t, "the schema document", got.Validate())
	keep := got.Schemas["mayfly.dev/mayfly/keep"]
	if keep == nil || got.Schemas["terraform.io/builtin/terraform"] == nil {
		t.Fatal("a provider in use has no schema")
	}
	secret := keep.ResourceSchemas["keep_secret"]
	if secret == nil || !secret.Block.Attributes["value_wo"].WriteOnly || !secret.Block.Attributes["value_wo"].Sensitive {
		t.Errorf("keep_secret.value_wo is not write-only and sensitive: %+v", secret)
	}
	for _, name := range []string{"keep_secret", "keep_lease", "keep_password"} {
		if keep.EphemeralResourceSchemas[name] == nil {
			t.Errorf("the ephemeral resource type %s has no schema", name)
		}
	}
	if a := keep.ConfigSchema.Block.Attributes["passphrase"]; a == nil || !a.Sensitive {
		t.Errorf("passphrase of the provider is not sensitive: %+v", a)
	}
}

var notes = map[string]string{"main.tf": `
terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}
resource "keep_note" "a" {
  name = "a"
  text = "one"
}
resource "terraform_data" "b" {
  input = keep_note.a.id
}
`}

// ids are the resources of the state with their ids.
func ids(t *testing.T, tf *tfexec.Terraform) map[string]string {
	t.Helper()
	state, err := tf.Show(t.Context())
	ok(t, "show", err)
	out := map[string]string{}
	for address, r := range resources(state) {
		out[address], _ = r.AttributeValues["id"].(string)
	}
	return out
}

func TestImportAndForget(t *testing.T) {
	tf, ctx := initialized(t, notes), t.Context()
	ok(t, "apply", tf.Apply(ctx))
	before := ids(t, tf)
	ok(t, "state rm", tf.StateRm(ctx, "keep_note.a"))
	if got := ids(t, tf); got["keep_note.a"] != "" || len(got) != 1 {
		t.Errorf("after state rm: got %v, want one object without keep_note.a", got)
	}
	ok(t, "import", tf.Import(ctx, "keep_note.a", "a"))
	if diff := cmp.Diff(before, ids(t, tf)); diff != "" {
		t.Errorf("after import (-want +got):\n%s", diff)
	}
	if changed, err := tf.Plan(ctx); err != nil || changed {
		t.Errorf("plan after import: changes %t, error %v", changed, err)
	}
	if err := tf.Import(ctx, "keep_note.a", "a"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("imported twice: %v", err)
	}
	if err := tf.StateRm(ctx, "keep_note.nothing"); err == nil {
		t.Error("removed what is not there")
	}
}

func TestPullAndPush(t *testing.T) {
	tf, ctx := initialized(t, notes), t.Context()
	ok(t, "apply", tf.Apply(ctx))
	pulled, err := tf.StatePull(ctx)
	ok(t, "pull", err)
	var doc map[string]any
	ok(t, "parsing the state", json.Unmarshal([]byte(pulled), &doc))
	if doc["version"] != 4.0 {
		t.Errorf("the state has version: got %v, want %v", doc["version"], 4.0)
	}
	before := ids(t, tf)
	ok(t, "state rm", tf.StateRm(ctx, "keep_note.a"))
	old := filepath.Join(t.TempDir(), "old.tfstate")
	filetest.Write(t, old, pulled)
	if err := tf.StatePush(ctx, old); err == nil || !strings.Contains(err.Error(), "serial") {
		t.Errorf("an older state was pushed over a newer: %v", err)
	}
	ok(t, "push", tf.StatePush(ctx, old, tfexec.Force(true)))
	if diff := cmp.Diff(before, ids(t, tf)); diff != "" {
		t.Errorf("after push (-want +got):\n%s", diff)
	}
	file, err := tf.ShowStateFile(ctx, old)
	ok(t, "show a state file", err)
	if got := resources(file); len(got) != 2 {
		t.Errorf("the state file shows %d resources, want 2", len(got))
	}
}

func TestWorkspaces(t *testing.T) {
	tf, ctx := initialized(t, notes), t.Context()
	ok(t, "apply", tf.Apply(ctx))
	ok(t, "new", tf.WorkspaceNew(ctx, "other"))
	names, current, err := tf.WorkspaceList(ctx)
	ok(t, "list", err)
	if !slices.Equal(names, []string{"default", "other"}) || current != "other" {
		t.Errorf("workspaces: got %q, selected %q, want default and other, selected other", names, current)
	}
	if got := ids(t, tf); len(got) != 0 {
		t.Errorf("new workspace: got %v, want it empty", got)
	}
	ok(t, "select", tf.WorkspaceSelect(ctx, "default"))
	if name, err := tf.WorkspaceShow(ctx); err != nil || name != "default" {
		t.Errorf("workspace: got %q, %v, want \"default\"", name, err)
	}
	if got := ids(t, tf); len(got) != 2 {
		t.Errorf("default workspace: got %v, want 2 objects", got)
	}
	ok(t, "delete", tf.WorkspaceDelete(ctx, "other"))
	if err := tf.WorkspaceSelect(ctx, "other"); err == nil {
		t.Error("selected a workspace that was deleted")
	}
	if err := tf.WorkspaceDelete(ctx, "default"); err == nil {
		t.Error("deleted the default workspace")
	}
}
