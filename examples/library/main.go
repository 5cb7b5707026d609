// Command library applies a configuration that is embedded in it, and prints how long each ephemeral instance
// is open.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

//go:embed site.tf
var site []byte

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// run applies the configuration in a directory of its own, and destroys its objects.
func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "library")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "site.tf"), site, 0o600); err != nil {
		return err
	}
	manager, err := local.New(local.Options{Dir: dir}).Manager(store.DefaultWorkspace)
	if err != nil {
		return err
	}
	p, diags := mayfly.Open(ctx, mayfly.Options{
		Dir: dir, WorkDir: dir, Launcher: &mayfly.Launcher{}, State: mayfly.StateOptions{Store: manager}, Observer: event.ObserverFunc(show),
	})
	if diags.HasErrors() {
		return diags.Err()
	}
	defer p.Close()
	if err := apply(ctx, p, plan.Normal); err != nil {
		return err
	}
	return apply(ctx, p, plan.Destroy)
}

// apply makes a plan in a mode and carries it out.
func apply(ctx context.Context, p *mayfly.Project, mode plan.Mode) error {
	op, diags := p.Begin(ctx, "apply", mayfly.BeginOptions{})
	if diags.HasErrors() {
		return diags.Err()
	}
	defer op.End()
	// A write-only argument needs no value while planning, so the password is opened during the apply only.
	planned, diags := op.Plan(ctx, mayfly.PlanOptions{Mode: mode, LazyEphemeral: true})
	if diags.HasErrors() {
		return diags.Err()
	}
	applied, diags := op.Apply(ctx, planned, mayfly.ApplyOptions{})
	if diags.HasErrors() {
		return diags.Err()
	}
	if diags := op.Flush(); diags.HasErrors() {
		return diags.Err()
	}
	fmt.Printf("%d added, %d destroyed\n", applied.Counts.Add, applied.Counts.Destroy)
	return nil
}

// show prints the operation on an object. Events have addresses and times, but no values.
func show(e event.Event) {
	if e.Kind == event.Completed {
		fmt.Println(e.Op, e.Object)
	}
}
