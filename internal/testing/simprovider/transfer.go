package simprovider

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// UpgradeResourceState converts sim_thing from version 0 (size is a string, tags are called labels) and
// sim_shape from both earlier versions. Every other state must be current.
func (c *core) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	schema := c.resources[req.TypeName]
	cl := newCall("UpgradeResourceState", req.TypeName, schema)
	if schema != nil && req.RawState != nil && req.Version == schema.Version {
		cl.prior = cl.read("prior", &tfprotov6.DynamicValue{JSON: req.RawState.JSON})
	}
	work := func(context.Context) (*tfprotov6.UpgradeResourceStateResponse, error) {
		if schema == nil {
			return &tfprotov6.UpgradeResourceStateResponse{Diagnostics: unknownType("resource type", req.TypeName, c.resources)}, nil
		}
		state, err := upgrade(req, schema)
		return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: state, Diagnostics: failed(err)}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.UpgradeResourceStateResponse) answer {
		return answer{object: &r.UpgradedState, diags: &r.Diagnostics}
	})
}

func upgrade(req *tfprotov6.UpgradeResourceStateRequest, schema *tfprotov6.Schema) (*tfprotov6.DynamicValue, error) {
	if req.Version > schema.Version {
		return nil, fmt.Errorf("the state is of schema version %d, newer than this provider's %d", req.Version, schema.Version)
	}
	if req.TypeName == typeShape && req.Version < schema.Version {
		return upgradeShape(req.RawState, schema)
	}
	if req.Version < schema.Version {
		v0, err := rawObject(req.RawState, thingSchemaV0)
		if err != nil {
			return nil, err
		}
		return encode(upgradeThing(schema, v0), schema.ValueType())
	}
	state, err := rawObject(req.RawState, schema.ValueType())
	if err != nil {
		return nil, err
	}
	if err := checkNoWriteOnly("stored state", schema.Block, state); err != nil {
		return nil, err
	}
	return encode(state, schema.ValueType())
}

// rawObject decodes stored JSON, leaving out attributes that the schema no longer has.
func rawObject(raw *tfprotov6.RawState, typ tftypes.Type) (object, error) {
	if raw == nil {
		return nil, faultf("the request holds no state")
	}
	v, err := raw.UnmarshalWithOpts(typ, tfprotov6.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}})
	if err != nil {
		return nil, fmt.Errorf("the stored state cannot be read: %w", err)
	}
	return asObject(v), nil
}

// emptyObject returns an object of the schema with nothing set: null attributes and no nested blocks.
func emptyObject(schema *tfprotov6.Schema) object {
	o := nullObject(schema.ValueType())
	for _, nb := range schema.Block.BlockTypes {
		switch typ := o[nb.TypeName].Type(); nb.Nesting {
		case tfprotov6.SchemaNestedBlockNestingModeList, tfprotov6.SchemaNestedBlockNestingModeSet:
			o[nb.TypeName] = tftypes.NewValue(typ, []tftypes.Value{})
		case tfprotov6.SchemaNestedBlockNestingModeMap:
			o[nb.TypeName] = tftypes.NewValue(typ, map[string]tftypes.Value{})
		case tfprotov6.SchemaNestedBlockNestingModeGroup:
			o[nb.TypeName] = nullObject(typ).value(typ)
		}
	}
	return o
}

func upgradeThing(schema *tfprotov6.Schema, v0 object) object {
	if v0 == nil {
		return nil
	}
	out := emptyObject(schema)
	out["id"], out["name"], out["tags"] = v0["id"], v0["name"], v0["labels"]
	if f, ok := new(big.Float).SetString(v0.text("size")); ok {
		out["size"] = tftypes.NewValue(tftypes.Number, f)
	}
	return out
}

// UpgradeResourceIdentity returns an identity of the current version unchanged, and converts an identity of
// sim_shape from version 0.
func (c *core) UpgradeResourceIdentity(ctx context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	cl := newCall("UpgradeResourceIdentity", req.TypeName, nil)
	work := func(context.Context) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
		resp := &tfprotov6.UpgradeResourceIdentityResponse{}
		schema, attribute := identitySchemas[req.TypeName], "name"
		if schema == nil || req.Version > schema.Version {
			resp.Diagnostics = failed(fmt.Errorf("%s has no identity of version %d", req.TypeName, req.Version))
			return resp, nil
		}
		typ := schema.ValueType()
		if req.Version < schema.Version {
			typ, attribute = shapeIdentityV0, "label"
		}
		o, err := rawObject(req.RawIdentity, typ)
		if err == nil {
			resp.UpgradedIdentity, err = identityFor(req.TypeName, o.text(attribute))
		}
		resp.Diagnostics = failed(err)
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.UpgradeResourceIdentityResponse) answer {
		return answer{diags: &r.Diagnostics, identity: &r.UpgradedIdentity}
	})
}

