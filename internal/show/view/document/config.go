package document

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// jsonConfig is the document of a configuration. It shows the text, not its meaning: expressions appear only
// as constants and references, and a resource with count appears once.
type jsonConfig struct {
	ProviderConfig map[string]jsonProviderConfig `json:"provider_config,omitempty"` // by providerKey
	RootModule     jsonConfigModule              `json:"root_module"`
}

// jsonConfigModule is the declarations in one module, whatever instances it has.
type jsonConfigModule struct {
	Outputs     map[string]jsonConfigOutput   `json:"outputs,omitempty"`
	Resources   []jsonConfigResource          `json:"resources,omitempty"`
	Actions     []jsonConfigAction            `json:"actions,omitempty"`
	ModuleCalls map[string]jsonModuleCall     `json:"module_calls,omitempty"`
	Variables   map[string]jsonConfigVariable `json:"variables,omitempty"`
}

// jsonConfigOutput is an output block. By the member ephemeral, programs know that the output has no value in
// any other document (E81); so are variables.
type jsonConfigOutput struct {
	Sensitive   bool            `json:"sensitive,omitempty"`
	Ephemeral   bool            `json:"ephemeral,omitempty"`
	Deprecated  string          `json:"deprecated,omitempty"`
	Expression  *jsonExpression `json:"expression,omitempty"`
	DependsOn   []string        `json:"depends_on,omitempty"`
	Description string          `json:"description,omitempty"`
}

type jsonConfigVariable struct {
	Type        json.RawMessage `json:"type,omitempty"` // the constraint, if there is one
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
	Ephemeral   bool            `json:"ephemeral,omitempty"`
	Deprecated  string          `json:"deprecated,omitempty"`
}

// jsonConfigResource is a resource block of any mode. ProviderConfigKey leads to the table of provider
// configurations, also from a called module that inherits one.
type jsonConfigResource struct {
	Address           string            `json:"address"` // within the module
	Mode              string            `json:"mode"`
	Type              string            `json:"type"`
	Name              string            `json:"name"`
	ProviderConfigKey string            `json:"provider_config_key,omitempty"`
	Provisioners      []jsonProvisioner `json:"provisioners,omitempty"`
	Expressions       map[string]any    `json:"expressions,omitempty"`
	SchemaVersion     *int64            `json:"schema_version,omitempty"`
	CountExpression   *jsonExpression   `json:"count_expression,omitempty"`
	ForEachExpression *jsonExpression   `json:"for_each_expression,omitempty"`
	DependsOn         []string          `json:"depends_on,omitempty"`
}

// jsonProvisioner is a provisioner block. Provisioners have no schema here, so nested blocks such as
// connection are left out.
type jsonProvisioner struct {
	Type        string         `json:"type"`
	Expressions map[string]any `json:"expressions,omitempty"`
}

// jsonModuleCall is a module block with the module that it calls.
type jsonModuleCall struct {
	Source            string            `json:"source,omitempty"`
	Expressions       map[string]any    `json:"expressions,omitempty"`
	CountExpression   *jsonExpression   `json:"count_expression,omitempty"`
	ForEachExpression *jsonExpression   `json:"for_each_expression,omitempty"`
	Module            *jsonConfigModule `json:"module,omitempty"`
	VersionConstraint string            `json:"version_constraint,omitempty"`
	DependsOn         []string          `json:"depends_on,omitempty"`
}

// Config returns the document of a configuration, on one line: the configuration part of a plan's document,
// with ephemeral resources. Without a schema, s returning nil, the arguments of a block are left out.
func Config(tree *config.Tree, s ConfigSchemas) ([]byte, error) {
	return json.Marshal(configDocument(tree.Root, &configWriter{schemas: s, modes: allModes}))
}

// Module returns the document of one module on one line: its declarations, without expressions and without
// the modules that it calls. It needs no schemas, so it can be had of a module that is not initialized.
func Module(m *config.Module) ([]byte, error) {
	return json.Marshal(configDocument(m, &configWriter{modes: allModes, bare: true}))
}

func configDocument(root *config.Module, w *configWriter) *jsonConfig {
	w.providers, w.used = map[string]jsonProviderConfig{}, map[*config.Module]map[string]bool{}
	return &jsonConfig{RootModule: *w.module(root), ProviderConfig: w.providers}
}

