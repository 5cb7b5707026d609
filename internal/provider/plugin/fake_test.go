package plugin

//lint:file-ignore SA1019 the legacy type system is what these types are about

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// fake is a provider written against an SDK's interface, whose objects misbehave according to their name.
type fake struct {
	tfprotov6.ProviderServer // what is not implemented panics, which shows as a crash
}

// processStderr is the standard error that loggers hold: the plugin library replaces os.Stderr by a stream of
// its own.
var processStderr = os.Stderr

var (
	thingType = cty.Object(map[string]cty.Type{
		"name": cty.String, "id": cty.String, "secret": cty.String, "any": cty.DynamicPseudoType,
		"rule": cty.List(cty.Object(map[string]cty.Type{"port": cty.Number})),
	})
	simpleType   = cty.Object(map[string]cty.Type{"name": cty.String, "value": cty.String})
	configType   = cty.Object(map[string]cty.Type{"region": cty.String})
	metaType     = cty.Object(map[string]cty.Type{"module": cty.String})
	thingIDType  = cty.Object(map[string]cty.Type{"key": cty.String})
	importedName = "imported"
)

func wire(v cty.Value, ty cty.Type) *tfprotov6.DynamicValue {
	data, err := msgpack.Marshal(v, ty)
	if err != nil {
		panic(err)
	}
	return &tfprotov6.DynamicValue{MsgPack: data}
}

func unwire(v *tfprotov6.DynamicValue, ty cty.Type) cty.Value {
	if v == nil {
		return cty.NullVal(ty)
	}
	out, err := msgpack.Unmarshal(v.MsgPack, ty)
	if err != nil {
		panic(err)
	}
	return out
}

func text(obj cty.Value, name string) string {
	if obj.IsNull() || obj.GetAttr(name).IsNull() || !obj.GetAttr(name).IsKnown() {
		return ""
	}
	return obj.GetAttr(name).AsString()
}

func with(obj cty.Value, name string, v cty.Value) cty.Value {
	m := obj.AsValueMap()
	m[name] = v
	return cty.ObjectVal(m)
}

func attr(name string, ty tftypes.Type, set ...func(*tfprotov6.SchemaAttribute)) *tfprotov6.SchemaAttribute {
	a := &tfprotov6.SchemaAttribute{Name: name, Type: ty, Optional: true}
	for _, f := range set {
		f(a)
	}
	return a
}

func computed(a *tfprotov6.SchemaAttribute)  { a.Optional, a.Computed = false, true }
func required(a *tfprotov6.SchemaAttribute)  { a.Optional, a.Required = false, true }
func writeOnly(a *tfprotov6.SchemaAttribute) { a.WriteOnly, a.Sensitive = true, true }

func simpleSchema(attrs ...*tfprotov6.SchemaAttribute) *tfprotov6.Schema {
	return &tfprotov6.Schema{Version: 3, Block: &tfprotov6.SchemaBlock{Attributes: attrs}}
}

func (fake) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	thing := simpleSchema(attr("name", tftypes.String, required), attr("id", tftypes.String, computed),
		attr("secret", tftypes.String, writeOnly), attr("any", tftypes.DynamicPseudoType))
	thing.Block.BlockTypes = []*tfprotov6.SchemaNestedBlock{{
		TypeName: "rule", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, MaxItems: 9,
		Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{attr("port", tftypes.Number)}},
	}}
	simple := simpleSchema(attr("name", tftypes.String), attr("value", tftypes.String, computed))
	return &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities:       &tfprotov6.ServerCapabilities{PlanDestroy: true, GetProviderSchemaOptional: true, MoveResourceState: true},
		Provider:                 simpleSchema(attr("region", tftypes.String)),
		ProviderMeta:             simpleSchema(attr("module", tftypes.String)),
		ResourceSchemas:          map[string]*tfprotov6.Schema{"fake_thing": thing, "fake_other": simple},
		DataSourceSchemas:        map[string]*tfprotov6.Schema{"fake_lookup": simple},
		EphemeralResourceSchemas: map[string]*tfprotov6.Schema{"fake_secret": simple},
		Functions: map[string]*tfprotov6.Function{"join": {
			Parameters: []*tfprotov6.FunctionParameter{{Name: "sep", Type: tftypes.String}},
			VariadicParameter: &tfprotov6.FunctionParameter{
				Name: "parts", Type: tftypes.DynamicPseudoType,
			},
			Return: &tfprotov6.FunctionReturn{Type: tftypes.String},
		}},
		Diagnostics: []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "schema warning"}},
	}, nil
}

func (fake) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov6.GetResourceIdentitySchemasResponse{IdentitySchemas: map[string]*tfprotov6.ResourceIdentitySchema{"fake_thing": {
		Version:            2,
		IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{{Name: "key", Type: tftypes.String, RequiredForImport: true}},
	}}}, nil
}

