// Package serve makes a server of the plugin protocol, version 6, of a provider that otherwise runs in the
// engine's process, so that other engines can use it too. It serves providers like keep: without identities,
// functions, nested blocks and nested attributes.
//
// It may import addr, diag, schema, provider and the library of the protocol. It must not know a particular
// provider, nor is it linked into the engine.
package serve

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// New returns a server for one configuration of a provider.
func New(p provider.Provider) tfprotov6.ProviderServer { return &server{provider: p} }

type server struct {
	lacking
	provider provider.Provider
}

func capabilities(c provider.Capabilities) *tfprotov6.ServerCapabilities {
	return &tfprotov6.ServerCapabilities{
		PlanDestroy: c.PlanDestroy, GetProviderSchemaOptional: c.SchemaOptional, MoveResourceState: c.MoveResourceState, GenerateResourceConfig: c.GenerateResourceConfig,
	}
}

// GetMetadata implements tfprotov6.ProviderServer.
func (s *server) GetMetadata(ctx context.Context, _ *tfprotov6.GetMetadataRequest) (*tfprotov6.GetMetadataResponse, error) {
	c, diags := s.provider.Catalog(ctx)
	resp := &tfprotov6.GetMetadataResponse{Diagnostics: diagnostics(diags)}
	if diags.HasErrors() {
		return resp, nil
	}
	resp.ServerCapabilities = capabilities(c.Capabilities())
	for _, name := range c.Types(addr.Managed) {
		resp.Resources = append(resp.Resources, tfprotov6.ResourceMetadata{TypeName: name})
	}
	for _, name := range c.Types(addr.Data) {
		resp.DataSources = append(resp.DataSources, tfprotov6.DataSourceMetadata{TypeName: name})
	}
	for _, name := range c.Types(addr.Ephemeral) {
		resp.EphemeralResources = append(resp.EphemeralResources, tfprotov6.EphemeralResourceMetadata{TypeName: name})
	}
	return resp, nil
}

// GetProviderSchema implements tfprotov6.ProviderServer.
func (s *server) GetProviderSchema(ctx context.Context, _ *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	c, diags := s.provider.Catalog(ctx)
	if diags.HasErrors() {
		return &tfprotov6.GetProviderSchemaResponse{Diagnostics: diagnostics(diags)}, nil
	}
	own, diags := c.Provider()
	all := func(mode addr.Mode) map[string]*tfprotov6.Schema {
		out := map[string]*tfprotov6.Schema{}
		for _, name := range c.Types(mode) {
			one, more := c.Resource(mode, name)
			diags = append(diags, more...)
			out[name] = describe(one)
		}
		return out
	}
	resp := &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities: capabilities(c.Capabilities()), Provider: describe(own), ProviderMeta: describe(nil), Functions: map[string]*tfprotov6.Function{},
		ResourceSchemas: all(addr.Managed), DataSourceSchemas: all(addr.Data), EphemeralResourceSchemas: all(addr.Ephemeral),
	}
	resp.Diagnostics = diagnostics(diags)
	return resp, nil
}

// describe converts a schema. It returns nil for nil.
func describe(s *schema.Schema) *tfprotov6.Schema {
	if s == nil {
		return nil
	}
	block := &tfprotov6.SchemaBlock{Description: s.Block.Description, DescriptionKind: kind(s.Block.DescriptionKind)}
	for _, name := range slices.Sorted(maps.Keys(s.Block.Attributes)) {
		a := s.Block.Attributes[name]
		block.Attributes = append(block.Attributes, &tfprotov6.SchemaAttribute{
			Name: name, Type: typeOf(a.Type), Description: a.Description, DescriptionKind: kind(a.DescriptionKind),
			Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly, Deprecated: a.Deprecated,
		})
	}
	return &tfprotov6.Schema{Version: s.Version, Block: block}
}

func kind(k schema.DescriptionKind) tfprotov6.StringKind {
	if k == schema.Markdown {
		return tfprotov6.StringKindMarkdown
	}
	return tfprotov6.StringKindPlain
}

// ValidateProviderConfig implements tfprotov6.ProviderServer.
func (s *server) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	config, err := s.config(ctx, req.Config)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config, Diagnostics: diagnostics(s.provider.ValidateConfig(ctx, config))}, nil
}

// ConfigureProvider implements tfprotov6.ProviderServer.
func (s *server) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	config, err := s.config(ctx, req.Config)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ConfigureProviderResponse{Diagnostics: diagnostics(s.provider.Configure(ctx, config))}, nil
}

// config reads the configuration of the provider.
func (s *server) config(ctx context.Context, v *tfprotov6.DynamicValue) (cty.Value, error) {
	c, diags := s.provider.Catalog(ctx)
	if diags.HasErrors() {
		return cty.NilVal, diags.Err()
	}
	own, diags := c.Provider()
	if diags.HasErrors() {
		return cty.NilVal, diags.Err()
	}
	return decode(v, own.Block.Type())
}

// StopProvider implements tfprotov6.ProviderServer.
func (s *server) StopProvider(ctx context.Context, _ *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	resp := &tfprotov6.StopProviderResponse{}
	if err := s.provider.Stop(ctx); err != nil {
		resp.Error = err.Error()
	}
	return resp, nil
}
