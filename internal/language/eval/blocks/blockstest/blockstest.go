// Package blockstest has schemas for tests that compile configurations: of providers that have every type.
//
// It may import addr, diag and schema. It must not know the configurations.
package blockstest

import (
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Schemas are the same for every type and for the configuration of every provider: the computed id and the
// attributes in the map. It implements blocks.Schemas.
type Schemas map[string]*schema.Attribute

func (s Schemas) schema() (*schema.Schema, diag.List) {
	attributes := map[string]*schema.Attribute{"id": {Type: cty.String, Computed: true}}
	maps.Copy(attributes, s)
	return &schema.Schema{Block: &schema.Block{Attributes: attributes}}, nil
}

// Provider returns the schema of the configuration of any provider.
func (s Schemas) Provider(addr.Provider) (*schema.Schema, diag.List) { return s.schema() }

// Resource returns the schema of any type.
func (s Schemas) Resource(addr.Provider, addr.Mode, string) (*schema.Schema, diag.List) {
	return s.schema()
}

// Types returns no names, because the types are not listed anywhere.
func (Schemas) Types(addr.Provider, addr.Mode) []string { return nil }

// Functions returns no functions.
func (Schemas) Functions(addr.Provider) (map[string]*schema.Function, diag.List) { return nil, nil }
