//lint:file-ignore SA1019 old options are what this file is about: people still use them

package clients

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// options has something for every option to show its effect on.
var options = map[string]string{"main.tf": `
terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}
variable "label" {
  default = "default"
}
resource "keep_note" "a" {
  name = "a"
  text = "one"
}
resource "terraform_data" "b" {
  input = keep_note.a.id
}
resource "terraform_data" "c" {
  input = var.label
}
output "label" {
  value = terraform_data.c.output
}
`}

// have checks that a state file has these resources, and returns the id and input of terraform_data.c.
func have(t *testing.T, tf *tfexec.Terraform, file string, want ...string) (id, input string) {
	t.Helper()
	state, err := tf.ShowStateFile(t.Context(), file)
	ok(t, "show "+file, err)
	got := resources(state)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("%s has %q, want %q", file, names, want)
	}
	if c := got["terraform_data.c"]; c != nil {
		id, _ = c.AttributeValues["id"].(string)
		input, _ = c.AttributeValues["input"].(string)
	}
	return id, input
}

var allOfThem = []string{"keep_note.a", "terraform_data.b", "terraform_data.c"}

func absent(t *testing.T, tf *tfexec.Terraform, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(tf.WorkingDir(), name)); err == nil {
			t.Errorf("there is a file %s", name)
		}
	}
}

// varFile makes a file with a value for the label.
func varFile(t *testing.T, label string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "label.tfvars")
	filetest.Write(t, file, "label = "+label+"\n")
	return file
}

// lose makes every object of the provider keep vanish.
func lose(t *testing.T, tf *tfexec.Terraform) {
	t.Helper()
	for _, name := range []string{"keep.age", "keep.age.key"} {
		ok(t, "losing the store", os.Remove(filepath.Join(tf.WorkingDir(), name)))
	}
}

func TestApplyOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("in.tfstate"), tfexec.StateOut("out.tfstate"), tfexec.Backup("first.tfstate"), tfexec.Parallelism(1),
		tfexec.Refresh(false), tfexec.Target("terraform_data.c"), tfexec.Var("label=typed")))
	if _, input := have(t, tf, "out.tfstate", "terraform_data.c"); input != "typed" {
		t.Errorf("applied with the label: got %q, want %q", input, "typed")
	}
	absent(t, tf, "in.tfstate", "terraform.tfstate")

	ok(t, "apply", tf.Apply(ctx, tfexec.State("out.tfstate"), tfexec.Backup("second.tfstate"), tfexec.VarFile(varFile(t, `"from file"`))))
	first, input := have(t, tf, "out.tfstate", allOfThem...)
	if input != "from file" {
		t.Errorf("applied with the label: got %q, want %q", input, "from file")
	}
	have(t, tf, "second.tfstate", "terraform_data.c")

	ok(t, "replacing", tf.Apply(ctx, tfexec.State("out.tfstate"), tfexec.Replace("terraform_data.c"), tfexec.DisableBackup()))
	if id, _ := have(t, tf, "out.tfstate", allOfThem...); id == first {
		t.Error("the object is the old one")
	}
	if id, _ := have(t, tf, "second.tfstate", "terraform_data.c"); id != first {
		t.Error("a backup was made though there should be none")
	}
	lose(t, tf)
	ok(t, "only refreshing", tf.Apply(ctx, tfexec.State("out.tfstate"), tfexec.RefreshOnly(true)))
	have(t, tf, "out.tfstate", "terraform_data.b", "terraform_data.c")

	_, err := tf.Plan(ctx, tfexec.State("out.tfstate"), tfexec.Out("saved"))
	ok(t, "plan", err)
	ok(t, "applying the plan", tf.Apply(ctx, tfexec.State("out.tfstate"), tfexec.DirOrPlan("saved")))
	have(t, tf, "out.tfstate", allOfThem...)

	ok(t, "destroying", tf.Apply(ctx, tfexec.State("out.tfstate"), tfexec.Destroy(true)))
	have(t, tf, "out.tfstate")
	if err := tf.Apply(ctx, tfexec.AllowDeferral(true)); err == nil || !strings.Contains(err.Error(), "experiment") {
		t.Errorf("an option for experimental versions: %v", err)
	}
}

func TestPlanOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate")))
	actions := func(file string) map[string]tfjson.Actions {
		plan, err := tf.ShowPlanFile(ctx, file)
		ok(t, "show "+file, err)
		out := map[string]tfjson.Actions{}
		for _, c := range plan.ResourceChanges {
			if !c.Change.Actions.NoOp() {
				out[c.Address] = c.Change.Actions
			}
		}
		return out
	}
	step := func(name, want string, changed bool, err error) {
		t.Helper()
		ok(t, name, err)
		var words []string
		for address, a := range actions("p") {
			word := address
			for _, s := range a {
				word += " " + string(s)
			}
			words = append(words, word)
		}
		slices.Sort(words)
		if got := strings.Join(words, ", "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if changed != (want != "") {
			t.Errorf("%s: changes: got %t, want %t", name, changed, (want != ""))
		}
	}
	changed, err := tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"), tfexec.Parallelism(2))
	step("without changes", "", changed, err)
	changed, err = tf.Plan(ctx, tfexec.State("other.tfstate"), tfexec.Out("p"), tfexec.Target("terraform_data.c"))
	step("another state", "terraform_data.c create", changed, err)
	changed, err = tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"), tfexec.Var("label=typed"))
	step("a variable", "terraform_data.c update", changed, err)
	changed, err = tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"), tfexec.VarFile(varFile(t, `"from file"`)))
	step("a file of variables", "terraform_data.c update", changed, err)
	changed, err = tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"), tfexec.Replace("terraform_data.b"))
	step("a replacement", "terraform_data.b delete create", changed, err)
	changed, err = tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"), tfexec.Destroy(true))
	step("destruction", "keep_note.a delete, terraform_data.b delete, terraform_data.c delete", changed, err)
	lose(t, tf)
	changed, err = tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"), tfexec.Refresh(false))
	step("without refresh", "", changed, err)
	changed, err = tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"))
	step("with refresh", "keep_note.a create, terraform_data.b update", changed, err)
	changed, err = tf.Plan(ctx, tfexec.State("s.tfstate"), tfexec.Out("p"), tfexec.RefreshOnly(true))
	ok(t, "only refresh", err)
	if plan, err := tf.ShowPlanFile(ctx, "p"); err != nil || !changed || len(plan.ResourceDrift) != 1 || len(actions("p")) != 0 {
		t.Errorf("refresh only: got changes %t, %v, want one drift and no actions", changed, err)
	}
	if _, err := tf.Plan(ctx, tfexec.AllowDeferral(true)); err == nil || !strings.Contains(err.Error(), "experiment") {
		t.Errorf("an option for experimental versions: %v", err)
	}
	if _, err := tf.Plan(ctx, tfexec.Dir("elsewhere")); err == nil || !strings.Contains(err.Error(), "-chdir") {
		t.Errorf("a directory as an argument, which went out of use long ago: %v", err)
	}
}

func TestDestroyOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate")))
	ok(t, "destroy", tf.Destroy(ctx, tfexec.State("s.tfstate"), tfexec.StateOut("o.tfstate"), tfexec.Backup("b.tfstate"), tfexec.Parallelism(1),
		tfexec.Target("terraform_data.c"), tfexec.Var("label=x"), tfexec.VarFile(varFile(t, `"y"`)), tfexec.Refresh(false)))
	have(t, tf, "s.tfstate", allOfThem...)
	have(t, tf, "o.tfstate", "keep_note.a", "terraform_data.b")
	var stream bytes.Buffer
	ok(t, "destroy as a stream", tf.DestroyJSON(ctx, &stream, tfexec.State("o.tfstate"), tfexec.DisableBackup()))
	if got := messages(t, stream.Bytes()); !slices.Contains(got, "change_summary") {
		t.Errorf("messages: %q", got)
	}
	have(t, tf, "o.tfstate")
	if err := tf.Destroy(ctx, tfexec.Dir("elsewhere")); err == nil {
		t.Error("a directory as an argument went out of use long ago")
	}
}

func TestRefreshOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate")))
	lose(t, tf)
	ok(t, "refresh", tf.Refresh(ctx, tfexec.State("s.tfstate"), tfexec.StateOut("o.tfstate"), tfexec.Backup("b.tfstate"), tfexec.Target("terraform_data.b"),
		tfexec.Var("label=x"), tfexec.VarFile(varFile(t, `"y"`))))
	have(t, tf, "s.tfstate", allOfThem...)
	have(t, tf, "o.tfstate", "terraform_data.b", "terraform_data.c")
	ok(t, "refresh without backup", tf.Refresh(ctx, tfexec.State("o.tfstate"), tfexec.DisableBackup()))
	absent(t, tf, "o.tfstate.backup")
	var stream bytes.Buffer
	ok(t, "refresh as a stream", tf.RefreshJSON(ctx, &stream, tfexec.State("s.tfstate"), tfexec.Backup("b.tfstate")))
	messages(t, stream.Bytes())
	have(t, tf, "s.tfstate", "terraform_data.b", "terraform_data.c")
	have(t, tf, "b.tfstate", allOfThem...)
	if err := tf.Refresh(ctx, tfexec.Dir("elsewhere")); err == nil {
		t.Error("a directory as an argument went out of use long ago")
	}
}

func TestOutputAndShowOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate"), tfexec.VarFile(varFile(t, "17"))))
	out, err := tf.Output(ctx, tfexec.State("s.tfstate"))
	ok(t, "output", err)
	if got := string(out["label"].Value); got != "17" {
		t.Errorf("the output: got %s, want %s", got, "17")
	}
	if out, err := tf.Output(ctx); err != nil || len(out) != 0 {
		t.Errorf("outputs of no state: got %v, %v, want none", out, err)
	}
	nothing, err := tf.Show(ctx, tfexec.JSONNumber(false))
	ok(t, "show", err)
	if nothing.Values != nil {
		t.Errorf("no state has the values %v", nothing.Values)
	}
	_, err = tf.Plan(ctx, tfexec.Out("p"), tfexec.State("s.tfstate"))
	ok(t, "plan", err)
	for number, want := range map[bool]any{true: json.Number("17"), false: 17.0} {
		plan, err := tf.ShowPlanFile(ctx, "p", tfexec.JSONNumber(number))
		ok(t, "show", err)
		file, err := tf.ShowStateFile(ctx, "s.tfstate", tfexec.JSONNumber(number))
		ok(t, "show", err)
		if got := plan.Variables["label"]; got == nil || got.Value != "default" {
			t.Errorf("label of the plan: got %v, want \"default\"", got)
		}
		if got := resources(file)["terraform_data.c"].AttributeValues["input"]; got != want {
			t.Errorf("the number %v came as: got %T, want %T", got, got, want)
		}
	}
}
