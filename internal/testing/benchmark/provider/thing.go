package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ValidateResourceConfig implements tfprotov6.ResourceServer: whatever the schema allows is valid.
func (*bench) ValidateResourceConfig(context.Context, *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return &tfprotov6.ValidateResourceConfigResponse{}, nil
}

// UpgradeResourceState implements tfprotov6.ResourceServer: there is one version of each schema.
func (b *bench) UpgradeResourceState(_ context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	s, err := b.schema(req.TypeName)
	if err != nil {
		return nil, err
	}
	v, err := req.RawState.Unmarshal(s.ValueType())
	if err != nil {
		return nil, err
	}
	upgraded, err := tfprotov6.NewDynamicValue(s.ValueType(), v)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &upgraded}, err
}

// ReadResource implements tfprotov6.ResourceServer: nothing changes outside.
func (b *bench) ReadResource(_ context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if err := b.pause(pauseRead, req.TypeName, req.CurrentState); err != nil {
		return nil, err
	}
	return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, Private: req.Private}, nil
}

// PlanResourceChange implements tfprotov6.ResourceServer. Computed values are unknown in a plan
// that changes anything, but for the identifier of a thing that exists.
func (b *bench) PlanResourceChange(_ context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	s, err := b.schema(req.TypeName)
	if err != nil {
		return nil, err
	}
	prior, err := decode(s, req.PriorState)
	if err != nil {
		return nil, err
	}
	planned, err := decode(s, req.ProposedNewState)
	if err != nil {
		return nil, err
	}
	if planned != nil && req.TypeName == typeThing {
		planned = planned.with("secret_wo", tftypes.NewValue(tftypes.String, nil))
		if !planned.equal(prior) {
			planned["output"] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
		}
		if prior == nil {
			planned["id"] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
		}
		planned.pause(pausePlan)
	}
	v, err := encode(s, planned)
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: v, PlannedPrivate: req.PriorPrivate}, err
}

// ApplyResourceChange implements tfprotov6.ResourceServer.
func (b *bench) ApplyResourceChange(_ context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	s, err := b.schema(req.TypeName)
	if err != nil {
		return nil, err
	}
	planned, err := decode(s, req.PlannedState)
	if err != nil {
		return nil, err
	}
	if planned == nil {
		err := b.pause(pauseDelete, req.TypeName, req.PriorState)
		return &tfprotov6.ApplyResourceChangeResponse{NewState: req.PlannedState}, err
	}
	if req.TypeName == typeThing {
		if !planned["id"].IsKnown() {
			planned.pause(pauseCreate)
			planned["id"] = tftypes.NewValue(tftypes.String, "thing-"+planned.text("input"))
		}
		planned["output"] = planned["input"]
	}
	v, err := encode(s, planned)
	return &tfprotov6.ApplyResourceChangeResponse{NewState: v, Private: req.PlannedPrivate}, err
}

// pause pauses for an operation on an object that exists.
func (b *bench) pause(operation, typeName string, stored *tfprotov6.DynamicValue) error {
	if !pauses[operation] || typeName != typeThing {
		return nil
	}
	o, err := decode(b.schemas[typeThing], stored)
	o.pause(operation)
	return err
}

// ImportResourceState implements tfprotov6.ResourceServer: nothing exists outside.
func (*bench) ImportResourceState(_ context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return nil, fmt.Errorf("there is no %s to import", req.TypeName)
}

// MoveResourceState implements tfprotov6.ResourceServer: objects keep their type.
func (*bench) MoveResourceState(_ context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	return nil, fmt.Errorf("nothing becomes a %s", req.TargetTypeName)
}

// UpgradeResourceIdentity implements tfprotov6.ResourceServer: no type has an identity.
func (*bench) UpgradeResourceIdentity(_ context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return nil, fmt.Errorf("%s has no identity", req.TypeName)
}

// GenerateResourceConfig implements tfprotov6.ResourceServer: the engine can write a configuration itself.
func (*bench) GenerateResourceConfig(_ context.Context, req *tfprotov6.GenerateResourceConfigRequest) (*tfprotov6.GenerateResourceConfigResponse, error) {
	return nil, fmt.Errorf("no configuration of %s is generated", req.TypeName)
}