func problem(sev tfprotov6.DiagnosticSeverity, summary string, path *tftypes.AttributePath) []*tfprotov6.Diagnostic {
	return []*tfprotov6.Diagnostic{{Severity: sev, Summary: summary, Detail: "told by the fake", Attribute: path}}
}

func warning(summary string) []*tfprotov6.Diagnostic {
	return problem(tfprotov6.DiagnosticSeverityWarning, summary, tftypes.NewAttributePath().WithAttributeName("name"))
}

func (fake) ValidateProviderConfig(_ context.Context, r *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: r.Config, Diagnostics: warning("region " + text(unwire(r.Config, configType), "region"))}, nil
}

func (fake) ConfigureProvider(_ context.Context, r *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{Diagnostics: warning(fmt.Sprintf("region %s version %s deferral %t",
		text(unwire(r.Config, configType), "region"), r.TerraformVersion, r.ClientCapabilities.DeferralAllowed))}, nil
}

func (fake) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{Error: "busy"}, nil
}

func (fake) ValidateResourceConfig(_ context.Context, r *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	config := unwire(r.Config, thingType)
	path := tftypes.NewAttributePath().WithAttributeName("rule").WithElementKeyInt(1).WithAttributeName("port")
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: problem(tfprotov6.DiagnosticSeverityError,
		fmt.Sprintf("secret %s, write-only allowed %t", text(config, "secret"), r.ClientCapabilities.WriteOnlyAttributesAllowed), path)}, nil
}

func (fake) ValidateDataResourceConfig(_ context.Context, r *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: warning("data " + text(unwire(r.Config, simpleType), "name"))}, nil
}

func (fake) ValidateEphemeralResourceConfig(_ context.Context, r *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: warning("ephemeral " + text(unwire(r.Config, simpleType), "name"))}, nil
}

func (fake) UpgradeResourceState(_ context.Context, r *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	obj := cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(string(r.RawState.JSON) + r.RawState.Flatmap["name"]), "id": cty.StringVal(fmt.Sprint("from ", r.Version)),
		"secret": cty.NullVal(cty.String), "any": cty.NullVal(cty.DynamicPseudoType), "rule": cty.ListValEmpty(thingType.AttributeType("rule").ElementType()),
	})
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: wire(obj, thingType)}, nil
}

func identity(key string) *tfprotov6.ResourceIdentityData {
	return &tfprotov6.ResourceIdentityData{IdentityData: wire(cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(key)}), thingIDType)}
}

func identityKey(d *tfprotov6.ResourceIdentityData) string {
	if d == nil {
		return "none"
	}
	return text(unwire(d.IdentityData, thingIDType), "key")
}

func (fake) UpgradeResourceIdentity(_ context.Context, r *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return &tfprotov6.UpgradeResourceIdentityResponse{UpgradedIdentity: identity(fmt.Sprintf("%s@%d", r.RawIdentity.JSON, r.Version))}, nil
}

func (fake) ReadResource(ctx context.Context, r *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	prior := unwire(r.CurrentState, thingType)
	resp := &tfprotov6.ReadResourceResponse{NewState: r.CurrentState, Private: append([]byte("read "), r.Private...)}
	switch text(prior, "name") {
	case "crash":
		fmt.Fprintln(processStderr, `{"@level":"debug","@message":"token=CANARY-LOG"}`)
		go panic("fake gave up")
		select {}
	case "say":
		for i := range 1000 {
			fmt.Fprintln(os.Stderr, "said", i) // which is a stream of the protocol by now
		}
	case "exit":
		os.Exit(3)
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "garbage":
		resp.NewState = &tfprotov6.DynamicValue{MsgPack: []byte{0xdd, 0xff, 0xff, 0xff, 0xff}}
	case "badtype":
		resp.NewState = wire(with(prior, "rule", cty.StringVal("CANARY-VALUE")), cty.Object(map[string]cty.Type{
			"name": cty.String, "id": cty.String, "secret": cty.String, "any": cty.DynamicPseudoType, "rule": cty.String,
		}))
	case "json":
		data, err := ctyjson.Marshal(prior, thingType)
		if err != nil {
			return nil, err
		}
		resp.NewState = &tfprotov6.DynamicValue{JSON: data}
	case "gone":
		resp.NewState = wire(cty.NullVal(thingType), thingType)
	case "deferred":
		resp.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonAbsentPrereq}
	case "goerror":
		return nil, fmt.Errorf("plain error")
	case "meta":
		resp.NewState = wire(with(prior, "id", cty.StringVal(text(unwire(r.ProviderMeta, metaType), "module"))), thingType)
	}
	if r.CurrentIdentity != nil {
		resp.NewIdentity = identity("read " + identityKey(r.CurrentIdentity))
	}
	return resp, nil
}

