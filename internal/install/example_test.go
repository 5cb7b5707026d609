package install_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Example lists the providers that a configuration needs, as Installer.Ensure takes them.
func Example() {
	loader := config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(`
terraform {
  required_providers {
    random = {
      source  = "hashicorp/random"
      version = "~> 3.7"
    }
  }
}
resource "null_resource" "site" {}
`)}}}
	tree, diags := loader.Load(".")
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}
	requirements, diags := install.Requirements(tree, nil)
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}
	byName := map[string]*install.Requirement{}
	for p, r := range requirements {
		byName[p.ForDisplay()] = r
	}
	for name, r := range diag.InOrder(byName) {
		fmt.Printf("%s %q\n", name, r.Text())
	}
	// Output:
	// hashicorp/null ""
	// hashicorp/random "~> 3.7"
}
