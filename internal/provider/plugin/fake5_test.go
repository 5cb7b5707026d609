package plugin

import (
	"context"
	"reflect"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// fake5 is the fake in protocol 5: the SDK's types for the two protocols have the same fields as far as they
// are used here.
type fake5 struct {
	tfprotov5.ProviderServer
	six fake
}

// via calls a method of protocol 6 with a request of protocol 5 and converts the response.
func via[Resp5, Req6, Resp6 any](f func(context.Context, *Req6) (*Resp6, error), ctx context.Context, req any) (*Resp5, error) {
	var in Req6
	copyFields(reflect.ValueOf(&in).Elem(), reflect.ValueOf(req).Elem())
	out, err := f(ctx, &in)
	if err != nil {
		return nil, err
	}
	var resp Resp5
	copyFields(reflect.ValueOf(&resp).Elem(), reflect.ValueOf(out).Elem())
	return &resp, nil
}

// copyFields copies what has the same name, however its types are called.
func copyFields(dst, src reflect.Value) {
	switch {
	case dst.Type() == src.Type():
		dst.Set(src)
	case src.Kind() == reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(dst.Type().Elem()))
			copyFields(dst.Elem(), src.Elem())
		}
	case src.Kind() == reflect.Struct:
		for i := range src.NumField() {
			if field := dst.FieldByName(src.Type().Field(i).Name); field.IsValid() {
				copyFields(field, src.Field(i))
			}
		}
	case src.Kind() == reflect.Slice:
		for i := range src.Len() {
			e := reflect.New(dst.Type().Elem()).Elem()
			copyFields(e, src.Index(i))
			dst.Set(reflect.Append(dst, e))
		}
	case src.Kind() == reflect.Map:
		dst.Set(reflect.MakeMap(dst.Type()))
		for it := src.MapRange(); it.Next(); {
			e := reflect.New(dst.Type().Elem()).Elem()
			copyFields(e, it.Value())
			dst.SetMapIndex(it.Key(), e)
		}
	default:
		dst.Set(src.Convert(dst.Type()))
	}
}

var _ tfprotov6.ProviderServer = fake{}

func (f fake5) GetProviderSchema(ctx context.Context, r *tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	return via[tfprotov5.GetProviderSchemaResponse](f.six.GetProviderSchema, ctx, r)
}

func (f fake5) GetResourceIdentitySchemas(ctx context.Context, r *tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return via[tfprotov5.GetResourceIdentitySchemasResponse](f.six.GetResourceIdentitySchemas, ctx, r)
}

func (f fake5) PrepareProviderConfig(ctx context.Context, r *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return via[tfprotov5.PrepareProviderConfigResponse](f.six.ValidateProviderConfig, ctx, r)
}

func (f fake5) ConfigureProvider(ctx context.Context, r *tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	return via[tfprotov5.ConfigureProviderResponse](f.six.ConfigureProvider, ctx, r)
}

func (f fake5) StopProvider(ctx context.Context, r *tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return via[tfprotov5.StopProviderResponse](f.six.StopProvider, ctx, r)
}

func (f fake5) ValidateResourceTypeConfig(ctx context.Context, r *tfprotov5.ValidateResourceTypeConfigRequest) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	return via[tfprotov5.ValidateResourceTypeConfigResponse](f.six.ValidateResourceConfig, ctx, r)
}

func (f fake5) ValidateDataSourceConfig(ctx context.Context, r *tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return via[tfprotov5.ValidateDataSourceConfigResponse](f.six.ValidateDataResourceConfig, ctx, r)
}

func (f fake5) ValidateEphemeralResourceConfig(ctx context.Context, r *tfprotov5.ValidateEphemeralResourceConfigRequest) (*tfprotov5.ValidateEphemeralResourceConfigResponse, error) {
	return via[tfprotov5.ValidateEphemeralResourceConfigResponse](f.six.ValidateEphemeralResourceConfig, ctx, r)
}

func (f fake5) UpgradeResourceState(ctx context.Context, r *tfprotov5.UpgradeResourceStateRequest) (*tfprotov5.UpgradeResourceStateResponse, error) {
	return via[tfprotov5.UpgradeResourceStateResponse](f.six.UpgradeResourceState, ctx, r)
}

func (f fake5) UpgradeResourceIdentity(ctx context.Context, r *tfprotov5.UpgradeResourceIdentityRequest) (*tfprotov5.UpgradeResourceIdentityResponse, error) {
	return via[tfprotov5.UpgradeResourceIdentityResponse](f.six.UpgradeResourceIdentity, ctx, r)
}

func (f fake5) ReadResource(ctx context.Context, r *tfprotov5.ReadResourceRequest) (*tfprotov5.ReadResourceResponse, error) {
	return via[tfprotov5.ReadResourceResponse](f.six.ReadResource, ctx, r)
}

func (f fake5) PlanResourceChange(ctx context.Context, r *tfprotov5.PlanResourceChangeRequest) (*tfprotov5.PlanResourceChangeResponse, error) {
	return via[tfprotov5.PlanResourceChangeResponse](f.six.PlanResourceChange, ctx, r)
}

func (f fake5) ApplyResourceChange(ctx context.Context, r *tfprotov5.ApplyResourceChangeRequest) (*tfprotov5.ApplyResourceChangeResponse, error) {
	return via[tfprotov5.ApplyResourceChangeResponse](f.six.ApplyResourceChange, ctx, r)
}

func (f fake5) ImportResourceState(ctx context.Context, r *tfprotov5.ImportResourceStateRequest) (*tfprotov5.ImportResourceStateResponse, error) {
	return via[tfprotov5.ImportResourceStateResponse](f.six.ImportResourceState, ctx, r)
}

func (f fake5) MoveResourceState(ctx context.Context, r *tfprotov5.MoveResourceStateRequest) (*tfprotov5.MoveResourceStateResponse, error) {
	return via[tfprotov5.MoveResourceStateResponse](f.six.MoveResourceState, ctx, r)
}

func (f fake5) ReadDataSource(ctx context.Context, r *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	return via[tfprotov5.ReadDataSourceResponse](f.six.ReadDataSource, ctx, r)
}

func (f fake5) OpenEphemeralResource(ctx context.Context, r *tfprotov5.OpenEphemeralResourceRequest) (*tfprotov5.OpenEphemeralResourceResponse, error) {
	return via[tfprotov5.OpenEphemeralResourceResponse](f.six.OpenEphemeralResource, ctx, r)
}

func (f fake5) RenewEphemeralResource(ctx context.Context, r *tfprotov5.RenewEphemeralResourceRequest) (*tfprotov5.RenewEphemeralResourceResponse, error) {
	return via[tfprotov5.RenewEphemeralResourceResponse](f.six.RenewEphemeralResource, ctx, r)
}

func (f fake5) CloseEphemeralResource(ctx context.Context, r *tfprotov5.CloseEphemeralResourceRequest) (*tfprotov5.CloseEphemeralResourceResponse, error) {
	return via[tfprotov5.CloseEphemeralResourceResponse](f.six.CloseEphemeralResource, ctx, r)
}

func (f fake5) CallFunction(ctx context.Context, r *tfprotov5.CallFunctionRequest) (*tfprotov5.CallFunctionResponse, error) {
	return via[tfprotov5.CallFunctionResponse](f.six.CallFunction, ctx, r)
}
