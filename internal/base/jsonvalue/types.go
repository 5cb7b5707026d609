package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// The library reads and writes the JSON of a type anew at each level of it, which takes the size times the
// depth. The code below takes the size, gives the same result, and leaves texts that are not plainly a type
// to the library.

// UnmarshalType reads a type.
func UnmarshalType(b []byte) (ty cty.Type, err error) {
	// Attributes may be optional that the object does not have.
	defer func() {
		if recover() != nil {
			ty, err = cty.NilType, errType
		}
	}()
	if ty, rest, ok := cutType(b, 0); ok && len(space(rest)) == 0 {
		return ty, nil
	}
	return ctyjson.UnmarshalType(b)
}

// MarshalType writes a type. It fails for types that JSON cannot express, such as some of functions'
// arguments.
func MarshalType(ty cty.Type) ([]byte, error) {
	b, err := appendType(nil, ty)
	if err != nil {
		return ctyjson.MarshalType(ty)
	}
	return b, nil
}

// names are the names of types without parts, in JSON.
var names = map[string]cty.Type{`"string"`: cty.String, `"number"`: cty.Number, `"bool"`: cty.Bool, `"dynamic"`: cty.DynamicPseudoType}

var errLibrary = errors.New("left to the library")

func appendType(b []byte, ty cty.Type) ([]byte, error) {
	for name, known := range names {
		if ty == known {
			return append(b, name...), nil
		}
	}
	var err error
	switch {
	case ty.IsListType() || ty.IsSetType() || ty.IsMapType():
		kind := `["list",`
		if ty.IsSetType() {
			kind = `["set",`
		} else if ty.IsMapType() {
			kind = `["map",`
		}
		b, err = appendType(append(b, kind...), ty.ElementType())
	case ty.IsTupleType():
		b = append(b, `["tuple",[`...)
		for i, elem := range ty.TupleElementTypes() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendType(b, elem); err != nil {
				return nil, err
			}
		}
		b = append(b, ']')
	case ty.IsObjectType() && len(ty.OptionalAttributes()) == 0:
		b = append(b, `["object",{`...)
		attrs := ty.AttributeTypes()
		for i, name := range slices.Sorted(maps.Keys(attrs)) {
			if i > 0 {
				b = append(b, ',')
			}
			quoted, _ := json.Marshal(name) // a string has no reason to fail
			if b, err = appendType(append(append(b, quoted...), ':'), attrs[name]); err != nil {
				return nil, err
			}
		}
		b = append(b, '}')
	default:
		return nil, errLibrary
	}
	return append(b, ']'), err
}

// space takes white space off b.
func space(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// cut takes a sign off b, with white space before it.
func cut(b []byte, sign byte) ([]byte, bool) {
	b = space(b)
	if len(b) == 0 || b[0] != sign {
		return nil, false
	}
	return b[1:], true
}

// cutString takes a string off b, and returns it in its quotation marks.
func cutString(b []byte) (quoted, rest []byte, ok bool) {
	if b, ok = cut(b, '"'); !ok {
		return nil, nil, false
	}
	end := bounds.ClosingQuote(b)
	if end == len(b) {
		return nil, nil, false
	}
	return append(append([]byte{'"'}, b[:end]...), '"'), b[end+1:], true
}

// cutType takes a type off b. It is false if b does not plainly begin with one.
func cutType(b []byte, level int) (ty cty.Type, rest []byte, ok bool) {
	if inner, complex := cut(b, '['); complex && level < bounds.MaxLevels {
		return cutComplex(inner, level+1)
	}
	name, rest, ok := cutString(b)
	if !ok {
		return cty.NilType, nil, false
	}
	ty, ok = names[string(name)]
	return ty, rest, ok
}

// cutComplex takes a type with parts off b, whose first bracket has been taken.
func cutComplex(b []byte, level int) (ty cty.Type, rest []byte, ok bool) {
	kind, rest, ok := cutString(b)
	if !ok {
		return cty.NilType, nil, false
	}
	if rest, ok = cut(rest, ','); !ok {
		return cty.NilType, nil, false
	}
	switch string(kind) {
	case `"tuple"`:
		ty, rest, ok = cutElements(rest, level)
	case `"object"`:
		ty, rest, ok = cutAttributes(rest, level)
	case `"list"`, `"set"`, `"map"`:
		var elem cty.Type
		if elem, rest, ok = cutType(rest, level); !ok {
			return cty.NilType, nil, false
		}
		switch kind[1] {
		case 'l':
			ty = cty.List(elem)
		case 's':
			ty = cty.Set(elem)
		default:
			ty = cty.Map(elem)
		}
	default:
		return cty.NilType, nil, false
	}
	if !ok {
		return cty.NilType, nil, false
	}
	rest, ok = cut(rest, ']')
	return ty, rest, ok
}

// cutElements takes the types of a tuple's elements off b.
func cutElements(b []byte, level int) (ty cty.Type, rest []byte, ok bool) {
	if b, ok = cut(b, '['); !ok {
		return cty.NilType, nil, false
	}
	types := []cty.Type{}
	if rest, ok = cut(b, ']'); ok {
		return cty.Tuple(types), rest, true
	}
	for {
		var elem cty.Type
		if elem, b, ok = cutType(b, level); !ok {
			return cty.NilType, nil, false
		}
		types = append(types, elem)
		if rest, ok = cut(b, ']'); ok {
			return cty.Tuple(types), rest, true
		}
		if b, ok = cut(b, ','); !ok {
			return cty.NilType, nil, false
		}
	}
}

// cutAttributes takes the types of an object's attributes off b.
func cutAttributes(b []byte, level int) (ty cty.Type, rest []byte, ok bool) {
	if b, ok = cut(b, '{'); !ok {
		return cty.NilType, nil, false
	}
	types := map[string]cty.Type{}
	if rest, ok = cut(b, '}'); ok {
		return cty.Object(types), rest, true
	}
	for {
		var quoted []byte
		var name string
		var attr cty.Type
		if quoted, b, ok = cutString(b); !ok || json.Unmarshal(quoted, &name) != nil {
			return cty.NilType, nil, false
		}
		if b, ok = cut(b, ':'); !ok {
			return cty.NilType, nil, false
		}
		if attr, b, ok = cutType(b, level); !ok {
			return cty.NilType, nil, false
		}
		types[name] = attr
		if rest, ok = cut(b, '}'); ok {
			return cty.Object(types), rest, true
		}
		if b, ok = cut(b, ','); !ok {
			return cty.NilType, nil, false
		}
	}
}
