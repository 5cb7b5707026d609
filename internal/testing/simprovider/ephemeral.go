package simprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// ephemeralFailPoints are the valid values of an ephemeral resource's fail_on.
var ephemeralFailPoints = []string{"validate", "open", "renew", "close"}

// ephemeralPrivate is the private data of an open ephemeral resource. It changes with each renewal.
type ephemeralPrivate struct {
	Lease      string `json:"lease"`
	Name       string `json:"name"`
	Renewals   int    `json:"renewals"`
	RenewAfter string `json:"renew_after,omitempty"`
	RenewDelay string `json:"renew_delay,omitempty"`
	CloseDelay string `json:"close_delay,omitempty"`
	FailOn     string `json:"fail_on,omitempty"`
}

func (p *ephemeralPrivate) encode() ([]byte, error) { return json.Marshal(p) }

func (p *ephemeralPrivate) fail(point string) error {
	if p.FailOn == point {
		return fmt.Errorf("%s was asked to fail on %s", p.Name, point)
	}
	return nil
}

// renewAt returns when the next renewal is due, zero for never.
func (p *ephemeralPrivate) renewAt() time.Time {
	d, err := time.ParseDuration(p.RenewAfter)
	if err != nil {
		return time.Time{} // not set; validation checked that a set value is valid
	}
	return time.Now().Add(d)
}

func decodePrivate(private []byte) (*ephemeralPrivate, error) {
	var p ephemeralPrivate
	if err := json.Unmarshal(private, &p); err != nil {
		return nil, faultf("the private data of the ephemeral resource is not what the provider gave: %s", err)
	}
	return &p, nil
}

// ValidateEphemeralResourceConfig checks durations and fail_on, if they are known.
func (c *core) ValidateEphemeralResourceConfig(ctx context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	schema := c.ephemerals[req.TypeName]
	cl := newCall("ValidateEphemeralResourceConfig", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
		if schema == nil {
			return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: unknownType("ephemeral resource type", req.TypeName, c.ephemerals)}, nil
		}
		config, err := decode(req.Config, schema.ValueType())
		if err == nil {
			err = validateEphemeral(config)
		}
		return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ValidateEphemeralResourceConfigResponse) answer {
		return answer{diags: &r.Diagnostics}
	})
}

func validateEphemeral(config object) error {
	if err := checkDurations(config, "renew_after", "expire_after", "open_delay", "renew_delay", "close_delay"); err != nil {
		return err
	}
	return checkFailOn(config, ephemeralFailPoints)
}

// OpenEphemeralResource opens a lease and returns its secrets.
func (c *core) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	schema := c.ephemerals[req.TypeName]
	cl := newCall("OpenEphemeralResource", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(ctx context.Context) (*tfprotov6.OpenEphemeralResourceResponse, error) {
		resp := &tfprotov6.OpenEphemeralResourceResponse{}
		if schema == nil {
			resp.Diagnostics = unknownType("ephemeral resource type", req.TypeName, c.ephemerals)
			return resp, nil
		}
		resp.Diagnostics = failed(c.open(ctx, schema, req, resp))
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.OpenEphemeralResourceResponse) answer {
		return answer{object: &r.Result, diags: &r.Diagnostics, deferred: &r.Deferred, private: &r.Private, renewAt: &r.RenewAt}
	})
}

func (c *core) open(ctx context.Context, schema *tfprotov6.Schema, req *tfprotov6.OpenEphemeralResourceRequest, resp *tfprotov6.OpenEphemeralResourceResponse) error {
	config, err := decode(req.Config, schema.ValueType())
	if err != nil {
		return err
	}
	if err := c.checkOpen(schema, config); err != nil {
		return err
	}
	if err := c.wait(ctx, config.text("open_delay")); err != nil {
		return err
	}
	if err := failOn(config, "open"); err != nil {
		return err
	}
	result, l, err := c.newLease(req.TypeName, config)
	if err != nil {
		return err
	}
	private := ephemeralPrivate{
		Lease: l.ID, Name: l.Name, RenewAfter: config.text("renew_after"), RenewDelay: config.text("renew_delay"),
		CloseDelay: config.text("close_delay"), FailOn: config.text("fail_on"),
	}
	if resp.Private, err = private.encode(); err != nil {
		return err
	}
	resp.RenewAt = private.renewAt()
	resp.Result, err = encode(result, schema.ValueType())
	return err
}

func (c *core) checkOpen(schema *tfprotov6.Schema, config object) error {
	if err := c.ready(); err != nil {
		return err
	}
	if config == nil || !config.value(schema.ValueType()).IsFullyKnown() {
		return faultf("an ephemeral resource is opened with unknown values in its configuration")
	}
	if err := c.cloud.checkLive(config.text("parent_token")); err != nil {
		return faultf("parent_token: %s", err)
	}
	return validateEphemeral(config)
}

