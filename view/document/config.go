package document

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/constraint"
	"github.com/mayfly-iac/mayfly/schema"
)

type jsonConfig struct {
	ProviderConfig map[string]jsonProviderConfig `json:"provider_config,omitempty"`
	RootModule     jsonConfigModule              `json:"root_module"`
}

type jsonProviderConfig struct {
	Name              string         `json:"name"`
	FullName          string         `json:"full_name"`
	Alias             string         `json:"alias,omitempty"`
	VersionConstraint string         `json:"version_constraint,omitempty"`
	ModuleAddress     string         `json:"module_address,omitempty"`
	Expressions       map[string]any `json:"expressions,omitempty"`
}

type jsonConfigModule struct {
	Outputs     map[string]jsonConfigOutput   `json:"outputs,omitempty"`
	Resources   []jsonConfigResource          `json:"resources,omitempty"`
	ModuleCalls map[string]jsonModuleCall     `json:"module_calls,omitempty"`
	Variables   map[string]jsonConfigVariable `json:"variables,omitempty"`
}

type jsonConfigOutput struct {
	Sensitive   bool            `json:"sensitive,omitempty"`
	Ephemeral   bool            `json:"ephemeral,omitempty"`
	Deprecated  string          `json:"deprecated,omitempty"`
	Expression  *jsonExpression `json:"expression,omitempty"`
	DependsOn   []string        `json:"depends_on,omitempty"`
	Description string          `json:"description,omitempty"`
}

