package config_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Example loads a configuration and lists the resources in it.
func Example() {
	loader := config.Loader{FS: fstest.MapFS{
		"main.tf": {Data: []byte(`
module "network" {
  source = "./network"
}
resource "terraform_data" "site" {}
`)},
		"network/main.tf": {Data: []byte(`ephemeral "random_password" "key" {}`)},
	}}
	tree, diags := loader.Load(".")
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}
	for _, m := range tree.SortedModules() {
		for _, r := range m.Order {
			fmt.Println(r.Range.Filename, r.Addr)
		}
	}
	// Output:
	// main.tf terraform_data.site
	// network/main.tf ephemeral.random_password.key
}
