package simprovider

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The types of the provider.
const (
	typeThing  = "sim_thing"
	typeSlow   = "sim_slow"
	typeLegacy = "sim_legacy"
	typeOld    = "sim_old"
	typeLookup = "sim_lookup"
	typeSecret = "sim_secret"
	typeToken  = "sim_token"
)

// The schema variants that SIM_SCHEMA selects, each wrong in one way except the capability one.
const (
	variantSetBlock       = "wo-in-set-block"   // write-only attribute inside a set block of sim_thing
	variantSetAttr        = "wo-in-set-attr"    // write-only attribute inside a set-nested attribute of sim_thing (protocol 6)
	variantComputed       = "wo-computed"       // computed write-only attribute in sim_thing
	variantData           = "wo-data"           // write-only attribute in data sim_lookup
	variantProvider       = "wo-provider"       // write-only attribute in the provider configuration
	variantEphemeral      = "wo-ephemeral"      // write-only attribute in ephemeral sim_secret
	variantNoCapabilities = "no-capabilities"   // no server capability is announced (schema required, destroy not planned, no moves)
	variantGenerate       = "generate"          // legal: the provider offers to write configuration
	variantRequired       = "provider-required" // legal: the provider's configuration needs the argument account and a block limits {per_minute}
	variantListBlock      = "wo-in-list-block"  // legal: write-only attribute inside the list block of sim_thing
	variantNestedAttr     = "wo-in-nested-attr" // legal: write-only attribute inside the map-nested attribute (protocol 6)
)

var variants = []string{
	variantSetBlock, variantSetAttr, variantComputed, variantData, variantProvider, variantEphemeral,
	variantNoCapabilities, variantListBlock, variantNestedAttr, variantGenerate, variantRequired,
}

func attr(name string, typ tftypes.Type, set ...func(*tfprotov6.SchemaAttribute)) *tfprotov6.SchemaAttribute {
	a := &tfprotov6.SchemaAttribute{Name: name, Type: typ}
	for _, f := range set {
		f(a)
	}
	return a
}

func required(a *tfprotov6.SchemaAttribute)  { a.Required = true }
func optional(a *tfprotov6.SchemaAttribute)  { a.Optional = true }
func computed(a *tfprotov6.SchemaAttribute)  { a.Computed = true }
func sensitive(a *tfprotov6.SchemaAttribute) { a.Sensitive = true }
func writeOnly(a *tfprotov6.SchemaAttribute) { a.WriteOnly = true }

// secretWO is the write-only attribute that the wrong variants put in invalid places.
func secretWO(extra ...func(*tfprotov6.SchemaAttribute)) *tfprotov6.SchemaAttribute {
	return attr("misplaced_wo", tftypes.String, append(extra, optional, writeOnly)...)
}

func providerSchema(variant string) *tfprotov6.Schema {
	block := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
		attr("prefix", tftypes.String, optional),
		attr("token", tftypes.String, optional, sensitive),
		attr("region", tftypes.String, optional),
	}}
	if variant == variantProvider {
		block.Attributes = append(block.Attributes, secretWO())
	}
	if variant == variantRequired {
		block.Attributes = append(block.Attributes, attr("account", tftypes.String, required))
		block.BlockTypes = []*tfprotov6.SchemaNestedBlock{{
			TypeName: "limits", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, MinItems: 1, MaxItems: 1,
			Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{attr("per_minute", tftypes.Number, optional)}},
		}}
	}
	return &tfprotov6.Schema{Block: block}
}

// thingSchema is the schema of sim_thing. Protocol 5 has no nested attributes, so it lacks `nested` there.
func thingSchema(variant string, protocol int) *tfprotov6.Schema {
	rule := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
		attr("port", tftypes.Number, required), attr("note", tftypes.String, optional), attr("rule_id", tftypes.String, computed),
	}}
	zone := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
		attr("name", tftypes.String, required), attr("zone_id", tftypes.String, computed),
	}}
	block := &tfprotov6.SchemaBlock{
		Attributes: thingAttributes(),
		BlockTypes: []*tfprotov6.SchemaNestedBlock{
			{TypeName: "rule", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: rule},
			{TypeName: "zone", Nesting: tfprotov6.SchemaNestedBlockNestingModeSet, Block: zone},
		},
	}
	nested := &tfprotov6.SchemaObject{Nesting: tfprotov6.SchemaObjectNestingModeMap, Attributes: []*tfprotov6.SchemaAttribute{
		attr("value", tftypes.String, required), attr("hash", tftypes.String, computed),
	}}
	switch variant {
	case variantSetBlock:
		zone.Attributes = append(zone.Attributes, secretWO())
	case variantListBlock:
		rule.Attributes = append(rule.Attributes, attr("secret_wo", tftypes.String, optional, writeOnly))
	case variantNestedAttr:
		nested.Attributes = append(nested.Attributes, attr("secret_wo", tftypes.String, optional, writeOnly))
	case variantSetAttr:
		nested.Nesting = tfprotov6.SchemaObjectNestingModeSet
		nested.Attributes = append(nested.Attributes, secretWO())
	case variantComputed:
		block.Attributes = append(block.Attributes, secretWO(computed))
	}
	if protocol >= 6 {
		block.Attributes = append(block.Attributes, &tfprotov6.SchemaAttribute{Name: "nested", NestedType: nested, Optional: true})
	}
	return &tfprotov6.Schema{Version: 1, Block: block}
}

