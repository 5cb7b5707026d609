package simprovider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func (c *core) capabilities() *tfprotov6.ServerCapabilities {
	on := c.variant != variantNoCapabilities
	return &tfprotov6.ServerCapabilities{
		GetProviderSchemaOptional: on, MoveResourceState: on, PlanDestroy: on, GenerateResourceConfig: c.variant == variantGenerate,
	}
}

// GetMetadata lists the types without their schemas.
func (c *core) GetMetadata(ctx context.Context, _ *tfprotov6.GetMetadataRequest) (*tfprotov6.GetMetadataResponse, error) {
	work := func(context.Context) (*tfprotov6.GetMetadataResponse, error) {
		resp := &tfprotov6.GetMetadataResponse{ServerCapabilities: c.capabilities()}
		for _, n := range slices.Sorted(maps.Keys(c.resources)) {
			resp.Resources = append(resp.Resources, tfprotov6.ResourceMetadata{TypeName: n})
		}
		for _, n := range slices.Sorted(maps.Keys(c.sources)) {
			resp.DataSources = append(resp.DataSources, tfprotov6.DataSourceMetadata{TypeName: n})
		}
		for _, n := range slices.Sorted(maps.Keys(c.opened)) {
			resp.EphemeralResources = append(resp.EphemeralResources, tfprotov6.EphemeralResourceMetadata{TypeName: n})
		}
		for _, n := range slices.Sorted(maps.Keys(c.schemas)) {
			resp.ListResources = append(resp.ListResources, tfprotov6.ListResourceMetadata{TypeName: n})
		}
		resp.Actions = actionTypes(c.invoked)
		for _, n := range slices.Sorted(maps.Keys(c.stores)) {
			resp.StateStores = append(resp.StateStores, tfprotov6.StateStoreMetadata{TypeName: n})
		}
		for _, n := range slices.Sorted(maps.Keys(functionSignatures())) {
			resp.Functions = append(resp.Functions, tfprotov6.FunctionMetadata{Name: n})
		}
		return resp, nil
	}
	return serve(ctx, c, newCall("GetMetadata", "", nil), work, func(r *tfprotov6.GetMetadataResponse) answer {
		return answer{diags: &r.Diagnostics}
	})
}

// GetProviderSchema returns every schema of the selected variant.
func (c *core) GetProviderSchema(ctx context.Context, _ *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	work := func(context.Context) (*tfprotov6.GetProviderSchemaResponse, error) {
		return &tfprotov6.GetProviderSchemaResponse{
			ServerCapabilities: c.capabilities(), Provider: c.provider, ResourceSchemas: c.resources, DataSourceSchemas: c.sources,
			EphemeralResourceSchemas: c.opened, ListResourceSchemas: c.schemas, ActionSchemas: actionMessages(c.invoked), StateStoreSchemas: c.stores, Functions: functionSignatures(), ProviderMeta: metaSchema(),
		}, nil
	}
	return serve(ctx, c, newCall("GetProviderSchema", "", nil), work, func(r *tfprotov6.GetProviderSchemaResponse) answer {
		return answer{diags: &r.Diagnostics}
	})
}

// GetResourceIdentitySchemas returns the identities of sim_thing and sim_shape; the other types have none.
func (c *core) GetResourceIdentitySchemas(ctx context.Context, _ *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	work := func(context.Context) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
		return &tfprotov6.GetResourceIdentitySchemasResponse{
			IdentitySchemas: identitySchemas,
		}, nil
	}
	return serve(ctx, c, newCall("GetResourceIdentitySchemas", "", nil), work, func(r *tfprotov6.GetResourceIdentitySchemasResponse) answer {
		return answer{diags: &r.Diagnostics}
	})
}

// ValidateProviderConfig accepts every configuration that fits the schema.
func (c *core) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	cl := newCall("ValidateProviderConfig", "", c.provider)
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ValidateProviderConfigResponse, error) {
		_, err := decode(req.Config, c.provider.ValueType())
		return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config, Diagnostics: failed(err)}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ValidateProviderConfigResponse) answer {
		return answer{object: &r.PreparedConfig, diags: &r.Diagnostics}
	})
}

// ConfigureProvider may be called once. A token that is a lease must be live then and at every later use.
func (c *core) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	cl := newCall("ConfigureProvider", "", c.provider)
	cl.config = cl.read("config", req.Config)
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(context.Context) (*tfprotov6.ConfigureProviderResponse, error) {
		return &tfprotov6.ConfigureProviderResponse{Diagnostics: failed(c.configure(req.Config))}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ConfigureProviderResponse) answer { return answer{diags: &r.Diagnostics} })
}

