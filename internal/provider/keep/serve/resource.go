package serve

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// ValidateResourceConfig implements tfprotov6.ProviderServer.
func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	d, err := s.validate(ctx, addr.Managed, req.TypeName, req.Config)
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: d}, err
}

// ValidateDataResourceConfig implements tfprotov6.ProviderServer.
func (s *server) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	d, err := s.validate(ctx, addr.Data, req.TypeName, req.Config)
	return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: d}, err
}

// ValidateEphemeralResourceConfig implements tfprotov6.ProviderServer.
func (s *server) ValidateEphemeralResourceConfig(ctx context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	d, err := s.validate(ctx, addr.Ephemeral, req.TypeName, req.Config)
	return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: d}, err
}

func (s *server) validate(ctx context.Context, mode addr.Mode, typeName string, v *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
	c, err := s.codec(ctx, mode, typeName)
	config := c.decode(v, &err)
	if err != nil {
		return nil, err
	}
	return diagnostics(s.provider.ValidateResource(ctx, mode, typeName, config)), nil
}

// UpgradeResourceState implements tfprotov6.ProviderServer.
func (s *server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	c, err := s.codec(ctx, addr.Managed, req.TypeName)
	if err != nil {
		return nil, err
	}
	in := provider.UpgradeRequest{Type: req.TypeName, Version: req.Version}
	if req.RawState != nil {
		in.JSON, in.Flatmap = req.RawState.JSON, req.RawState.Flatmap
	}
	out, diags := s.provider.UpgradeResource(ctx, in)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: c.encode(out, &err), Diagnostics: diagnostics(diags)}, err
}

// ReadResource implements tfprotov6.ProviderServer.
func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	c, err := s.codec(ctx, addr.Managed, req.TypeName)
	in := provider.ReadRequest{Type: req.TypeName, Prior: c.decode(req.CurrentState, &err), Private: req.Private}
	if err != nil {
		return nil, err
	}
	out, diags := s.provider.ReadResource(ctx, in)
	return &tfprotov6.ReadResourceResponse{NewState: c.encode(out.New, &err), Private: out.Private, Diagnostics: diagnostics(diags)}, err
}

// PlanResourceChange implements tfprotov6.ProviderServer.
func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	c, err := s.codec(ctx, addr.Managed, req.TypeName)
	in := provider.PlanRequest{
		Type: req.TypeName, Prior: c.decode(req.PriorState, &err), Proposed: c.decode(req.ProposedNewState, &err), Config: c.decode(req.Config, &err),
		PriorPrivate: req.PriorPrivate,
	}
	if err != nil {
		return nil, err
	}
	out, diags := s.provider.PlanResource(ctx, in)
	resp := &tfprotov6.PlanResourceChangeResponse{
		PlannedState: c.encode(out.Planned, &err), PlannedPrivate: out.Private, Diagnostics: diagnostics(diags),
	}
	for _, path := range out.RequiresReplace {
		resp.RequiresReplace = append(resp.RequiresReplace, attributePath(path))
	}
	return resp, err
}

// ApplyResourceChange implements tfprotov6.ProviderServer.
func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	c, err := s.codec(ctx, addr.Managed, req.TypeName)
	in := provider.ApplyRequest{
		Type: req.TypeName, Prior: c.decode(req.PriorState, &err), Planned: c.decode(req.PlannedState, &err), Config: c.decode(req.Config, &err),
		PlannedPrivate: req.PlannedPrivate,
	}
	if err != nil {
		return nil, err
	}
	out, diags := s.provider.ApplyResource(ctx, in)
	return &tfprotov6.ApplyResourceChangeResponse{
		NewState: c.encode(out.New, &err), Private: out.Private, Diagnostics: diagnostics(diags),
	}, err
}

// ImportResourceState implements tfprotov6.ProviderServer.
func (s *server) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	out, diags := s.provider.ImportResource(ctx, provider.ImportRequest{Type: req.TypeName, ID: req.ID, Identity: cty.NilVal})
	resp := &tfprotov6.ImportResourceStateResponse{Diagnostics: diagnostics(diags)}
	for _, o := range out.Objects {
		c, err := s.codec(ctx, addr.Managed, o.Type)
		one := &tfprotov6.ImportedResource{TypeName: o.Type, State: c.encode(o.State, &err), Private: o.Private}
		if err != nil {
			return nil, err
		}
		resp.ImportedResources = append(resp.ImportedResources, one)
	}
	return resp, nil
}

// ReadDataSource implements tfprotov6.ProviderServer.
func (s *server) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	c, err := s.codec(ctx, addr.Data, req.TypeName)
	in := provider.DataRequest{Type: req.TypeName, Config: c.decode(req.Config, &err)}
	if err != nil {
		return nil, err
	}
	out, diags := s.provider.ReadData(ctx, in)
	return &tfprotov6.ReadDataSourceResponse{State: c.encode(out.State, &err), Diagnostics: diagnostics(diags)}, err
}

// OpenEphemeralResource implements tfprotov6.ProviderServer.
func (s *server) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	c, err := s.codec(ctx, addr.Ephemeral, req.TypeName)
	config := c.decode(req.Config, &err)
	if err != nil {
		return nil, err
	}
	out, diags := s.provider.OpenEphemeral(ctx, req.TypeName, config)
	return &tfprotov6.OpenEphemeralResourceResponse{
		Result: c.encode(out.Result, &err), Private: out.Private, RenewAt: out.RenewAt, Diagnostics: diagnostics(diags),
	}, err
}

// RenewEphemeralResource implements tfprotov6.ProviderServer.
func (s *server) RenewEphemeralResource(ctx context.Context, req *tfprotov6.RenewEphemeralResourceRequest) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	out, diags := s.provider.RenewEphemeral(ctx, req.TypeName, req.Private)
	return &tfprotov6.RenewEphemeralResourceResponse{Private: out.Private, RenewAt: out.RenewAt, Diagnostics: diagnostics(diags)}, nil
}

// CloseEphemeralResource implements tfprotov6.ProviderServer.
func (s *server) CloseEphemeralResource(ctx context.Context, req *tfprotov6.CloseEphemeralResourceRequest) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	return &tfprotov6.CloseEphemeralResourceResponse{Diagnostics: diagnostics(s.provider.CloseEphemeral(ctx, req.TypeName, req.Private))}, nil
}
