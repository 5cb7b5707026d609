package value

import (
	"bytes"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
)

// What stands before a value whose type the schema leaves open: an array of the type, as JSON, and the value.
var openPrefixes = []struct {
	packed []byte
	ty     cty.Type
}{
	{[]byte("\x92\xc4\x08\"string\""), cty.String},
	{[]byte("\x92\xc4\x08\"number\""), cty.Number},
	{[]byte("\x92\xc4\x06\"bool\""), cty.Bool},
}

// unpack decodes the msgpack form of a value against ty. It is what the library does, but for objects with
// attributes of open types whose values are strings, numbers and the like. Reading the type beside such a
// value takes the library a JSON decoder with its buffer each time; here its bytes show it.
func unpack(packed []byte, ty cty.Type) (cty.Value, error) {
	if hasOpen(ty) {
		if v, ok := unpackObject(packed, ty); ok {
			return v, nil
		}
	}
	return ctymsgpack.Unmarshal(packed, ty)
}

func hasOpen(ty cty.Type) bool {
	if ty.IsObjectType() {
		for _, attr := range ty.AttributeTypes() {
			if attr == cty.DynamicPseudoType {
				return true
			}
		}
	}
	return false
}

// unpackObject returns false for what isn't plainly an object of the type whose attributes have no parts, and
// leaves it to the library, as it does errors.
func unpackObject(packed []byte, ty cty.Type) (cty.Value, bool) {
	attrs, r := ty.AttributeTypes(), bytes.NewReader(packed)
	dec := msgpack.NewDecoder(r)
	n, err := dec.DecodeMapLen()
	if err != nil || n != len(attrs) {
		return cty.NilVal, false
	}
	values := make(map[string]cty.Value, n)
	for range n {
		name, err := dec.DecodeString()
		attr, known := attrs[name]
		if err != nil || !known {
			return cty.NilVal, false
		}
		rest := packed[len(packed)-r.Len():]
		if attr == cty.DynamicPseudoType {
			for _, p := range openPrefixes {
				if bytes.HasPrefix(rest, p.packed) {
					attr, rest = p.ty, rest[len(p.packed):]
					r.Reset(rest)
					dec.Reset(r)
					break
				}
			}
		}
		switch {
		case attr == cty.String && len(rest) > 0 && msgpcode.IsString(rest[0]):
			var s string
			s, err = dec.DecodeString()
			values[name] = cty.StringVal(s)
		case hasParts(rest) || dec.Skip() != nil:
			return cty.NilVal, false
		default:
			values[name], err = ctymsgpack.Unmarshal(rest[:len(rest)-r.Len()], attr)
		}
		if err != nil {
			return cty.NilVal, false
		}
	}
	return cty.ObjectVal(values), len(values) == n
}

// hasParts reports whether an array or a map comes next, which may be nested without end.
func hasParts(packed []byte) bool {
	if len(packed) == 0 {
		return false
	}
	c := packed[0]
	return msgpcode.IsFixedArray(c) || msgpcode.IsFixedMap(c) || c == msgpcode.Array16 || c == msgpcode.Array32 || c == msgpcode.Map16 || c == msgpcode.Map32
}