func thingAttributes() []*tfprotov6.SchemaAttribute {
	return []*tfprotov6.SchemaAttribute{
		attr("name", tftypes.String, required),
		attr("size", tftypes.Number, optional),
		attr("tags", tftypes.Map{ElementType: tftypes.String}, optional),
		attr("replace_me", tftypes.String, optional),
		attr("id", tftypes.String, computed),
		attr("serial", tftypes.Number, computed),
		attr("status", tftypes.String, computed),
		attr("label", tftypes.String, computed),
		attr("secret_wo", tftypes.String, optional, writeOnly, sensitive),
		attr("secret_wo_version", tftypes.Number, optional),
		attr("delay", tftypes.String, optional),
		attr("fail_on", tftypes.String, optional),
		attr("json", tftypes.String, optional),
		attr("computed_list", tftypes.List{ElementType: tftypes.String}, computed),
	}
}

// thingSchemaV0 is the shape of sim_thing state at schema version 0.
var thingSchemaV0 = tftypes.Object{AttributeTypes: map[string]tftypes.Type{
	"id": tftypes.String, "name": tftypes.String, "size": tftypes.String,
	"labels": tftypes.Map{ElementType: tftypes.String},
}}

func plainResource(attrs ...*tfprotov6.SchemaAttribute) *tfprotov6.Schema {
	block := &tfprotov6.SchemaBlock{Attributes: append([]*tfprotov6.SchemaAttribute{
		attr("name", tftypes.String, required), attr("id", tftypes.String, computed),
	}, attrs...)}
	return &tfprotov6.Schema{Block: block}
}

func resourceSchemas(variant string, protocol int) map[string]*tfprotov6.Schema {
	return map[string]*tfprotov6.Schema{
		typeThing: thingSchema(variant, protocol),
		typeSlow: plainResource(
			attr("plan_delay", tftypes.String, optional), attr("read_delay", tftypes.String, optional),
			attr("create_delay", tftypes.String, optional), attr("update_delay", tftypes.String, optional),
			attr("delete_delay", tftypes.String, optional), attr("trigger", tftypes.String, optional),
			attr("serial", tftypes.Number, computed),
		),
		typeLegacy: plainResource(
			attr("value", tftypes.String, optional), attr("defaulted", tftypes.String, optional), attr("serial", tftypes.Number, computed),
		),
		typeOld:   plainResource(attr("old_value", tftypes.String, optional)),
		typeVault: vaultSchema(protocol),
		typeShape: shapeSchema(protocol),

		typeAccount: accountSchema(),
	}
}

func dataSchemas(variant string) map[string]*tfprotov6.Schema {
	block := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
		attr("name", tftypes.String, required),
		attr("hint", tftypes.String, optional),
		attr("id", tftypes.String, computed),
		attr("size", tftypes.Number, computed),
		attr("tags", tftypes.Map{ElementType: tftypes.String}, computed),
		attr("label", tftypes.String, computed),
		attr("serial", tftypes.Number, computed),
	}}
	if variant == variantData {
		block.Attributes = append(block.Attributes, secretWO())
	}
	return map[string]*tfprotov6.Schema{typeLookup: {Block: block}}
}

func ephemeralSchemas(variant string) map[string]*tfprotov6.Schema {
	common := func() []*tfprotov6.SchemaAttribute {
		return []*tfprotov6.SchemaAttribute{
			attr("name", tftypes.String, required),
			attr("hint", tftypes.String, optional),
			attr("renew_after", tftypes.String, optional),
			attr("expire_after", tftypes.String, optional),
			attr("open_delay", tftypes.String, optional),
			attr("renew_delay", tftypes.String, optional),
			attr("close_delay", tftypes.String, optional),
			attr("fail_on", tftypes.String, optional),
			attr("value", tftypes.String, computed, sensitive),
			attr("lease", tftypes.String, computed, sensitive),
			attr("opened", tftypes.Number, computed),
		}
	}
	secret, token := common(), append(common(), attr("parent_token", tftypes.String, optional, sensitive))
	if variant == variantEphemeral {
		secret = append(secret, secretWO())
	}
	return map[string]*tfprotov6.Schema{
		typeSecret: {Block: &tfprotov6.SchemaBlock{Attributes: secret}},
		typeToken:  {Block: &tfprotov6.SchemaBlock{Attributes: token}},
	}
}

// identitySchema is the identity of sim_thing: its name.
var identitySchema = &tfprotov6.ResourceIdentitySchema{IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{
	{Name: "name", Type: tftypes.String, RequiredForImport: true},
}}

func functionSignatures() map[string]*tfprotov6.Function {
	text := func(name string) *tfprotov6.FunctionParameter {
		return &tfprotov6.FunctionParameter{Name: name, Type: tftypes.String}
	}
	return map[string]*tfprotov6.Function{
		"echo": {
			Summary: "Returns its argument.",
			Parameters: []*tfprotov6.FunctionParameter{
				{Name: "value", Type: tftypes.DynamicPseudoType, AllowNullValue: true, AllowUnknownValues: true},
			},
			Return: &tfprotov6.FunctionReturn{Type: tftypes.DynamicPseudoType},
		},
		"concat2": {
			Summary:    "Joins two strings.",
			Parameters: []*tfprotov6.FunctionParameter{text("a"), text("b")},
			Return:     &tfprotov6.FunctionReturn{Type: tftypes.String},
		},
		"join": {
			Summary:           "Joins any number of strings, null among them.",
			Parameters:        []*tfprotov6.FunctionParameter{text("separator")},
			VariadicParameter: &tfprotov6.FunctionParameter{Name: "parts", Type: tftypes.String, AllowNullValue: true},
			Return:            &tfprotov6.FunctionReturn{Type: tftypes.String},
		},
		"fail": {
			Summary:    "Fails with the given message about its argument.",
			Parameters: []*tfprotov6.FunctionParameter{text("message")},
			Return:     &tfprotov6.FunctionReturn{Type: tftypes.String},
		},
	}
}
