package builtin

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// ReadResource implements provider.Reader. A terraform_data exists only in the state, so it never changes
// on its own.
func (*builtin) ReadResource(_ context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	block, diags := blockOf(addr.Managed, req.Type)
	if diags.HasErrors() {
		return provider.ReadResponse{}, diags
	}
	if diags := checkObject(block, "prior object", req.Prior); diags.HasErrors() {
		return provider.ReadResponse{}, diags
	}
	return provider.ReadResponse{New: stored(block, req.Prior), Private: req.Private}, nil
}

// PlanResource implements provider.Reader. output follows input: it is unknown when input changed, and has
// input's type, null for none. A change of triggers_replace replaces the object; one of input_wo_version
// updates it.
func (*builtin) PlanResource(_ context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	block, diags := blockOf(addr.Managed, req.Type)
	if diags.HasErrors() {
		return provider.PlanResponse{}, diags
	}
	diags = append(checkObject(block, "prior object", req.Prior), checkObject(block, "proposed object", req.Proposed)...)
	if diags.HasErrors() {
		return provider.PlanResponse{}, diags
	}
	resp := provider.PlanResponse{Planned: stored(block, req.Proposed), Private: req.PriorPrivate}
	if req.Proposed.IsNull() || !req.Proposed.IsKnown() {
		return resp, nil
	}
	input := resp.Planned.GetAttr("input")
	id, output := unknownID, outputOf(input)
	switch {
	case req.Prior.IsNull():
	case !same(req.Prior, resp.Planned, "triggers_replace"):
		resp.RequiresReplace = []cty.Path{cty.GetAttrPath("triggers_replace")}
	case !same(req.Prior, resp.Planned, "input"):
		id, output = resp.Planned.GetAttr("id"), cty.UnknownVal(input.Type())
	default:
		return resp, nil
	}
	planned := schema.AttributesOf(resp.Planned)
	planned["id"], planned["output"] = id, output
	resp.Planned = cty.ObjectVal(planned)
	return resp, nil
}

// unknownID is the id of a new object in a plan.
var unknownID = cty.UnknownVal(cty.String).RefineNotNull()

// stored returns an object without its write-only argument. The null in its place has no type, so that the
// argument's type is not revealed.
func stored(block *schema.Block, v cty.Value) cty.Value {
	if v.IsNull() || !v.IsKnown() || !block.HasWriteOnly() {
		return v
	}
	var attrs map[string]cty.Value
	for name, a := range block.Attributes {
		if null := cty.NullVal(a.Type); a.WriteOnly && !v.GetAttr(name).RawEquals(null) {
			if attrs == nil {
				attrs = v.AsValueMap()
			}
			attrs[name] = null
		}
	}
	if attrs == nil {
		return v
	}
	return cty.ObjectVal(attrs)
}

// same reports whether an attribute has the value that it had.
func same(prior, planned cty.Value, name string) bool {
	return prior.GetAttr(name).RawEquals(planned.GetAttr(name))
}

// outputOf returns the planned output of a new object. The type is known already, so that expressions which
// use the output can be checked.
func outputOf(input cty.Value) cty.Value {
	if input.IsNull() {
		return input
	}
	return cty.UnknownVal(input.Type())
}

// ApplyResource implements provider.Changer. The id is chosen once; the output becomes the input. If it
// fails, the prior object is returned, since nothing has changed.
func (b *builtin) ApplyResource(_ context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	block, diags := blockOf(addr.Managed, req.Type)
	if diags.HasErrors() {
		return provider.ApplyResponse{New: req.Prior}, diags
	}
	diags = append(checkObject(block, "prior object", req.Prior), checkObject(block, "planned object", req.Planned)...)
	if diags.HasErrors() {
		return provider.ApplyResponse{New: req.Prior}, diags
	}
	resp := provider.ApplyResponse{New: stored(block, req.Planned), Private: req.PlannedPrivate}
	if req.Planned.IsNull() {
		return resp, nil
	}
	if !req.Planned.IsKnown() || !req.Planned.GetAttr("input").IsWhollyKnown() || !req.Planned.GetAttr("triggers_replace").IsWhollyKnown() {
		return provider.ApplyResponse{New: req.Prior}, diag.Errorf("Invalid request to provider", "The planned object has arguments that are not known. "+
			"This is a bug in the program that uses the built-in provider: report it to its developers.")
	}
	object := schema.AttributesOf(resp.New)
	if !object["id"].IsKnown() {
		object["id"] = cty.StringVal(b.o.NewID())
	}
	if !object["output"].IsWhollyKnown() {
		object["output"] = object["input"]
	}
	resp.New = cty.ObjectVal(object)
	return resp, nil
}

