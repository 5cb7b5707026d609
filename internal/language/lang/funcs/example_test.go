package funcs_test

import (
	"fmt"
	"log"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Example calls a function with a secret, which makes the result a secret too.
func Example() {
	table := funcs.Table(funcs.Options{})
	v, err := table["upper"].Call([]cty.Value{cty.StringVal("token").Mark(value.Ephemeral)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ephemeral:", value.Has(v, value.Ephemeral))

	length, err := table["length"].Call([]cty.Value{cty.TupleVal([]cty.Value{cty.True, cty.False})})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("length:", length.AsBigFloat())
	// Output:
	// ephemeral: true
	// length: 2
}
