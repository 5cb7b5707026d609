//lint:file-ignore SA1019 old options are what this file is about: people still use them

package clients

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"
)

func TestImportOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate")))
	ok(t, "import", tf.Import(ctx, "keep_note.a", "a", tfexec.State("in.tfstate"), tfexec.StateOut("o.tfstate"), tfexec.Backup("b.tfstate"),
		tfexec.Config(tf.WorkingDir()), tfexec.Var("label=x"), tfexec.VarFile(varFile(t, `"y"`))))
	have(t, tf, "o.tfstate", "keep_note.a")
	ok(t, "import without backup", tf.Import(ctx, "terraform_data.c", "some-id", tfexec.State("o.tfstate"), tfexec.DisableBackup()))
	absent(t, tf, "in.tfstate", "terraform.tfstate", "o.tfstate.backup")
	if err := tf.Import(ctx, "keep_note.unwritten", "a", tfexec.AllowMissingConfig(true)); err == nil {
		t.Error("imported what has no block, an option that went out of use")
	}
}

func TestStateMvOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate")))
	ok(t, "a dry run", tf.StateMv(ctx, "terraform_data.c", "terraform_data.d", tfexec.State("s.tfstate"), tfexec.DryRun(true)))
	have(t, tf, "s.tfstate", allOfThem...)
	ok(t, "state mv", tf.StateMv(ctx, "terraform_data.c", "terraform_data.d", tfexec.State("s.tfstate"), tfexec.Backup("b.tfstate")))
	have(t, tf, "s.tfstate", "keep_note.a", "terraform_data.b", "terraform_data.d")
	have(t, tf, "b.tfstate", allOfThem...)
	ok(t, "to another file", tf.StateMv(ctx, "terraform_data.d", "terraform_data.e", tfexec.State("s.tfstate"), tfexec.StateOut("o.tfstate"),
		tfexec.Backup("b2.tfstate"), tfexec.BackupOut("b3.tfstate")))
	have(t, tf, "s.tfstate", "keep_note.a", "terraform_data.b")
	have(t, tf, "o.tfstate", "terraform_data.e")
	ok(t, "without backup", tf.StateMv(ctx, "terraform_data.e", "terraform_data.f", tfexec.State("o.tfstate"), tfexec.Backup("b4.tfstate"), tfexec.DisableBackup()))
	absent(t, tf, "b4.tfstate")
	have(t, tf, "b2.tfstate", "keep_note.a", "terraform_data.b", "terraform_data.d")
}

func TestStateRmOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate")))
	ok(t, "a dry run", tf.StateRm(ctx, "terraform_data.c", tfexec.State("s.tfstate"), tfexec.DryRun(true)))
	have(t, tf, "s.tfstate", allOfThem...)
	ok(t, "state rm", tf.StateRm(ctx, "terraform_data.c", tfexec.State("s.tfstate"), tfexec.Backup("b.tfstate")))
	have(t, tf, "s.tfstate", "keep_note.a", "terraform_data.b")
	have(t, tf, "b.tfstate", allOfThem...)
	ok(t, "without backup", tf.StateRm(ctx, "keep_note.a", tfexec.State("s.tfstate"), tfexec.StateOut("n.tfstate"), tfexec.Backup("b4.tfstate"), tfexec.DisableBackup()))
	absent(t, tf, "b4.tfstate")
	ok(t, "to another file", tf.StateRm(ctx, "terraform_data.b", tfexec.State("s.tfstate"), tfexec.StateOut("o.tfstate")))
	have(t, tf, "s.tfstate", "keep_note.a", "terraform_data.b")
	have(t, tf, "o.tfstate", "keep_note.a")
	// The library has this one, and no engine knows it.
	if err := tf.StateRm(ctx, "terraform_data.b", tfexec.BackupOut("o.tfstate")); err == nil || !strings.Contains(err.Error(), "not defined") {
		t.Errorf("-backup-out: %v", err)
	}
}

func TestTaintOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx, tfexec.State("s.tfstate")))
	ok(t, "taint", tf.Taint(ctx, "terraform_data.c", tfexec.State("s.tfstate")))
	if changed, err := tf.Plan(ctx, tfexec.State("s.tfstate")); err != nil || !changed {
		t.Errorf("plan after taint: changes %t, %v", changed, err)
	}
	ok(t, "untaint", tf.Untaint(ctx, "terraform_data.c", tfexec.State("s.tfstate")))
	if changed, err := tf.Plan(ctx, tfexec.State("s.tfstate")); err != nil || changed {
		t.Errorf("plan after untaint: changes %t, %v", changed, err)
	}
	ok(t, "taint of nothing", tf.Taint(ctx, "terraform_data.x", tfexec.State("s.tfstate"), tfexec.AllowMissing(true)))
	ok(t, "untaint of nothing", tf.Untaint(ctx, "terraform_data.x", tfexec.State("s.tfstate"), tfexec.AllowMissing(true)))
	if tf.Taint(ctx, "terraform_data.x", tfexec.State("s.tfstate")) == nil || tf.Untaint(ctx, "terraform_data.x", tfexec.State("s.tfstate")) == nil {
		t.Error("tainted or untainted what is not there")
	}
}

func TestWorkspaceOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx))
	ok(t, "new", tf.WorkspaceNew(ctx, "copy", tfexec.CopyState("terraform.tfstate")))
	have(t, tf, filepath.Join("terraform.tfstate.d", "copy", "terraform.tfstate"), allOfThem...)
	ok(t, "select", tf.WorkspaceSelect(ctx, "default"))
	if err := tf.WorkspaceDelete(ctx, "copy"); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a workspace with objects was deleted: %v", err)
	}
	ok(t, "delete", tf.WorkspaceDelete(ctx, "copy", tfexec.Force(true)))
	if names, _, err := tf.WorkspaceList(ctx); err != nil || !slices.Equal(names, []string{"default"}) {
		t.Errorf("workspaces: got %q, %v, want default alone", names, err)
	}
}

// TestBeyond is about what the library itself refuses to ask an engine of this version for.
func TestBeyond(t *testing.T) {
	tf, ctx := project(t, nil), t.Context()
	_, query := tf.QueryJSON(ctx, tfexec.Dir("."), tfexec.GenerateConfigOut("x.tf"), tfexec.Reattach(nil), tfexec.Var("a=b"), tfexec.VarFile("c"))
	_, migrate := tf.StateMigrateJSON(ctx, tfexec.SourceProviderLockFile("a"), tfexec.DestinationProviderLockFile("b"), tfexec.Upgrade(true), tfexec.Reattach(nil))
	_, list := tf.WorkspaceListJSON(ctx)
	for name, err := range map[string]error{
		"0.12upgrade":        tf.Upgrade012(ctx, tfexec.Dir("."), tfexec.Force(true), tfexec.Reattach(nil)),
		"0.13upgrade":        tf.Upgrade013(ctx, tfexec.Dir("."), tfexec.Reattach(nil)),
		"query":              query,
		"state migrate":      migrate,
		"workspace list":     list,
		"unverified plugins": tf.SetSkipProviderVerify(true),
	} {
		var version *tfexec.ErrVersionMismatch
		if !errors.As(err, &version) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTest reads the outcome of test files from the messages. The client leaves its only option out.
func TestTest(t *testing.T) {
	tf, ctx := initialized(t, map[string]string{
		"main.tf": `output "a" { value = "b" }`,
		"tests/good.tftest.hcl": `
run "good" {
  assert {
    condition     = output.a == "b"
    error_message = "not b"
  }
}`,
	}), t.Context()
	var said strings.Builder
	ok(t, "test", tf.Test(ctx, &said, tfexec.TestsDirectory("tests")))
	if !strings.Contains(said.String(), `"type":"test_summary"`) || !strings.Contains(said.String(), `"passed":1`) {
		t.Errorf("the messages are %s", said.String())
	}
}
