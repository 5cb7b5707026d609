package provider_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/builtin"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Example plans a new object with a provider, as the engine does.
func Example() {
	ctx := context.Background()
	var p provider.Provider = builtin.New(builtin.Options{})
	catalog, diags := p.Catalog(ctx)
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}
	const typeName = "terraform_data"
	s, diags := catalog.Resource(addr.Managed, typeName)
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}

	attributes := s.Block.Empty().AsValueMap()
	attributes["input"] = cty.StringVal("hello")
	config, prior := cty.ObjectVal(attributes), cty.NullVal(s.Block.Type())
	resp, diags := p.PlanResource(ctx, provider.PlanRequest{
		Type: typeName, Prior: prior, Config: config, Proposed: schema.ProposedNew(s.Block, prior, config),
	})
	if diags.HasErrors() {
		log.Fatal(diags.Err())
	}
	fmt.Println("id is known:", resp.Planned.GetAttr("id").IsKnown())
	// Output: id is known: false
}
