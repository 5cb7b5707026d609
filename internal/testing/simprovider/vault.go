package simprovider

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// typeVault has a write-only attribute in every possible place, each with its own name in the transcript.
const typeVault = "sim_vault"

// vaultSchema is the schema of sim_vault. Protocol 5 has no nested attributes.
func vaultSchema(protocol int) *tfprotov6.Schema {
	secret := func(name string) *tfprotov6.SchemaAttribute { return attr(name, tftypes.String, optional, writeOnly) }
	labelled := func(attrs ...*tfprotov6.SchemaAttribute) *tfprotov6.SchemaBlock {
		return &tfprotov6.SchemaBlock{Attributes: append([]*tfprotov6.SchemaAttribute{attr("label", tftypes.String, optional)}, attrs...)}
	}
	s := plainResource(
		attr("version", tftypes.Number, optional), attr("replace_me", tftypes.String, optional), attr("status", tftypes.String, computed),
		attr("dynamic_wo", tftypes.DynamicPseudoType, optional, writeOnly),
		attr("map_wo", tftypes.Map{ElementType: tftypes.String}, optional, writeOnly),
		attr("set_wo", tftypes.Set{ElementType: tftypes.String}, optional, writeOnly),
		attr("object_wo", tftypes.Object{AttributeTypes: map[string]tftypes.Type{"user": tftypes.String, "key": tftypes.String}}, optional, writeOnly),
	)
	deep := labelled(secret("deep_block_wo"))
	list := labelled(secret("list_block_wo"))
	list.BlockTypes = []*tfprotov6.SchemaNestedBlock{{TypeName: "deep", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: deep}}
	s.Block.BlockTypes = []*tfprotov6.SchemaNestedBlock{
		{TypeName: "list_block", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: list},
		{TypeName: "single_block", Nesting: tfprotov6.SchemaNestedBlockNestingModeSingle, Block: labelled(
			secret("single_block_wo"), attr("dynamic_block_wo", tftypes.DynamicPseudoType, optional, writeOnly))},
		{TypeName: "group_block", Nesting: tfprotov6.SchemaNestedBlockNestingModeGroup, Block: labelled(secret("group_block_wo"))},
		{TypeName: "map_block", Nesting: tfprotov6.SchemaNestedBlockNestingModeMap, Block: labelled(secret("map_block_wo"))},
	}
	if protocol < 6 {
		return s
	}
	nested := func(name string, mode tfprotov6.SchemaObjectNestingMode, attrs ...*tfprotov6.SchemaAttribute) *tfprotov6.SchemaAttribute {
		attrs = append([]*tfprotov6.SchemaAttribute{attr("label", tftypes.String, optional)}, attrs...)
		return &tfprotov6.SchemaAttribute{Name: name, Optional: true, NestedType: &tfprotov6.SchemaObject{Nesting: mode, Attributes: attrs}}
	}
	const single, many, keyed = tfprotov6.SchemaObjectNestingModeSingle, tfprotov6.SchemaObjectNestingModeList, tfprotov6.SchemaObjectNestingModeMap
	both := nested("both_attr", keyed, secret("both_attr_wo"), attr("note", tftypes.String, optional, computed))
	both.Computed = true
	whole := nested("whole_wo", single, secret("part_wo"))
	whole.WriteOnly = true
	for _, a := range whole.NestedType.Attributes {
		a.WriteOnly = true // a write-only nested attribute has no other parts
	}
	s.Block.Attributes = append(
		s.Block.Attributes,
		nested("single_attr", single, secret("single_attr_wo"), nested("deep", many, secret("deep_attr_wo"))),
		nested("list_attr", many, secret("list_attr_wo")),
		nested("map_attr", keyed, secret("map_attr_wo")),
		both,
		whole,
	)
	return s
}