type jsonConfigVariable struct {
	Type        json.RawMessage `json:"type,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
	Ephemeral   bool            `json:"ephemeral,omitempty"`
	Deprecated  string          `json:"deprecated,omitempty"`
}

type jsonConfigResource struct {
	Address           string            `json:"address"`
	Mode              string            `json:"mode"`
	Type              string            `json:"type"`
	Name              string            `json:"name"`
	ProviderConfigKey string            `json:"provider_config_key,omitempty"`
	Provisioners      []jsonProvisioner `json:"provisioners,omitempty"`
	Expressions       map[string]any    `json:"expressions,omitempty"`
	SchemaVersion     int64             `json:"schema_version"`
	CountExpression   *jsonExpression   `json:"count_expression,omitempty"`
	ForEachExpression *jsonExpression   `json:"for_each_expression,omitempty"`
	DependsOn         []string          `json:"depends_on,omitempty"`
}

type jsonProvisioner struct {
	Type        string         `json:"type"`
	Expressions map[string]any `json:"expressions,omitempty"`
}

type jsonModuleCall struct {
	Source            string           `json:"source,omitempty"`
	Expressions       map[string]any   `json:"expressions,omitempty"`
	CountExpression   *jsonExpression  `json:"count_expression,omitempty"`
	ForEachExpression *jsonExpression  `json:"for_each_expression,omitempty"`
	Module            jsonConfigModule `json:"module"`
	VersionConstraint string           `json:"version_constraint,omitempty"`
	DependsOn         []string         `json:"depends_on,omitempty"`
}

// configWriter builds the document of a configuration. Provider configurations are collected in one table
// for the whole tree; resources refer to it by key.
type configWriter struct {
	tree    *config.Tree
	schemas ConfigSchemas
	doc     *jsonConfig
	used    map[*config.Module]map[string]bool // see usedIn
	modes   []addr.Mode                        // of the resources in the document
}

// The document of a plan leaves out ephemeral resources; the document of a configuration alone has them.
var (
	lastingModes = []addr.Mode{addr.Managed, addr.Data}
	allModes     = []addr.Mode{addr.Managed, addr.Data, addr.Ephemeral}
)

func configDocument(tree *config.Tree, s ConfigSchemas, modes []addr.Mode) *jsonConfig {
	w := &configWriter{tree: tree, schemas: s, doc: &jsonConfig{ProviderConfig: map[string]jsonProviderConfig{}}, modes: modes}
	w.doc.RootModule = w.module(tree.Root)
	return w.doc
}

// module encodes a module and, through its calls, the modules below it. It enters the module's provider
// configurations into the table of the document on the way.
func (w *configWriter) module(m *config.Module) jsonConfigModule {
	w.providers(m)
	var out jsonConfigModule
	for name, o := range m.Outputs {
		if out.Outputs == nil {
			out.Outputs = map[string]jsonConfigOutput{}
		}
		out.Outputs[name] = jsonConfigOutput{
			Sensitive: o.Sensitive, Ephemeral: o.Ephemeral, Deprecated: o.Deprecated, Expression: expressionJSON(o.Expr),
			DependsOn: traversalsJSON(o.DependsOn), Description: o.Description,
		}
	}
	for name, v := range m.Variables {
		if out.Variables == nil {
			out.Variables = map[string]jsonConfigVariable{}
		}
		out.Variables[name] = variableJSON(v)
	}
	for _, mode := range w.modes {
		out.Resources = append(out.Resources, w.resources(m, mode)...)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		if out.ModuleCalls == nil {
			out.ModuleCalls = map[string]jsonModuleCall{}
		}
		out.ModuleCalls[name] = w.call(m, m.Calls[name])
	}
	return out
}

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

// resources encodes the resources of one mode, sorted by address: documents list managed resources before
// data sources.
func (w *configWriter) resources(m *config.Module, mode addr.Mode) []jsonConfigResource {
	var out []jsonConfigResource
	for a, r := range m.Resources {
		if a.Mode == mode {
			out = append(out, w.resource(m, r))
		}
	}
	slices.SortFunc(out, func(a, b jsonConfigResource) int {
		if a.Address < b.Address {
			return -1
		}
		return 1
	})
	return out
}

// resource encodes one resource block. The expressions of its body are left out if the schema is unknown,
// since without it arguments and blocks look the same.
func (w *configWriter) resource(m *config.Module, r *config.Resource) jsonConfigResource {
	ref := r.ProviderRef()
	out := jsonConfigResource{
		Address: r.Addr.String(), Mode: modeJSON(r.Addr.Mode), Type: r.Addr.Type, Name: r.Addr.Name,
		ProviderConfigKey: w.providerKey(m, ref),
		CountExpression:   tellingJSON(r.Repeat.Count), ForEachExpression: tellingJSON(r.Repeat.ForEach),
		DependsOn: traversalsJSON(r.DependsOn),
	}
	if w.schemas != nil {
		if s := w.schemas.Resource(m.ProviderFor(ref.Name), r.Addr.Mode, r.Addr.Type); s != nil {
			out.SchemaVersion = s.Version
			out.Expressions = bodyJSON(r.Body, s.Block)
		}
	}
	for _, p := range r.Provisioners {
		out.Provisioners = append(out.Provisioners, jsonProvisioner{p.Type, looseBodyJSON(p.Body)})
	}
	return out
}

// call encodes a module call with the module that it calls. A module that is not installed has no content.
func (w *configWriter) call(m *config.Module, c *config.ModuleCall) jsonModuleCall {
	out := jsonModuleCall{
		Source: c.Source, VersionConstraint: c.Version.Text, CountExpression: tellingJSON(c.Repeat.Count),
		ForEachExpression: tellingJSON(c.Repeat.ForEach), DependsOn: traversalsJSON(c.DependsOn),
	}
	for name, attr := range c.Inputs {
		if out.Expressions == nil {
			out.Expressions = map[string]any{}
		}
		out.Expressions[name] = expressionJSON(attr.Expr)
	}
	if child := m.Children[c.Name]; child != nil {
		out.Module = w.module(child)
	}
	return out
}

// providers enters the module's provider configurations into the table: its provider blocks, and for the
// root module also the implied, empty configurations.
func (w *configWriter) providers(m *config.Module) {
	for _, name := range slices.Sorted(maps.Keys(m.Providers)) {
		p := m.Providers[name]
		pc := w.providerConfig(m, p.Ref())
		if w.schemas != nil {
			if s := w.schemas.Provider(m.ProviderFor(p.Name)); s != nil {
				pc.Expressions = bodyJSON(p.Body, s.Block)
			}
		}
		w.doc.ProviderConfig[moduleKey(m, p.Ref())] = pc
	}
	used := map[string]bool{}
	for name := range m.Required {
		used[name] = true
	}
	for _, p := range m.Providers {
		used[p.Name] = true
	}
	for a, r := range m.Resources {
		if ref := r.ProviderRef(); ref.Alias == "" && slices.Contains(w.modes, a.Mode) {
			used[ref.Name] = true
		}
	}
	for name := range used {
		ref := config.ProviderRef{Name: name}
		holder, resolved := w.resolve(m, ref)
		key := moduleKey(holder, resolved)
		if _, known := w.doc.ProviderConfig[key]; !known {
			w.doc.ProviderConfig[key] = w.providerConfig(holder, resolved)
		}
	}
}

func (w *configWriter) providerConfig(m *config.Module, ref config.ProviderRef) jsonProviderConfig {
	pc := jsonProviderConfig{Name: ref.Name, FullName: m.ProviderFor(ref.Name).String(), Alias: ref.Alias, ModuleAddress: m.Path.String()}
	pc.VersionConstraint = constraint.Normal(versionConstraints(m, ref.Name)...)
	return pc
}

// versionConstraints returns the version constraints that a module has for a provider, from its
// required_providers entry and its provider blocks.
func versionConstraints(m *config.Module, name string) []string {
	var out []string
	if r := m.Required[name]; r != nil {
		out = append(out, r.Version.Text)
	}
	for _, p := range m.Providers {
		if p.Name == name {
			out = append(out, p.Version.Text)
		}
	}
	return out
}

func moduleKey(m *config.Module, ref config.ProviderRef) string {
	if m.Path.IsRoot() {
		return ref.String()
	}
	return m.Path.String() + ":" + ref.String()
}

func (w *configWriter) providerKey(m *config.Module, ref config.ProviderRef) string {
	holder, resolved := w.resolve(m, ref)
	return moduleKey(holder, resolved)
}

// resolve returns the module that holds a provider configuration and its name there. It climbs the module
// calls: through explicitly passed configurations, and by inheritance for default ones.
func (w *configWriter) resolve(m *config.Module, ref config.ProviderRef) (*config.Module, config.ProviderRef) {
	for m.Parent != nil && m.Call != nil && m.Providers[ref.String()] == nil {
		passed := passedAs(m.Call, ref)
		switch {
		case passed != nil:
			ref = config.ProviderRef{Name: passed.Name, Alias: passed.Alias}
		case ref.Alias == "":
			in, known := w.inherited(m, ref)
			if !known { // an empty configuration is made for the module that uses it
				return m, ref
			}
			ref = in
		default:
			return m, ref
		}
		m = m.Parent
	}
	return m, ref
}

func passedAs(c *config.ModuleCall, ref config.ProviderRef) *config.ProviderRef {
	for i := range c.Providers {
		if p := &c.Providers[i]; p.InChild.String() == ref.String() {
			return &p.InParent
		}
	}
	return nil
}

// inherited returns the local name that the parent module has for the provider; ok is false if the parent
// does not use it.
func (w *configWriter) inherited(m *config.Module, ref config.ProviderRef) (in config.ProviderRef, ok bool) {
	source := m.ProviderFor(ref.Name)
	if m.Parent.ProviderFor(ref.Name) == source && w.usedIn(m.Parent)[ref.Name] {
		return ref, true
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parent.Required)) {
		if m.Parent.Required[name].Source == source {
			return config.ProviderRef{Name: name}, true
		}
	}
	return ref, false
}

// usedIn returns the local names of the providers that a module itself requires, configures or uses.
func (w *configWriter) usedIn(m *config.Module) map[string]bool {
	if used, known := w.used[m]; known {
		return used
	}
	used := map[string]bool{}
	for name := range m.Required {
		used[name] = true
	}
	for _, p := range m.Providers {
		used[p.Name] = true
	}
	for _, r := range m.Resources {
		used[r.ProviderRef().Name] = true
	}
	if w.used == nil {
		w.used = map[*config.Module]map[string]bool{}
	}
	w.used[m] = used
	return used
}

// bodyJSON encodes the expressions of a block: one expression per attribute, an object for a block type
// that occurs at most once, arrays or objects by label for other block types.
func bodyJSON(body hcl.Body, b *schema.Block) map[string]any {
	if body == nil || b == nil {
		return nil
	}
	out := map[string]any{}
	content, _, _ := body.PartialContent(bodySchema(b))
	if content == nil {
		return nil
	}
	for name, attr := range content.Attributes {
		out[name] = expressionJSON(attr.Expr)
	}
	for _, block := range content.Blocks {
		nb := b.Blocks[block.Type]
		if nb == nil {
			continue
		}
		inner := bodyJSON(block.Body, &nb.Block)
		if inner == nil {
			inner = map[string]any{}
		}
		switch nb.Nesting {
		case schema.Single, schema.Group:
			out[block.Type] = inner
		case schema.Map:
			m, _ := out[block.Type].(map[string]any)
			if m == nil {
				m = map[string]any{}
				out[block.Type] = m
			}
			m[block.Labels[0]] = inner
		default:
			list, _ := out[block.Type].([]any)
			out[block.Type] = append(list, inner)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// bodySchema returns the HCL schema that reads a body as its provider schema describes it. Nothing is
// required: the document shows what is written, and validation has reported what is missing.
func bodySchema(b *schema.Block) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for name := range b.Attributes {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	for name, nb := range b.Blocks {
		header := hcl.BlockHeaderSchema{Type: name}
		if nb.Nesting == schema.Map {
			header.LabelNames = []string{"key"}
		}
		s.Blocks = append(s.Blocks, header)
	}
	return s
}

// looseBodyJSON encodes the attributes of a body without a schema. Blocks are left out.
func looseBodyJSON(body hcl.Body) map[string]any {
	if body == nil {
		return nil
	}
	attrs, _ := body.JustAttributes()
	out := map[string]any{}
	for name, attr := range attrs {
		out[name] = expressionJSON(attr.Expr)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
