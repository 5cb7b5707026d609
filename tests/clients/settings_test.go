package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// lines is a logger that remembers.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Printf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.text, format+"\n", v...)
}

func TestSettings(t *testing.T) {
	tf, ctx := project(t, options), t.Context()
	if tf.ExecPath() != binary || tf.WorkingDir() == "" {
		t.Errorf("the client runs %s in %q, want %s", tf.ExecPath(), tf.WorkingDir(), binary)
	}
	var stdout, stderr bytes.Buffer
	var logged lines
	tf.SetStdout(&stdout)
	tf.SetStderr(&stderr)
	tf.SetLogger(&logged)
	ok(t, "init", tf.Init(ctx))
	ok(t, "apply", tf.Apply(ctx))
	if !strings.Contains(stdout.String(), "Apply complete! Resources: 3 added, 0 changed, 0 destroyed.") || stderr.Len() != 0 {
		t.Errorf("apply: got %q and, about errors, %q, want 3 added and no errors", stdout.String(), stderr.String())
	}
	if !strings.Contains(logged.text.String(), "-auto-approve") {
		t.Errorf("logged: %s", logged.text.String())
	}
	if err := tf.Apply(ctx, tfexec.Var("nothing=1")); err == nil || !strings.Contains(stderr.String(), "nothing") {
		t.Errorf("a variable that is not declared: %v; on standard error: %s", err, stderr.String())
	}
	var manual *tfexec.ErrManualEnvVar
	if err := tf.SetEnv(map[string]string{"TF_VAR_label": "x"}); !errors.As(err, &manual) {
		t.Errorf("an environment with a variable: %v", err)
	}
	ok(t, "environment", tf.SetEnv(map[string]string{"TF_CLI_CONFIG_FILE": os.Getenv("TF_CLI_CONFIG_FILE"), "TF_DATA_DIR": "elsewhere"}))
	ok(t, "init", tf.Init(ctx))
	ok(t, "new workspace", tf.WorkspaceNew(ctx, "other"))
	absent(t, tf, filepath.Join(".terraform", "environment"))
	if _, err := os.Stat(filepath.Join(tf.WorkingDir(), "elsewhere", "environment")); err != nil {
		t.Errorf("TF_DATA_DIR is not heeded: %v", err)
	}
	ok(t, "environment", tf.SetEnv(nil))
	if name, err := tf.WorkspaceShow(ctx); err != nil || name != "default" {
		t.Errorf("workspace: got %q, %v, want \"default\"", name, err)
	}
}

// TestPluginsInTheClear configures what provider developers use to watch the connection.
func TestPluginsInTheClear(t *testing.T) {
	fromMirror(t)
	tf, ctx := initialized(t, simConfig("1.0.0")), t.Context()
	for _, clear := range []bool{true, false} {
		ok(t, "TLS", tf.SetDisablePluginTLS(clear))
		ok(t, "replacing apply", tf.Apply(ctx, tfexec.Replace("sim_thing.x")))
	}
	ok(t, "destroy", tf.Destroy(ctx))
}

func TestLogs(t *testing.T) {
	fromMirror(t)
	logged := func(set func(tf *tfexec.Terraform) error) string {
		tf := initialized(t, simConfig("1.0.0"))
		path := filepath.Join(t.TempDir(), "log")
		ok(t, "log path", tf.SetLogPath(path))
		ok(t, "log level", set(tf))
		_, err := tf.Plan(t.Context())
		ok(t, "plan", err)
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	all := logged(func(*tfexec.Terraform) error { return nil })
	off := logged(func(tf *tfexec.Terraform) error { return tf.SetLog("OFF") })
	own := logged(func(tf *tfexec.Terraform) error { return errors.Join(tf.SetLog(""), tf.SetLogCore("TRACE")) })
	theirs := logged(func(tf *tfexec.Terraform) error { return errors.Join(tf.SetLog(""), tf.SetLogProvider("TRACE")) })
	const rpc = "tf_rpc" // stands in what the plugin SDK logs of each call
	for name, c := range map[string]struct {
		text string
		want bool
	}{"everything": {all, true}, "off": {off, false}, "the engine": {own, false}, "providers": {theirs, true}} {
		if got := strings.Contains(c.text, rpc); got != c.want {
			t.Errorf("%s: what the provider logs is there: got %t, want %t", name, got, c.want)
		}
	}
}

var slow = map[string]string{"main.tf": `
terraform {
  required_providers {
    sim = { source = "` + simcloud.Source + `" }
  }
}
resource "terraform_data" "first" {}
resource "sim_slow" "second" {
  name       = "second"
  depends_on = [terraform_data.first]
}
resource "terraform_data" "third" {
  depends_on = [sim_slow.second]
}
`}

// misbehave makes the provider do something odd instead of just creating the second object.
func misbehave(t *testing.T, deed string) {
	t.Helper()
	rules, err := json.Marshal([]map[string]any{{"rpc": "ApplyResourceChange", "name": "second", "do": deed}})
	ok(t, "rules", err)
	file := filepath.Join(t.TempDir(), "rules.json")
	filetest.Write(t, file, string(rules))
	t.Setenv(simcloud.EnvMisbehave, file)
	t.Setenv(simcloud.EnvLog, filepath.Join(t.TempDir(), "calls"))
}

// begun waits until the provider is at work on the second object.
func begun(t *testing.T) {
	t.Helper()
	for range 1500 {
		log, err := simlog.ReadFile(os.Getenv(simcloud.EnvLog))
		if err == nil && log.Count(simlog.Filter{RPC: "ApplyResourceChange"}) > 0 {
			return
		}
		time.Sleep(20 * time.Millisecond) // a process of its own makes the call; there is nothing else to wait for
	}
	t.Fatal("the provider was not called")
}

// TestInterrupt has a client give up an apply: what is under way is finished and recorded, and nothing more
// is begun.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("clients kill there")
	}
	for _, legacy := range []bool{false, true} {
		fromMirror(t)
		tf := initialized(t, slow)
		misbehave(t, "answer-late")
		ok(t, "wait delay", tf.SetWaitDelay(30*time.Second))
		ok(t, "closing pipes", tf.SetEnableLegacyPipeClosing(legacy))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- tf.Apply(ctx) }()
		begun(t)
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("the interrupted apply: %v", err)
		}
		state, err := tf.Show(t.Context())
		ok(t, "show", err)
		got := resources(state)
		if len(got) != 2 || got["terraform_data.first"] == nil || got["sim_slow.second"] == nil || got["sim_slow.second"].Tainted {
			t.Errorf("after the interrupt the state has %d resources, want 2", len(got))
		}
		t.Setenv(simcloud.EnvMisbehave, "")
		ok(t, "apply", tf.Apply(t.Context()))
		ok(t, "destroy", tf.Destroy(t.Context()))
	}
}

// TestKilled has a client lose its patience: nothing that was done is lost, and the next command goes on.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("clients kill there without interrupting")
	}
	fromMirror(t)
	tf := initialized(t, slow)
	misbehave(t, "hang")
	ok(t, "wait delay", tf.SetWaitDelay(500*time.Millisecond))
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- tf.Apply(ctx) }()
	begun(t)
	cancel()
	if err := <-result; err == nil {
		t.Error("the killed apply has no error")
	}
	t.Setenv(simcloud.EnvMisbehave, "")
	ok(t, "apply", tf.Apply(t.Context()))
	state, err := tf.Show(t.Context())
	ok(t, "show", err)
	if got := resources(state); len(got) != 3 {
		t.Errorf("the state has %d resources, want 3", len(got))
	}
}
