package engine_test

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// leakCatalog is what the test provider of the leak guard's model offers.
type leakCatalog struct {
	managed, data, ephemeral map[string]*schema.Schema
	provider                 *schema.Schema
	identity                 *schema.Identity
}

func newLeakCatalog(version int64) leakCatalog {
	results := func(attrs map[string]*schema.Attribute) map[string]*schema.Attribute {
		element := cty.List(cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.String}))
		for name, ty := range map[string]cty.Type{
			"id": cty.String, "made": cty.String, "extra": cty.Map(cty.String), "num": cty.Number, "any": cty.DynamicPseudoType, "list": element, "set": cty.Set(cty.String),
		} {
			attrs[name] = &schema.Attribute{Type: ty, Computed: true}
		}
		attrs["gen"] = &schema.Attribute{Type: cty.Number, Computed: true} // when it was created; see leakGen
		attrs["result"] = &schema.Attribute{Type: cty.String, Computed: true, Sensitive: true}
		attrs["name"] = &schema.Attribute{Type: cty.String, Required: true}
		attrs["arg"] = &schema.Attribute{Type: cty.String, Optional: true}
		return attrs
	}
	bare := func() *schema.Block {
		b := &schema.Block{Attributes: results(map[string]*schema.Attribute{})}
		b.Attributes["size"] = &schema.Attribute{Type: cty.Number, Optional: true}
		b.Attributes["replace"] = &schema.Attribute{Type: cty.Number, Optional: true}
		b.Attributes["tags"] = &schema.Attribute{Type: cty.Map(cty.String), Optional: true}
		return b
	}
	full := func() *schema.Block {
		b := bare()
		b.Attributes["secret_wo"] = &schema.Attribute{Type: cty.String, Optional: true, WriteOnly: true}
		b.Attributes["map_wo"] = &schema.Attribute{Type: cty.Map(cty.String), Optional: true, WriteOnly: true}
		b.Blocks = map[string]*schema.NestedBlock{"login": {Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{
			"user": {Type: cty.String, Optional: true}, "pass_wo": {Type: cty.String, Optional: true, WriteOnly: true}, "token": {Type: cty.String, Computed: true},
		}}}}
		return b
	}
	return leakCatalog{
		managed: map[string]*schema.Schema{
			"leak_thing": {Version: version, Block: full()}, "leak_old": {Version: version, Block: full()}, "leak_bare": {Version: version, Block: bare()},
		},
		data: map[string]*schema.Schema{"leak_lookup": {Block: &schema.Block{Attributes: results(map[string]*schema.Attribute{})}}},
		ephemeral: map[string]*schema.Schema{"leak_token": {Block: &schema.Block{Attributes: map[string]*schema.Attribute{
			"name": {Type: cty.String, Required: true}, "value": {Type: cty.String, Computed: true}, "secret": {Type: cty.String, Computed: true, Sensitive: true},
		}}}},
		provider: &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{
			"token": {Type: cty.String, Optional: true}, "settings": {Type: cty.Map(cty.String), Optional: true},
		}}},
		identity: &schema.Identity{Version: version, Attributes: map[string]*schema.IdentityAttribute{
			"key": {Type: cty.String, RequiredForImport: true}, "note": {Type: cty.String, OptionalForImport: true},
		}},
	}
}

// Provider implements provider.Catalog.
func (c leakCatalog) Provider() (*schema.Schema, diag.List) { return c.provider, nil }

func (c leakCatalog) of(mode addr.Mode) map[string]*schema.Schema {
	switch mode {
	case addr.Managed:
		return c.managed
	case addr.Data:
		return c.data
	default:
		return c.ephemeral
	}
}

// Resource implements provider.Catalog.
func (c leakCatalog) Resource(mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	return c.of(mode)[typeName], nil
}

// Types implements provider.Catalog.
func (c leakCatalog) Types(mode addr.Mode) []string { return slices.Sorted(maps.Keys(c.of(mode))) }

// Identity implements provider.Catalog.
func (c leakCatalog) Identity(typeName string) (*schema.Identity, diag.List) {
	if typeName == "leak_thing" {
		return c.identity, nil
	}
	return nil, nil
}

// Meta implements provider.Catalog.
func (leakCatalog) Meta() (*schema.Schema, diag.List) { return nil, nil }

// Functions implements provider.Catalog.
func (leakCatalog) Functions() (map[string]*schema.Function, diag.List) { return nil, nil }

// Capabilities implements provider.Catalog.
func (leakCatalog) Capabilities() provider.Capabilities {
	return provider.Capabilities{PlanDestroy: true, MoveResourceState: true}
}

// Catalog implements provider.Reader.
func (p *leakProvider) Catalog(context.Context) (provider.Catalog, diag.List) { return p.catalog, nil }

// ValidateConfig implements provider.Reader.
func (*leakProvider) ValidateConfig(context.Context, cty.Value) diag.List { return nil }

// ValidateResource implements provider.Reader.
func (*leakProvider) ValidateResource(context.Context, addr.Mode, string, cty.Value) diag.List {
	return nil
}

// Configure implements provider.Reader. It takes no time: a lock is held meanwhile, which virtual time does
// not wait for.
func (*leakProvider) Configure(context.Context, cty.Value) diag.List { return nil }

// GenerateConfig implements provider.Reader.
func (*leakProvider) GenerateConfig(context.Context, provider.GenerateRequest) (cty.Value, diag.List) {
	return cty.NilVal, diag.Errorf("Test provider", "It generates nothing.")
}

// RenewEphemeral implements provider.Reader.
func (*leakProvider) RenewEphemeral(context.Context, string, []byte) (provider.RenewResponse, diag.List) {
	return provider.RenewResponse{}, nil
}

// CloseEphemeral implements provider.Reader.
func (*leakProvider) CloseEphemeral(context.Context, string, []byte) diag.List { return nil }

// ConfiguredFunctions implements provider.Reader.
func (*leakProvider) ConfiguredFunctions(context.Context) (map[string]*schema.Function, diag.List) {
	return map[string]*schema.Function{"reply": {Params: []schema.FunctionParam{{Name: "text", Type: cty.String}}, Return: cty.String}}, nil
}

var errLeakStop = errors.New("the test provider cannot stop")

// Stop implements provider.Reader.
func (*leakProvider) Stop(context.Context) error { return errLeakStop }

// Close implements provider.Reader.
func (*leakProvider) Close() error { return nil }
