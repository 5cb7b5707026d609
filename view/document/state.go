package document

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

type jsonState struct {
	FormatVersion    string           `json:"format_version"`
	TerraformVersion string           `json:"terraform_version,omitempty"`
	ProductVersion   string           `json:"mayfly_version,omitempty"`
	Values           *jsonStateValues `json:"values,omitempty"`
	Checks           json.RawMessage  `json:"checks,omitempty"`
}

type jsonValues struct {
	Outputs    map[string]OutputValue `json:"outputs,omitempty"`
	RootModule jsonModule             `json:"root_module"`
}

type jsonStateValues struct {
	Outputs    map[string]jsonStateOutput `json:"outputs,omitempty"`
	RootModule jsonModule                 `json:"root_module"`
}

// jsonStateOutput is a jsonOutput in the order that states have.
type jsonStateOutput struct {
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value,omitempty"`
	Type      json.RawMessage `json:"type,omitempty"`
}

// OutputValue is the value of a root output. Value and Type are nil for a value that is not known.
type OutputValue struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
}

type jsonModule struct {
	Resources    []jsonResource `json:"resources,omitempty"`
	Address      string         `json:"address,omitempty"`
	ChildModules []jsonModule   `json:"child_modules,omitempty"`
}

type jsonResource struct {
	Address         string          `json:"address"`
	Mode            string          `json:"mode"`
	Type            string          `json:"type"`
	Name            string          `json:"name"`
	Index           addr.Key        `json:"index,omitzero"`
	ProviderName    string          `json:"provider_name"`
	SchemaVersion   int64           `json:"schema_version"`
	Values          json.RawMessage `json:"values,omitempty"`
	SensitiveValues json.RawMessage `json:"sensitive_values"`
	Identity        json.RawMessage `json:"identity,omitempty"`
	IdentityVersion *int64          `json:"identity_schema_version,omitempty"`
	DependsOn       []string        `json:"depends_on,omitempty"`
	Tainted         bool            `json:"tainted,omitempty"`
	DeposedKey      string          `json:"deposed_key,omitempty"`
}

