package state

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

// decodeValue reads a value of type ty. cty's decoder creates a buffered reader for each value of dynamic
// type, and decodes each token of the text. decodeValue cuts the text of an object into its attributes and
// reads plain values, which most attributes are, in place. It leaves everything else, including errors, to
// cty.
func decodeValue(b []byte, ty cty.Type) (cty.Value, error) {
	if v, ok := plainObject(b, ty); ok {
		return v, nil
	}
	return jsonvalue.Unmarshal(b, ty)
}

// plainObject reads an object that has no other attributes than its type. It returns false if the object is
// not plain. Missing attributes become null, as cty decodes them.
func plainObject(b []byte, ty cty.Type) (cty.Value, bool) {
	if !ty.IsObjectType() {
		return cty.NilVal, false
	}
	types := ty.AttributeTypes()
	attrs := make(map[string]cty.Value, len(types))
	ok := eachMember(b, func(name, text []byte) bool {
		ty, known := types[string(name)]
		if _, twice := attrs[string(name)]; !known || twice {
			return false
		}
		v, err := plainValue(text, ty)
		attrs[string(name)] = v
		return err == nil
	})
	if !ok {
		return cty.NilVal, false
	}
	if len(attrs) < len(types) {
		for name, ty := range types {
			if _, ok := attrs[name]; !ok {
				attrs[name] = cty.NullVal(ty)
			}
		}
	}
	return cty.ObjectVal(attrs), true
}

// plainValue reads one attribute.
func plainValue(b []byte, ty cty.Type) (cty.Value, error) {
	switch text := string(b); {
	case text == "null":
		return cty.NullVal(ty), nil
	case ty == cty.DynamicPseudoType:
		return plainDynamic(b)
	case ty == cty.String && plainText(b):
		return cty.StringVal(text[1 : len(text)-1]), nil
	case ty == cty.String && b[0] == '"':
		var s string
		err := json.Unmarshal(b, &s)
		return cty.StringVal(s), err
	case ty == cty.Bool && (text == "true" || text == "false"):
		return cty.BoolVal(text == "true"), nil
	}
	return byLibrary(b, ty)
}

// byLibrary has cty decode a piece of a text. cty reads one value and ignores the rest.
func byLibrary(b []byte, ty cty.Type) (cty.Value, error) {
	if !json.Valid(b) {
		return cty.NilVal, errors.New("not valid JSON")
	}
	return jsonvalue.Unmarshal(b, ty)
}

// plainText reports whether b is a string whose text is its content.
func plainText(b []byte) bool {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return false
	}
	content := b[1 : len(b)-1]
	for _, c := range content {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(content)
}

// plainDynamic reads a value that is stored together with its type. Only strings are read here; any other
// type is left to cty.
//
//	{"value":"eu-west-1","type":"string"}
func plainDynamic(b []byte) (cty.Value, error) {
	var value, typ []byte
	n := 0
	if eachMember(b, func(name, text []byte) bool {
		switch string(name) {
		case "value":
			value = text
		case "type":
			typ = text
		}
		n++
		return true
	}) && n == 2 && string(typ) == `"string"` && value != nil {
		return plainValue(value, cty.String)
	}
	return byLibrary(b, cty.DynamicPseudoType)
}

// eachMember calls f for each member of an object in compact JSON, as the objects of a state are kept. It
// returns false if f does, for a name with an escape, and for a text that isn't such an object. f must check
// that the texts it gets are valid.
func eachMember(b []byte, f func(name, text []byte) bool) bool {
	if string(b) == "{}" {
		return true
	}
	for at, last := 0, byte('{'); at < len(b) && b[at] == last; last = ',' {
		if at++; at >= len(b) || b[at] != '"' {
			return false
		}
		colon, escaped := stringEnd(b, at+1)
		if colon++; escaped || colon >= len(b) || b[colon] != ':' {
			return false
		}
		end := valueEnd(b, colon+1)
		if end == colon+1 || !f(b[at+1:colon-1], b[colon+1:end]) {
			return false
		}
		if at = end; at == len(b)-1 {
			return b[at] == '}'
		}
	}
	return false
}

// valueEnd returns where the value that starts at start ends: at the comma or bracket after it.
func valueEnd(b []byte, start int) int {
	depth := 0
	for at := start; at < len(b); at++ {
		switch b[at] {
		case '"':
			at, _ = stringEnd(b, at+1)
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			depth--
		case ',':
			if depth == 0 {
				return at
			}
		}
	}
	return len(b)
}
