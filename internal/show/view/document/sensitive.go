package document

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Sensitive lists the places of sensitive values in a state, and never a value.
type Sensitive struct {
	Attributes []SensitiveAttribute // by provider, mode, type and path
	Outputs    []string             // names, sorted
	Withheld   []SensitiveAttribute // whose values ephemeral_attributes keeps out of the state, in the same order
	// Unread are the types with objects whose schema is not known. Of these objects, the attributes are those
	// that were sensitive when they were stored.
	Unread []ResourceType
}

// ResourceType is a type of resources with its provider.
type ResourceType struct {
	Provider addr.Provider
	Mode     addr.Mode
	Type     string
}

// Compare orders types by provider, mode and name.
func (t ResourceType) Compare(o ResourceType) int {
	return cmp.Or(cmp.Compare(t.Provider.String(), o.Provider.String()), cmp.Compare(t.Mode, o.Mode), cmp.Compare(t.Type, o.Type))
}

// SensitiveAttribute is an attribute that has a sensitive value in at least one object.
type SensitiveAttribute struct {
	ResourceType
	Path      string        // in which [*] stands for all indices and keys
	BySchema  bool          // according to the provider, and not the configuration alone
	WriteOnly string        // the path of its write-only variant; "" if there is none
	Argument  bool          // the configuration sets it, so that ephemeral_attributes can name it
	Computed  bool          // only the provider gives it, and ephemeral_attributes can name it
	Objects   []addr.Object // that have such a value, in the order of addresses
}

// Empty reports whether nothing is sensitive, as far as is known, and nothing is kept out of the state.
func (s *Sensitive) Empty() bool {
	return len(s.Attributes)+len(s.Outputs)+len(s.Unread)+len(s.Withheld) == 0
}

// SensitiveOf finds the sensitive values of a state. An error names the object that cannot be decoded. s may
// be nil.
func SensitiveOf(st *state.State, s Schemas) (*Sensitive, error) {
	found := sensitiveFinder{attributes: map[attributeKey]*SensitiveAttribute{}, withheld: map[attributeKey]*SensitiveAttribute{}, unread: map[ResourceType]struct{}{}}
	for a, inst := range st.AllInstances() {
		objects, err := Objects(a, inst, s)
		if err != nil {
			return nil, err
		}
		for i := range objects {
			found.object(&objects[i])
		}
	}
	out := &Sensitive{Unread: slices.SortedFunc(maps.Keys(found.unread), ResourceType.Compare)}
	out.Attributes, out.Withheld = inOrder(found.attributes), inOrder(found.withheld)
	for name, o := range st.Outputs {
		if v, err := o.Value.Live(); o.Sensitive || err == nil && value.Contains(v, value.Sensitive) {
			out.Outputs = append(out.Outputs, name)
		}
	}
	slices.Sort(out.Outputs)
	return out, nil
}

// ByType yields the types that have sensitive attributes or are unread, in order, with their attributes.
func (s *Sensitive) ByType() iter.Seq2[ResourceType, []SensitiveAttribute] {
	by := map[ResourceType][]SensitiveAttribute{}
	for _, t := range s.Unread {
		by[t] = nil
	}
	for _, a := range s.Attributes {
		by[a.ResourceType] = append(by[a.ResourceType], a)
	}
	return func(yield func(ResourceType, []SensitiveAttribute) bool) {
		for _, t := range slices.SortedFunc(maps.Keys(by), ResourceType.Compare) {
			if !yield(t, by[t]) {
				return
			}
		}
	}
}

type attributeKey struct {
	ResourceType
	path string
}

func inOrder(attributes map[attributeKey]*SensitiveAttribute) []SensitiveAttribute {
	var out []SensitiveAttribute
	for _, a := range attributes {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b SensitiveAttribute) int {
		return cmp.Or(a.ResourceType.Compare(b.ResourceType), cmp.Compare(a.Path, b.Path))
	})
	return out
}

type sensitiveFinder struct {
	attributes, withheld map[attributeKey]*SensitiveAttribute
	unread               map[ResourceType]struct{}
}

// object adds the sensitive attributes of an object that have something in them. Without a schema, these are
// the paths that the state has.
func (f *sensitiveFinder) object(o *Object) {
	of := ResourceType{o.Provider, o.Addr.Resource.Mode, o.Addr.Resource.Type}
	bare, _ := o.Value.UnmarkDeep()
	for _, w := range o.Stored.Withheld {
		add(f.withheld, of, w.Path, o.Addr)
	}
	if o.Schema == nil {
		f.unread[of] = struct{}{}
		for _, path := range o.Stored.Sensitive {
			if has(bare, path) {
				f.attribute(of, path, nil, o.Addr)
			}
		}
		return
	}
	for _, path := range value.PathsWith(o.Value, value.Sensitive) {
		if has(bare, path) {
			f.attribute(of, path, o.Schema.Block, o.Addr)
		}
	}
}

