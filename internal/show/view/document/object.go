package document

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Object is one object of a state, decoded, with its schema. Documents and text show the same of it.
type Object struct {
	Addr     addr.Object
	Provider addr.Provider
	Stored   *state.Object
	Schema   *schema.Schema // nil if unknown
	Value    cty.Value      // with sensitive marks
}

// Objects returns the objects of an instance, the current one first, then those that replacements left
// behind. An error names the object that cannot be decoded. s may be nil.
func Objects(a addr.Instance, inst *state.Instance, s Schemas) ([]Object, error) {
	var out []Object
	add := func(key addr.Deposed, obj *state.Object) error {
		o, err := decodeObject(addr.Object{Instance: a, Deposed: key}, inst.Provider.Provider, obj, s)
		if err == nil {
			out = append(out, o)
		}
		return err
	}
	if inst.Current != nil {
		if err := add(addr.Current, inst.Current); err != nil {
			return nil, err
		}
	}
	for _, key := range inst.DeposedKeys() {
		if err := add(key, inst.Deposed[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeObject returns one object of a state. An error names it.
func decodeObject(a addr.Object, p addr.Provider, stored *state.Object, s Schemas) (Object, error) {
	o := Object{Addr: a, Provider: p, Stored: stored}
	if s != nil {
		o.Schema = s.Resource(p, a.Resource.Mode, a.Resource.Type)
	}
	var err error
	if o.Value, err = o.decode(); err != nil {
		err = fmt.Errorf("%s: %w", a, err)
	}
	return o, err
}

// decode decodes the value by the schema. If the schema does not fit, because an older or newer provider
// wrote the object, the type follows from the stored text alone.
func (o *Object) decode() (cty.Value, error) {
	if o.Schema != nil && o.Schema.Version == o.Stored.SchemaVersion {
		if v, err := o.Stored.Decode(o.Schema.Block.Type()); err == nil {
			return markSchema(o.Schema.Block.NullWriteOnly(v), o.Schema.Block), nil
		}
	}
	o.Schema = nil
	if o.Stored.JSON() == nil {
		flat := map[string]cty.Value{}
		for k, v := range o.Stored.Flatmap {
			flat[k] = cty.StringVal(v)
		}
		return cty.ObjectVal(flat), nil
	}
	ty, err := ctyjson.ImpliedType(o.Stored.JSON())
	if err != nil {
		return cty.NilVal, fmt.Errorf("the stored attributes are not valid: %w", err)
	}
	return o.Stored.Decode(ty)
}

// markSchema marks the parts that the schema declares sensitive. A provider may have begun to declare them so
// after the object was stored.
func markSchema(v cty.Value, b *schema.Block) cty.Value {
	if b == nil || !b.HasSensitive() || v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return v
	}
	raw, marks := v.UnmarkDeepWithPaths()
	return value.MarkPaths(raw.MarkWithPaths(marks), b.SensitivePaths(raw), value.Sensitive)
}

// providerName returns the source address, "" for the zero Provider.
func providerName(p addr.Provider) string {
	if p.IsZero() {
		return ""
	}
	return p.String()
}

// jsonInstance is the address of a resource instance in parts. Programs select resources by them, test
// frameworks also by the provider.
type jsonInstance struct {
	Mode         string   `json:"mode"`
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	Index        addr.Key `json:"index,omitzero"`
	ProviderName string   `json:"provider_name"`
}

// jsonResource is an object of a resource instance. SensitiveValues has the shape of Values and is true where
// these are sensitive.
type jsonResource struct {
	Address string `json:"address"`
	jsonInstance
	SchemaVersion   int64             `json:"schema_version"`
	Values          json.RawMessage   `json:"values,omitempty"`
	SensitiveValues json.RawMessage   `json:"sensitive_values"`
	Withheld        []json.RawMessage `json:"ephemeral_attributes,omitempty"` // paths of attributes whose values are kept out of the state
	Identity        json.RawMessage   `json:"identity,omitempty"`
	IdentityVersion *int64            `json:"identity_schema_version,omitempty"`
	DependsOn       []string          `json:"depends_on,omitempty"`
	Tainted         bool              `json:"tainted,omitempty"`
	DeposedKey      string            `json:"deposed_key,omitempty"`
}

// Key returns the key of an instance as documents write it: unknown keys, of which only deferred changes have
// any, are "*".
func Key(k addr.Key) addr.Key {
	if k == addr.AnyKey {
		return addr.StringKey("*")
	}
	return k
}

func instanceJSON(a addr.Instance, p addr.Provider) jsonInstance {
	return jsonInstance{Mode: modeJSON(a.Resource.Mode), Type: a.Resource.Type, Name: a.Resource.Name, Index: Key(a.Key), ProviderName: providerName(p)}
}

// modeJSON returns the word for a mode in documents, which is not the keyword of the block.
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
func (o Object) json() jsonResource {
	obj := o.Stored
	r := jsonResource{
		Address: o.Addr.Instance.String(), jsonInstance: instanceJSON(o.Addr.Instance, o.Provider), SchemaVersion: obj.SchemaVersion,
		Values: unlessEmpty(valueJSON(o.Value)), SensitiveValues: shapeJSON(o.Value, isSensitive), Tainted: obj.Tainted, DeposedKey: string(o.Addr.Deposed),
	}
	for _, w := range obj.Withheld {
		r.Withheld = append(r.Withheld, pathJSON(w.Path))
	}
	for _, dep := range obj.Dependencies {
		r.DependsOn = append(r.DependsOn, dep.String())
	}
	if obj.Identity != nil {
		r.Identity = json.RawMessage(obj.Identity)
		r.IdentityVersion = &obj.IdentityVersion
	}
	return r
}