func (c *core) configure(config *tfprotov6.DynamicValue) error {
	o, err := decode(config, c.provider.ValueType())
	if err != nil {
		return err
	}
	if err := c.cloud.checkLive(o.text("token")); err != nil {
		return faultf("provider token: %s", err)
	}
	if err := c.cloud.noteUser(o.text("token")); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.configured {
		return faultf("the provider instance is configured a second time")
	}
	c.configured, c.prefix, c.token = true, o.text("prefix"), o.text("token")
	return nil
}

// StopProvider cancels the running calls. Later calls work as before, so that ephemeral resources can be
// closed.
func (c *core) StopProvider(ctx context.Context, _ *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	work := func(context.Context) (*tfprotov6.StopProviderResponse, error) {
		c.running.stop()
		return &tfprotov6.StopProviderResponse{}, nil
	}
	return serve(ctx, c, newCall("StopProvider", "", nil), work, nil)
}

// functions returns the available functions: once configured, also whoami.
func (c *core) functions() map[string]*tfprotov6.Function {
	all := functionSignatures()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.configured {
		all["whoami"] = &tfprotov6.Function{Summary: "Returns the configured prefix.", Return: &tfprotov6.FunctionReturn{Type: tftypes.String}}
	}
	return all
}

// GetFunctions returns the signatures of the functions.
func (c *core) GetFunctions(ctx context.Context, _ *tfprotov6.GetFunctionsRequest) (*tfprotov6.GetFunctionsResponse, error) {
	work := func(context.Context) (*tfprotov6.GetFunctionsResponse, error) {
		return &tfprotov6.GetFunctionsResponse{Functions: c.functions()}, nil
	}
	return serve(ctx, c, newCall("GetFunctions", "", nil), work, func(r *tfprotov6.GetFunctionsResponse) answer {
		return answer{diags: &r.Diagnostics}
	})
}

// CallFunction computes echo, concat2 or fail. Transcript and rules use the function's name as the name.
func (c *core) CallFunction(ctx context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	cl := newCall("CallFunction", "", nil)
	cl.Name = req.Name
	work := func(context.Context) (*tfprotov6.CallFunctionResponse, error) {
		result, at, err := c.callFunction(req)
		if err != nil {
			return &tfprotov6.CallFunctionResponse{Error: &tfprotov6.FunctionError{Text: err.Error(), FunctionArgument: &at}}, nil
		}
		return &tfprotov6.CallFunctionResponse{Result: result}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.CallFunctionResponse) answer {
		return answer{object: &r.Result, failure: &r.Error}
	})
}

// callFunction also returns the argument that an error is about.
func (c *core) callFunction(req *tfprotov6.CallFunctionRequest) (_ *tfprotov6.DynamicValue, at int64, _ error) {
	sig, ok := c.functions()[req.Name]
	if !ok {
		return nil, 0, fmt.Errorf("there is no function %q", req.Name)
	}
	params := sig.Parameters
	for sig.VariadicParameter != nil && len(params) < len(req.Arguments) {
		params = append(params, sig.VariadicParameter)
	}
	if len(req.Arguments) != len(params) {
		return nil, 0, fmt.Errorf("%s takes %d arguments", req.Name, len(params))
	}
	text := make([]string, len(req.Arguments))
	for i, p := range params {
		v, err := req.Arguments[i].Unmarshal(p.Type)
		if err != nil {
			return nil, int64(i), fmt.Errorf("argument %s: %w", p.Name, err)
		}
		if !p.AllowUnknownValues && !v.IsFullyKnown() || !p.AllowNullValue && isUnset(v) {
			return nil, int64(i), fmt.Errorf("argument %s must be known and not null", p.Name)
		}
		if text[i] = textOf(v); text[i] == "forbidden" {
			return nil, int64(i), fmt.Errorf("argument %s must not be %q", p.Name, text[i])
		}
	}
	switch req.Name {
	case "concat2":
		result, err := encodeValue(str(text[0]+text[1]), sig.Return.Type)
		return result, 0, err
	case "join":
		result, err := encodeValue(str(strings.Join(text[1:], text[0])), sig.Return.Type)
		return result, 0, err
	case "whoami":
		c.mu.Lock()
		defer c.mu.Unlock()
		result, err := encodeValue(str(c.prefix), sig.Return.Type)
		return result, 0, err
	case "fail":
		return nil, 0, fmt.Errorf("%s", text[0])
	}
	return req.Arguments[0], 0, nil
}
