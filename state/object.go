package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// ErrLegacyObject is returned by Decode for an object whose attributes are still in the flat form of old
// state files. Only its provider can convert it, by upgrading it from the Flatmap.
var ErrLegacyObject = errors.New("the object was stored by an old version and must first be upgraded by its provider")

// ObjectFrom encodes d as the attributes of a new object. It fails if d is null or has unknown parts; the
// error names the place but no value. Attributes named in absent are left out if they are null, for readers
// that don't know them: decoding returns null for missing attributes. The caller may set the other fields of
// the result until it adds the object to a State.
func ObjectFrom(d value.Durable, absent ...string) (*Object, error) {
	if d.IsNull() {
		return nil, errors.New("a null value cannot be stored as an object")
	}
	attrs, err := encodeAttributes(d, absent)
	if err != nil {
		return nil, err
	}
	return &Object{attrs: attrs, Sensitive: sortedPaths(d.Sensitive())}, nil
}

// IdentityFrom encodes d in the form of Object.Identity. It returns nil for a null or absent value. It
// fails if the value has unknown parts.
func IdentityFrom(d value.Durable) ([]byte, error) {
	if d.IsNull() {
		return nil, nil
	}
	return encodeKnown(d)
}

// encodeAttributes encodes an object for the state. It goes from one encoding to the other without making
// the value, apart from attributes that have parts.
func encodeAttributes(d value.Durable, absent []string) ([]byte, error) {
	parts, ok := d.Parts()
	if !ok {
		return encodeKnown(d)
	}
	b, err := appendParts(make([]byte, 0, 64*len(parts)), parts, absent)
	return slices.Clone(b), err
}

