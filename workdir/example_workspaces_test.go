package workdir_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/workdir"
)

// Example_workspaces applies one configuration in two workspaces, with the values of variables from a file
// for each.
func Example_workspaces() {
	before, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	temp, err := os.MkdirTemp("", "workdir-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := errors.Join(os.Chdir(before), os.RemoveAll(temp)); err != nil {
			log.Print(err)
		}
	}()
	const config = `
variable "size" { type = number }
resource "terraform_data" "server" {
  count = var.size
  input = "${terraform.workspace}-${count.index}"
}
`
	if err := errors.Join(
		os.Chdir(temp), os.WriteFile("main.tf", []byte(config), 0o600),
		os.WriteFile("staging.tfvars", []byte("size = 1\n"), 0o600), os.WriteFile("production.tfvars", []byte("size = 3\n"), 0o600),
	); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	for _, name := range []string{"staging", "production"} {
		dir := workdir.New(workdir.Options{Settings: []workdir.Setting{{File: true, Text: name + ".tfvars"}}})
		workspaces, diags := dir.Workspaces(ctx)
		check(diags)
		check(workspaces.Create(ctx, name, nil)) // which selects it too
		check(dir.Load(ctx))
		run, diags := dir.Begin(ctx, "apply", workdir.BeginOptions{})
		check(diags)
		planned, diags := run.Operation.Plan(ctx, mayfly.PlanOptions{Variables: run.Variables})
		check(diags)
		applied, diags := run.Operation.Apply(ctx, planned, mayfly.ApplyOptions{Variables: run.Variables})
		check(diags)
		check(run.Close())
		fmt.Println(name, "has", applied.Counts.Add, "more")
	}

	workspaces, diags := workdir.New(workdir.Options{}).Workspaces(ctx)
	check(diags)
	for _, name := range workspaces.Names {
		file, diags := workspaces.Read(ctx, name)
		check(diags)
		if file != nil {
			fmt.Println(name, len(file.State.Managed()))
		}
	}
	// Output:
	// staging has 1 more
	// production has 3 more
	// production 3
	// staging 1
}
