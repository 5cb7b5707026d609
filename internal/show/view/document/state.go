package document

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// jsonState is the document of a state, and the part of a plan's document about the state before it. The
// minor part of the format's version counts additions; terraform-json refuses another major one.
type jsonState struct {
	FormatVersion    string                       `json:"format_version"`
	TerraformVersion string                       `json:"terraform_version,omitempty"`
	ProductVersion   string                       `json:"mayfly_version,omitempty"`
	Values           *jsonValues[jsonStateOutput] `json:"values,omitempty"`
	Checks           []jsonCheck                  `json:"checks,omitempty"`
}

// jsonValues has the existing or planned values, by module. O is the form of an output.
type jsonValues[O any] struct {
	Outputs    map[string]O `json:"outputs,omitempty"`
	RootModule jsonModule   `json:"root_module"`
	Incomplete bool         `json:"incomplete,omitempty"` // a plan has read a part of the state
}

// jsonStateOutput is an OutputValue whose members are in the order that states have: programs compare texts
// too.
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

// State returns the JSON document of a state on one line. For nil, and for a state without objects and
// outputs, it has only the version of the format. s may be nil; without the schema of an object, only values
// stored as sensitive are flagged. An error names the object or output that cannot be decoded.
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
	outputs, err := outputsJSON(st.Outputs)
	if err != nil {
		return nil, err
	}
	values := &jsonValues[jsonStateOutput]{Outputs: outputs}
	tree := newModuleTree()
	for a, inst := range st.AllInstances() {
		if a.Resource.Mode == addr.Ephemeral {
			continue
		}
		objects, err := Objects(a, inst, s)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			tree.add(a.Module, o.json())
		}
	}
	values.RootModule = tree.json(false)
	doc.Values = values
	doc.Checks = checksJSON(st.Checks)
	return doc, nil
}

// Results returns the document of a state with its outputs and checks alone. An error names the output that
// cannot be decoded.
func Results(st *state.State, v Versions) ([]byte, error) {
	outputs, err := outputsJSON(st.Outputs)
	if err != nil {
		return nil, err
	}
	doc := &jsonState{FormatVersion: "1.0", TerraformVersion: v.Compat, ProductVersion: v.Product, Checks: checksJSON(st.Checks)}
	doc.Values = &jsonValues[jsonStateOutput]{Outputs: outputs, RootModule: newModuleTree().json(false)}
	return json.Marshal(doc)
}

// outputsJSON encodes root outputs. An error names the output that cannot be decoded.
func outputsJSON(outputs map[string]*state.Output) (map[string]jsonStateOutput, error) {
	values, err := OutputValues(outputs)
	out := make(map[string]jsonStateOutput, len(values))
	for name, o := range values {
		out[name] = jsonStateOutput{o.Sensitive, o.Value, o.Type}
	}
	return out, err
}

// StateInstance returns the document of a state with a single instance, with its current object only. The
// state must have the instance.
func StateInstance(st *state.State, a addr.Instance, s Schemas, v Versions) ([]byte, error) {
	doc := &jsonState{FormatVersion: "1.0", TerraformVersion: v.Compat, ProductVersion: v.Product, Values: &jsonValues[jsonStateOutput]{}}
	objects, err := Objects(a, st.Instance(a), s)
	if err != nil {
		return nil, err
	}
	tree := newModuleTree()
	for _, o := range objects {
		if o.Addr.Deposed == addr.Current {
			tree.add(a.Module, o.json())
		}
	}
	doc.Values.RootModule = tree.json(false)
	return json.Marshal(doc)
}

// OutputValues returns the values of root outputs by name. An error names the output.
func OutputValues(outputs map[string]*state.Output) (map[string]OutputValue, error) {
	out := make(map[string]OutputValue, len(outputs))
	for name, o := range outputs {
		v, err := o.Value.Live()
		if err != nil {
			return nil, fmt.Errorf("output.%s: %w", name, err)
		}
		out[name] = outputValueOf(v, o.Sensitive)
	}
	return out, nil
}

// outputValueOf encodes the value of an output. The whole output is sensitive if a part of its value is:
// programs mask outputs by this one flag.
func outputValueOf(v cty.Value, sensitive bool) OutputValue {
	out := OutputValue{Sensitive: sensitive, Value: valueJSON(v)}
	if v != cty.NilVal {
		raw, deep := v.UnmarkDeep()
		out.Sensitive = sensitive || len(deep) > 0
		out.Type = typeJSON(raw.Type())
	}
	return out
}

// Outputs returns the document of all outputs: an object by name, indented. Sensitive values are in it.
// Scripts and CI systems read it to pass outputs on.
func Outputs(outputs map[string]*state.Output) ([]byte, error) {
	all, err := OutputValues(outputs)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(all, "", "  ")
}

// Output returns the value of one output, on one line, without a flag for sensitivity.
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
