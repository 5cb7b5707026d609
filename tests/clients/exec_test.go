package clients

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-version"
	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// secretsConfig has each kind of value that a document treats in its own way: write-only, ephemeral,
// sensitive, unknown until apply.
var secretsConfig = map[string]string{"main.tf": `
terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}
variable "label" {
  default = "first"
}
variable "round" {
  default = 1
}
variable "password" {
  type      = string
  ephemeral = true
}
variable "hidden" {
  type      = string
  sensitive = true
  default   = "hush"
}
ephemeral "keep_password" "unused" {}
resource "keep_secret" "db" {
  name             = "db"
  value_wo         = var.password
  value_wo_version = var.round
}
resource "terraform_data" "label" {
  input = { label = var.label, hidden = var.hidden }
}
output "id" {
  value = keep_secret.db.id
}
output "hidden" {
  value     = var.hidden
  sensitive = true
}
output "label" {
  value = terraform_data.label.output.label
}
`}

const password = "password=CANARY-by-option"

func TestVersion(t *testing.T) {
	tf := project(t, nil)
	got, _, err := tf.Version(t.Context(), true)
	ok(t, "version", err)
	if low := version.Must(version.NewVersion("1.11.0")); got.LessThan(low) {
		t.Errorf("clients are told version %s, by which they would not use write-only arguments", got)
	}
}

// A client that knows one engine only gets its version, and goes by it.
func TestChosenVersion(t *testing.T) {
	tf, ctx := project(t, map[string]string{"main.tf": "terraform {\n  required_version = \"~> 1.16.0\"\n}\n\nresource \"terraform_data\" \"a\" {}\n"}), t.Context()
	ok(t, "environment", tf.SetEnv(map[string]string{"MAYFLY_COMPATIBILITY": "terraform-1.16.2"}))
	got, _, err := tf.Version(ctx, true)
	ok(t, "version", err)
	if got.String() != "1.16.2" {
		t.Errorf("version told to clients: got %s, want 1.16.2", got)
	}
	ok(t, "init", tf.Init(ctx))
	_, err = tf.Plan(ctx, tfexec.Out("saved"))
	ok(t, "plan", err)
	plan, err := tf.ShowPlanFile(ctx, "saved")
	ok(t, "show", err)
	if plan.TerraformVersion != "1.16.2" {
		t.Errorf("the plan is from version: got %s, want %s", plan.TerraformVersion, "1.16.2")
	}
	ok(t, "apply", tf.Apply(ctx, tfexec.DirOrPlan("saved")))
	state, err := tf.Show(ctx)
	ok(t, "show", err)
	if state.TerraformVersion != "1.16.2" {
		t.Errorf("the state is from version: got %s, want %s", state.TerraformVersion, "1.16.2")
	}
	ok(t, "environment", tf.SetEnv(map[string]string{"MAYFLY_COMPATIBILITY": "terraform-1.15"}))
	if err := tf.Refresh(ctx); err == nil || !strings.Contains(err.Error(), "requires a version of Terraform that is ~> 1.16.0") {
		t.Errorf("an older version is accepted: %v", err)
	}
}

func TestSavedPlan(t *testing.T) {
	tf, ctx := initialized(t, secretsConfig), t.Context()
	changed, err := tf.Plan(ctx, tfexec.Out("saved"), tfexec.Var(password))
	ok(t, "plan", err)
	if !changed {
		t.Error("a plan that creates says that nothing changes")
	}
	noCanary(t, tf, "after plan")
	plan, err := tf.ShowPlanFile(ctx, "saved")
	ok(t, "show plan", err)
	ok(t, "the plan document", plan.Validate())
	checkCreation(t, plan)
	raw, err := tf.ShowPlanFileRaw(ctx, "saved")
	ok(t, "show plan as text", err)
	if want := "Plan: 2 to add, 0 to change, 0 to destroy."; !strings.Contains(raw, want) || strings.Contains(raw, "CANARY") || strings.Contains(raw, "hush") {
		t.Errorf("the plan as text should have %q and no secret:\n%s", want, raw)
	}
	if err := tf.Apply(ctx, tfexec.DirOrPlan("saved")); err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("applied without the ephemeral variable: %v", err)
	}
	ok(t, "apply", tf.Apply(ctx, tfexec.DirOrPlan("saved"), tfexec.Var(password)))
	checkApplied(t, tf)
	if changed, err = tf.Plan(ctx, tfexec.Var("password=CANARY-another")); err != nil || changed {
		t.Errorf("plan after apply: changes %t, error %v", changed, err)
	}
	if err := tf.Apply(ctx, tfexec.DirOrPlan("saved"), tfexec.Var(password)); err == nil || !strings.Contains(err.Error(), "stale") {
		t.Errorf("a plan was applied twice: %v", err)
	}
	ok(t, "destroy", tf.Destroy(ctx, tfexec.Var(password)))
	state, err := tf.Show(ctx)
	ok(t, "show after destroy", err)
	if got := resources(state); len(got) != 0 {
		t.Errorf("state after destroy: got %q, want nothing", slices.Sorted(maps.Keys(got)))
	}
	noCanary(t, tf, "after destroy")
}

