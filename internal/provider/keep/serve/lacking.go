package serve

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// lacking are the operations that no provider like keep has.
type lacking struct{}

// GetResourceIdentitySchemas implements tfprotov6.ProviderServer.
func (lacking) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov6.GetResourceIdentitySchemasResponse{IdentitySchemas: map[string]*tfprotov6.ResourceIdentitySchema{}}, nil
}

// UpgradeResourceIdentity implements tfprotov6.ProviderServer.
func (lacking) UpgradeResourceIdentity(_ context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return nil, fmt.Errorf("objects of type %s have no identity", req.TypeName)
}

// MoveResourceState implements tfprotov6.ProviderServer.
func (lacking) MoveResourceState(_ context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	return nil, fmt.Errorf("a %s cannot become a %s", req.SourceTypeName, req.TargetTypeName)
}

// GenerateResourceConfig implements tfprotov6.ProviderServer.
func (lacking) GenerateResourceConfig(_ context.Context, req *tfprotov6.GenerateResourceConfigRequest) (*tfprotov6.GenerateResourceConfigResponse, error) {
	return nil, fmt.Errorf("the provider does not write configuration for %s", req.TypeName)
}

// CallFunction implements tfprotov6.ProviderServer.
func (lacking) CallFunction(_ context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	return nil, fmt.Errorf("the provider has no function %q", req.Name)
}

// GetFunctions implements tfprotov6.ProviderServer.
func (lacking) GetFunctions(context.Context, *tfprotov6.GetFunctionsRequest) (*tfprotov6.GetFunctionsResponse, error) {
	return &tfprotov6.GetFunctionsResponse{Functions: map[string]*tfprotov6.Function{}}, nil
}
