package clients

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-exec/tfexec"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/mayfly-iac/mayfly/internal/provider/keep"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/serve"
)

const runningSource = "example.net/authors/keep"

// running is a provider that runs in this process, as under a debugger, and how to reach it.
func running(t *testing.T) *tfexec.ReattachOption {
	t.Helper()
	t.Setenv("KEEP_PATH", filepath.Join(t.TempDir(), "keep.age"))
	t.Setenv("TF_LOG_SDK", "off") // it would write every call to the test's standard error
	ctx, cancel := context.WithCancel(context.Background())
	configs, closed, ended := make(chan *plugin.ReattachConfig, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = tf6server.Serve(runningSource, func() tfprotov6.ProviderServer { return serve.New(keep.New(keep.Options{})) },
			tf6server.WithDebug(ctx, configs, closed), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
		<-ended
	})
	select {
	case c := <-configs:
		return tfexec.Reattach(tfexec.ReattachInfo{runningSource: {
			Protocol: string(c.Protocol), ProtocolVersion: c.ProtocolVersion, Pid: c.Pid, Test: true,
			Addr: tfexec.ReattachConfigAddr{Network: c.Addr.Network(), String: c.Addr.String()},
		}})
	case <-time.After(30 * time.Second):
		t.Fatal("the provider does not serve")
		return nil
	}
}

// TestReattach uses a provider that exists only as a running process, with every command that accepts
// one.
func TestReattach(t *testing.T) {
	provider := running(t)
	tf, ctx := project(t, map[string]string{"main.tf": `
terraform {
  required_providers {
    keep = { source = "` + runningSource + `" }
  }
}
resource "keep_note" "a" {
  name = "a"
  text = "one"
}
`}), t.Context()
	if err := tf.Init(ctx); err == nil {
		t.Error("init found the provider somewhere else")
	}
	ok(t, "init", tf.Init(ctx, provider))
	changed, err := tf.Plan(ctx, provider, tfexec.Out("p"))
	if err != nil || !changed {
		t.Fatalf("plan: changes %t, %v", changed, err)
	}
	plan, err := tf.ShowPlanFile(ctx, "p", provider)
	if err != nil || len(plan.ResourceChanges) != 1 {
		t.Errorf("ShowPlanFile: got %v, %v, want one change", plan, err)
	}
	_, err = tf.ShowPlanFileRaw(ctx, "p", provider)
	ok(t, "show as text", err)
	ok(t, "apply", tf.Apply(ctx, provider, tfexec.DirOrPlan("p")))
	if err := tf.Apply(ctx); err == nil {
		t.Error("apply found the provider somewhere else")
	}
	var stream bytes.Buffer
	ok(t, "apply as a stream", tf.ApplyJSON(ctx, &stream, provider))
	state, err := tf.Show(ctx, provider)
	if err != nil || len(resources(state)) != 1 {
		t.Errorf("Show: got %v, %v, want one resource", state, err)
	}
	file, err := tf.ShowStateFile(ctx, "terraform.tfstate", provider)
	if err != nil || len(resources(file)) != 1 {
		t.Errorf("ShowStateFile: got %v, %v, want one resource", file, err)
	}
	ok(t, "state rm", tf.StateRm(ctx, "keep_note.a"))
	ok(t, "import", tf.Import(ctx, "keep_note.a", "a", provider))
	ok(t, "refresh", tf.Refresh(ctx, provider))
	ok(t, "new workspace", tf.WorkspaceNew(ctx, "other", provider))
	ok(t, "select", tf.WorkspaceSelect(ctx, "default", provider))
	names, _, err := tf.WorkspaceList(ctx, provider)
	if err != nil || !slices.Equal(names, []string{"default", "other"}) {
		t.Errorf("workspaces: got %q, %v, want default and other", names, err)
	}
	if name, err := tf.WorkspaceShow(ctx, provider); err != nil || name != "default" {
		t.Errorf("workspace: got %q, %v, want \"default\"", name, err)
	}
	ok(t, "delete", tf.WorkspaceDelete(ctx, "other", provider))
	ok(t, "destroy", tf.Destroy(ctx, provider))
}