func checkCreation(t *testing.T, plan *tfjson.Plan) {
	t.Helper()
	changes := map[string]*tfjson.Change{}
	for _, c := range plan.ResourceChanges {
		changes[c.Address] = c.Change
	}
	if got := slices.Sorted(maps.Keys(changes)); !slices.Equal(got, []string{"keep_secret.db", "terraform_data.label"}) {
		t.Fatalf("the plan has changes of %q, want %q", got, []string{"keep_secret.db", "terraform_data.label"})
	}
	type shape struct{ After, AfterUnknown, AfterSensitive any }
	secret, data := changes["keep_secret.db"], changes["terraform_data.label"]
	want := shape{
		After:          map[string]any{"description": nil, "name": "db", "value_wo": nil, "value_wo_version": 1.0},
		AfterUnknown:   map[string]any{"id": true, "version": true},
		AfterSensitive: map[string]any{"value_wo": true},
	}
	if diff := cmp.Diff(want, shape{secret.After, secret.AfterUnknown, secret.AfterSensitive}); diff != "" {
		t.Errorf("keep_secret.db (-want +got):\n%s", diff)
	}
	if !secret.Actions.Create() || !data.Actions.Create() {
		t.Errorf("the actions are %v and %v, not create", secret.Actions, data.Actions)
	}
	marks, _ := data.AfterSensitive.(map[string]any)
	if diff := cmp.Diff(map[string]any{"hidden": true}, marks["input"]); diff != "" {
		t.Errorf("sensitive parts of terraform_data.label.input (-want +got):\n%s", diff)
	}
	if out := plan.OutputChanges["hidden"]; out == nil || out.AfterSensitive != true {
		t.Errorf("output hidden: got %+v, want it sensitive", out)
	}
	if out := plan.OutputChanges["id"]; out == nil || out.AfterUnknown != true {
		t.Errorf("output id: got %+v, want it unknown", out)
	}
	vars := map[string]any{}
	for name, v := range plan.Variables {
		vars[name] = v.Value
	}
	if diff := cmp.Diff(map[string]any{"label": "first", "round": 1.0, "hidden": "hush"}, vars); diff != "" {
		t.Errorf("variables of the plan (-want +got):\n%s", diff)
	}
	checkConfiguration(t, plan.Config)
}

func checkConfiguration(t *testing.T, config *tfjson.Config) {
	t.Helper()
	if config == nil || config.RootModule == nil {
		t.Fatal("the plan has no configuration")
	}
	refs := map[string][]string{}
	for _, r := range config.RootModule.Resources {
		if e := r.Expressions["value_wo"]; e != nil && e.ExpressionData != nil {
			refs[r.Address] = e.References
		}
	}
	if diff := cmp.Diff(map[string][]string{"keep_secret.db": {"var.password"}}, refs); diff != "" {
		t.Errorf("references of write-only arguments (-want +got):\n%s", diff)
	}
	if v := config.RootModule.Variables["hidden"]; v == nil || !v.Sensitive {
		t.Errorf("variable hidden is not sensitive: %+v", v)
	}
}

func resources(state *tfjson.State) map[string]*tfjson.StateResource {
	out := map[string]*tfjson.StateResource{}
	if state.Values == nil || state.Values.RootModule == nil {
		return out
	}
	for _, r := range state.Values.RootModule.Resources {
		out[r.Address] = r
	}
	return out
}

func checkApplied(t *testing.T, tf *tfexec.Terraform) {
	t.Helper()
	state, err := tf.Show(t.Context())
	ok(t, "show", err)
	ok(t, "the state document", state.Validate())
	have := resources(state)
	secret, data := have["keep_secret.db"], have["terraform_data.label"]
	if len(have) != 2 || secret == nil || data == nil {
		t.Fatalf("state: got %q, want keep_secret.db and terraform_data.label", slices.Sorted(maps.Keys(have)))
	}
	want := map[string]any{"id": "keep:secret/db", "description": nil, "name": "db", "value_wo": nil, "value_wo_version": json.Number("1"), "version": json.Number("1")}
	if diff := cmp.Diff(want, secret.AttributeValues); diff != "" {
		t.Errorf("keep_secret.db (-want +got):\n%s", diff)
	}
	if got := string(secret.SensitiveValues); !strings.Contains(got, `"value_wo":true`) {
		t.Errorf("sensitive values of keep_secret.db: %s", got)
	}
	if got := string(data.SensitiveValues); !strings.Contains(got, `"hidden":true`) {
		t.Errorf("sensitive values of terraform_data.label: %s", got)
	}
	out, err := tf.Output(t.Context())
	ok(t, "output", err)
	got := map[string]string{}
	for name, o := range out {
		got[name] = string(o.Value)
		if o.Sensitive != (name == "hidden") {
			t.Errorf("output %s: sensitive: got %t, want %t", name, o.Sensitive, (name == "hidden"))
		}
	}
	if diff := cmp.Diff(map[string]string{"id": `"keep:secret/db"`, "hidden": `"hush"`, "label": `"first"`}, got); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	noCanary(t, tf, "after apply")
}

