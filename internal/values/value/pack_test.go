package value

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	vmihailenco "github.com/vmihailenco/msgpack/v5"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// oddValues are values of every kind, and the types of them and of others.
func oddValues() (values []cty.Value, types []cty.Type) {
	list, object := cty.List(cty.String), cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.DynamicPseudoType})
	values = []cty.Value{
		str(""), str(strings.Repeat("x", 31)), str(strings.Repeat("x", 32)), str(strings.Repeat("x", 256)), str(strings.Repeat("x", 1<<16)), cty.True, cty.False, cty.Zero, cty.NumberFloatVal(0.5),
		cty.ListVal([]cty.Value{str("a")}), cty.ListValEmpty(cty.String), cty.MapVal(obj{"k": str("a")}), cty.EmptyTupleVal, cty.EmptyObjectVal, cty.TupleVal([]cty.Value{str("a"), cty.UnknownVal(cty.Bool)}),
		cty.ObjectVal(obj{"a": str("a"), "b": cty.True}), cty.ObjectVal(obj{"a": str("a"), "c": cty.True}), cty.ObjectVal(obj{"a": str("a"), "b": cty.True, "c": cty.True}), cty.ObjectVal(obj{"a": cty.Zero, "b": cty.Zero}),
		cty.DynamicVal, cty.UnknownVal(cty.String).RefineNotNull(), cty.UnknownVal(cty.Number).RefineNotNull(), cty.UnknownVal(cty.String).Refine().StringPrefix("pre-").NewValue(),
		cty.UnknownVal(list).RefineNotNull(), cty.UnknownVal(object).RefineNotNull(), cty.ObjectVal(obj{"a": cty.UnknownVal(cty.String).RefineNotNull(), "b": cty.NullVal(object)}),
	}
	types = []cty.Type{cty.String, cty.Number, cty.Bool, cty.DynamicPseudoType, list, object, cty.EmptyObject, cty.Tuple([]cty.Type{cty.DynamicPseudoType, cty.Bool})}
	for _, ty := range types {
		values = append(values, cty.NullVal(ty), cty.UnknownVal(ty))
	}
	for _, v := range values {
		types = append(types, v.Type())
	}
	return values, types
}

// TestPackFailsAsTheLibraryDoes packs values against their own types and others, alone and as an attribute.
func TestPackFailsAsTheLibraryDoes(t *testing.T) {
	values, types := oddValues()
	for _, v := range values {
		for _, ty := range types {
			for _, c := range []struct {
				v  cty.Value
				ty cty.Type
			}{{v, ty}, {cty.ObjectVal(obj{"name": v, "x": cty.True}), cty.Object(map[string]cty.Type{"name": ty, "x": cty.Bool})}} {
				want, wants := msgpack.Marshal(c.v, c.ty)
				got, err := Pack(c.v, c.ty, nil)
				if (err != nil) != (wants != nil) || err == nil && !bytes.Equal(got, want) {
					t.Errorf("%#v as %#v:\n got % x, %v\nwant % x, %v", c.v, c.ty, got, err, want, wants)
				}
				if wants != nil {
					continue
				}
				back, err := Unpack(got, c.ty)
				if want, wants := msgpack.Unmarshal(want, c.ty); (err != nil) != (wants != nil) || err == nil && !back.RawEquals(want) {
					t.Errorf("%#v as %#v: got it back as %#v, %v, want as by the library: %#v, %v", c.v, c.ty, back, err, want, wants)
				}
			}
		}
		for _, ty := range []cty.Type{v.Type(), cty.DynamicPseudoType} {
			for _, c := range []struct {
				v  cty.Value
				ty cty.Type
			}{
				{v.Mark(Ephemeral), ty},
				{cty.ObjectVal(obj{"name": v.Mark(Sensitive)}), cty.Object(map[string]cty.Type{"name": ty})},
				{cty.ObjectVal(obj{"name": cty.TupleVal([]cty.Value{v.Mark(Sensitive)})}), cty.Object(map[string]cty.Type{"name": cty.Tuple([]cty.Type{ty})})},
			} {
				if _, err := Pack(c.v, c.ty, nil); !errors.Is(err, errMarked) {
					t.Errorf("%#v is packed: %v", c.v, err)
				}
			}
		}
	}
}

// TestHeads has as many entries and bytes as need each kind of head.
func TestHeads(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 31, 32, 255, 256, 1<<16 - 1, 1 << 16} {
		data := bytes.Repeat([]byte("x"), n)
		var want bytes.Buffer
		e := vmihailenco.NewEncoder(&want)
		if err := errors.Join(e.EncodeMapLen(n), e.EncodeBytes(data), e.EncodeString(string(data))); err != nil {
			t.Fatal(err)
		}
		if got := appendText(appendBytes(appendMapLen(nil, n), data), string(data)); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%d: % x, want % x", n, got[:min(len(got), 20)], want.Bytes()[:min(want.Len(), 20)])
		}
	}
}

// TestPackByBlock packs with the names of a block, and with a block of another type.
func TestPackByBlock(t *testing.T) {
	block := secretBlock()
	v := secretObject(nothing, nothing, nothing)
	want, err := msgpack.Marshal(v, block.Type())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*schema.Block{nil, block, {Attributes: map[string]*schema.Attribute{"other": {Type: cty.String}}}} {
		if got, err := Pack(v, block.Type(), b); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got % x, %v, want % x", got, err, want)
		}
	}
}
