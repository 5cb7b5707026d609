package state

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// decodeValue reads a value of type ty. cty's decoder creates a buffered reader for each value of dynamic
// type. decodeValue avoids that for plain values, which most attributes are, and leaves everything else,
// including errors, to cty.
func decodeValue(b []byte, ty cty.Type) (cty.Value, error) {
	if v, ok := plainObject(b, ty); ok {
		return v, nil
	}
	return ctyjson.Unmarshal(b, ty)
}

// plainObject reads an object that has all attributes of its type. It returns false if the object is not
// plain.
func plainObject(b []byte, ty cty.Type) (cty.Value, bool) {
	if !ty.IsObjectType() {
		return cty.NilVal, false
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(b, &raw) != nil || raw == nil {
		return cty.NilVal, false
	}
	types := ty.AttributeTypes()
	attrs := make(map[string]cty.Value, len(types))
	for name, ty := range types {
		b, ok := raw[name]
		if !ok {
			attrs[name] = cty.NullVal(ty)
			continue
		}
		v, err := plainValue(b, ty)
		if err != nil {
			return cty.NilVal, false
		}
		attrs[name] = v
		delete(raw, name)
	}
	return cty.ObjectVal(attrs), len(raw) == 0
}

// plainValue reads one attribute.
func plainValue(b json.RawMessage, ty cty.Type) (cty.Value, error) {
	switch first := b[0]; {
	case first == 'n':
		return cty.NullVal(ty), nil
	case ty == cty.DynamicPseudoType:
		return plainDynamic(b)
	case ty == cty.String && first == '"':
		var s string
		err := json.Unmarshal(b, &s)
		return cty.StringVal(s), err
	case ty == cty.Bool && (first == 't' || first == 'f'):
		return cty.BoolVal(first == 't'), nil
	}
	return ctyjson.Unmarshal(b, ty)
}

// plainDynamic reads a value that is stored together with its type.
func plainDynamic(b json.RawMessage) (cty.Value, error) {
	var pair map[string]json.RawMessage
	if json.Unmarshal(b, &pair) == nil && len(pair) == 2 && string(pair["type"]) == `"string"` && len(pair["value"]) > 0 {
		return plainValue(pair["value"], cty.String)
	}
	return ctyjson.Unmarshal(b, cty.DynamicPseudoType)
}