func TestDirectApply(t *testing.T) {
	tf, ctx := initialized(t, secretsConfig), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.Var(password)))
	checkApplied(t, tf)
	ok(t, "apply with another round", tf.Apply(ctx, tfexec.Var(password), tfexec.Var("round=2"), tfexec.Var("label=second")))
	state, err := tf.Show(ctx)
	ok(t, "show", err)
	if got := resources(state)["keep_secret.db"].AttributeValues["version"]; got != json.Number("2") {
		t.Errorf("version after the second round: got %v, want 2", got)
	}
	ok(t, "replacing apply", tf.Apply(ctx, tfexec.Var(password), tfexec.Var("round=2"), tfexec.Replace("terraform_data.label")))
	ok(t, "targeted destroy", tf.Destroy(ctx, tfexec.Var(password), tfexec.Target("keep_secret.db")))
	state, err = tf.Show(ctx)
	ok(t, "show", err)
	if got := resources(state); len(got) != 1 || got["terraform_data.label"] == nil {
		t.Errorf("state after the targeted destroy: got %q, want terraform_data.label", slices.Sorted(maps.Keys(got)))
	}
}

func TestEphemeralFromFile(t *testing.T) {
	tf, ctx := initialized(t, secretsConfig), t.Context()
	if _, err := tf.Plan(ctx); err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("planned without a required variable: %v", err)
	}
	file := filepath.Join(t.TempDir(), "secret.tfvars")
	filetest.Write(t, file, "password = \"CANARY-in-file\"\n")
	ok(t, "apply with a file", tf.Apply(ctx, tfexec.VarFile(file)))
	checkApplied(t, tf)
}

// messages parses a stream of JSON messages into the types of its messages.
func messages(t *testing.T, stream []byte) []string {
	t.Helper()
	types := told(t, stream)
	if slices.Contains(types, "") {
		t.Errorf("a message without a type:\n%s", stream)
	}
	return types
}

// told does the same for the stream of init, whose messages have no type.
func told(t *testing.T, stream []byte) []string {
	t.Helper()
	var types []string
	for line := range bytes.Lines(stream) {
		var m struct {
			Level   string `json:"@level"`
			Message string `json:"@message"`
			Type    string `json:"type"`
		}
		if err := json.Unmarshal(line, &m); err != nil || m.Level == "" || m.Message == "" {
			t.Errorf("not a message of the stream (%v): %s", err, line)
		}
		types = append(types, m.Type)
	}
	return types
}

func TestStreams(t *testing.T) {
	tf, ctx := project(t, secretsConfig), t.Context()
	var stream bytes.Buffer
	ok(t, "init", tf.InitJSON(ctx, &stream))
	told(t, stream.Bytes())
	stream.Reset()
	changed, err := tf.PlanJSON(ctx, &stream, tfexec.Var(password))
	ok(t, "plan", err)
	if got := messages(t, stream.Bytes()); !changed || !slices.Contains(got, "planned_change") || !slices.Contains(got, "change_summary") || got[0] != "version" {
		t.Errorf("plan: got changes %t and the messages %q, want version first, planned_change and change_summary", changed, got)
	}
	stream.Reset()
	ok(t, "apply", tf.ApplyJSON(ctx, &stream, tfexec.Var(password)))
	if got := messages(t, stream.Bytes()); !slices.Contains(got, "apply_start") || !slices.Contains(got, "apply_complete") || !slices.Contains(got, "outputs") {
		t.Errorf("messages of apply: %q", got)
	}
	if text := stream.String(); strings.Contains(text, "CANARY") || strings.Contains(text, "hush") {
		t.Errorf("a secret is in the stream of apply:\n%s", text)
	}
	stream.Reset()
	ok(t, "refresh", tf.RefreshJSON(ctx, &stream, tfexec.Var(password)))
	messages(t, stream.Bytes())
	stream.Reset()
	ok(t, "destroy", tf.DestroyJSON(ctx, &stream, tfexec.Var(password)))
	messages(t, stream.Bytes())
}