// module encodes a module and, through its calls, the modules below it. It enters the module's provider
// configurations into the table of the document on the way.
func (w *configWriter) module(m *config.Module) *jsonConfigModule {
	w.enterProviders(m)
	out := &jsonConfigModule{Outputs: mapValues(m.Outputs, w.output), Variables: mapValues(m.Variables, variableJSON)}
	for _, mode := range w.modes { // documents list managed resources before data sources
		out.Resources = append(out.Resources, w.resources(m, mode)...)
	}
	out.Actions = w.actions(m)
	out.ModuleCalls = mapValues(m.Calls, func(c *config.ModuleCall) jsonModuleCall { return w.call(m, c) })
	return out
}

func (w *configWriter) output(o *config.Output) jsonConfigOutput {
	out := jsonConfigOutput{
		Sensitive: o.Sensitive, Ephemeral: o.Ephemeral, Deprecated: o.Deprecated, DependsOn: traversalsJSON(o.DependsOn), Description: o.Description,
	}
	if !w.bare {
		out.Expression = expressionJSON(o.Expr)
	}
	return out
}

// variableJSON encodes a variable block. A variable without a type, or of type any, has no type in the
// document.
func variableJSON(v *config.Variable) jsonConfigVariable {
	out := jsonConfigVariable{
		Description: v.Description, Required: v.Required(), Sensitive: v.Sensitive, Ephemeral: v.Ephemeral, Deprecated: v.Deprecated,
		Default: valueJSON(v.Default),
	}
	if v.Constraint != cty.NilType && v.Constraint != cty.DynamicPseudoType {
		out.Type = constraintJSON(v.Constraint)
	}
	return out
}

// resources encodes the resources of one mode, sorted by address.
func (w *configWriter) resources(m *config.Module, mode addr.Mode) []jsonConfigResource {
	var out []jsonConfigResource
	for a, r := range m.Resources {
		if a.Mode == mode {
			out = append(out, w.resource(m, r))
		}
	}
	slices.SortFunc(out, func(a, b jsonConfigResource) int { return strings.Compare(a.Address, b.Address) })
	return out
}

// resource encodes one resource block. The expressions of its body are left out if the schema is unknown,
// since without it arguments and blocks look the same.
func (w *configWriter) resource(m *config.Module, r *config.Resource) jsonConfigResource {
	ref := r.ProviderRef()
	out := jsonConfigResource{
		Address: r.Addr.String(), Mode: modeJSON(r.Addr.Mode), Type: r.Addr.Type, Name: r.Addr.Name,
		ProviderConfigKey: w.providerKey(m, ref), DependsOn: traversalsJSON(r.DependsOn),
	}
	for _, p := range r.Provisioners {
		out.Provisioners = append(out.Provisioners, jsonProvisioner{p.Type, w.attributes(p.Body)})
	}
	if w.bare {
		return out
	}
	out.CountExpression, out.ForEachExpression = tellingJSON(r.Repeat.Count), tellingJSON(r.Repeat.ForEach)
	out.SchemaVersion = new(int64)
	if w.schemas != nil {
		if s := w.schemas.Resource(m.ProviderFor(ref.Name), r.Addr.Mode, r.Addr.Type); s != nil {
			out.SchemaVersion, out.Expressions = &s.Version, bodyJSON(r.Body, s.Block)
		}
	}
	return out
}

// attributes encodes the attributes of a body that has no schema. Its blocks are left out.
func (w *configWriter) attributes(body hcl.Body) map[string]any {
	if body == nil || w.bare {
		return nil
	}
	attrs, _ := body.JustAttributes()
	return mapValues(attrs, attributeExpression)
}

func attributeExpression(a *hcl.Attribute) any { return expressionJSON(a.Expr) }

// call encodes a module call with the module that it calls. A module that is not installed has no content.
func (w *configWriter) call(m *config.Module, c *config.ModuleCall) jsonModuleCall {
	out := jsonModuleCall{Source: c.Source, VersionConstraint: c.Version.Text, DependsOn: traversalsJSON(c.DependsOn)}
	if w.bare {
		return out
	}
	out.CountExpression, out.ForEachExpression = tellingJSON(c.Repeat.Count), tellingJSON(c.Repeat.ForEach)
	out.Expressions = mapValues(c.Inputs, attributeExpression)
	out.Module = &jsonConfigModule{}
	if child := m.Children[c.Name]; child != nil {
		out.Module = w.module(child)
	}
	return out
}