// newLease registers an opening and returns its result. The value depends only on the name, the lease
// differs at each opening.
func (c *core) newLease(typ string, config object) (object, *simcloud.Lease, error) {
	name := config.text("name")
	n, err := c.cloud.count("opens-" + typ + "-" + name)
	if err != nil {
		return nil, nil, err
	}
	secret := fmt.Sprintf("%s%s-%s-%d-%d", leasePrefix, typ, name, os.Getpid(), n)
	l := &simcloud.Lease{ID: simlog.Hash(secret), Type: typ, Name: name}
	if parent := config.text("parent_token"); parent != "" {
		l.Parent = simlog.Hash(parent)
	}
	if l.Valid, err = time.ParseDuration(config.text("expire_after")); err != nil {
		l.Valid = 0 // not set; a set value has been checked
	}
	l.Extend()
	result := config.clone()
	result["value"], result["lease"], result["opened"] = str(simcloud.Canary(typ, name)), str(secret), num(n)
	return result, l, simcloud.WriteLease(c.cloud.dir, l)
}

// RenewEphemeralResource extends a lease. It requires the private data of the previous renewal or the
// opening.
func (c *core) RenewEphemeralResource(ctx context.Context, req *tfprotov6.RenewEphemeralResourceRequest) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	cl := privateCall("RenewEphemeralResource", req.TypeName, req.Private)
	work := func(ctx context.Context) (*tfprotov6.RenewEphemeralResourceResponse, error) {
		resp := &tfprotov6.RenewEphemeralResourceResponse{}
		resp.Diagnostics = failed(c.renew(ctx, req, resp))
		return resp, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.RenewEphemeralResourceResponse) answer {
		return answer{diags: &r.Diagnostics, private: &r.Private, renewAt: &r.RenewAt}
	})
}

// privateCall describes a call that has only private data and no object.
func privateCall(rpc, typ string, private []byte) call {
	cl := newCall(rpc, typ, nil)
	cl.Private = private
	if p, err := decodePrivate(private); err == nil {
		cl.Name = p.Name
	}
	return cl
}

func (c *core) renew(ctx context.Context, req *tfprotov6.RenewEphemeralResourceRequest, resp *tfprotov6.RenewEphemeralResourceResponse) error {
	p, err := decodePrivate(req.Private)
	if err != nil {
		return err
	}
	if err := c.wait(ctx, p.RenewDelay); err != nil {
		return err
	}
	if err := p.fail("renew"); err != nil {
		return err
	}
	if err := c.cloud.renewLease(p); err != nil {
		return err
	}
	p.Renewals++
	if resp.Private, err = p.encode(); err != nil {
		return err
	}
	resp.RenewAt = p.renewAt()
	return nil
}

// CloseEphemeralResource ends a lease. It requires the latest private data, and must be called only once.
func (c *core) CloseEphemeralResource(ctx context.Context, req *tfprotov6.CloseEphemeralResourceRequest) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	cl := privateCall("CloseEphemeralResource", req.TypeName, req.Private)
	work := func(ctx context.Context) (*tfprotov6.CloseEphemeralResourceResponse, error) {
		return &tfprotov6.CloseEphemeralResourceResponse{Diagnostics: failed(c.close(ctx, req))}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.CloseEphemeralResourceResponse) answer { return answer{diags: &r.Diagnostics} })
}

func (c *core) close(ctx context.Context, req *tfprotov6.CloseEphemeralResourceRequest) error {
	p, err := decodePrivate(req.Private)
	if err != nil {
		return err
	}
	if err := c.cloud.beginClose(p); err != nil {
		return err
	}
	if err := c.wait(ctx, p.CloseDelay); err != nil {
		return err
	}
	if err := p.fail("close"); err != nil {
		return err
	}
	return c.cloud.dropLease(p.Lease)
}

// ValidateDataResourceConfig accepts every configuration that fits the schema.
func (c *core) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	schema := c.data[req.TypeName]
	cl := newCall("ValidateDataResourceConfig", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
		if schema == nil {
			return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: unknownType("data source", req.TypeName, c.data)}, nil
		}
		_, err := decode(req.Config, schema.ValueType())
		return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ValidateDataResourceConfigResponse) answer { return answer{diags: &r.Diagnostics} })
}

// ReadDataSource finds the newest sim_thing with the name.
func (c *core) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	schema := c.data[req.TypeName]
	cl := newCall("ReadDataSource", req.TypeName, schema)
	cl.readMeta(req.ProviderMeta)
	cl.config = cl.read("config", req.Config)
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(context.Context) (*tfprotov6.ReadDataSourceResponse, error) {
		if schema == nil {
			return &tfprotov6.ReadDataSourceResponse{Diagnostics: unknownType("data source", req.TypeName, c.data)}, nil
		}
		state, err := c.lookup(schema, req.Config)
		return &tfprotov6.ReadDataSourceResponse{State: state, Diagnostics: failed(err)}, nil
	}
	return serve(ctx, c, cl, work, func(r *tfprotov6.ReadDataSourceResponse) answer {
		return answer{object: &r.State, diags: &r.Diagnostics, deferred: &r.Deferred}
	})
}

func (c *core) lookup(schema *tfprotov6.Schema, config *tfprotov6.DynamicValue) (*tfprotov6.DynamicValue, error) {
	o, err := decode(config, schema.ValueType())
	if err != nil {
		return nil, err
	}
	if err := c.ready(); err != nil {
		return nil, err
	}
	if o == nil || !o.value(schema.ValueType()).IsFullyKnown() {
		return nil, faultf("a data source is read with unknown values in its configuration")
	}
	found, err := c.cloud.byName(typeThing, o.text("name"))
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
