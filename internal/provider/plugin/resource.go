package plugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// ValidateConfig implements provider.Reader. It ignores the prepared configuration that protocol 5 returns.
func (c *client) ValidateConfig(ctx context.Context, config cty.Value) diag.List {
	x := c.exchange(ctx, "ValidateProviderConfig", "")
	call[tfplugin6.ValidateProviderConfig_Response](x, &tfplugin6.ValidateProviderConfig_Request{Config: x.encodeConfig(config)})
	return x.diags
}

// Configure implements provider.Reader. The caller does so once for each process: the protocol has no way
// to change a configuration.
func (c *client) Configure(ctx context.Context, config cty.Value) diag.List {
	x := c.exchange(ctx, "ConfigureProvider", "")
	call[tfplugin6.ConfigureProvider_Response](x, &tfplugin6.ConfigureProvider_Request{
		TerraformVersion: c.engine.Version, Config: x.encodeConfig(config), ClientCapabilities: x.capabilities(),
	})
	return x.diags
}

// encodeConfig encodes the configuration of the provider itself.
func (x *exchange) encodeConfig(config cty.Value) *tfplugin6.DynamicValue {
	cat := x.catalog()
	if cat == nil {
		return nil
	}
	s, diags := cat.Provider()
	x.diags = append(x.diags, diags...)
	if s == nil {
		return nil
	}
	return x.encode(s, config, "configuration")
}

// ValidateResource implements provider.Reader.
func (c *client) ValidateResource(ctx context.Context, mode addr.Mode, typeName string, config cty.Value) diag.List {
	x := c.exchange(ctx, validations[mode], typeName)
	s := x.resource(mode)
	if mode == addr.Action && s != nil {
		// This call can't say that write-only values are allowed, and SDKs refuse them without that. The
		// calls that plan and invoke can.
		config = s.Block.NullWriteOnly(config)
	}
	value := x.encode(s, config, "configuration")
	switch mode {
	case addr.Data:
		call[tfplugin6.ValidateDataResourceConfig_Response](x, &tfplugin6.ValidateDataResourceConfig_Request{TypeName: typeName, Config: value})
	case addr.Ephemeral:
		call[tfplugin6.ValidateEphemeralResourceConfig_Response](x, &tfplugin6.ValidateEphemeralResourceConfig_Request{TypeName: typeName, Config: value})
	case addr.Action:
		call[tfplugin6.ValidateActionConfig_Response](x, &tfplugin6.ValidateActionConfig_Request{ActionType: typeName, Config: value})
	default:
		call[tfplugin6.ValidateResourceConfig_Response](x, &tfplugin6.ValidateResourceConfig_Request{
			TypeName: typeName, Config: value, ClientCapabilities: x.capabilities(),
		})
	}
	return x.diags
}

// validations are the calls that validate the configuration of a resource.
var validations = map[addr.Mode]string{
	addr.Managed: "ValidateResourceConfig", addr.Data: "ValidateDataResourceConfig", addr.Ephemeral: "ValidateEphemeralResourceConfig",
	addr.List: "ValidateListResourceConfig", addr.Action: "ValidateActionConfig",
}

// UpgradeResource implements provider.Reader. The stored form is sent as it is: only the provider knows the
// schemas of earlier versions.
func (c *client) UpgradeResource(ctx context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	x := c.exchange(ctx, "UpgradeResourceState", req.Type)
	s := x.resource(addr.Managed)
	resp := call[tfplugin6.UpgradeResourceState_Response](x, &tfplugin6.UpgradeResourceState_Request{
		TypeName: req.Type, Version: req.Version, RawState: &tfplugin6.RawState{Json: req.JSON, Flatmap: req.Flatmap},
	})
	return x.decode(s, resp.UpgradedState), x.diags
}

