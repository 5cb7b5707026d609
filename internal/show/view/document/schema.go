package document

import (
	"encoding/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Declarations is everything that one provider declares, by type name. Maps may be nil.
type Declarations struct {
	Provider   *schema.Schema
	Resources  map[string]*schema.Schema
	Data       map[string]*schema.Schema
	Ephemeral  map[string]*schema.Schema
	Lists      map[string]*schema.Schema
	Actions    map[string]*schema.Schema
	Stores     map[string]*schema.Schema // of states
	Functions  map[string]*schema.Function
	Identities map[string]*schema.Identity
}

// jsonSchemas is the document of the command providers schema, from which editors and code generators learn
// the arguments of blocks.
type jsonSchemas struct {
	FormatVersion   string                         `json:"format_version"`
	ProviderSchemas map[string]jsonProviderSchemas `json:"provider_schemas,omitempty"`
}

// jsonProviderSchemas has the schemas of one provider. Ephemeral resources have a member of their own (E81).
type jsonProviderSchemas struct {
	Provider   *jsonSchema                  `json:"provider,omitempty"`
	Resources  map[string]*jsonSchema       `json:"resource_schemas,omitempty"`
	Data       map[string]*jsonSchema       `json:"data_source_schemas,omitempty"`
	Ephemeral  map[string]*jsonSchema       `json:"ephemeral_resource_schemas,omitempty"`
	Lists      map[string]*jsonSchema       `json:"list_resource_schemas,omitempty"`
	Actions    map[string]*jsonActionSchema `json:"action_schemas,omitempty"`
	Stores     map[string]*jsonSchema       `json:"state_store_schemas,omitempty"`
	Functions  map[string]jsonFunction      `json:"functions,omitempty"`
	Identities map[string]jsonIdentity      `json:"resource_identity_schemas,omitempty"`
}

type jsonSchema struct {
	Version int64      `json:"version"`
	Block   *jsonBlock `json:"block,omitempty"`
}

type jsonBlock struct {
	Attributes         map[string]*jsonAttribute   `json:"attributes,omitempty"`
	BlockTypes         map[string]*jsonNestedBlock `json:"block_types,omitempty"`
	Description        string                      `json:"description,omitempty"`
	DescriptionKind    string                      `json:"description_kind"`
	Deprecated         bool                        `json:"deprecated,omitempty"`
	DeprecationMessage string                      `json:"deprecation_message,omitempty"`
}

type jsonNestedBlock struct {
	NestingMode string     `json:"nesting_mode"`
	Block       *jsonBlock `json:"block"`
	MinItems    int        `json:"min_items,omitempty"`
	MaxItems    int        `json:"max_items,omitempty"`
}

// jsonAttribute is an attribute with either a type or, as NestedType, attributes of its own. WriteOnly is set
// for attributes whose values are in no state and plan.
type jsonAttribute struct {
	Type               json.RawMessage `json:"type,omitempty"`
	NestedType         *jsonNestedType `json:"nested_type,omitempty"`
	Description        string          `json:"description,omitempty"`
	DescriptionKind    string          `json:"description_kind,omitempty"`
	Deprecated         bool            `json:"deprecated,omitempty"`
	DeprecationMessage string          `json:"deprecation_message,omitempty"`
	Required           bool            `json:"required,omitempty"`
	Optional           bool            `json:"optional,omitempty"`
	Computed           bool            `json:"computed,omitempty"`
	Sensitive          bool            `json:"sensitive,omitempty"`
	WriteOnly          bool            `json:"write_only,omitempty"`
}

type jsonNestedType struct {
	Attributes  map[string]*jsonAttribute `json:"attributes,omitempty"`
	NestingMode string                    `json:"nesting_mode,omitempty"`
}

// jsonIdentity describes the attributes that identify an object of a resource type, for import blocks.
type jsonIdentity struct {
	Version    int64                            `json:"version"`
	Attributes map[string]jsonIdentityAttribute `json:"attributes,omitempty"`
}

type jsonIdentityAttribute struct {
	Type              json.RawMessage `json:"type,omitempty"`
	Description       string          `json:"description,omitempty"`
	RequiredForImport bool            `json:"required_for_import,omitempty"`
	OptionalForImport bool            `json:"optional_for_import,omitempty"`
}

// ProviderSchemas returns the JSON document of provider schemas, on one line: it may have many megabytes.
func ProviderSchemas(all map[addr.Provider]Declarations) ([]byte, error) {
	doc := jsonSchemas{FormatVersion: "1.0"}
	for p, s := range all {
		if doc.ProviderSchemas == nil {
			doc.ProviderSchemas = map[string]jsonProviderSchemas{}
		}
		doc.ProviderSchemas[p.String()] = jsonProviderSchemas{
			Provider: schemaJSON(s.Provider), Resources: mapValues(s.Resources, schemaJSON), Data: mapValues(s.Data, schemaJSON),
			Ephemeral: mapValues(s.Ephemeral, schemaJSON), Lists: mapValues(s.Lists, schemaJSON), Actions: mapValues(s.Actions, actionSchemaJSON), Stores: mapValues(s.Stores, schemaJSON), Functions: mapValues(s.Functions, functionJSON), Identities: mapValues(s.Identities, identityJSON),
		}
	}
	return json.Marshal(doc)
}

func schemaJSON(s *schema.Schema) *jsonSchema {
	if s == nil {
		return nil
	}
	return &jsonSchema{Version: s.Version, Block: blockJSON(s.Block)}
}

// kindJSON returns the markup that a description is written in.
func kindJSON(k schema.DescriptionKind) string {
	if k == schema.Markdown {
		return "markdown"
	}
	return "plain"
}

func blockJSON(b *schema.Block) *jsonBlock {
	if b == nil {
		return nil
	}
	return &jsonBlock{
		Attributes: mapValues(b.Attributes, attributeJSON), BlockTypes: mapValues(b.Blocks, nestedBlockJSON),
		Description: b.Description, DescriptionKind: kindJSON(b.DescriptionKind), Deprecated: b.Deprecated, DeprecationMessage: b.DeprecationMessage,
	}
}

func nestedBlockJSON(b *schema.NestedBlock) *jsonNestedBlock {
	return &jsonNestedBlock{NestingMode: b.Nesting.String(), Block: blockJSON(&b.Block), MinItems: b.MinItems, MaxItems: b.MaxItems}
}

func attributeJSON(a *schema.Attribute) *jsonAttribute {
	out := &jsonAttribute{
		Description: a.Description, DescriptionKind: kindJSON(a.DescriptionKind), Deprecated: a.Deprecated, DeprecationMessage: a.DeprecationMessage,
		Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly,
	}
	if a.Nested != nil {
		out.NestedType = &jsonNestedType{Attributes: mapValues(a.Nested.Attributes, attributeJSON), NestingMode: a.Nested.Nesting.String()}
	} else {
		out.Type = typeJSON(a.Type)
	}
	return out
}

func identityJSON(i *schema.Identity) jsonIdentity {
	return jsonIdentity{Version: i.Version, Attributes: mapValues(i.Attributes, func(a *schema.IdentityAttribute) jsonIdentityAttribute {
		return jsonIdentityAttribute{typeJSON(a.Type), a.Description, a.RequiredForImport, a.OptionalForImport}
	})}
}
