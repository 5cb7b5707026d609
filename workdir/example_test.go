package workdir_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/workdir"
)

// Example initializes a directory, saves a plan and applies it in a later run.
func Example() {
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
terraform {
  backend "local" {
    path = "states/app.tfstate"
  }
}
variable "region" {}
resource "terraform_data" "site" {
  input = "site in ${var.region}"
}
output "site" {
  value = terraform_data.site.output
}
`
	if err := errors.Join(os.Chdir(temp), os.WriteFile("main.tf", []byte(config), 0o600)); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	dir := workdir.New(workdir.Options{Settings: []workdir.Setting{{Text: "region=north"}}})
	check(dir.LoadRoot(ctx))
	change, diags := dir.Backend.Init(ctx, workdir.BackendOptions{})
	check(diags)
	fmt.Println("backend:", change.After)
	check(dir.Packages.InstallModules(ctx, false, nil, nil))
	check(dir.Load(ctx))
	_, _, diags = dir.Packages.InstallProviders(ctx, nil, workdir.ProviderOptions{})
	check(diags)

	run, diags := dir.Begin(ctx, "plan", workdir.BeginOptions{})
	check(diags)
	planned, diags := run.Operation.Plan(ctx, mayfly.PlanOptions{Variables: run.Variables})
	check(diags)
	for _, c := range planned.Changes {
		fmt.Println(c.Action, c.Addr)
	}
	check(run.Save(planned, "tfplan"))
	check(run.Close())

	later := workdir.New(workdir.Options{})
	saved, diags := later.Plans.Open(ctx, "tfplan")
	check(diags)
	run, diags = later.Plans.Resume(ctx, saved, "apply", workdir.BeginOptions{})
	check(diags)
	_, diags = run.Operation.Apply(ctx, saved.Plan, mayfly.ApplyOptions{Variables: run.Variables})
	check(diags)
	check(run.Close())
	site := run.Operation.State().Object(addr.Object{Instance: planned.Changes[0].Addr})
	fmt.Println("exists:", site != nil)

	file, diags := later.Backend.ReadState(ctx, workdir.StateFiles{})
	check(diags)
	fmt.Println("outputs:", len(file.State.Outputs))
	// Output:
	// backend: local
	// create terraform_data.site
	// exists: true
	// outputs: 1
}

func check(diags diag.List) {
	if diags.HasErrors() {
		log.Fatal(diags)
	}
}