// UpgradeIdentity implements provider.Reader. The identity is cty.NilVal if the type has none, or no longer
// one.
func (c *client) UpgradeIdentity(ctx context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	x := c.exchange(ctx, "UpgradeResourceIdentity", req.Type)
	s := x.identitySchema(req.Type)
	if s == nil {
		return cty.NilVal, x.diags
	}
	resp := call[tfplugin6.UpgradeResourceIdentity_Response](x, &tfplugin6.UpgradeResourceIdentity_Request{
		TypeName: req.Type, Version: req.Version, RawIdentity: &tfplugin6.RawState{Json: req.JSON, Flatmap: req.Flatmap},
	})
	return x.decodeIdentity(req.Type, resp.UpgradedIdentity), x.diags
}

// ReadResource implements provider.Reader. A null New means that the object no longer exists.
func (c *client) ReadResource(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	x := c.exchange(ctx, "ReadResource", req.Type)
	s := x.resource(addr.Managed)
	resp := call[tfplugin6.ReadResource_Response](x, &tfplugin6.ReadResource_Request{
		TypeName:           req.Type,
		CurrentState:       x.encode(s, req.Prior, "prior state"),
		Private:            req.Private,
		ProviderMeta:       x.meta(req.ProviderMeta),
		CurrentIdentity:    x.identity(req.Identity),
		ClientCapabilities: x.capabilities(),
	})
	return provider.ReadResponse{
		New: x.decode(s, resp.NewState), Private: resp.Private,
		Identity: x.decodeIdentity(req.Type, resp.NewIdentity), Deferred: deferredReason(resp.Deferred),
	}, x.diags
}

// PlanResource implements provider.Reader. Paths that don't exist are left out of RequiresReplace.
func (c *client) PlanResource(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	x := c.exchange(ctx, "PlanResourceChange", req.Type)
	s := x.resource(addr.Managed)
	resp := call[tfplugin6.PlanResourceChange_Response](x, &tfplugin6.PlanResourceChange_Request{
		TypeName:           req.Type,
		PriorState:         x.encode(s, req.Prior, "prior state"),
		ProposedNewState:   x.encode(s, req.Proposed, "proposed state"),
		Config:             x.encode(s, req.Config, "configuration"),
		PriorPrivate:       req.PriorPrivate,
		ProviderMeta:       x.meta(req.ProviderMeta),
		PriorIdentity:      x.identity(req.Identity),
		PlannedPrivate:     req.PlannedPrivate,
		ClientCapabilities: x.planCapabilities(),
	})
	out := provider.PlanResponse{
		Planned: x.decode(s, resp.PlannedState), Private: resp.PlannedPrivate,
		Identity: x.decodeIdentity(req.Type, resp.PlannedIdentity), LegacyTypes: resp.LegacyTypeSystem, Deferred: deferredReason(resp.Deferred),
	}
	for _, p := range resp.RequiresReplace {
		if path := attributePath(p); len(path) > 0 {
			out.RequiresReplace = append(out.RequiresReplace, path)
		}
	}
	return out, x.diags
}

// ApplyResource implements provider.Changer. If the provider returns errors along with a state, the state
// is returned too. New is cty.NilVal if the provider returned no state, and null if it returned that there
// is no object.
func (c *client) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	x := c.exchange(ctx, "ApplyResourceChange", req.Type)
	s := x.resource(addr.Managed)
	resp := call[tfplugin6.ApplyResourceChange_Response](x, &tfplugin6.ApplyResourceChange_Request{
		TypeName:        req.Type,
		PriorState:      x.encode(s, req.Prior, "prior state"),
		PlannedState:    x.encode(s, req.Planned, "planned state"),
		Config:          x.encode(s, req.Config, "configuration"),
		PlannedPrivate:  req.PlannedPrivate,
		ProviderMeta:    x.meta(req.ProviderMeta),
		PlannedIdentity: x.identity(req.Identity),
	})
	if !x.answered {
		return provider.ApplyResponse{}, x.diags
	}
	out := provider.ApplyResponse{Private: resp.Private, LegacyTypes: resp.LegacyTypeSystem}
	if hasValue(resp.NewState) || !x.failed() {
		out.New = x.decodeApplied(s.Block.Type(), resp.NewState)
	}
	out.Identity = x.decodeIdentityAnyway(req.Type, resp.NewIdentity)
	return out, x.diags
}