// appendParts appends an object. Parts named in absent are left out if they are null.
func appendParts(b []byte, parts []value.Part, absent []string) ([]byte, error) {
	b = append(b, '{')
	begin := len(b)
	for _, p := range parts {
		if isNull(p) && slices.Contains(absent, p.Name) {
			continue
		}
		if len(b) > begin {
			b = append(b, ',')
		}
		b = append(appendString(b, p.Name), ':')
		var err error
		if b, err = appendPart(b, p); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// isNull reports whether an attribute is stored as null, without a type of its own.
func isNull(p value.Part) bool { return p.IsNull() && (!p.Open || p.Type == cty.DynamicPseudoType) }

// appendPart appends an attribute. If its type is open, the type is stored beside the value.
func appendPart(b []byte, p value.Part) ([]byte, error) {
	text, isText := p.Text()
	switch {
	case isText && p.Open:
		return append(appendString(append(b, `{"value":`...), string(text)), `,"type":"string"}`...), nil
	case isText:
		return appendString(b, string(text)), nil
	case isNull(p):
		return append(b, "null"...), nil
	}
	if parts, ok := p.Parts(); ok {
		if whole, err := appendParts(b, parts, nil); err == nil {
			return whole, nil
		}
	} // an error about a part is one about the value, with its path
	v, err := p.Value()
	if err != nil {
		return nil, fmt.Errorf("decoding a stored value: %w", err)
	}
	if !v.IsWhollyKnown() {
		return nil, fmt.Errorf("the value at %q is not known, so the object cannot be stored", schema.PathString(slices.Concat(cty.GetAttrPath(p.Name), firstUnknown(v))))
	}
	ty := p.Type
	if p.Open {
		ty = cty.DynamicPseudoType
	}
	j, err := ctyjson.Marshal(v, ty)
	if err != nil {
		return nil, fmt.Errorf("encoding an object for the state: %w", err)
	}
	return append(b, j...), nil
}

// encodeOutput encodes the value of an output, which is known.
func encodeOutput(d value.Durable) ([]byte, error) {
	if parts, ok := d.Parts(); ok {
		if b, err := appendParts(nil, parts, nil); err == nil {
			return b, nil
		}
	}
	v, err := d.Unmarked()
	if err != nil {
		return nil, err
	}
	if !v.IsWhollyKnown() {
		return nil, errors.New("a value that is not known cannot be stored")
	}
	return ctyjson.Marshal(v, d.Type())
}

// encodeKnown encodes a value through cty, and fails if it has unknown parts.
func encodeKnown(d value.Durable) ([]byte, error) {
	v, err := d.Unmarked()
	if err != nil {
		return nil, err
	}
	if !v.IsWhollyKnown() {
		return nil, fmt.Errorf("the value at %q is not known, so the object cannot be stored", schema.PathString(firstUnknown(v)))
	}
	b, err := ctyjson.Marshal(v, d.Type())
	if err != nil {
		return nil, fmt.Errorf("encoding an object for the state: %w", err)
	}
	return b, nil
}

// firstUnknown returns the path of the first unknown part of a value; nil if there is none.
func firstUnknown(v cty.Value) cty.Path {
	var found cty.Path
	_ = cty.Walk(v, func(p cty.Path, v cty.Value) (bool, error) {
		if found == nil && !v.IsKnown() {
			found = p.Copy()
		}
		return found == nil, nil
	})
	return found
}

// sortedPaths returns a copy of paths in the order in which they are stored.
func sortedPaths(paths []cty.Path) []cty.Path {
	sorted := slices.Clone(paths)
	slices.SortStableFunc(sorted, func(a, b cty.Path) int {
		return strings.Compare(schema.PathString(a), schema.PathString(b))
	})
	return sorted
}

// Clone returns a copy of o, without its version, whose fields the caller may set before adding it to a
// State. The slices are shared: replace them, don't modify their elements.
func (o *Object) Clone() *Object {
	c := *o
	c.Version = Version{}
	return &c
}

// WithValue returns a copy of the object with d as its attributes. Errors and absent are as in ObjectFrom.
func (o *Object) WithValue(d value.Durable, absent ...string) (*Object, error) {
	from, err := ObjectFrom(d, absent...)
	if err != nil {
		return nil, err
	}
	n := o.Clone()
	n.attrs, n.Sensitive, n.Flatmap, n.Hidden = from.attrs, from.Sensitive, nil, nil
	return n, nil
}

// JSON returns the attributes as compact JSON, or nil for a legacy object (see Flatmap). The caller must
// not modify it.
func (o *Object) JSON() []byte { return o.attrs }

// Decode returns the object's value, decoded against ty, with its sensitive marks restored. It fails with
// ErrLegacyObject for a flat object, and if the attributes don't fit ty, which usually means that the
// provider must upgrade the object first.
func (o *Object) Decode(ty cty.Type) (cty.Value, error) {
	v, err := o.DecodeUnmarked(ty)
	if err != nil {
		return cty.NilVal, err
	}
	return value.MarkPaths(v, o.Sensitive, value.Sensitive), nil
}

// DecodeUnmarked is Decode without the marks.
func (o *Object) DecodeUnmarked(ty cty.Type) (cty.Value, error) {
	if o.attrs == nil {
		return cty.NilVal, ErrLegacyObject
	}
	v, err := decodeValue(o.attrs, ty)
	if err != nil {
		if pe, ok := errors.AsType[cty.PathError](err); ok {
			return cty.NilVal, fmt.Errorf("the stored attribute %q does not fit the provider's schema", schema.PathString(pe.Path))
		}
		return cty.NilVal, errors.New("the stored attributes do not fit the provider's schema")
	}
	return v, nil
}

// ID returns the attribute "id", "" if it is missing or not a string, and for nil. The stored text is read
// rather than the value, so that no schema is needed.
func (o *Object) ID() string {
	if o == nil {
		return ""
	}
	if o.Flatmap != nil {
		return o.Flatmap["id"]
	}
	var attrs struct {
		ID any `json:"id"`
	}
	if err := json.Unmarshal(o.attrs, &attrs); err != nil {
		return ""
	}
	id, _ := attrs.ID.(string)
	return id
}

// Equal reports whether both objects would be stored as the same bytes. Either may be nil.
func (o *Object) Equal(other *Object) bool {
	if o == other {
		return true
	}
	if o == nil || other == nil {
		return false
	}
	return bytes.Equal(o.attrs, other.attrs) && bytes.Equal(appendInstance(nil, instanceHead{}, o), appendInstance(nil, instanceHead{}, other))
}