// has reports whether a value has something at the path, whose steps need not fit its type. Null and empty
// values count as nothing: providers of the legacy type system have an empty text for an attribute that is
// not set.
func has(v cty.Value, path cty.Path) bool {
	for _, step := range path {
		if index, ok := step.(cty.IndexStep); ok && v.Type().IsObjectType() && index.Key.Type() == cty.String {
			step = cty.GetAttrStep{Name: index.Key.AsString()}
		}
		var err error
		if v, err = step.Apply(v); err != nil {
			return false
		}
	}
	return !v.IsNull() && !v.RawEquals(cty.StringVal("")) && (!v.CanIterateElements() || v.LengthInt() > 0)
}

// attribute adds an attribute of an object. b is nil if the schema is not known.
func (f *sensitiveFinder) attribute(of ResourceType, path cty.Path, b *schema.Block, at addr.Object) {
	a := add(f.attributes, of, path, at)
	if b != nil {
		attr := b.AttributeAt(path)
		a.BySchema, a.WriteOnly = attr != nil && attr.Sensitive, schema.EveryElementOf(b.WriteOnlySibling(path))
		_, err := b.Pattern(path)
		nameable := err == nil && of.Mode == addr.Managed && !path.Equals(cty.GetAttrPath("id"))
		a.Argument = nameable && b.Settable(path)
		a.Computed = nameable && !a.Argument && of.Provider != addr.BuiltinProvider // whose resources repeat an argument
	}
}

// add adds an attribute of an object to a list, and returns its entry.
func add(to map[attributeKey]*SensitiveAttribute, of ResourceType, path cty.Path, at addr.Object) *SensitiveAttribute {
	key := attributeKey{of, schema.EveryElementOf(path)}
	a := to[key]
	if a == nil {
		a = &SensitiveAttribute{ResourceType: of, Path: key.path}
		to[key] = a
	}
	if n := len(a.Objects); n == 0 || a.Objects[n-1] != at {
		a.Objects = append(a.Objects, at)
	}
	return a
}

// jsonSensitive is the document of what is sensitive.
type jsonSensitive struct {
	FormatVersion string              `json:"format_version"`
	Resources     []jsonSensitiveType `json:"resources"`
	Outputs       []string            `json:"outputs"`
	Withheld      []jsonWithheldType  `json:"ephemeral_attributes"`
}

// jsonWithheldType is an attribute of a type whose values are kept out of the state.
type jsonWithheldType struct {
	ProviderName string                `json:"provider_name"`
	Mode         string                `json:"mode"`
	Type         string                `json:"type"`
	Path         string                `json:"path"`
	Objects      []jsonSensitiveObject `json:"objects"`
}

// jsonSensitiveType is a type of resources with its sensitive attributes.
type jsonSensitiveType struct {
	ProviderName string                   `json:"provider_name"`
	Mode         string                   `json:"mode"`
	Type         string                   `json:"type"`
	SchemaKnown  bool                     `json:"schema_known"`
	Attributes   []jsonSensitiveAttribute `json:"attributes"`
}

// jsonSensitiveAttribute is an attribute of the type.
type jsonSensitiveAttribute struct {
	Path      string                `json:"path"`
	BySchema  bool                  `json:"by_schema"`
	WriteOnly string                `json:"write_only,omitempty"`
	Argument  bool                  `json:"argument"`
	Computed  bool                  `json:"computed"`
	Objects   []jsonSensitiveObject `json:"objects"`
}

// jsonSensitiveObject is an object that has a value there.
type jsonSensitiveObject struct {
	Address string `json:"address"`
	Deposed string `json:"deposed,omitempty"`
}

// SensitiveJSON returns the document of s on one line. It has no values.
func SensitiveJSON(s *Sensitive) ([]byte, error) {
	doc := jsonSensitive{FormatVersion: "1.2", Resources: []jsonSensitiveType{}, Outputs: append([]string{}, s.Outputs...), Withheld: []jsonWithheldType{}}
	for t, attributes := range s.ByType() {
		one := jsonSensitiveType{ProviderName: providerName(t.Provider), Mode: modeJSON(t.Mode), Type: t.Type, SchemaKnown: !slices.Contains(s.Unread, t), Attributes: []jsonSensitiveAttribute{}}
		for _, a := range attributes {
			one.Attributes = append(one.Attributes, jsonSensitiveAttribute{Path: a.Path, BySchema: a.BySchema, WriteOnly: a.WriteOnly, Argument: a.Argument, Computed: a.Computed, Objects: objectsJSON(a.Objects)})
		}
		doc.Resources = append(doc.Resources, one)
	}
	for _, a := range s.Withheld {
		doc.Withheld = append(doc.Withheld, jsonWithheldType{ProviderName: providerName(a.Provider), Mode: modeJSON(a.Mode), Type: a.Type, Path: a.Path, Objects: objectsJSON(a.Objects)})
	}
	return json.Marshal(doc)
}

func objectsJSON(objects []addr.Object) []jsonSensitiveObject {
	var out []jsonSensitiveObject
	for _, o := range objects {
		out = append(out, jsonSensitiveObject{o.Instance.String(), string(o.Deposed)})
	}
	return out
}
