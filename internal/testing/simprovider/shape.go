package simprovider

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// typeShape has attributes and blocks of every form in the protocol, each with a computed mark beside the
// configured value.
const typeShape = "sim_shape"

// shapeSchema is the schema of sim_shape. Protocol 5 has no nested attributes.
func shapeSchema(protocol int) *tfprotov6.Schema {
	s := plainResource(
		attr("serial", tftypes.Number, computed),
		attr("text", tftypes.String, optional),
		attr("guess", tftypes.String, optional, computed),
		attr("secret", tftypes.String, optional, sensitive),
		attr("secret_wo", tftypes.String, optional, writeOnly),
		attr("old", tftypes.String, optional, deprecated("Use text instead of old.")),
		attr("dyn", tftypes.DynamicPseudoType, optional),
		attr("dyn_result", tftypes.DynamicPseudoType, computed),
		attr("lines", tftypes.List{ElementType: tftypes.String}, optional),
		attr("labels", tftypes.Set{ElementType: tftypes.String}, optional),
		attr("sizes", tftypes.Map{ElementType: tftypes.Number}, optional),
		attr("settings", tftypes.Object{AttributeTypes: map[string]tftypes.Type{"mode": tftypes.String, "level": tftypes.Number}}, optional),
	)
	s.Version = 2
	block := func(attrs ...*tfprotov6.SchemaAttribute) *tfprotov6.SchemaBlock {
		return &tfprotov6.SchemaBlock{Attributes: append(attrs, attr("mark", tftypes.String, computed))}
	}
	value := func() *tfprotov6.SchemaAttribute { return attr("value", tftypes.String, optional) }
	part := block(value())
	part.BlockTypes = []*tfprotov6.SchemaNestedBlock{
		{TypeName: "leaf", Nesting: tfprotov6.SchemaNestedBlockNestingModeSet, Block: block(attr("value", tftypes.String, required))},
	}
	s.Block.BlockTypes = []*tfprotov6.SchemaNestedBlock{
		{TypeName: "part", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: part},
		{TypeName: "piece", Nesting: tfprotov6.SchemaNestedBlockNestingModeSet, Block: block(value(), attr("size", tftypes.Number, optional))},
		{TypeName: "entry", Nesting: tfprotov6.SchemaNestedBlockNestingModeMap, Block: block(value())},
		{TypeName: "only", Nesting: tfprotov6.SchemaNestedBlockNestingModeSingle, Block: block(value())},
		{TypeName: "team", Nesting: tfprotov6.SchemaNestedBlockNestingModeGroup, Block: block(value())},
	}
	if protocol >= 6 {
		s.Block.Attributes = append(s.Block.Attributes, shapeNested()...)
	}
	return s
}

// shapeNested are the nested attributes of sim_shape.
func shapeNested() []*tfprotov6.SchemaAttribute {
	const one, many = tfprotov6.SchemaObjectNestingModeSingle, tfprotov6.SchemaObjectNestingModeList
	const bag, keyed = tfprotov6.SchemaObjectNestingModeSet, tfprotov6.SchemaObjectNestingModeMap
	nested := func(name string, mode tfprotov6.SchemaObjectNestingMode, attrs ...*tfprotov6.SchemaAttribute) *tfprotov6.SchemaAttribute {
		attrs = append(attrs, attr("value", tftypes.String, optional), attr("mark", tftypes.String, computed))
		return &tfprotov6.SchemaAttribute{Name: name, Optional: true, NestedType: &tfprotov6.SchemaObject{Nesting: mode, Attributes: attrs}}
	}
	filled := nested("filled", bag)
	filled.Computed = true
	filled.NestedType.Attributes[0].Computed = true
	return []*tfprotov6.SchemaAttribute{
		nested("one", one, nested("inner_list", many), nested("inner_map", keyed)),
		nested("many", many, nested("inner_one", one), nested("inner_bag", bag)),
		nested("bag", bag, attr("size", tftypes.Number, optional), nested("inner_one", one)),
		nested("keyed", keyed, nested("inner_list", many)),
		filled,
	}
}

func deprecated(message string) func(*tfprotov6.SchemaAttribute) {
	return func(a *tfprotov6.SchemaAttribute) { a.Deprecated, a.DeprecationMessage = true, message }
}

// markFor returns the mark for a value.
func markFor(parent object) tftypes.Value {
	if text := parent.text("value"); text != "" {
		return str("mark-" + text)
	}
	return str("mark")
}

