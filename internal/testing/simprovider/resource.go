package simprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// failPoints are the valid values of a resource's fail_on.
var failPoints = []string{"validate", "plan", "create", "update", "delete", "read", "create-partial", "update-partial"}

// ValidateResourceConfig checks the known values: fail_on, durations, the JSON text, and that write-only
// values come with the capability.
func (c *core) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	schema := c.resources[req.TypeName]
	cl := newCall("ValidateResourceConfig", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	caps := req.ClientCapabilities
	cl.Caps = map[string]bool{"write_only": caps != nil && caps.WriteOnlyAttributesAllowed}
	work := func(context.Context) (*tfprotov6.ValidateResourceConfigResponse, error) {
		if schema == nil {
			return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: unknownType("resource type", req.TypeName, c.resources)}, nil
		}
		config, err := decode(req.Config, schema.ValueType())
		if err == nil {
			err = validateResource(schema.Block, config, cl.Caps["write_only"])
		}
		return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ValidateResourceConfigResponse) answer { return answer{diags: &r.Diagnostics} })
}

func validateResource(b *tfprotov6.SchemaBlock, config object, writeOnlyAllowed bool) error {
	if !writeOnlyAllowed {
		if err := checkNoWriteOnly("configuration, sent by an engine that does not announce them,", b, config); err != nil {
			return err
		}
	}
	if err := checkDurations(config, "delay", "plan_delay", "read_delay", "create_delay", "update_delay", "delete_delay"); err != nil {
		return err
	}
	if text := config.text("json"); text != "" && !json.Valid([]byte(text)) {
		return errors.New("json is not a JSON document")
	}
	return checkFailOn(config, failPoints)
}

func checkDurations(config object, names ...string) error {
	for _, n := range names {
		if text := config.text(n); text != "" {
			if _, err := time.ParseDuration(text); err != nil {
				return fmt.Errorf("%s must be a duration such as \"1s\": %w", n, err)
			}
		}
	}
	return nil
}

func checkFailOn(config object, points []string) error {
	at := config.text("fail_on")
	if at != "" && !slices.Contains(points, at) {
		return fmt.Errorf("fail_on is %q; it must be one of %q", at, points)
	}
	return failOn(config, "validate")
}

// failOn fails if the object says so.
func failOn(o object, point string) error {
	if o.text("fail_on") == point {
		return fmt.Errorf("%s was asked to fail on %s", o.text("name"), point)
	}
	return nil
}

// ReadResource updates the object from the cloud. The result is null if the cloud has no such object.
func (c *core) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	schema := c.resources[req.TypeName]
	cl := newCall("ReadResource", req.TypeName, schema)
	cl.readMeta(req.ProviderMeta)
	cl.prior = cl.read("prior", req.CurrentState)
	cl.Private = req.Private
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(ctx context.Context) (*tfprotov6.ReadResourceResponse, error) {
		resp := &tfprotov6.ReadResourceResponse{Private: req.Private, NewState: req.CurrentState}
		if schema == nil {
			resp.Diagnostics = unknownType("resource type", req.TypeName, c.resources)
			return resp, nil
		}
		state, err := c.readResource(ctx, schema, req.CurrentState)
		if err == nil {
			resp.NewState, err = encode(state, schema.ValueType())
		}
		if err == nil {
			resp.NewIdentity, err = c.identity(req.TypeName, state, req.CurrentIdentity)
		}
		resp.Diagnostics = failed(err)
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ReadResourceResponse) answer {
		return answer{object: &r.NewState, diags: &r.Diagnostics, deferred: &r.Deferred, private: &r.Private, identity: &r.NewIdentity}
	})
}

func (c *core) readResource(ctx context.Context, schema *tfprotov6.Schema, current *tfprotov6.DynamicValue) (object, error) {
	state, err := decode(current, schema.ValueType())
	if err != nil || state == nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if err := checkNoWriteOnly("current state", schema.Block, state); err != nil {
		return nil, err
	}
	if err := failOn(state, "read"); err != nil {
		return nil, err
	}
	if err := c.wait(ctx, state.text("read_delay")); err != nil {
		return nil, err
	}
	obj, err := c.cloud.get(state.text("id"))
	if errors.Is(err, simcloud.ErrGone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := overlay(schema, state, obj)
	if err == nil && schema == c.resources[typeAccount] {
		return readAccount(state, out)
	}
	return out, err
}

// overlay combines the state with the attributes in the cloud, which take precedence. Attributes that only
// one of them has are kept, so that an object made under another type or schema version can be read after a
// move.
func overlay(schema *tfprotov6.Schema, state object, obj *simcloud.Object) (object, error) {
	out := state.clone()
	types := schema.ValueType().(tftypes.Object).AttributeTypes
	for name, text := range obj.Attrs {
		typ, ok := types[name]
		if !ok {
			continue
		}
		v, err := tfprotov6.DynamicValue{JSON: text}.Unmarshal(typ)
		if err != nil {
			return nil, fmt.Errorf("attribute %s of the object in the cloud: %w", name, err)
		}
		if name == "json" && sameJSON(textOf(v), state.text("json")) {
			continue
		}
		out[name] = v
	}
	return nullWriteOnly(schema.Block, out), nil
}

// identity returns the identity of an object. For types without identity and for null objects, it returns
// the engine's identity.
func (c *core) identity(typ string, o object, prior *tfprotov6.ResourceIdentityData) (*tfprotov6.ResourceIdentityData, error) {
	if identitySchemas[typ] == nil || o == nil || !isKnownNonNull(o["name"]) {
		return prior, nil
	}
	return identityFor(typ, o.text("name"))
}

func identityOf(name string) (*tfprotov6.ResourceIdentityData, error) {
	dv, err := encode(object{"name": str(name)}, identitySchema.ValueType())
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ResourceIdentityData{IdentityData: dv}, nil
}

// GenerateResourceConfig is announced by one variant only. It returns the state without computed and
// "guessed" attributes.
func (c *core) GenerateResourceConfig(ctx context.Context, req *tfprotov6.GenerateResourceConfigRequest) (*tfprotov6.GenerateResourceConfigResponse, error) {
	schema := c.resources[req.TypeName]
	cl := newCall("GenerateResourceConfig", req.TypeName, schema)
	cl.prior = cl.read("prior", req.State)
	work := func(context.Context) (*tfprotov6.GenerateResourceConfigResponse, error) {
		resp := &tfprotov6.GenerateResourceConfigResponse{}
		if c.variant != variantGenerate || schema == nil {
			resp.Diagnostics = failed(faultf("GenerateResourceConfig is called though it is not announced"))
			return resp, nil
		}
		state, err := decode(req.State, schema.ValueType())
		if err == nil {
			config := mapBlock(schema.Block, state, func(a *tfprotov6.SchemaAttribute, _ object, v tftypes.Value) tftypes.Value {
				if a.Computed || a.WriteOnly {
					return null(v.Type())
				}
				return v
			})
			resp.Config, err = encode(config, schema.ValueType())
		}
		resp.Diagnostics = failed(err)
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.GenerateResourceConfigResponse) answer {
		return answer{object: &r.Config, diags: &r.Diagnostics}
	})
}
