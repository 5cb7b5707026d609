package clients

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

const (
	unformatted = "variable \"a\" {\ntype=string\n}\n"
	formatted   = "variable \"a\" {\n  type = string\n}\n"
)

func TestFormat(t *testing.T) {
	tf, ctx := project(t, map[string]string{"good.tf": formatted, "bad.tf": unformatted, "sub/bad.tf": unformatted}), t.Context()
	got, err := tf.FormatString(ctx, unformatted)
	if err != nil || got != formatted {
		t.Errorf("FormatString: got %q, %v, want %q", got, err, formatted)
	}
	var out strings.Builder
	if err := tf.Format(ctx, strings.NewReader(unformatted), &out); err != nil || out.String() != formatted {
		t.Errorf("Format: got %q, %v, want %q", out.String(), err, formatted)
	}
	if _, err := tf.FormatString(ctx, "variable {{{"); err == nil {
		t.Error("formatted what cannot be parsed")
	}
	check := func(want []string, opts ...tfexec.FormatOption) {
		t.Helper()
		done, files, err := tf.FormatCheck(ctx, opts...)
		slices.Sort(files)
		if err != nil || done != (want == nil) || !slices.Equal(files, want) {
			t.Errorf("FormatCheck: got formatted %t, files %q, %v, want the unformatted files %q", done, files, err, want)
		}
	}
	check([]string{"bad.tf"})
	check([]string{"bad.tf", filepath.Join("sub", "bad.tf")}, tfexec.Recursive(true))
	ok(t, "writing a directory", tf.FormatWrite(ctx, tfexec.Dir("sub")))
	check([]string{"bad.tf"}, tfexec.Recursive(true))
	ok(t, "writing", tf.FormatWrite(ctx, tfexec.Recursive(true)))
	check(nil, tfexec.Recursive(true))
	text, err := os.ReadFile(filepath.Join(tf.WorkingDir(), "sub", "bad.tf"))
	if err != nil || string(text) != formatted {
		t.Errorf("file: got %q, %v, want %q", text, err, formatted)
	}
}

func TestGet(t *testing.T) {
	tf, ctx := project(t, map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tf": ""}), t.Context()
	ok(t, "get", tf.Get(ctx))
	ok(t, "get again", tf.Get(ctx, tfexec.Update(true)))
	if text, err := os.ReadFile(filepath.Join(tf.WorkingDir(), ".terraform", "modules", "modules.json")); err != nil || !strings.Contains(string(text), `"m"`) {
		t.Errorf("the manifest of modules: %s, %v", text, err)
	}
	if err := tf.Get(ctx, tfexec.Dir("elsewhere")); err == nil {
		t.Error("a directory as an argument went out of use long ago")
	}
}

func TestGraph(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	_, err := tf.Plan(ctx, tfexec.Out("p"))
	ok(t, "plan", err)
	for name, get := range map[string]func() (string, error){
		"graph":           func() (string, error) { return tf.Graph(ctx) },
		"graph of a type": func() (string, error) { return tf.Graph(ctx, tfexec.GraphType("plan"), tfexec.DrawCycles(true)) },
		"graph of a plan": func() (string, error) { return tf.Graph(ctx, tfexec.GraphPlan("p")) },
	} {
		text, err := get()
		ok(t, name, err)
		if !strings.HasPrefix(text, "digraph") || !strings.Contains(text, "keep_note.a") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

func TestForceUnlock(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx))
	if err := tf.ForceUnlock(ctx, "b3a5b9a0-0000-4000-8000-000000000000"); err == nil {
		t.Error("unlocked what is not locked")
	}
	var version *tfexec.ErrVersionMismatch
	if err := tf.ForceUnlock(ctx, "x", tfexec.Dir("elsewhere")); err == nil || errors.As(err, &version) {
		t.Errorf("a directory as an argument: %v", err)
	}
}

func TestMetadataFunctions(t *testing.T) {
	tf := project(t, nil)
	got, err := tf.MetadataFunctions(t.Context())
	ok(t, "metadata functions", err)
	ok(t, "the document", got.Validate())
	for _, name := range []string{"upper", "cidrsubnet", "templatefile", "jsonencode", "one"} {
		if got.Signatures[name] == nil {
			t.Errorf("no signature of %s", name)
		}
	}
}

func TestGenerateConfig(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.Target("keep_note.a")))
	ok(t, "state rm", tf.StateRm(ctx, "keep_note.a"))
	main, _, _ := strings.Cut(options["main.tf"], "variable")
	filetest.Write(t, filepath.Join(tf.WorkingDir(), "main.tf"), main+"import {\n  to = keep_note.new\n  id = \"a\"\n}\n")
	changed, err := tf.Plan(ctx, tfexec.GenerateConfigOut("generated.tf"), tfexec.Out("p"))
	if err != nil || !changed {
		t.Fatalf("plan: changes %t, %v", changed, err)
	}
	if text, err := os.ReadFile(filepath.Join(tf.WorkingDir(), "generated.tf")); err != nil || !strings.Contains(string(text), `resource "keep_note" "new"`) {
		t.Errorf("the generated configuration: %s, %v", text, err)
	}
	ok(t, "apply", tf.Apply(ctx, tfexec.DirOrPlan("p")))
}

func TestFromModule(t *testing.T) {
	source := project(t, options).WorkingDir()
	tf := project(t, nil)
	ok(t, "init", tf.Init(t.Context(), tfexec.FromModule(source)))
	if _, err := os.Stat(filepath.Join(tf.WorkingDir(), "main.tf")); err != nil {
		t.Errorf("the module was not copied: %v", err)
	}
}
