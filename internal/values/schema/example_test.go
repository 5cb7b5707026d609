package schema_test

import (
	"fmt"
	"log"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Example decodes the body of a block, then proposes the object to plan: what is not set and computed keeps
// its prior value.
func Example() {
	block := &schema.Block{Attributes: map[string]*schema.Attribute{
		"id":   {Type: cty.String, Computed: true},
		"name": {Type: cty.String, Required: true},
	}}
	file, wrong := hclsyntax.ParseConfig([]byte(`name = "new"`), "main.tf", hcl.InitialPos)
	if wrong.HasErrors() {
		log.Fatal(wrong)
	}
	config, diags := block.Decode(file.Body, nil)
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}

	prior := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("i-1"), "name": cty.StringVal("old")})
	proposed := schema.ProposedNew(block, prior, config)
	fmt.Println(proposed.GetAttr("id").AsString(), proposed.GetAttr("name").AsString())
	// Output: i-1 new
}