func (fake) PlanResourceChange(_ context.Context, r *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	proposed := unwire(r.ProposedNewState, thingType)
	planned := with(proposed, "id", cty.UnknownVal(cty.String).Refine().NotNull().StringPrefix("id-").NewValue())
	return &tfprotov6.PlanResourceChangeResponse{
		PlannedState: wire(planned, thingType),
		RequiresReplace: []*tftypes.AttributePath{
			tftypes.NewAttributePath().WithAttributeName("name"), tftypes.NewAttributePath(),
		},
		PlannedPrivate: append([]byte("planned "), r.PriorPrivate...), UnsafeToUseLegacyTypeSystem: true,
		PlannedIdentity: identity("planned after " + identityKey(r.PriorIdentity)),
	}, nil
}

func (fake) ApplyResourceChange(_ context.Context, r *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	planned := unwire(r.PlannedState, thingType)
	resp := &tfprotov6.ApplyResourceChangeResponse{Private: append([]byte("applied "), r.PlannedPrivate...), UnsafeToUseLegacyTypeSystem: true}
	switch text(planned, "name") {
	case "partial":
		resp.Diagnostics = problem(tfprotov6.DiagnosticSeverityError, "half made", nil)
	case "deep":
		deep := cty.True
		for range maxDepth + 200 {
			deep = cty.ListVal([]cty.Value{deep})
		}
		planned = with(planned, "any", deep)
	case "nothing":
		resp.Diagnostics = problem(tfprotov6.DiagnosticSeverityError, "not made", nil)
		return resp, nil
	}
	resp.NewState = wire(with(planned, "id", cty.StringVal("id-1")), thingType)
	resp.NewIdentity = identity("applied " + identityKey(r.PlannedIdentity))
	return resp, nil
}

func (fake) ImportResourceState(_ context.Context, r *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	obj := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(importedName), "value": cty.StringVal(r.ID)})
	resp := &tfprotov6.ImportResourceStateResponse{ImportedResources: []*tfprotov6.ImportedResource{
		{TypeName: "fake_other", State: wire(obj, simpleType), Private: []byte(identityKey(r.Identity))},
	}}
	if r.ID == "unknown type" {
		resp.ImportedResources[0].TypeName = "fake_nothing"
	}
	return resp, nil
}

func (fake) MoveResourceState(_ context.Context, r *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	obj := cty.ObjectVal(map[string]cty.Value{
		"name":  cty.StringVal(fmt.Sprintf("%s %s v%d", r.SourceProviderAddress, r.SourceTypeName, r.SourceSchemaVersion)),
		"value": cty.StringVal(string(r.SourceState.JSON)),
	})
	return &tfprotov6.MoveResourceStateResponse{TargetState: wire(obj, simpleType), TargetPrivate: r.SourcePrivate}, nil
}

func (fake) ReadDataSource(_ context.Context, r *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	config := unwire(r.Config, simpleType)
	return &tfprotov6.ReadDataSourceResponse{State: wire(with(config, "value", cty.StringVal(strings.ToUpper(text(config, "name")))), simpleType)}, nil
}

func (fake) OpenEphemeralResource(_ context.Context, r *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	config := unwire(r.Config, simpleType)
	resp := &tfprotov6.OpenEphemeralResourceResponse{
		Result: wire(with(config, "value", cty.StringVal("CANARY-SECRET")), simpleType), Private: []byte("opened"), RenewAt: time.Unix(1000, 0),
	}
	if text(config, "name") == "garbage" {
		resp.Result = &tfprotov6.DynamicValue{MsgPack: []byte{0x93}}
	}
	return resp, nil
}

func (fake) RenewEphemeralResource(_ context.Context, r *tfprotov6.RenewEphemeralResourceRequest) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	if string(r.Private) == "keep" {
		return &tfprotov6.RenewEphemeralResourceResponse{}, nil
	}
	return &tfprotov6.RenewEphemeralResourceResponse{Private: append(r.Private, '+'), RenewAt: time.Unix(2000, 0)}, nil
}

func (fake) CloseEphemeralResource(_ context.Context, r *tfprotov6.CloseEphemeralResourceRequest) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	return &tfprotov6.CloseEphemeralResourceResponse{Diagnostics: warning("closed " + string(r.Private))}, nil
}

func (fake) CallFunction(_ context.Context, r *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	var parts []string
	for i, arg := range r.Arguments[1:] {
		v := unwire(arg, cty.DynamicPseudoType)
		if v.Type() != cty.String {
			index := int64(i + 1)
			return &tfprotov6.CallFunctionResponse{Error: &tfprotov6.FunctionError{Text: "want a string", FunctionArgument: &index}}, nil
		}
		parts = append(parts, v.AsString())
	}
	joined := strings.Join(parts, unwire(r.Arguments[0], cty.String).AsString())
	return &tfprotov6.CallFunctionResponse{Result: wire(cty.StringVal(joined), cty.String)}, nil
}
