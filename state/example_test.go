package state_test

import (
	"crypto/rand"
	"fmt"
	"log"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Example stores an object, writes the state file and reads it again.
func Example() {
	site, err := addr.ParseInstance(`terraform_data.site["north"]`)
	if err != nil {
		log.Fatal(err)
	}
	attributes := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("i-1")})
	sealed, err := value.Seal(attributes, attributes.Type(), nil)
	if err != nil {
		log.Fatal(err)
	}
	object, err := state.ObjectFrom(sealed)
	if err != nil {
		log.Fatal(err)
	}

	file, err := state.NewFile("1.0.0", rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	file.State.SetObject(addr.Object{Instance: site}, object, addr.ProviderConfig{Provider: addr.BuiltinProvider})
	text, err := state.Write(file)
	if err != nil {
		log.Fatal(err)
	}

	stored, err := state.Read(text)
	if err != nil {
		log.Fatal(err)
	}
	for a, instance := range stored.State.AllInstances() {
		fmt.Printf("%s: %s\n", a, instance.Current.JSON())
	}
	// Output: terraform_data.site["north"]: {"id":"i-1"}
}
