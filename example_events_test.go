package mayfly_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// Example_events reads what an apply does from an iterator.
func Example_events() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(greeting), 0o600); err != nil {
		log.Fatal(err)
	}
	var diags diag.List
	for e := range event.During(func(o event.Observer) { diags = observed(context.Background(), dir, o) }) {
		if e.Kind == event.Completed {
			fmt.Println(e.Op, e.Object)
		}
	}
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}
	// Output: create terraform_data.greeting
}

// observed plans and applies the configuration in a directory, while an observer receives the events.
func observed(ctx context.Context, dir string, o event.Observer) diag.List {
	manager, err := local.New(local.Options{Dir: dir}).Manager(store.DefaultWorkspace)
	if err != nil {
		return diag.Errorf("No state", "%s", diag.Sentence(err))
	}
	p, diags := mayfly.Open(ctx, mayfly.Options{Dir: dir, Launcher: &mayfly.Launcher{}, State: mayfly.StateOptions{Store: manager}, Observer: o})
	if diags.HasErrors() {
		return diags
	}
	defer p.Close()
	op, diags := p.Begin(ctx, "apply", mayfly.BeginOptions{})
	if diags.HasErrors() {
		return diags
	}
	planned, diags := op.Plan(ctx, mayfly.PlanOptions{})
	if !diags.HasErrors() {
		_, diags = op.Apply(ctx, planned, mayfly.ApplyOptions{})
	}
	return append(diags, op.End()...)
}
