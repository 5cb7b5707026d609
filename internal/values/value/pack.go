package value

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Pack encodes a value without marks as msgpack against ty, in the bytes that the library gives. Most values
// are objects. The library compares their types, converts them and makes several encoders for each of their
// attributes; here, strings, booleans and nulls are written directly, and only other attributes are left to
// it. block may be nil; if ty is its type, it knows the order of the attributes. A value with a mark anywhere
// gives errMarked.
func Pack(v cty.Value, ty cty.Type, block *schema.Block) ([]byte, error) {
	if !v.IsMarked() && v.IsKnown() && v.IsNull() && ty != cty.DynamicPseudoType && v.Type().Equals(ty) {
		return []byte{msgpcode.Nil}, nil
	}
	if v.IsMarked() || !ty.IsObjectType() || !v.IsKnown() || v.IsNull() || !sameAttributes(v.Type(), ty) {
		return packByLibrary(v, ty)
	}
	attrs := ty.AttributeTypes()
	var names []string
	if block != nil && len(block.Names()) == len(attrs) {
		names = block.Names()
	} else {
		names = slices.Sorted(maps.Keys(attrs))
	}
	b, err := appendObject(make([]byte, 0, 64*len(names)), v, ty, names)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b), nil
}

// appendObject appends a known object, against a type with the same attributes, whose names are given in
// order.
func appendObject(b []byte, v cty.Value, ty cty.Type, names []string) ([]byte, error) {
	attrs := ty.AttributeTypes()
	b = appendMapLen(b, len(names))
	for _, name := range names {
		b = appendText(b, name)
		var err error
		if b, err = appendPart(b, v.GetAttr(name), attrs[name]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// unknownText is the planned value of most results: a string that will be known after apply.
var unknownText = cty.UnknownVal(cty.String).RefineNotNull()

// sameAttributes reports whether both are object types with the same attribute names.
func sameAttributes(got, want cty.Type) bool {
	if !got.IsObjectType() || len(got.AttributeTypes()) != len(want.AttributeTypes()) {
		return false
	}
	for name := range want.AttributeTypes() {
		if _, ok := got.AttributeTypes()[name]; !ok {
			return false
		}
	}
	return true
}

// appendPart appends one attribute of an object, against the attribute's type.
func appendPart(b []byte, v cty.Value, want cty.Type) ([]byte, error) {
	if v.IsMarked() {
		return nil, errMarked
	}
	ty := v.Type()
	if want == cty.DynamicPseudoType {
		for _, p := range openPrefixes {
			if ty == p.ty {
				b, want = append(b, p.packed...), ty
				break
			}
		}
	}
	switch {
	case v.IsKnown() && v.IsNull() && ty.Equals(want):
		return append(b, msgpcode.Nil), nil
	case v.IsKnown() && !v.IsNull() && want.IsObjectType() && sameAttributes(ty, want):
		return appendObject(b, v, want, slices.Sorted(maps.Keys(want.AttributeTypes())))
	case !ty.IsPrimitiveType() || ty != want:
	case !v.IsKnown() && v.RawEquals(cty.UnknownVal(ty)):
		return append(b, packedUnknown...), nil
	case !v.IsKnown() && v.RawEquals(unknownText):
		return append(b, packedNotNull...), nil
	case !v.IsKnown():
	case ty == cty.String:
		return appendText(b, v.AsString()), nil
	case ty == cty.Bool && v.True():
		return append(b, msgpcode.True), nil
	case ty == cty.Bool:
		return append(b, msgpcode.False), nil
	}
	if want == cty.DynamicPseudoType && ty != want && !ty.IsPrimitiveType() {
		packedType, err := jsonvalue.MarshalType(ty)
		if err != nil {
			return nil, err
		}
		b, want = appendBytes(append(b, msgpcode.FixedArrayLow|2), packedType), ty
	}
	packed, err := packByLibrary(v, want)
	return append(b, packed...), err
}

var errMarked = errors.New("the value has marks")

// packByLibrary encodes any value without marks.
func packByLibrary(v cty.Value, ty cty.Type) ([]byte, error) {
	if IsMarked(v) {
		return nil, errMarked
	}
	return ctymsgpack.Marshal(v, ty)
}

// appendMapLen appends the head of a msgpack map with n entries, in the shortest form that has room for n.
func appendMapLen(b []byte, n int) []byte {
	switch {
	case n <= int(msgpcode.FixedMapMask):
		return append(b, msgpcode.FixedMapLow|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, msgpcode.Map16), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, msgpcode.Map32), uint32(n))
	}
}

// appendBytes appends bytes in msgpack form, with the shortest head that has room for their number.
func appendBytes(b, data []byte) []byte {
	switch n := len(data); {
	case n <= math.MaxUint8:
		b = append(b, msgpcode.Bin8, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, msgpcode.Bin16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, msgpcode.Bin32), uint32(n))
	}
	return append(b, data...)
}

// appendText appends a string in msgpack form, with the shortest head that has room for its length.
func appendText(b []byte, s string) []byte {
	switch n := len(s); {
	case n <= int(msgpcode.FixedStrMask):
		b = append(b, msgpcode.FixedStrLow|byte(n))
	case n <= math.MaxUint8:
		b = append(b, msgpcode.Str8, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, msgpcode.Str16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, msgpcode.Str32), uint32(n))
	}
	return append(b, s...)
}
