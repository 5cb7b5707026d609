package mayfly_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

const greeting = `
resource "terraform_data" "greeting" {
  input = "hello"
}

output "greeting" {
  value = terraform_data.greeting.output
}
`

// apply plans and applies the configuration in a directory, and keeps the state there. The package comment
// shows this function.
func apply(ctx context.Context, dir string) (*mayfly.Applied, error) {
	manager, err := local.New(local.Options{Dir: dir}).Manager(store.DefaultWorkspace)
	if err != nil {
		return nil, err
	}
	p, diags := mayfly.Open(ctx, mayfly.Options{
		Dir: dir, Launcher: &mayfly.Launcher{}, State: mayfly.StateOptions{Store: manager},
	})
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	defer p.Close()
	op, diags := p.Begin(ctx, "apply", mayfly.BeginOptions{})
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	defer op.End()
	planned, diags := op.Plan(ctx, mayfly.PlanOptions{})
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	applied, diags := op.Apply(ctx, planned, mayfly.ApplyOptions{})
	return applied, diags.Err()
}

// Example applies a configuration in a temporary directory.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(greeting), 0o600); err != nil {
		log.Fatal(err)
	}
	applied, err := apply(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("added:", applied.Counts.Add)
	// Output: added: 1
}

// TestDocumentedCode compares the code in the package comment with the function that the example runs.
func TestDocumentedCode(t *testing.T) {
	source := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	function := regexp.MustCompile(`(?s)\nfunc apply\(.*?\n}\n`).FindString(source("example_test.go"))
	if function == "" {
		t.Fatal("example_test.go has no function apply")
	}
	comment := strings.ReplaceAll(function, "\n", "\n//\t")
	if !strings.Contains(source("mayfly.go"), strings.TrimSuffix(comment, "\t")) {
		t.Error("the code in the package comment is not the function apply of example_test.go")
	}
}
