package keep

import (
	"context"
	"encoding/json"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/store"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// record is a managed resource: named records of one kind in the store. The functions get the attributes of
// objects, and change the attributes of the planned or known object to their final values.
type record struct {
	prefix string // of ids
	// settled reports whether an attribute that the provider chooses keeps its value in an update.
	settled  func(attribute string, prior, planned map[string]cty.Value) bool
	complete func(known map[string]cty.Value) bool // whether an object was read before, and not only named
	read     func(ctx context.Context, kept *store.Store, known map[string]cty.Value) error
	create   func(ctx context.Context, kept *store.Store, planned, config map[string]cty.Value) error
	update   func(ctx context.Context, kept *store.Store, planned, prior, config map[string]cty.Value) error
	remove   func(kept *store.Store, ctx context.Context, name string) error
}

var records = map[string]record{secretType: secretRecord, noteType: noteRecord}

// recordOf returns the record and the schema for requests about a managed type. All values must be of its
// type.
func recordOf(typeName string, values ...cty.Value) (record, *schema.Block, diag.List) {
	block, diags := blockOf(addr.Managed, typeName)
	if diags.HasErrors() {
		return record{}, nil, diags
	}
	for _, v := range values {
		if !block.Conforms(v) || !v.IsKnown() {
			return record{}, nil, unprepared()
		}
	}
	return records[typeName], block, nil
}

// stored returns attributes without the values that are only written.
func stored(block *schema.Block, v cty.Value) map[string]cty.Value {
	attributes := v.AsValueMap()
	for name, a := range block.Attributes {
		if a.WriteOnly {
			attributes[name] = cty.NullVal(a.Type)
		}
	}
	return attributes
}

// PlanResource implements provider.Reader. It needs no store. Records are not renamed: another name replaces
// the object.
func (p *keepProvider) PlanResource(_ context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	r, block, diags := recordOf(req.Type, req.Prior, req.Proposed, req.Config)
	if diags.HasErrors() {
		return provider.PlanResponse{}, diags
	}
	resp := provider.PlanResponse{Planned: req.Proposed, Private: req.PriorPrivate}
	if req.Proposed.IsNull() {
		return resp, nil
	}
	planned := stored(block, req.Proposed)
	var prior map[string]cty.Value
	if !req.Prior.IsNull() {
		if resp.Planned = cty.ObjectVal(planned); resp.Planned.RawEquals(req.Prior) {
			return resp, nil
		}
		prior = req.Prior.AsValueMap()
	}
	renamed := prior != nil && !prior["name"].RawEquals(planned["name"])
	for name, a := range block.Attributes {
		if a.Computed && (prior == nil || prior[name].IsNull() || renamed || !r.settled(name, prior, planned)) {
			planned[name] = cty.UnknownVal(a.Type)
		}
	}
	if renamed {
		resp.RequiresReplace = []cty.Path{cty.GetAttrPath("name")}
	}
	resp.Planned = cty.ObjectVal(planned)
	return resp, nil
}

// ApplyResource implements provider.Changer. A failed apply has changed nothing.
func (p *keepProvider) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	resp := provider.ApplyResponse{New: req.Prior, Private: req.PlannedPrivate}
	r, block, diags := recordOf(req.Type, req.Prior, req.Planned, req.Config)
	if diags.HasErrors() {
		return resp, diags
	}
	kept, diags := p.configured().open()
	if diags.HasErrors() {
		return resp, diags
	}
	ctx, done := p.during(ctx)
	defer done()
	if req.Planned.IsNull() {
		if err := r.remove(kept, ctx, text(req.Prior.GetAttr("name"))); err != nil {
			return resp, explain(err)
		}
		resp.New = req.Planned
		return resp, nil
	}
	object, config := stored(block, req.Planned), req.Config.AsValueMap()
	var err error
	if req.Prior.IsNull() {
		err = r.create(ctx, kept, object, config)
	} else {
		err = r.update(ctx, kept, object, req.Prior.AsValueMap(), config)
	}
	if err != nil {
		return resp, explain(err)
	}
	object["id"] = cty.StringVal(r.prefix + text(object["name"]))
	resp.New = cty.ObjectVal(object)
	return resp, nil
}

// ReadResource implements provider.Reader. While the store is unknown, a complete object stays as it was last
// seen; right after an import only the name is known.
func (p *keepProvider) ReadResource(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	resp := provider.ReadResponse{New: req.Prior, Private: req.Private}
	r, block, diags := recordOf(req.Type, req.Prior)
	if diags.HasErrors() || req.Prior.IsNull() {
		return resp, diags
	}
	object := stored(block, req.Prior)
	s := p.configured()
	if s.unsettled() && r.complete(object) {
		return resp, s.unrefreshed(text(object["id"]))
	}
	kept, diags := s.open()
	if diags.HasErrors() {
		return resp, diags
	}
	ctx, done := p.during(ctx)
	defer done()
	if err := r.read(ctx, kept, object); err != nil {
		missing, diags := gone(err)
		if missing {
			resp.New = cty.NullVal(req.Prior.Type())
		}
		return resp, diags
	}
	object["id"] = cty.StringVal(r.prefix + text(object["name"]))
	resp.New = cty.ObjectVal(object)
	return resp, nil
}

// ImportResource implements provider.Reader: the read that follows it fills in the rest. The ID may be a name
// or an id.
func (p *keepProvider) ImportResource(_ context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	r, block, diags := recordOf(req.Type)
	if diags.HasErrors() {
		return provider.ImportResponse{}, diags
	}
	name := bareName(req.ID, r.prefix)
	if err := store.CheckName(name); err != nil {
		return provider.ImportResponse{}, explain(err)
	}
	attributes := map[string]cty.Value{}
	for name, a := range block.Attributes {
		attributes[name] = cty.NullVal(a.Type)
	}
	attributes["id"], attributes["name"] = cty.StringVal(r.prefix+name), cty.StringVal(name)
	return provider.ImportResponse{Objects: []provider.ImportedObject{{Type: req.Type, State: cty.ObjectVal(attributes)}}}, nil
}

// UpgradeResource implements provider.Reader. There was only one version of each schema so far. Attributes
// that the schema lacks are dropped, and missing ones are null.
func (p *keepProvider) UpgradeResource(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	_, block, diags := recordOf(req.Type)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	var members map[string]json.RawMessage
	if req.Version != 0 || json.Unmarshal(req.JSON, &members) != nil || members == nil {
		return cty.NilVal, diag.Errorf("Stored object cannot be read", "The stored object of type %s is damaged, or from a newer version of the keep provider. Restore the state from a backup, or use the newer version.", req.Type)
	}
	attributes := map[string]cty.Value{}
	for name, a := range block.Attributes {
		attributes[name] = cty.NullVal(a.Type)
		raw, ok := members[name]
		if !ok || a.WriteOnly {
			continue
		}
		v, err := jsonvalue.Unmarshal(raw, a.Type)
		if err != nil {
			return cty.NilVal, diag.Errorf("Stored object cannot be read", "The attribute %s of the stored object of type %s does not fit the schema. Restore the state from a backup.", name, req.Type)
		}
		attributes[name] = v
	}
	return cty.ObjectVal(attributes), nil
}
