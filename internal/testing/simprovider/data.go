package simprovider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// dataSources is the part of a provider that reads data sources.
type dataSources struct {
	of      *core
	sources map[string]*tfprotov6.Schema // the schemas by type
}

// ValidateDataResourceConfig accepts every configuration that fits the schema.
func (d *dataSources) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	schema := d.sources[req.TypeName]
	cl := newCall("ValidateDataResourceConfig", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
		if schema == nil {
			return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: unknownType("data source", req.TypeName, d.sources)}, nil
		}
		_, err := decode(req.Config, schema.ValueType())
		return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, d.of, cl, work, func(r *tfprotov6.ValidateDataResourceConfigResponse) answer { return answer{diags: &r.Diagnostics} })
}

// ReadDataSource finds the newest sim_thing with the name.
func (d *dataSources) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	schema := d.sources[req.TypeName]
	cl := newCall("ReadDataSource", req.TypeName, schema)
	cl.readMeta(req.ProviderMeta)
	cl.config = cl.read("config", req.Config)
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(context.Context) (*tfprotov6.ReadDataSourceResponse, error) {
		if schema == nil {
			return &tfprotov6.ReadDataSourceResponse{Diagnostics: unknownType("data source", req.TypeName, d.sources)}, nil
		}
		state, err := d.lookup(schema, req.Config)
		return &tfprotov6.ReadDataSourceResponse{State: state, Diagnostics: failed(err)}, nil
	}
	return serve(ctx, d.of, cl, work, func(r *tfprotov6.ReadDataSourceResponse) answer {
		return answer{object: &r.State, diags: &r.Diagnostics, deferred: &r.Deferred}
	})
}

func (d *dataSources) lookup(schema *tfprotov6.Schema, config *tfprotov6.DynamicValue) (*tfprotov6.DynamicValue, error) {
	o, err := decode(config, schema.ValueType())
	if err != nil {
		return nil, err
	}
	if err := d.of.ready(); err != nil {
		return nil, err
	}
	if o == nil || !o.value(schema.ValueType()).IsFullyKnown() {
		return nil, faultf("a data source is read with unknown values in its configuration")
	}
	found, err := d.of.cloud.byName(typeThing, o.text("name"))
	if errors.Is(err, simcloud.ErrGone) {
		return nil, fmt.Errorf("there is no sim_thing named %q", o.text("name"))
	}
	if err != nil {
		return nil, err
	}
	state, err := overlay(schema, o, found)
	if err != nil {
		return nil, err
	}
	return encode(mapBlock(schema.Block, state, func(a *tfprotov6.SchemaAttribute, _ object, v tftypes.Value) tftypes.Value {
		if !v.IsKnown() {
			return null(a.Type)
		}
		return v
	}), schema.ValueType())
}
