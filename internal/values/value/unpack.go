package value

import (
	"bytes"
	"encoding/binary"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

// The prefix of a value whose type the schema leaves open: an array of the type, as JSON, and the value.
var openPrefixes = []struct {
	packed []byte
	ty     cty.Type
}{
	{[]byte("\x92\xc4\x08\"string\""), cty.String},
	{[]byte("\x92\xc4\x08\"number\""), cty.Number},
	{[]byte("\x92\xc4\x06\"bool\""), cty.Bool},
}

// How values are encoded of which nothing is known, or only that they are not null.
var (
	packedUnknown = []byte{msgpcode.FixExt1, 0, 0}
	packedNotNull = []byte{msgpcode.Ext8, 3, 12, 0x81, 1, msgpcode.False}
)

// Part is one attribute of an object, encoded.
type Part struct {
	Name   string
	Type   cty.Type // its own where the schema leaves the type open, if it is a string, number or boolean
	Open   bool     // the schema leaves the type open
	packed []byte
}

// IsNull reports whether the attribute is null.
func (p Part) IsNull() bool { return len(p.packed) == 1 && p.packed[0] == msgpcode.Nil }

// Text returns a string that is known and not null. ok is false for any other value.
func (p Part) Text() (text []byte, ok bool) {
	if p.Type != cty.String {
		return nil, false
	}
	text, rest, ok := cutText(p.packed)
	return text, ok && len(rest) == 0
}

// Parts splits the attribute into its own attributes. ok is false if it is not an object, and if the schema
// leaves the type open.
func (p Part) Parts() (parts []Part, ok bool) { return split(p.packed, p.Type) }

// Value decodes the attribute.
func (p Part) Value() (cty.Value, error) {
	if text, ok := p.Text(); ok {
		return cty.StringVal(string(text)), nil
	}
	switch {
	case p.IsNull():
		return cty.NullVal(p.Type), nil
	case bytes.Equal(p.packed, packedUnknown):
		return cty.UnknownVal(p.Type), nil
	case p.Type == cty.String && bytes.Equal(p.packed, packedNotNull):
		return unknownText, nil
	}
	if p.Type == cty.DynamicPseudoType {
		if ty, packed, ok := cutOpenType(p.packed); ok {
			return ctymsgpack.Unmarshal(packed, ty)
		}
	}
	return Unpack(p.packed, p.Type)
}

// cutOpenType takes the type off a value whose type the schema leaves open.
func cutOpenType(b []byte) (ty cty.Type, packed []byte, ok bool) {
	if len(b) < 2 || b[0] != msgpcode.FixedArrayLow|2 || b[1] < msgpcode.Bin8 || b[1] > msgpcode.Bin32 {
		return cty.NilType, nil, false
	}
	h := headOf(b[1:])
	if h.bytes == 0 || h.bytes > len(b)-1 {
		return cty.NilType, nil, false
	}
	ty, err := jsonvalue.UnmarshalType(b[1+h.size : 1+h.bytes])
	return ty, b[1+h.bytes:], err == nil
}

// Parts splits d into its attributes, in their order. ok is false if it is not an object.
func (d Durable) Parts() (parts []Part, ok bool) {
	if d.IsZero() {
		return nil, false
	}
	return split(d.packed, d.ty)
}

// Unpack decodes the msgpack form of a value against ty. It does the same as the library, but faster for
// objects whose attributes are strings, null and the like: the library makes a decoder for each of these if
// its type is open.
func Unpack(packed []byte, ty cty.Type) (cty.Value, error) {
	if v, ok := unpackObject(packed, ty); ok {
		return v, nil
	}
	return ctymsgpack.Unmarshal(packed, ty)
}

// unpackObject returns false for data that aren't plainly an object of the type, and leaves them, and errors,
// to the library.
func unpackObject(packed []byte, ty cty.Type) (cty.Value, bool) {
	parts, ok := split(packed, ty)
	if !ok || len(parts) == 0 {
		return cty.NilVal, false
	}
	values := make(map[string]cty.Value, len(parts))
	for _, p := range parts {
		v, err := p.Value()
		if err != nil {
			return cty.NilVal, false
		}
		values[p.Name] = v
	}
	return cty.ObjectVal(values), len(values) == len(parts)
}

// split returns the attributes of a packed object. It returns false for data that aren't plainly an object of
// the type.
func split(packed []byte, ty cty.Type) ([]Part, bool) {
	if !ty.IsObjectType() {
		return nil, false
	}
	attrs := ty.AttributeTypes()
	n, rest, ok := cutMapLen(packed)
	if !ok || n != len(attrs) {
		return nil, false
	}
	parts := make([]Part, n)
	for i := range parts {
		var name, part []byte
		if name, rest, ok = cutText(rest); !ok {
			return nil, false
		}
		attr, known := attrs[string(name)]
		if !known {
			return nil, false
		}
		open := attr == cty.DynamicPseudoType
		if open {
			for _, p := range openPrefixes {
				if bytes.HasPrefix(rest, p.packed) {
					attr, rest = p.ty, rest[len(p.packed):]
					break
				}
			}
		}
		if part, rest, ok = cutValue(rest); !ok {
			return nil, false
		}
		parts[i] = Part{Name: string(name), Type: attr, Open: open, packed: part}
	}
	return parts, len(rest) == 0
}

// cutMapLen takes the head of a map off b.
func cutMapLen(b []byte) (n int, rest []byte, ok bool) {
	switch {
	case len(b) > 0 && msgpcode.IsFixedMap(b[0]):
		return int(b[0] & msgpcode.FixedMapMask), b[1:], true
	case len(b) > 2 && b[0] == msgpcode.Map16:
		return int(binary.BigEndian.Uint16(b[1:])), b[3:], true
	}
	return 0, nil, false
}

// cutText takes a string off b.
func cutText(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || !msgpcode.IsString(b[0]) {
		return nil, nil, false
	}
	h := headOf(b)
	if h.bytes > len(b) || h.bytes == 0 {
		return nil, nil, false
	}
	return b[h.size:h.bytes], b[h.bytes:], true
}

// cutValue takes one value off b, with everything nested in it.
func cutValue(b []byte) (value, rest []byte, ok bool) {
	at := 0
	for left := 1; left > 0; left-- {
		h := headOf(b[at:])
		if h.bytes == 0 || h.bytes > len(b)-at {
			return nil, nil, false
		}
		at += h.bytes
		left += h.parts
	}
	return b[:at], b[at:], true
}

// head describes a value by its first bytes.
type head struct {
	size  int // of the head itself, in bytes
	bytes int // of the head and bytes that are not a value of their own; 0 if the head is not valid
	parts int // values that follow: elements, or keys and values
}

// headOf reads the head of the value that b starts with.
func headOf(b []byte) head {
	if len(b) == 0 {
		return head{}
	}
	switch c := b[0]; {
	case msgpcode.IsFixedNum(c):
		return head{size: 1, bytes: 1}
	case msgpcode.IsFixedMap(c):
		return head{size: 1, bytes: 1, parts: 2 * int(c&msgpcode.FixedMapMask)}
	case msgpcode.IsFixedArray(c):
		return head{size: 1, bytes: 1, parts: int(c & msgpcode.FixedArrayMask)}
	case msgpcode.IsFixedString(c):
		return head{size: 1, bytes: 1 + int(c&msgpcode.FixedStrMask)}
	default:
		f := forms[c-msgpcode.Nil]
		if f.fixed == 0 || len(b) < 1+f.length {
			return head{}
		}
		n := 0
		for _, d := range b[1 : 1+f.length] {
			n = n<<8 | int(d)
		}
		h := head{size: 1 + f.length, bytes: f.fixed + f.length, parts: n * f.per}
		if f.per == 0 {
			h.bytes += n
		}
		return h
	}
}

// forms are the forms of values from code 0xc0 to 0xdf: how many bytes there are besides the length, how many
// bytes the length has, and how many values each element is, 0 for bytes.
var forms = [0x20]struct{ fixed, length, per int }{
	{1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}, // nil, unused, false, true
	{1, 1, 0}, {1, 2, 0}, {1, 4, 0}, // bytes
	{2, 1, 0}, {2, 2, 0}, {2, 4, 0}, // extensions, whose type is a byte
	{5, 0, 0}, {9, 0, 0}, // floats
	{2, 0, 0}, {3, 0, 0}, {5, 0, 0}, {9, 0, 0}, {2, 0, 0}, {3, 0, 0}, {5, 0, 0}, {9, 0, 0}, // whole numbers
	{3, 0, 0}, {4, 0, 0}, {6, 0, 0}, {10, 0, 0}, {18, 0, 0}, // extensions of fixed length
	{1, 1, 0}, {1, 2, 0}, {1, 4, 0}, // strings
	{1, 2, 1}, {1, 4, 1}, {1, 2, 2}, {1, 4, 2}, // arrays and maps
}
