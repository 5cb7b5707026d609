package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// bench implements tfprotov6.ProviderServer.
type bench struct {
	schemas map[string]*tfprotov6.Schema // of resource types
	counts  *counts
}

// schema returns the schema of a resource type.
func (b *bench) schema(typeName string) (*tfprotov6.Schema, error) {
	if s := b.schemas[typeName]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("there is no resource type %q", typeName)
}

// capabilities are the optional features of the provider.
func capabilities() *tfprotov6.ServerCapabilities {
	return &tfprotov6.ServerCapabilities{GetProviderSchemaOptional: true, PlanDestroy: true}
}

// GetMetadata implements tfprotov6.ProviderServer.
func (b *bench) GetMetadata(context.Context, *tfprotov6.GetMetadataRequest) (*tfprotov6.GetMetadataResponse, error) {
	resp := &tfprotov6.GetMetadataResponse{ServerCapabilities: capabilities(), EphemeralResources: []tfprotov6.EphemeralResourceMetadata{{TypeName: typeSecret}}}
	for _, name := range names(b.schemas) {
		resp.Resources = append(resp.Resources, tfprotov6.ResourceMetadata{TypeName: name})
	}
	return resp, nil
}

// GetProviderSchema implements tfprotov6.ProviderServer.
func (b *bench) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	return &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities: capabilities(), Provider: configuration, ResourceSchemas: b.schemas,
		EphemeralResourceSchemas: map[string]*tfprotov6.Schema{typeSecret: secretSchema},
	}, nil
}

// GetResourceIdentitySchemas implements tfprotov6.ProviderServer: no type has an identity.
func (*bench) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov6.GetResourceIdentitySchemasResponse{}, nil
}

// ValidateProviderConfig implements tfprotov6.ProviderServer: whatever the schema allows is valid.
func (*bench) ValidateProviderConfig(_ context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config}, nil
}

// ConfigureProvider implements tfprotov6.ProviderServer: there is nothing to configure.
func (*bench) ConfigureProvider(context.Context, *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

// StopProvider implements tfprotov6.ProviderServer: no operation takes long.
func (*bench) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

// ValidateDataResourceConfig implements tfprotov6.DataSourceServer: there are no data sources.
func (*bench) ValidateDataResourceConfig(_ context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	return nil, fmt.Errorf("there is no data source %q", req.TypeName)
}

// ReadDataSource implements tfprotov6.DataSourceServer: there are no data sources.
func (*bench) ReadDataSource(_ context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return nil, fmt.Errorf("there is no data source %q", req.TypeName)
}

// GetFunctions implements tfprotov6.FunctionServer: there are none.
func (*bench) GetFunctions(context.Context, *tfprotov6.GetFunctionsRequest) (*tfprotov6.GetFunctionsResponse, error) {
	return &tfprotov6.GetFunctionsResponse{}, nil
}

// CallFunction implements tfprotov6.FunctionServer: there are no functions.
func (*bench) CallFunction(_ context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	return nil, fmt.Errorf("there is no function %q", req.Name)
}