// UpgradeResource implements provider.Reader. Attributes that the schema lacks are dropped and missing ones
// are null, because the engines that share the state format don't all have the same attributes.
func (*builtin) UpgradeResource(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	s, _ := catalog{}.Resource(addr.Managed, req.Type)
	if s == nil {
		if s, _ = (catalog{}).Resource(addr.Data, req.Type); s == nil {
			return cty.NilVal, unknownType(addr.Managed, req.Type)
		}
	}
	switch {
	case req.Version > s.Version:
		return cty.NilVal, diag.Errorf("Object from a newer version", "The object was stored in version %d of the schema of %s; this program knows up to %d. "+
			"Use the newer program that stored it.", req.Version, req.Type, s.Version)
	case req.JSON == nil && req.Flatmap != nil:
		return cty.NilVal, diag.Errorf("Object in an unknown form", "The object of type %s is stored in a form that this type never had. "+
			"Remove it from the state; if it still matters, import it again by its id.", req.Type)
	}
	v, err := decodeObject(s.Block, req.JSON)
	if err != nil {
		return cty.NilVal, diag.Errorf("Stored object cannot be read", "The stored object of type %s is damaged: %s. Restore the state from a backup.", req.Type, err)
	}
	return stored(s.Block, v), nil
}

// decodeObject decodes the attributes that the block has. Its errors contain no values.
func decodeObject(block *schema.Block, src []byte) (cty.Value, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(src, &members); err != nil || members == nil {
		return cty.NilVal, errors.New("its attributes are not a JSON object")
	}
	attrs := make(map[string]cty.Value, len(block.Attributes))
	for name, a := range block.Attributes {
		raw, ok := members[name]
		if !ok {
			attrs[name] = cty.NullVal(a.Type)
			continue
		}
		v, err := jsonvalue.Unmarshal(raw, a.Type)
		if err != nil {
			return cty.NilVal, errors.New("its attribute " + name + " does not fit the schema")
		}
		attrs[name] = v
	}
	return cty.ObjectVal(attrs), nil
}

// UpgradeIdentity implements provider.Reader.
func (*builtin) UpgradeIdentity(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	return cty.NilVal, unsupported("Objects of type %s have no identity.", req.Type)
}

// ImportResource implements provider.Reader. It accepts any id; the object starts without input.
func (*builtin) ImportResource(_ context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	if _, diags := blockOf(addr.Managed, req.Type); diags.HasErrors() {
		return provider.ImportResponse{}, diags
	}
	if req.ID == "" {
		return provider.ImportResponse{}, diag.Errorf("Missing id", "A %s is imported by its id, which must be a text of at least one character.", req.Type)
	}
	return provider.ImportResponse{Objects: []provider.ImportedObject{{Type: req.Type, State: newData(req.ID, cty.NullVal(cty.DynamicPseudoType))}}}, nil
}

// newData returns an object with an id and triggers, and null everywhere else.
func newData(id string, triggers cty.Value) cty.Value {
	null := cty.NullVal(cty.DynamicPseudoType)
	return cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal(id), "input": null, "output": null, "triggers_replace": triggers, "input_wo": null, "input_wo_version": null,
	})
}

// MoveResource implements provider.Reader. A null_resource becomes a terraform_data with the same id, and
// its triggers become triggers_replace. The map is converted to an object, the type of an object expression
// in a configuration, so that the move alone causes no change.
func (*builtin) MoveResource(_ context.Context, req provider.MoveRequest) (provider.MoveResponse, diag.List) {
	if req.TargetType != dataType {
		return provider.MoveResponse{}, unknownType(addr.Managed, req.TargetType)
	}
	source := req.SourceProvider
	if req.SourceType != "null_resource" || source.Namespace != "hashicorp" || source.Type != "null" {
		return provider.MoveResponse{}, unsupported("A %s of provider %s cannot become a %s: only a null_resource of hashicorp/null can.",
			req.SourceType, source.ForDisplay(), dataType)
	}
	var old struct {
		ID       string            `json:"id"`
		Triggers map[string]string `json:"triggers"`
	}
	if err := json.Unmarshal(req.SourceJSON, &old); err != nil || old.ID == "" {
		return provider.MoveResponse{}, diag.Errorf("Stored object cannot be read", "The stored null_resource is not in the form that its provider writes. "+
			"Remove it from the state, and let the %s be created.", dataType)
	}
	triggers := cty.NullVal(cty.DynamicPseudoType)
	if old.Triggers != nil {
		attrs := make(map[string]cty.Value, len(old.Triggers))
		for name, text := range old.Triggers {
			attrs[cty.NormalizeString(name)] = cty.StringVal(text)
		}
		triggers = cty.ObjectVal(attrs)
	}
	return provider.MoveResponse{Target: newData(old.ID, triggers)}, nil
}
