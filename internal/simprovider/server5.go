package simprovider

import (
	"context"
	"fmt"
	"reflect"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
)

// server5 adapts the core to protocol 5. The messages of both protocols have the same fields, except for
// nested attributes, which a core for protocol 5 leaves out. Messages are therefore copied field by field.
type server5 struct {
	core *core
}

var _ tfprotov5.ProviderServer = (*server5)(nil)

// bridge calls a protocol 6 method with a protocol 5 request.
func bridge[Resp5, Req5, Req6, Resp6 any](ctx context.Context, req *Req5, call func(context.Context, *Req6) (*Resp6, error)) (*Resp5, error) {
	req6, resp5 := new(Req6), new(Resp5)
	if req != nil {
		if err := copyFields(reflect.ValueOf(req6).Elem(), reflect.ValueOf(req).Elem()); err != nil {
			return nil, err
		}
	}
	resp6, err := call(ctx, req6)
	if err != nil {
		return nil, err
	}
	return resp5, copyFields(reflect.ValueOf(resp5).Elem(), reflect.ValueOf(resp6).Elem())
}

// copyFields copies a message of one protocol into the same message of the other, ignoring fields that only
// one has.
func copyFields(dst, src reflect.Value) error {
	if src.Type().AssignableTo(dst.Type()) {
		dst.Set(src)
		return nil
	}
	if src.Kind() != dst.Kind() {
		return fmt.Errorf("the protocols differ in kind: %s and %s", src.Type(), dst.Type())
	}
	switch src.Kind() {
	case reflect.Pointer:
		if src.IsNil() {
			return nil
		}
		dst.Set(reflect.New(dst.Type().Elem()))
		return copyFields(dst.Elem(), src.Elem())
	case reflect.Slice:
		return copySlice(dst, src)
	case reflect.Map:
		return copyMap(dst, src)
	case reflect.Struct:
		for i := range src.NumField() {
			to := dst.FieldByName(src.Type().Field(i).Name)
			if !to.IsValid() {
				continue
			}
			if err := copyFields(to, src.Field(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if !src.CanConvert(dst.Type()) {
		return fmt.Errorf("the protocols differ in type: %s and %s", src.Type(), dst.Type())
	}
	dst.Set(src.Convert(dst.Type()))
	return nil
}

func copySlice(dst, src reflect.Value) error {
	if src.IsNil() {
		return nil
	}
	dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
	for i := range src.Len() {
		if err := copyFields(dst.Index(i), src.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func copyMap(dst, src reflect.Value) error {
	if src.IsNil() {
		return nil
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for _, k := range src.MapKeys() {
		v := reflect.New(dst.Type().Elem()).Elem()
		if err := copyFields(v, src.MapIndex(k)); err != nil {
			return err
		}
		dst.SetMapIndex(k, v)
	}
	return nil
}

// GetMetadata bridges to the method of the same name.
func (s *server5) GetMetadata(ctx context.Context, req *tfprotov5.GetMetadataRequest) (*tfprotov5.GetMetadataResponse, error) {
	return bridge[tfprotov5.GetMetadataResponse](ctx, req, s.core.GetMetadata)
}

// GetProviderSchema bridges to the method of the same name.
func (s *server5) GetProviderSchema(ctx context.Context, req *tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	return bridge[tfprotov5.GetProviderSchemaResponse](ctx, req, s.core.GetProviderSchema)
}

// GetResourceIdentitySchemas bridges to the method of the same name.
func (s *server5) GetResourceIdentitySchemas(ctx context.Context, req *tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return bridge[tfprotov5.GetResourceIdentitySchemasResponse](ctx, req, s.core.GetResourceIdentitySchemas)
}

// PrepareProviderConfig is ValidateProviderConfig in protocol 5.
func (s *server5) PrepareProviderConfig(ctx context.Context, req *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return bridge[tfprotov5.PrepareProviderConfigResponse](ctx, req, s.core.ValidateProviderConfig)
}

// ConfigureProvider bridges to the method of the same name.
func (s *server5) ConfigureProvider(ctx context.Context, req *tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	return bridge[tfprotov5.ConfigureProviderResponse](ctx, req, s.core.ConfigureProvider)
}

// StopProvider bridges to the method of the same name.
func (s *server5) StopProvider(ctx context.Context, req *tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return bridge[tfprotov5.StopProviderResponse](ctx, req, s.core.StopProvider)
}

// ValidateResourceTypeConfig is ValidateResourceConfig in protocol 5.
func (s *server5) ValidateResourceTypeConfig(ctx context.Context, req *tfprotov5.ValidateResourceTypeConfigRequest) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	return bridge[tfprotov5.ValidateResourceTypeConfigResponse](ctx, req, s.core.ValidateResourceConfig)
}

// UpgradeResourceState bridges to the method of the same name.
func (s *server5) UpgradeResourceState(ctx context.Context, req *tfprotov5.UpgradeResourceStateRequest) (*tfprotov5.UpgradeResourceStateResponse, error) {
	return bridge[tfprotov5.UpgradeResourceStateResponse](ctx, req, s.core.UpgradeResourceState)
}

// UpgradeResourceIdentity bridges to the method of the same name.
func (s *server5) UpgradeResourceIdentity(ctx context.Context, req *tfprotov5.UpgradeResourceIdentityRequest) (*tfprotov5.UpgradeResourceIdentityResponse, error) {
	return bridge[tfprotov5.UpgradeResourceIdentityResponse](ctx, req, s.core.UpgradeResourceIdentity)
}

// ReadResource bridges to the method of the same name.
func (s *server5) ReadResource(ctx context.Context, req *tfprotov5.ReadResourceRequest) (*tfprotov5.ReadResourceResponse, error) {
	return bridge[tfprotov5.ReadResourceResponse](ctx, req, s.core.ReadResource)
}

// PlanResourceChange bridges to the method of the same name.
func (s *server5) PlanResourceChange(ctx context.Context, req *tfprotov5.PlanResourceChangeRequest) (*tfprotov5.PlanResourceChangeResponse, error) {
	return bridge[tfprotov5.PlanResourceChangeResponse](ctx, req, s.core.PlanResourceChange)
}

// ApplyResourceChange bridges to the method of the same name.
func (s *server5) ApplyResourceChange(ctx context.Context, req *tfprotov5.ApplyResourceChangeRequest) (*tfprotov5.ApplyResourceChangeResponse, error) {
	return bridge[tfprotov5.ApplyResourceChangeResponse](ctx, req, s.core.ApplyResourceChange)
}

// ImportResourceState bridges to the method of the same name.
func (s *server5) ImportResourceState(ctx context.Context, req *tfprotov5.ImportResourceStateRequest) (*tfprotov5.ImportResourceStateResponse, error) {
	return bridge[tfprotov5.ImportResourceStateResponse](ctx, req, s.core.ImportResourceState)
}

// MoveResourceState bridges to the method of the same name.
func (s *server5) MoveResourceState(ctx context.Context, req *tfprotov5.MoveResourceStateRequest) (*tfprotov5.MoveResourceStateResponse, error) {
	return bridge[tfprotov5.MoveResourceStateResponse](ctx, req, s.core.MoveResourceState)
}

// GenerateResourceConfig bridges to the method of the same name.
func (s *server5) GenerateResourceConfig(ctx context.Context, req *tfprotov5.GenerateResourceConfigRequest) (*tfprotov5.GenerateResourceConfigResponse, error) {
	return bridge[tfprotov5.GenerateResourceConfigResponse](ctx, req, s.core.GenerateResourceConfig)
}

// ValidateDataSourceConfig is ValidateDataResourceConfig in protocol 5.
func (s *server5) ValidateDataSourceConfig(ctx context.Context, req *tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return bridge[tfprotov5.ValidateDataSourceConfigResponse](ctx, req, s.core.ValidateDataResourceConfig)
}

// ReadDataSource bridges to the method of the same name.
func (s *server5) ReadDataSource(ctx context.Context, req *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	return bridge[tfprotov5.ReadDataSourceResponse](ctx, req, s.core.ReadDataSource)
}

// GetFunctions bridges to the method of the same name.
func (s *server5) GetFunctions(ctx context.Context, req *tfprotov5.GetFunctionsRequest) (*tfprotov5.GetFunctionsResponse, error) {
	return bridge[tfprotov5.GetFunctionsResponse](ctx, req, s.core.GetFunctions)
}

// CallFunction bridges to the method of the same name.
func (s *server5) CallFunction(ctx context.Context, req *tfprotov5.CallFunctionRequest) (*tfprotov5.CallFunctionResponse, error) {
	return bridge[tfprotov5.CallFunctionResponse](ctx, req, s.core.CallFunction)
}

// ValidateEphemeralResourceConfig bridges to the method of the same name.
func (s *server5) ValidateEphemeralResourceConfig(ctx context.Context, req *tfprotov5.ValidateEphemeralResourceConfigRequest) (*tfprotov5.ValidateEphemeralResourceConfigResponse, error) {
	return bridge[tfprotov5.ValidateEphemeralResourceConfigResponse](ctx, req, s.core.ValidateEphemeralResourceConfig)
}

// OpenEphemeralResource bridges to the method of the same name.
func (s *server5) OpenEphemeralResource(ctx context.Context, req *tfprotov5.OpenEphemeralResourceRequest) (*tfprotov5.OpenEphemeralResourceResponse, error) {
	return bridge[tfprotov5.OpenEphemeralResourceResponse](ctx, req, s.core.OpenEphemeralResource)
}

// RenewEphemeralResource bridges to the method of the same name.
func (s *server5) RenewEphemeralResource(ctx context.Context, req *tfprotov5.RenewEphemeralResourceRequest) (*tfprotov5.RenewEphemeralResourceResponse, error) {
	return bridge[tfprotov5.RenewEphemeralResourceResponse](ctx, req, s.core.RenewEphemeralResource)
}

// CloseEphemeralResource bridges to the method of the same name.
func (s *server5) CloseEphemeralResource(ctx context.Context, req *tfprotov5.CloseEphemeralResourceRequest) (*tfprotov5.CloseEphemeralResourceResponse, error) {
	return bridge[tfprotov5.CloseEphemeralResourceResponse](ctx, req, s.core.CloseEphemeralResource)
}
