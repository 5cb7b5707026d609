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
	Objects   []addr.Object // that have such a value, in the order of addresses
}

// Empty reports whether nothing is sensitive, as far as is known.
func (s *Sensitive) Empty() bool { return len(s.Attributes)+len(s.Outputs)+len(s.Unread) == 0 }

// SensitiveOf finds the sensitive values of a state. An error names the object that cannot be decoded. s may
// be nil.
func SensitiveOf(st *state.State, s Schemas) (*Sensitive, error) {
	found := sensitiveFinder{attributes: map[attributeKey]*SensitiveAttribute{}, unread: map[ResourceType]struct{}{}}
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
	for _, a := range found.attributes {
		out.Attributes = append(out.Attributes, *a)
	}
	slices.SortFunc(out.Attributes, func(a, b SensitiveAttribute) int {
		return cmp.Or(a.ResourceType.Compare(b.ResourceType), cmp.Compare(a.Path, b.Path))
	})
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

type sensitiveFinder struct {
	attributes map[attributeKey]*SensitiveAttribute
	unread     map[ResourceType]struct{}
}

// object adds the sensitive attributes of an object that have something in them. Without a schema, these are
// the paths that the state has.
func (f *sensitiveFinder) object(o *Object) {
	of := ResourceType{o.Provider, o.Addr.Resource.Mode, o.Addr.Resource.Type}
	bare, _ := o.Value.UnmarkDeep()
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
	key := attributeKey{of, schema.EveryElementOf(path)}
	a := f.attributes[key]
	if a == nil {
		a = &SensitiveAttribute{ResourceType: of, Path: key.path}
		f.attributes[key] = a
	}
	if b != nil {
		attr := b.AttributeAt(path)
		a.BySchema, a.WriteOnly = attr != nil && attr.Sensitive, schema.EveryElementOf(b.WriteOnlySibling(path))
	}
	if n := len(a.Objects); n == 0 || a.Objects[n-1] != at {
		a.Objects = append(a.Objects, at)
	}
}

// jsonSensitive is the document of what is sensitive.
type jsonSensitive struct {
	FormatVersion string              `json:"format_version"`
	Resources     []jsonSensitiveType `json:"resources"`
	Outputs       []string            `json:"outputs"`
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
	Objects   []jsonSensitiveObject `json:"objects"`
}

// jsonSensitiveObject is an object that has a value there.
type jsonSensitiveObject struct {
	Address string `json:"address"`
	Deposed string `json:"deposed,omitempty"`
}

// SensitiveJSON returns the document of s on one line. It has no values.
func SensitiveJSON(s *Sensitive) ([]byte, error) {
	doc := jsonSensitive{FormatVersion: "1.0", Resources: []jsonSensitiveType{}, Outputs: append([]string{}, s.Outputs...)}
	for t, attributes := range s.ByType() {
		one := jsonSensitiveType{ProviderName: providerName(t.Provider), Mode: modeJSON(t.Mode), Type: t.Type, SchemaKnown: !slices.Contains(s.Unread, t), Attributes: []jsonSensitiveAttribute{}}
		for _, a := range attributes {
			attr := jsonSensitiveAttribute{Path: a.Path, BySchema: a.BySchema, WriteOnly: a.WriteOnly}
			for _, o := range a.Objects {
				attr.Objects = append(attr.Objects, jsonSensitiveObject{o.Instance.String(), string(o.Deposed)})
			}
			one.Attributes = append(one.Attributes, attr)
		}
		doc.Resources = append(doc.Resources, one)
	}
	return json.Marshal(doc)
}