// planShape plans the special attributes of sim_shape: a mark is kept as long as it fits its value,
// dyn_result follows dyn, and filled is computed if it is not configured.
func planShape(b *tfprotov6.SchemaBlock, prior, next object) object {
	next = mapBlock(b, next, func(a *tfprotov6.SchemaAttribute, parent object, v tftypes.Value) tftypes.Value {
		if a.Name == "mark" && (!isKnownNonNull(v) || !v.Equal(markFor(parent))) {
			return unknown(a.Type)
		}
		return v
	})
	if prior == nil || !prior["dyn"].Equal(next["dyn"]) {
		next["dyn_result"] = unknown(tftypes.DynamicPseudoType)
	}
	if v, ok := next["filled"]; ok && isUnset(v) {
		next["filled"] = unknown(v.Type())
	}
	return next
}

// fillShape computes the results that mapBlock doesn't reach or that depend on more than their own object.
func fillShape(state object) object {
	if isUnset(state["dyn"]) {
		state["dyn_result"] = str("none")
	} else {
		state["dyn_result"] = state["dyn"]
	}
	v, ok := state["filled"]
	if !ok || v.IsKnown() {
		return state
	}
	element := v.Type().(tftypes.Set).ElementType
	one := object{"value": str("default"), "mark": str("mark-default")}
	state["filled"] = tftypes.NewValue(v.Type(), []tftypes.Value{one.value(element)})
	return state
}

// shapeIdentity is the identity of sim_shape. In version 0 it was a label alone.
var shapeIdentity = &tfprotov6.ResourceIdentitySchema{Version: 1, IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{
	{Name: "name", Type: tftypes.String, RequiredForImport: true},
	{Name: "zone", Type: tftypes.String, OptionalForImport: true},
}}

var shapeIdentityV0 = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"label": tftypes.String}}

// identitySchemas are the identities of the types that have one.
var identitySchemas = map[string]*tfprotov6.ResourceIdentitySchema{typeThing: identitySchema, typeShape: shapeIdentity}

// identityFor returns the identity of an object with the type and name.
func identityFor(typ, name string) (*tfprotov6.ResourceIdentityData, error) {
	if typ != typeShape {
		return identityOf(name)
	}
	dv, err := encode(object{"name": str(name), "zone": str("main")}, shapeIdentity.ValueType())
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ResourceIdentityData{IdentityData: dv}, nil
}

// metaSchema is the schema of provider_meta blocks. It is sensitive so that the transcript shows the values
// sent.
func metaSchema() *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{attr("module", tftypes.String, optional, sensitive)}}}
}

// readMeta records the provider_meta of a request: "meta.module" in the transcript, "absent" if the request
// has none.
func (cl *call) readMeta(dv *tfprotov6.DynamicValue) {
	block := metaSchema().Block
	o, err := decode(dv, block.ValueType())
	if err != nil || o == nil {
		return
	}
	if cl.Hash == nil {
		cl.Hash = map[string]string{}
	}
	hashes(cl.Hash, "meta", block, o)
}

// upgradeShape keeps the attributes that an earlier version of sim_shape shares with this one, from JSON or
// from the flat map of states before version 4.
func upgradeShape(raw *tfprotov6.RawState, schema *tfprotov6.Schema) (*tfprotov6.DynamicValue, error) {
	if raw == nil {
		return nil, faultf("the request holds no state")
	}
	out := emptyObject(schema)
	if len(raw.Flatmap) > 0 {
		for _, name := range []string{"id", "name", "text"} {
			if text, ok := raw.Flatmap[name]; ok {
				out[name] = str(text)
			}
		}
		return encode(out, schema.ValueType())
	}
	old, err := rawObject(raw, tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "name": tftypes.String, "text": tftypes.String}})
	if err != nil {
		return nil, err
	}
	maps.Copy(out, old)
	return encode(out, schema.ValueType())
}

// kept returns the cloud's form of an attribute: plain JSON, with its type if the schema leaves that open.
func kept(schema *tfprotov6.Schema, name string, v tftypes.Value) any {
	for _, a := range schema.Block.Attributes {
		if a.Name == name && a.NestedType == nil && a.Type.Is(tftypes.DynamicPseudoType) && isKnownNonNull(v) {
			return map[string]any{"type": v.Type(), "value": plain(v)}
		}
	}
	return plain(v)
}
