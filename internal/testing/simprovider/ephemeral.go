package simprovider

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

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

// ephemerals is the part of a provider that opens ephemeral resources.
type ephemerals struct {
	of     *core
	opened map[string]*tfprotov6.Schema // the schemas by type
}

// ValidateEphemeralResourceConfig checks durations and fail_on, if they are known.
func (e *ephemerals) ValidateEphemeralResourceConfig(ctx context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	schema := e.opened[req.TypeName]
	cl := newCall("ValidateEphemeralResourceConfig", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
		if schema == nil {
			return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: unknownType("ephemeral resource type", req.TypeName, e.opened)}, nil
		}
		config, err := decode(req.Config, schema.ValueType())
		if err == nil {
			err = validateEphemeral(config)
		}
		return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, e.of, cl, work, func(r *tfprotov6.ValidateEphemeralResourceConfigResponse) answer {
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
func (e *ephemerals) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	schema := e.opened[req.TypeName]
	cl := newCall("OpenEphemeralResource", req.TypeName, schema)
	cl.config = cl.read("config", req.Config)
	if req.ClientCapabilities != nil {
		cl.Caps = map[string]bool{"deferral": req.ClientCapabilities.DeferralAllowed}
	}
	work := func(ctx context.Context) (*tfprotov6.OpenEphemeralResourceResponse, error) {
		resp := &tfprotov6.OpenEphemeralResourceResponse{}
		if schema == nil {
			resp.Diagnostics = unknownType("ephemeral resource type", req.TypeName, e.opened)
			return resp, nil
		}
		resp.Diagnostics = failed(e.open(ctx, schema, req, resp))
		return resp, nil
	}
	return serve(ctx, e.of, cl, work, func(r *tfprotov6.OpenEphemeralResourceResponse) answer {
		return answer{object: &r.Result, diags: &r.Diagnostics, deferred: &r.Deferred, private: &r.Private, renewAt: &r.RenewAt}
	})
}

func (e *ephemerals) open(ctx context.Context, schema *tfprotov6.Schema, req *tfprotov6.OpenEphemeralResourceRequest, resp *tfprotov6.OpenEphemeralResourceResponse) error {
	config, err := decode(req.Config, schema.ValueType())
	if err != nil {
		return err
	}
	if err := e.checkOpen(schema, config); err != nil {
		return err
	}
	if err := e.of.wait(ctx, config.text("open_delay")); err != nil {
		return err
	}
	if err := failOn(config, "open"); err != nil {
		return err
	}
	result, l, err := e.newLease(req.TypeName, config)
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

func (e *ephemerals) checkOpen(schema *tfprotov6.Schema, config object) error {
	if err := e.of.ready(); err != nil {
		return err
	}
	if config == nil || !config.value(schema.ValueType()).IsFullyKnown() {
		return faultf("an ephemeral resource is opened with unknown values in its configuration")
	}
	if err := e.of.cloud.checkLive(config.text("parent_token")); err != nil {
		return faultf("parent_token: %s", err)
	}
	return validateEphemeral(config)
}

// newLease registers an opening and returns its result. The value depends only on the name, the lease
// differs at each opening.
func (e *ephemerals) newLease(typ string, config object) (object, *simcloud.Lease, error) {
	name := config.text("name")
	n, err := e.of.cloud.count("opens-" + typ + "-" + name)
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
	return result, l, simcloud.WriteLease(e.of.cloud.dir, l)
}

// RenewEphemeralResource extends a lease. It requires the private data of the previous renewal or the
// opening.
func (e *ephemerals) RenewEphemeralResource(ctx context.Context, req *tfprotov6.RenewEphemeralResourceRequest) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	cl := privateCall("RenewEphemeralResource", req.TypeName, req.Private)
	work := func(ctx context.Context) (*tfprotov6.RenewEphemeralResourceResponse, error) {
		resp := &tfprotov6.RenewEphemeralResourceResponse{}
		resp.Diagnostics = failed(e.renew(ctx, req, resp))
		return resp, nil
	}
	return serve(ctx, e.of, cl, work, func(r *tfprotov6.RenewEphemeralResourceResponse) answer {
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

func (e *ephemerals) renew(ctx context.Context, req *tfprotov6.RenewEphemeralResourceRequest, resp *tfprotov6.RenewEphemeralResourceResponse) error {
	p, err := decodePrivate(req.Private)
	if err != nil {
		return err
	}
	if err := e.of.wait(ctx, p.RenewDelay); err != nil {
		return err
	}
	if err := p.fail("renew"); err != nil {
		return err
	}
	if err := e.of.cloud.renewLease(p); err != nil {
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
func (e *ephemerals) CloseEphemeralResource(ctx context.Context, req *tfprotov6.CloseEphemeralResourceRequest) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	cl := privateCall("CloseEphemeralResource", req.TypeName, req.Private)
	work := func(ctx context.Context) (*tfprotov6.CloseEphemeralResourceResponse, error) {
		return &tfprotov6.CloseEphemeralResourceResponse{Diagnostics: failed(e.close(ctx, req))}, nil
	}
	return serve(ctx, e.of, cl, work, func(r *tfprotov6.CloseEphemeralResourceResponse) answer { return answer{diags: &r.Diagnostics} })
}

func (e *ephemerals) close(ctx context.Context, req *tfprotov6.CloseEphemeralResourceRequest) error {
	p, err := decodePrivate(req.Private)
	if err != nil {
		return err
	}
	if err := e.of.cloud.beginClose(p); err != nil {
		return err
	}
	if err := e.of.wait(ctx, p.CloseDelay); err != nil {
		return err
	}
	if err := p.fail("close"); err != nil {
		return err
	}
	return e.of.cloud.dropLease(p.Lease)
}