// ReadData implements provider.Reader.
func (c *client) ReadData(ctx context.Context, req provider.DataRequest) (provider.DataResponse, diag.List) {
	x := c.exchange(ctx, "ReadDataSource", req.Type)
	s := x.resource(addr.Data)
	resp := call[tfplugin6.ReadDataSource_Response](x, &tfplugin6.ReadDataSource_Request{
		TypeName:           req.Type,
		Config:             x.encode(s, req.Config, "configuration"),
		ProviderMeta:       x.meta(req.ProviderMeta),
		ClientCapabilities: x.capabilities(),
	})
	return provider.DataResponse{State: x.decode(s, resp.State), Deferred: deferredReason(resp.Deferred)}, x.diags
}

// ImportResource implements provider.Reader. A deferring provider may return no objects.
func (c *client) ImportResource(ctx context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	x := c.exchange(ctx, "ImportResourceState", req.Type)
	x.resource(addr.Managed)
	resp := call[tfplugin6.ImportResourceState_Response](x, &tfplugin6.ImportResourceState_Request{
		TypeName: req.Type, Id: req.ID, Identity: x.identity(req.Identity), ClientCapabilities: x.capabilities(),
	})
	out := provider.ImportResponse{Deferred: deferredReason(resp.Deferred)}
	for _, obj := range resp.ImportedResources {
		s := x.resourceOf(addr.Managed, obj.TypeName)
		imported := provider.ImportedObject{
			Type: obj.TypeName, State: x.decode(s, obj.State), Private: obj.Private, Identity: x.decodeIdentity(obj.TypeName, obj.Identity),
		}
		if x.failed() {
			return provider.ImportResponse{}, x.diags
		}
		out.Objects = append(out.Objects, imported)
	}
	return out, x.diags
}

// GenerateConfig implements provider.Reader.
func (c *client) GenerateConfig(ctx context.Context, req provider.GenerateRequest) (cty.Value, diag.List) {
	x := c.exchange(ctx, "GenerateResourceConfig", req.Type)
	s := x.resource(addr.Managed)
	resp := call[tfplugin6.GenerateResourceConfig_Response](x, &tfplugin6.GenerateResourceConfig_Request{TypeName: req.Type, State: x.encode(s, req.State, "state")})
	return x.decode(s, resp.Config), x.diags
}

// address returns the address of another provider as this one is to see it. It compares the text with those
// that it knows, so a default host is the host of the engine that it takes the program for.
func (c *client) address(p addr.Provider) string {
	if c.engine.Name == compat.Terraform && p.Hostname == addr.DefaultHost {
		p.Hostname = addr.TerraformHost
	}
	return p.String()
}

// MoveResource implements provider.Reader.
func (c *client) MoveResource(ctx context.Context, req provider.MoveRequest) (provider.MoveResponse, diag.List) {
	x := c.exchange(ctx, "MoveResourceState", req.TargetType)
	s := x.resource(addr.Managed)
	in := &tfplugin6.MoveResourceState_Request{
		SourceProviderAddress: c.address(req.SourceProvider),
		SourceTypeName:        req.SourceType,
		SourceSchemaVersion:   req.SourceVersion,
		SourceState:           &tfplugin6.RawState{Json: req.SourceJSON},
		SourcePrivate:         req.SourcePrivate,
		TargetTypeName:        req.TargetType,
	}
	if len(req.SourceIdentityJSON) > 0 {
		in.SourceIdentity = &tfplugin6.RawState{Json: req.SourceIdentityJSON}
		in.SourceIdentitySchemaVersion = req.SourceIdentityVersion
	}
	resp := call[tfplugin6.MoveResourceState_Response](x, in)
	return provider.MoveResponse{
		Target: x.decode(s, resp.TargetState), Private: resp.TargetPrivate,
		Identity: x.decodeIdentity(req.TargetType, resp.TargetIdentity),
	}, x.diags
}
