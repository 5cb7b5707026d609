package state

import (
	"bytes"
	"encoding/json"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/zclconf/go-cty/cty"
)

// packText converts a value of the file, which is valid JSON, to its packed form, in the bytes that the
// library gives. It makes no value: an output that joins the results of many instances has as many
// attributes, and such a value takes many times the memory of its text. It returns false for a value that is
// not plain: made of objects, ASCII texts, truth values and nulls, with the attributes of its type in order.
func packText(src []byte, ty cty.Type) ([]byte, bool) {
	var compact, packed bytes.Buffer
	if json.Compact(&compact, src) != nil {
		return nil, false
	}
	plain := packer{msgpack.NewEncoder(&packed)}.value(compact.Bytes(), ty)
	return packed.Bytes(), plain
}

// packer writes packed values. Writing to memory cannot fail.
type packer struct{ enc *msgpack.Encoder }

// value writes one value. It returns false if that is not plain.
func (p packer) value(b []byte, ty cty.Type) bool {
	switch {
	case ty == cty.DynamicPseudoType:
		return false
	case string(b) == "null":
		return p.enc.EncodeNil() == nil
	case ty.IsObjectType() && len(ty.OptionalAttributes()) == 0:
		return p.object(b, ty.AttributeTypes())
	case ty == cty.String && plainText(b) && isASCII(b):
		return p.enc.EncodeString(string(b[1:len(b)-1])) == nil
	case ty == cty.Bool && (string(b) == "true" || string(b) == "false"):
		return p.enc.EncodeBool(string(b) == "true") == nil
	}
	return false
}

// object writes an object. Its attributes must be in the order of their names, each once.
func (p packer) object(b []byte, types map[string]cty.Type) bool {
	_ = p.enc.EncodeMapLen(len(types))
	last, n := "", 0
	plain := eachMember(b, func(name, text []byte) bool {
		ty, known := types[string(name)]
		if !known || n > 0 && string(name) <= last {
			return false
		}
		last = string(name)
		n++
		return p.enc.EncodeString(last) == nil && p.value(text, ty)
	})
	return plain && n == len(types)
}

// isASCII reports whether a text has only characters that are the same in every normal form.
func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