// State returns the JSON document of a state on one line. For nil, and for a state without objects and
// outputs, it has only the version of the format.
func State(st *state.State, s Schemas, v Versions) ([]byte, error) {
	doc, err := stateDocument(st, s, v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// stateDocument builds the document of a state. The deposed objects of an instance follow its current one.
func stateDocument(st *state.State, s Schemas, v Versions) (*jsonState, error) {
	doc := &jsonState{FormatVersion: "1.0"}
	if st == nil || st.Empty() {
		return doc, nil
	}
	doc.TerraformVersion, doc.ProductVersion = v.Compat, v.Product
	outputs, err := OutputValues(st.Outputs)
	if err != nil {
		return nil, err
	}
	values := &jsonStateValues{Outputs: make(map[string]jsonStateOutput, len(outputs))}
	for name, o := range outputs {
		values.Outputs[name] = jsonStateOutput{o.Sensitive, o.Value, o.Type}
	}
	tree := newModuleTree[jsonResource]()
	for a, inst := range st.AllInstances() {
		if a.Resource.Mode == addr.Ephemeral {
			continue
		}
		objects, err := Objects(a, inst, s)
		if err != nil {
			return nil, err
		}
		node := tree.in(a.Module)
		for _, so := range objects {
			node.items = append(node.items, so.json())
		}
	}
	values.RootModule = moduleJSON(tree)
	doc.Values = values
	if doc.Checks, err = checksJSON(st.Checks); err != nil {
		return nil, err
	}
	return doc, nil
}

func moduleJSON(t *moduleTree[jsonResource]) jsonModule {
	m := jsonModule{Resources: t.items, Address: t.module.String()}
	for _, c := range t.sorted() {
		m.ChildModules = append(m.ChildModules, moduleJSON(c))
	}
	return m
}

// plannedModuleJSON is moduleJSON with the resources of each module sorted by the text of their addresses,
// whatever their mode. That is the order of planned values.
func plannedModuleJSON(t *moduleTree[jsonResource]) jsonModule {
	slices.SortStableFunc(t.items, func(a, b jsonResource) int { return strings.Compare(a.Address, b.Address) })
	m := jsonModule{Resources: t.items, Address: t.module.String()}
	for _, c := range t.sorted() {
		m.ChildModules = append(m.ChildModules, plannedModuleJSON(c))
	}
	return m
}

func resourceHead(a addr.Instance, provider addr.Provider) jsonResource {
	return jsonResource{
		Address: a.String(), Mode: modeJSON(a.Resource.Mode), Type: a.Resource.Type, Name: a.Resource.Name,
		Index: a.Key, ProviderName: providerName(provider),
	}
}

func modeJSON(m addr.Mode) string {
	switch m {
	case addr.Data:
		return "data"
	case addr.Ephemeral:
		return "ephemeral"
	default:
		return "managed"
	}
}

// json encodes an object of a state, with the version of the schema that its value is stored under.
func (so Object) json() jsonResource {
	r := resourceHead(so.Addr.Instance, so.Provider)
	obj := so.Stored
	r.SchemaVersion = obj.SchemaVersion
	r.Values = attributesJSON(so.Value)
	r.SensitiveValues = shapeJSON(so.Value, isSensitive)
	r.Tainted = obj.Tainted
	r.DeposedKey = string(so.Addr.Deposed)
	for _, dep := range obj.Dependencies {
		r.DependsOn = append(r.DependsOn, dep.String())
	}
	if obj.Identity != nil {
		r.Identity = json.RawMessage(obj.Identity)
		r.IdentityVersion = &obj.IdentityVersion
	}
	return r
}

// StateInstance returns the document of a state that holds a single instance.
func StateInstance(st *state.State, a addr.Instance, s Schemas, v Versions) ([]byte, error) {
	doc := &jsonState{FormatVersion: "1.0", TerraformVersion: v.Compat, ProductVersion: v.Product, Values: &jsonStateValues{}}
	objects, err := Objects(a, st.Instance(a), s)
	if err != nil {
		return nil, err
	}
	tree := newModuleTree[jsonResource]()
	node := tree.in(a.Module)
	for _, so := range objects {
		if so.Addr.Deposed == addr.Current {
			node.items = append(node.items, so.json())
		}
	}
	doc.Values.RootModule = moduleJSON(tree)
	return json.Marshal(doc)
}

// OutputValues returns the values of root outputs by name. An error names the output.
func OutputValues(outputs map[string]*state.Output) (map[string]OutputValue, error) {
	out := make(map[string]OutputValue, len(outputs))
	for name, o := range outputs {
		j, err := outputOf(o)
		if err != nil {
			return nil, fmt.Errorf("output.%s: %w", name, err)
		}
		out[name] = j
	}
	return out, nil
}

func outputOf(o *state.Output) (OutputValue, error) {
	v, err := o.Value.Live()
	if err != nil {
		return OutputValue{}, err
	}
	return outputValueOf(v, o.Sensitive), nil
}

func outputValueOf(v cty.Value, sensitive bool) OutputValue {
	out := OutputValue{Sensitive: sensitive, Value: valueJSON(v)}
	if v != cty.NilVal {
		raw, deep := v.UnmarkDeep()
		out.Sensitive = sensitive || len(deep) > 0
		out.Type = typeJSON(raw.Type())
	}
	return out
}

// Outputs returns the document of all outputs: an object by name, indented.
func Outputs(outputs map[string]*state.Output) ([]byte, error) {
	all, err := OutputValues(outputs)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(all, "", "  ")
}

// Output returns the value of one output, on one line.
func Output(out *state.Output) ([]byte, error) {
	v, err := out.Value.Live()
	if err != nil {
		return nil, err
	}
	if b := valueJSON(v); b != nil {
		return b, nil
	}
	return []byte("null"), nil
}
