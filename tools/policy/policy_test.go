// Package policy judges plans of the program by the policy of examples/policy, as Conftest and OPA do.
//
// It has tests only, and a module of its own, since the program needs nothing of OPA.
package policy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/rego"
)

// root is the directory of the program's module.
var root = filepath.Join("..", "..")

// mayfly returns a function that runs the program in dir and returns what it prints.
func mayfly(t *testing.T, dir string) func(args ...string) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "mayfly")
	build := exec.Command("go", "build", "-o", program, "./cmd/mayfly")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	home := t.TempDir()
	return func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		var complaints strings.Builder
		cmd.Stderr = &complaints
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, text, &complaints)
		}
		return text
	}
}

// TestPolicy checks what the policy says of plans that it is for.
func TestPolicy(t *testing.T) {
	dir := t.TempDir()
	config, err := os.ReadFile(filepath.Join(root, "examples", "policy", "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	policy, err := rego.New(rego.Query("data.main.deny"), rego.Load([]string{filepath.Join(root, "examples", "policy", "policy")}, nil)).PrepareForEval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := mayfly(t, dir)
	denied := func(options ...string) []string {
		t.Helper()
		run(append([]string{"plan", "-out=saved.plan"}, options...)...)
		var plan any
		if err := json.Unmarshal(run("show", "-json", "saved.plan"), &plan); err != nil {
			t.Fatal(err)
		}
		found, err := policy.Eval(t.Context(), rego.EvalInput(plan))
		if err != nil || len(found) != 1 {
			t.Fatalf("Eval: got %v, %v, want one result", found, err)
		}
		var messages []string
		for _, m := range found[0].Expressions[0].Value.([]any) {
			messages = append(messages, m.(string))
		}
		slices.Sort(messages)
		return messages
	}
	check := func(got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("policy: got %q, want %q", got, want)
		}
	}

	write("main.tf", string(config))
	check(denied())
	check(denied("-target=keep_secret.token"), "the plan is not complete")
	run("apply", "saved.plan")
	write("more.tf", "variable \"key\" {\n  sensitive = true\n  default = \"k\"\n}\nresource \"terraform_data\" \"agent\" {\n  input = { keys = [var.key] }\n}\n")
	check(denied(), `terraform_data.agent would store the sensitive argument "input.keys.0": use a write-only argument`)
	write("more.tf", "variable \"key\" {\n  sensitive = true\n  default = \"k\"\n}\nresource \"terraform_data\" \"agent\" {\n  input = [terraform_data.service.output, var.key]\n}\n")
	check(denied("-replace=terraform_data.service"), `terraform_data.agent would store the sensitive argument "input.1": use a write-only argument`)
	if err := os.Remove(filepath.Join(dir, "more.tf")); err != nil {
		t.Fatal(err)
	}
	check(denied("-destroy"), "keep_secret.token would be destroyed: have a person apply this")
}
