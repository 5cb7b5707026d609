package document

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// valueJSON encodes a value without its marks. Unknown parts are left out of objects and maps, and are null
// in lists. It returns nil for a value that doesn't exist or is unknown as a whole.
func valueJSON(v cty.Value) json.RawMessage {
	if v == cty.NilVal {
		return nil
	}
	v, _ = v.Unmark()
	if !v.IsKnown() {
		return nil
	}
	var buf bytes.Buffer
	writeValue(&buf, v)
	return buf.Bytes()
}

// present reports whether a value exists and is not null. Marks make no difference.
func present(v cty.Value) bool { return v != cty.NilVal && !v.IsNull() }

// unlessEmpty returns the text of an object, or nil if it has no members: a resource of which nothing is
// known has no values in a document.
func unlessEmpty(b json.RawMessage) json.RawMessage {
	if string(b) == "{}" {
		return nil
	}
	return b
}

// writeValue writes a value as JSON. It exists because the encoder of cty refuses unknown and marked
// values, both of which occur deep inside plans. Infinity has no form in JSON and is null.
func writeValue(buf *bytes.Buffer, v cty.Value) {
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown() || v.IsNull():
		buf.WriteString("null")
	case ty == cty.String:
		writeString(buf, v.AsString())
	case ty == cty.Number && v.AsBigFloat().IsInf():
		buf.WriteString("null")
	case ty == cty.Number:
		buf.WriteString(v.AsBigFloat().Text('f', -1))
	case ty == cty.Bool:
		buf.WriteString(strconv.FormatBool(v.True()))
	case ty.IsMapType() || ty.IsObjectType():
		buf.WriteByte('{')
		first := true
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if !e.IsKnown() {
				continue
			}
			separate(buf, &first)
			writeString(buf, k.AsString())
			buf.WriteByte(':')
			writeValue(buf, e)
		}
		buf.WriteByte('}')
	case v.CanIterateElements():
		buf.WriteByte('[')
		first := true
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			separate(buf, &first)
			writeValue(buf, e)
		}
		buf.WriteByte(']')
	default:
		buf.WriteString("null")
	}
}

// separate writes the comma before every item but the first.
func separate(buf *bytes.Buffer, first *bool) {
	if !*first {
		buf.WriteByte(',')
	}
	*first = false
}

// writeString writes a JSON string. Invalid UTF-8 is replaced, so it cannot fail.
func writeString(buf *bytes.Buffer, s string) {
	if isPlain(s) {
		buf.WriteByte('"')
		buf.WriteString(s)
		buf.WriteByte('"')
		return
	}
	b, err := json.Marshal(s)
	if err != nil {
		b = []byte(`""`)
	}
	buf.Write(b)
}

// isPlain reports whether a JSON string has the characters of s as they are. It may be false for some that
// do.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// shapeJSON encodes which parts of a value satisfy a condition, as documents do for sensitive and unknown
// parts: true for a part that does; other parts are left out of objects and maps, and are false in lists.
func shapeJSON(v cty.Value, holds func(cty.Value) bool) json.RawMessage {
	var buf bytes.Buffer
	if v == cty.NilVal || !writeShape(&buf, v, holds) {
		return json.RawMessage("false")
	}
	return buf.Bytes()
}

// writeShape writes the shape of one part and reports whether it wrote anything. It writes nothing for a
// scalar or null that doesn't satisfy the condition. Containers are always written, so that the document
// has the shape of the value.
func writeShape(buf *bytes.Buffer, v cty.Value, holds func(cty.Value) bool) bool {
	if holds(v) {
		buf.WriteString("true")
		return true
	}
	v, _ = v.Unmark()
	ty := v.Type()
	isMapping := ty.IsMapType() || ty.IsObjectType()
	switch {
	case v.IsKnown() && v.IsNull():
		return false
	case !v.IsKnown() && isMapping:
		buf.WriteString("{}")
		return true
	case !v.IsKnown() && (ty.IsCollectionType() || ty.IsTupleType()):
		buf.WriteString("[]")
		return true
	case !v.CanIterateElements():
		return false
	}
	if isMapping {
		buf.WriteByte('{')
		first := true
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if !hasShape(e, holds) {
				continue
			}
			separate(buf, &first)
			writeString(buf, k.AsString())
			buf.WriteByte(':')
			writeShape(buf, e, holds)
		}
		buf.WriteByte('}')
		return true
	}
	buf.WriteByte('[')
	first := true
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		separate(buf, &first)
		if !writeShape(buf, e, holds) {
			buf.WriteString("false")
		}
	}
	buf.WriteByte(']')
	return true
}

// hasShape reports whether writeShape writes anything.
func hasShape(v cty.Value, holds func(cty.Value) bool) bool {
	if holds(v) {
		return true
	}
	v, _ = v.Unmark()
	ty := v.Type()
	return (ty.IsObjectType() || ty.IsTupleType() || ty.IsCollectionType()) && !(v.IsKnown() && v.IsNull())
}

// isSensitive is the condition of the members about sensitivity. Only the marks of v itself count: shapeJSON
// asks about each part.
func isSensitive(v cty.Value) bool {
	_, secret := value.Unmark(v)
	return secret
}

// isUnknown is the condition of after_unknown.
func isUnknown(v cty.Value) bool {
	v, _ = v.Unmark()
	return !v.IsKnown()
}

// typeJSON encodes the type of a value, nil if there is none. The form is cty's: "string", ["list",
// "string"], or ["object", {…}].
func typeJSON(ty cty.Type) json.RawMessage {
	if ty == cty.NilType {
		return nil
	}
	return constraintJSON(ty.WithoutOptionalAttributesDeep())
}

// constraintJSON encodes a type constraint, whose objects may have optional attributes.
func constraintJSON(ty cty.Type) json.RawMessage {
	b, err := ctyjson.MarshalType(ty)
	if err != nil {
		return json.RawMessage(`"dynamic"`)
	}
	return b
}

// pathJSON encodes a path as an array of attribute names and indices.
func pathJSON(p cty.Path) json.RawMessage {
	steps := make([]any, 0, len(p))
	for _, step := range p {
		switch step := step.(type) {
		case cty.GetAttrStep:
			steps = append(steps, step.Name)
		case cty.IndexStep:
			if key := valueJSON(step.Key); key != nil {
				steps = append(steps, key)
			}
		}
	}
	b, err := json.Marshal(steps)
	if err != nil {
		return json.RawMessage("[]")
	}
	return b
}

// mapValues converts the values of a map; nil if there are none, so that the member is left out.
func mapValues[A, B any](in map[string]A, convert func(A) B) map[string]B {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]B, len(in))
	for k, v := range in {
		out[k] = convert(v)
	}
	return out
}
