package addr_test

import (
	"fmt"
	"log"

	"github.com/mayfly-iac/mayfly/addr"
)

// Example parses addresses and asks which of them a target selects.
func Example() {
	target, err := addr.ParseTarget("module.network")
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range []string{`module.network["north"].terraform_data.link[0]`, "terraform_data.site"} {
		instance, err := addr.ParseInstance(s)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(instance.Config(), target.Selects(instance))
	}
	// Output:
	// module.network.terraform_data.link true
	// terraform_data.site false
}
