package mayfly_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

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

// Example plans and applies a configuration, with its state in a file beside it.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(greeting), 0o600); err != nil {
		log.Fatal(err)
	}
	manager, err := local.New(local.Options{Dir: dir}).Manager(store.DefaultWorkspace)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	p, diags := mayfly.Open(ctx, mayfly.Options{Dir: dir, Launcher: &mayfly.Launcher{}, Store: manager})
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	defer p.Close()

	op, diags := p.Begin(ctx, "apply", mayfly.BeginOptions{})
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	defer op.End()

	planned, diags := op.Plan(ctx, mayfly.PlanOptions{})
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	applied, diags := op.Apply(ctx, planned, mayfly.ApplyOptions{})
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	fmt.Println("added:", applied.Counts.Add)
	// Output: added: 1
}
