package builtin

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// The types of the provider.
const (
	dataType        = "terraform_data"
	remoteStateType = "terraform_remote_state"
)

// Additions are the attributes of terraform_data and terraform_remote_state that other engines don't have.
// Stored objects omit them if they are null, so that other engines can read the state.
var Additions = append(extensions(dataSchema), extensions(remoteStateSchema)...)

// Foreign returns the attributes of a type that have outputs of another state, which may be sensitive there
// without a mark here, and the arguments that open it.
func Foreign(typeName string) []string {
	if typeName != remoteStateType {
		return nil
	}
	return []string{"config", "defaults", "outputs"}
}

func extensions(s *schema.Schema) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Block.Attributes)), func(name string) bool { return !s.Block.Attributes[name].Extension })
}

// Catalog returns the provider's catalog, for use without starting it.
func Catalog() provider.Catalog { return catalog{} }

// catalog is the provider's catalog. All schemas are fixed, so it has no state. Only Functions builds its
// result anew.
type catalog struct{}

// emptySchema is the schema of the provider block.
var emptySchema = &schema.Schema{Block: &schema.Block{}}

// dataSchema is the schema of terraform_data as in other engines, with a write-only argument and its version
// (E65).
var dataSchema = &schema.Schema{Block: &schema.Block{
	Attributes: map[string]*schema.Attribute{
		"id":               {Type: cty.String, Computed: true},
		"input":            {Type: cty.DynamicPseudoType, Optional: true},
		"output":           {Type: cty.DynamicPseudoType, Computed: true},
		"triggers_replace": {Type: cty.DynamicPseudoType, Optional: true},
		"input_wo": {
			Type: cty.DynamicPseudoType, Optional: true, WriteOnly: true, Extension: true,
			Description:     "Any value, ephemeral or not. It is neither stored nor returned.",
			DescriptionKind: schema.Markdown,
		},
		"input_wo_version": {
			Type: cty.DynamicPseudoType, Optional: true, Extension: true,
			Description:     "Any value that changes together with `input_wo`: a change of it is what updates the object.",
			DescriptionKind: schema.Markdown,
		},
	},
}}

// remoteStateSchema is the schema of terraform_remote_state.
var remoteStateSchema = &schema.Schema{Block: &schema.Block{
	Attributes: map[string]*schema.Attribute{
		"backend": {
			Type: cty.String, Required: true, DescriptionKind: schema.Markdown,
			Description: "The type of the backend that stores the state, for example `local`.",
		},
		"config": {
			Type: cty.DynamicPseudoType, Optional: true, DescriptionKind: schema.Markdown,
			Description: "The configuration of the backend: an object with the arguments that its `backend` block would have.",
		},
		"config_wo": {
			Type: cty.DynamicPseudoType, Optional: true, WriteOnly: true, Extension: true, DescriptionKind: schema.Markdown,
			Description: "More of `config`, such as credentials, ephemeral or not. It is neither stored nor returned.",
		},
		"workspace": {
			Type: cty.String, Optional: true, DescriptionKind: schema.Markdown,
			Description: "The workspace whose state is read, `default` if not set.",
		},
		"defaults": {
			Type: cty.DynamicPseudoType, Optional: true, DescriptionKind: schema.Markdown,
			Description: "An object with values for outputs that the state does not have.",
		},
		"outputs": {
			Type: cty.DynamicPseudoType, Computed: true, DescriptionKind: schema.Markdown,
			Description: "An object with the outputs of the state's root module.",
		},
	},
}}

// Provider implements provider.Catalog.
func (catalog) Provider() (*schema.Schema, diag.List) { return emptySchema, nil }

// Resource implements provider.Catalog.
func (catalog) Resource(mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	switch {
	case mode == addr.Managed && typeName == dataType:
		return dataSchema, nil
	case mode == addr.Data && typeName == remoteStateType:
		return remoteStateSchema, nil
	default:
		return nil, nil
	}
}

// Types implements provider.Catalog.
func (catalog) Types(mode addr.Mode) []string {
	switch mode {
	case addr.Managed:
		return []string{dataType}
	case addr.Data:
		return []string{remoteStateType}
	default:
		return nil
	}
}

// Identity implements provider.Catalog.
func (catalog) Identity(string) (*schema.Identity, diag.List) { return nil, nil }

// Meta implements provider.Catalog.
func (catalog) Meta() (*schema.Schema, diag.List) { return nil, nil }

// Functions implements provider.Catalog.
func (catalog) Functions() (map[string]*schema.Function, diag.List) {
	return map[string]*schema.Function{
		"encode_tfvars": {
			Params: []schema.FunctionParam{{
				Name: "input", Type: cty.DynamicPseudoType, DescriptionKind: schema.Markdown,
				Description: "An object or map whose keys are valid variable names.",
			}},
			Return: cty.String, Summary: "Encode an object as the text of a variable file", DescriptionKind: schema.Markdown,
			Description: "`provider::terraform::encode_tfvars` returns the text of a `.tfvars` file that gives each attribute of an object as a variable.",
		},
		"decode_tfvars": {
			Params: []schema.FunctionParam{{
				Name: "content", Type: cty.String, DescriptionKind: schema.Markdown, Description: "The text of a `.tfvars` file.",
			}},
			Return: cty.DynamicPseudoType, Summary: "Decode the text of a variable file to an object", DescriptionKind: schema.Markdown,
			Description: "`provider::terraform::decode_tfvars` returns an object with the variables that the text of a `.tfvars` file sets.",
		},
		"encode_expr": {
			Params: []schema.FunctionParam{{
				Name: "expr", Type: cty.DynamicPseudoType, AllowNull: true, DescriptionKind: schema.Markdown, Description: "Any value.",
			}},
			Return: cty.String, Summary: "Encode a value as an expression", DescriptionKind: schema.Markdown,
			Description: "`provider::terraform::encode_expr` returns an expression of the language, without references, that gives the value.",
		},
	}, nil
}

// Capabilities implements provider.Catalog.
func (catalog) Capabilities() provider.Capabilities {
	return provider.Capabilities{SchemaOptional: true, MoveResourceState: true}
}
