// Package mock answers for objects in place of their providers, as tests ask: it plans, creates, reads and
// opens objects that exist nowhere, from the schemas of their types and from values that it is given. Its
// answers keep the contract of the life cycle of objects.
//
// It may import addr, diag, provider, schema and cty. It must not know test files, plans or state.
package mock

import (
	"context"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Options say how an object is mocked.
type Options struct {
	// Catalog returns the schemas of the provider that is mocked.
	Catalog func(ctx context.Context) (provider.Catalog, diag.List)
	// Validate has that provider validate a configuration. It need not be configured for that.
	Validate func(ctx context.Context, mode addr.Mode, typeName string, config cty.Value) diag.List
	// Seed makes the generated values of objects differ: it is the object's address.
	Seed string
	// Values are given for computed attributes, in order of falling precedence.
	Values []Values
}

// Values are values of computed attributes, an object that Check has accepted.
type Values struct {
	Object     cty.Value
	DuringPlan bool // they are known when planning already
}

// New returns a provider that answers for one object. It needs no configuration. The result may be used
// concurrently, and keeps nothing between calls.
func New(opt Options) provider.Provider { return &mock{opt: opt} }

// mock implements provider.Provider.
type mock struct {
	provider.NoLists
	opt Options
}

// errNone is returned for requests that only a real object can answer.
var errNone = errors.New("its provider is mocked")

// Catalog implements provider.Reader.
func (m *mock) Catalog(ctx context.Context) (provider.Catalog, diag.List) { return m.opt.Catalog(ctx) }

// ValidateConfig implements provider.Reader.
func (m *mock) ValidateConfig(context.Context, cty.Value) diag.List { return nil }

// ValidateResource implements provider.Reader: it refuses all that the provider would refuse.
func (m *mock) ValidateResource(ctx context.Context, mode addr.Mode, typeName string, config cty.Value) diag.List {
	return m.opt.Validate(ctx, mode, typeName, config)
}

// complete reports the required arguments that are null. Providers need not find them when they validate.
func complete(b *schema.Block, config cty.Value) diag.List {
	var diags diag.List
	for _, path := range b.NullRequired(config) {
		diags = append(diags, diag.Diagnostic{
			Summary: "Missing required argument", Path: path,
			Detail: fmt.Sprintf("The argument %s is required, but its value here is null.", schema.PathString(path)),
		})
	}
	return diags
}

// Configure implements provider.Reader.
func (m *mock) Configure(context.Context, cty.Value) diag.List { return nil }

// block returns the schema of a type.
func (m *mock) block(ctx context.Context, mode addr.Mode, typeName string) (*schema.Block, diag.List) {
	c, diags := m.opt.Catalog(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	s, diags := c.Resource(mode, typeName)
	if s == nil && !diags.HasErrors() {
		diags = diag.Errorf("Unknown type", "The provider has no type %q.", typeName)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return s.Block, diags
}

// UpgradeResource implements provider.Reader.
func (m *mock) UpgradeResource(ctx context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	b, diags := m.block(ctx, addr.Managed, req.Type)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	v, err := jsonvalue.Unmarshal(req.JSON, b.Type())
	if err != nil {
		return cty.NilVal, diag.Errorf("Invalid stored object", "The stored object does not have the attributes of its type any more.")
	}
	return v, nil
}

// UpgradeIdentity implements provider.Reader.
func (m *mock) UpgradeIdentity(context.Context, provider.UpgradeRequest) (cty.Value, diag.List) {
	return cty.NilVal, diag.Errorf("Invalid stored identity", "Mocked objects have no identity.")
}

// ReadResource implements provider.Reader: mocked objects don't change by themselves, but another run may
// give them other values.
func (m *mock) ReadResource(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	resp := provider.ReadResponse{New: req.Prior, Private: req.Private, Identity: req.Identity}
	b, diags := m.block(ctx, addr.Managed, req.Type)
	if diags.HasErrors() || req.Prior.IsNull() || len(m.opt.Values) == 0 {
		return resp, diags
	}
	attrs := req.Prior.AsValueMap()
	for name, a := range b.Attributes {
		if a.Computed && !a.Optional && len(within(m.opt.Values, name)) > 0 { // values that may be configured are not known here
			attrs[name] = cty.UnknownVal(attrs[name].Type())
		}
	}
	f := filler{seed: req.Type + " " + m.opt.Seed, given: m.opt.Values}
	resp.New = f.block(b, cty.ObjectVal(attrs))
	return resp, diags
}

// PlanResource implements provider.Reader. Computed attributes are unknown unless their values are given
// for planning. It never asks for a replacement.
func (m *mock) PlanResource(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	b, diags := m.block(ctx, addr.Managed, req.Type)
	if diags.HasErrors() || req.Proposed.IsNull() {
		return provider.PlanResponse{Planned: req.Proposed, Private: req.PriorPrivate}, diags
	}
	if diags := complete(b, req.Config); diags.HasErrors() {
		return provider.PlanResponse{}, diags
	}
	f := filler{seed: req.Type + " " + m.opt.Seed, given: m.opt.Values, planning: true}
	planned := f.block(b, req.Proposed).AsValueMap()
	for name, a := range b.Attributes {
		switch v := req.Config.GetAttr(name); {
		case !v.IsNull() && !v.IsKnown():
			planned[name] = v // a configured value is never replaced
		case v.IsNull() && a.Computed && a.Optional && !req.Prior.IsNull() && len(within(m.opt.Values, name)) > 0:
			// Another run may give an object that exists other values, as in ReadResource.
			known := f
			known.planning = false
			planned[name] = known.value(a, "."+name, planned[name].Type(), within(m.opt.Values, name))
		}
	}
	return provider.PlanResponse{Planned: b.NullWriteOnly(cty.ObjectVal(planned)), Private: req.PriorPrivate}, nil
}

// ApplyResource implements provider.Changer.
func (m *mock) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	b, diags := m.block(ctx, addr.Managed, req.Type)
	if diags.HasErrors() || req.Planned.IsNull() {
		return provider.ApplyResponse{New: req.Planned}, diags
	}
	f := filler{seed: req.Type + " " + m.opt.Seed, given: m.opt.Values}
	return provider.ApplyResponse{New: b.NullWriteOnly(f.block(b, req.Planned)), Private: req.PlannedPrivate}, nil
}

// ReadData implements provider.Reader.
func (m *mock) ReadData(ctx context.Context, req provider.DataRequest) (provider.DataResponse, diag.List) {
	v, diags := m.made(ctx, addr.Data, req.Type, req.Config)
	return provider.DataResponse{State: v}, diags
}

// OpenEphemeral implements provider.Reader. The result needs no renewal.
func (m *mock) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	v, diags := m.made(ctx, addr.Ephemeral, typeName, config)
	return provider.OpenResponse{Opened: !diags.HasErrors(), Result: v}, diags
}

// made returns the object that a configuration makes at once.
func (m *mock) made(ctx context.Context, mode addr.Mode, typeName string, config cty.Value) (cty.Value, diag.List) {
	b, diags := m.block(ctx, mode, typeName)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	if diags := complete(b, config); diags.HasErrors() {
		return cty.NilVal, diags
	}
	f := filler{seed: mode.String() + " " + typeName + " " + m.opt.Seed, given: m.opt.Values, nulls: true}
	return b.NullWriteOnly(f.block(b, config)), nil
}

// RenewEphemeral implements provider.Reader. It is never called, since no renewal is asked for.
func (m *mock) RenewEphemeral(context.Context, string, []byte) (provider.RenewResponse, diag.List) {
	return provider.RenewResponse{}, nil
}

// CloseEphemeral implements provider.Reader.
func (m *mock) CloseEphemeral(context.Context, string, []byte) diag.List { return nil }

// ImportResource implements provider.Reader: whatever is asked for exists.
func (m *mock) ImportResource(ctx context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	b, diags := m.block(ctx, addr.Managed, req.Type)
	if diags.HasErrors() {
		return provider.ImportResponse{}, diags
	}
	attrs := b.Empty().AsValueMap()
	if a := b.Attributes["id"]; a != nil && req.ID != "" {
		if id, err := convert.Convert(cty.StringVal(req.ID), a.Type); err == nil {
			attrs["id"] = id
		}
	}
	f := filler{seed: req.Type + " " + m.opt.Seed, given: m.opt.Values, nulls: true}
	return provider.ImportResponse{Objects: []provider.ImportedObject{{Type: req.Type, State: b.NullWriteOnly(f.block(b, cty.ObjectVal(attrs)))}}}, nil
}

// MoveResource implements provider.Reader.
func (m *mock) MoveResource(context.Context, provider.MoveRequest) (provider.MoveResponse, diag.List) {
	return provider.MoveResponse{}, diag.Errorf("Object cannot be moved", "An object of another type cannot be taken over: %s.", errNone)
}

// GenerateConfig implements provider.Reader.
func (m *mock) GenerateConfig(context.Context, provider.GenerateRequest) (cty.Value, diag.List) {
	return cty.NilVal, diag.Errorf("No configuration generated", "There is no object to describe: %s.", errNone)
}

// CallFunction implements provider.Reader.
func (m *mock) CallFunction(context.Context, string, []cty.Value) (cty.Value, error) {
	return cty.DynamicVal, errNone
}

// ConfiguredFunctions implements provider.Reader.
func (m *mock) ConfiguredFunctions(context.Context) (map[string]*schema.Function, diag.List) {
	return nil, nil
}

// Stop implements provider.Reader.
func (m *mock) Stop(context.Context) error { return nil }

// Close implements provider.Reader.
func (m *mock) Close() error { return nil }