// ImportResourceState returns an object with only its id. A following read completes it, or removes it if
// the cloud has none. An import by identity looks the id up by name.
func (c *core) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	schema := c.resources[req.TypeName]
	cl := newCall("ImportResourceState", req.TypeName, schema)
	cl.Name = req.ID
	if req.Identity != nil {
		if s := identitySchemas[req.TypeName]; s != nil {
			if o, err := decode(req.Identity.IdentityData, s.ValueType()); err == nil {
				cl.Name = o.text("name")
			}
		}
	}
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(context.Context) (*tfprotov6.ImportResourceStateResponse, error) {
		if schema == nil {
			return &tfprotov6.ImportResourceStateResponse{Diagnostics: unknownType("resource type", req.TypeName, c.resources)}, nil
		}
		imported, err := c.importOne(schema, req)
		if err != nil {
			return &tfprotov6.ImportResourceStateResponse{Diagnostics: failed(err)}, nil
		}
		return &tfprotov6.ImportResourceStateResponse{ImportedResources: []*tfprotov6.ImportedResource{imported}}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ImportResourceStateResponse) answer {
		a := answer{diags: &r.Diagnostics, deferred: &r.Deferred, imported: &r.ImportedResources}
		if len(r.ImportedResources) > 0 {
			a.identity, a.private = &r.ImportedResources[0].Identity, &r.ImportedResources[0].Private
		}
		return a
	})
}

func (c *core) importOne(schema *tfprotov6.Schema, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportedResource, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	id, name := req.ID, ""
	switch {
	case req.Identity != nil && req.Identity.IdentityData != nil:
		if identitySchemas[req.TypeName] == nil {
			return nil, fmt.Errorf("%s has no identity", req.TypeName)
		}
		o, err := decode(req.Identity.IdentityData, identitySchemas[req.TypeName].ValueType())
		if err != nil {
			return nil, err
		}
		found, err := c.cloud.byName(req.TypeName, o.text("name"))
		if errors.Is(err, simcloud.ErrGone) {
			return nil, fmt.Errorf("there is no %s named %q", req.TypeName, o.text("name"))
		}
		if err != nil {
			return nil, err
		}
		id, name = found.ID, found.Name
	case id == "":
		return nil, faultf("an import names neither an id nor an identity")
	default:
		if found, err := c.cloud.get(id); err == nil {
			name = found.Name
		}
	}
	o := emptyObject(schema)
	o["id"] = str(id)
	state, err := encode(o, schema.ValueType())
	if err != nil {
		return nil, err
	}
	out := &tfprotov6.ImportedResource{TypeName: req.TypeName, State: state, Private: []byte(`{"imported":true}`)}
	if identitySchemas[req.TypeName] != nil && name != "" {
		out.Identity, err = identityFor(req.TypeName, name)
	}
	return out, err
}

// MoveResourceState converts a sim_old of any provider to a sim_thing; old_value becomes a tag. An object
// of another provider's type with the same name is taken over unchanged.
func (c *core) MoveResourceState(ctx context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	schema := c.resources[req.TargetTypeName]
	cl := newCall("MoveResourceState", req.TargetTypeName, schema)
	cl.Private = req.SourcePrivate
	source := c.resources[typeOld]
	if req.SourceTypeName == req.TargetTypeName && schema != nil {
		source = schema // the same type of another provider
	}
	old, readErr := rawObject(req.SourceState, source.ValueType())
	cl.Name = old.text("name")
	work := func(context.Context) (*tfprotov6.MoveResourceStateResponse, error) {
		resp := &tfprotov6.MoveResourceStateResponse{}
		same := req.TargetTypeName == req.SourceTypeName && !strings.HasSuffix(req.SourceProviderAddress, "/test/sim")
		if !same && (req.TargetTypeName != typeThing || req.SourceTypeName != typeOld) {
			resp.Diagnostics = problem("Unsupported move", fmt.Sprintf("A %s cannot become a %s.", req.SourceTypeName, req.TargetTypeName))
			return resp, nil
		}
		if readErr != nil {
			resp.Diagnostics = failed(readErr)
			return resp, nil
		}
		var err error
		target := old
		if !same {
			target = thingFromOld(schema, old)
		}
		resp.TargetState, err = encode(target, schema.ValueType())
		if err == nil {
			resp.TargetIdentity, err = c.identity(req.TargetTypeName, old, nil)
		}
		resp.TargetPrivate = req.SourcePrivate
		resp.Diagnostics = failed(err)
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.MoveResourceStateResponse) answer {
		return answer{object: &r.TargetState, diags: &r.Diagnostics, private: &r.TargetPrivate, identity: &r.TargetIdentity}
	})
}

func thingFromOld(schema *tfprotov6.Schema, old object) object {
	if old == nil {
		return nil
	}
	out := emptyObject(schema)
	out["id"], out["name"] = old["id"], old["name"]
	if isKnownNonNull(old["old_value"]) {
		out["tags"] = tftypes.NewValue(out["tags"].Type(), map[string]tftypes.Value{"old_value": old["old_value"]})
	}
	return out
}
