package plugin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

var nestedType = cty.Object(map[string]cty.Type{
	"s": cty.String, "n": cty.Number, "b": cty.Bool, "l": cty.List(cty.Object(map[string]cty.Type{"x": cty.String})),
	"m": cty.Map(cty.Number), "t": cty.Tuple([]cty.Type{cty.String, cty.Bool}), "set": cty.Set(cty.Object(map[string]cty.Type{"x": cty.String})),
	"d": cty.DynamicPseudoType,
})

func nested(name string, v cty.Value) cty.Value {
	all := map[string]cty.Value{}
	for n, ty := range nestedType.AttributeTypes() {
		all[n] = cty.NullVal(ty)
	}
	all[name] = v
	return cty.ObjectVal(all)
}

// TestMismatch decodes values of one type as another: the error names the place and the type, never the
// value.
func TestMismatch(t *testing.T) {
	const secret = "CANARY"
	list := cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"y": cty.StringVal(secret)})})
	for _, test := range []struct {
		name string
		v    cty.Value
		want string
	}{
		{"number", nested("n", cty.StringVal(secret)), "n: it is not of type number"},
		{"bool", nested("b", cty.StringVal(secret)), "b: it is not of type bool"},
		{"string", nested("s", cty.True), "s: it is not of type string"},
		{"unknown attribute", nested("l", list), "l[0].y: the schema declares no such attribute"},
		{"in a map", nested("m", cty.MapVal(map[string]cty.Value{"k": cty.StringVal(secret)})), `m[...]: it is not of type number`},
		{"in a tuple", nested("t", cty.TupleVal([]cty.Value{cty.StringVal(secret), cty.StringVal(secret)})), "t[1]: it is not of type bool"},
		{
			"in a set", nested("set", cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"y": cty.StringVal(secret)})})),
			"set[...].y: the schema declares no such attribute",
		},
		{"not an object", cty.StringVal(secret), "it is not an object"},
		{"empty object", cty.EmptyObjectVal, "it is not an object"},
		{"empty list for a list", nested("l", cty.ListValEmpty(cty.String)), ""},
		{"short tuple", nested("t", cty.EmptyTupleVal), "t: it is not"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, err := encodeValue(test.v, test.v.Type(), nil)
			if err != nil {
				t.Fatal(err)
			}
			data, err := ctyjson.Marshal(test.v, test.v.Type())
			if err != nil {
				t.Fatal(err)
			}
			_, err = decodeValue(in, nestedType)
			if test.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if _, err = decodeValue(&tfplugin6.DynamicValue{Json: data}, nestedType); err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("JSON: %v", err)
			}
		})
	}
}

func TestDecodeHostile(t *testing.T) {
	deep := append(bytes.Repeat([]byte{0x92, 0xc4, 9, '"', 'd', 'y', 'n', 'a', 'm', 'i', 'c', '"'}, 100_000), 0xc0)
	nan := append([]byte{0xcb}, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1)
	for name, test := range map[string]struct {
		data []byte
		ty   cty.Type
	}{
		"huge list":       {[]byte{0xdd, 0xff, 0xff, 0xff, 0xff}, cty.List(cty.String)},
		"huge nested":     {append(bytes.Repeat([]byte{0xdd, 0, 0, 0, 200}, 50), make([]byte, 210)...), cty.List(cty.DynamicPseudoType)},
		"huge map":        {[]byte{0xdf, 0xff, 0xff, 0xff, 0xff}, cty.Map(cty.String)},
		"huge string":     {[]byte{0xdb, 0xff, 0xff, 0xff, 0xff}, cty.String},
		"deep":            {deep, cty.DynamicPseudoType},
		"cut off":         {[]byte{0x92, 0xa1}, cty.List(cty.String)},
		"more":            {[]byte{0xc0, 0xc0}, cty.String},
		"reserved":        {[]byte{0xc1}, cty.String},
		"not a number":    {nan, cty.Number},
		"mixed list":      {[]byte{0x92, 0x92, 0xc4, 8, '"', 's', 't', 'r', 'i', 'n', 'g', '"', 0xa0, 0x92, 0xc4, 6, '"', 'b', 'o', 'o', 'l', '"', 0xc2}, cty.List(cty.DynamicPseudoType)},
		"unknown ext":     {[]byte{0xd5, 0x33, 0, 0}, cty.String},
		"bad refinements": {[]byte{0xc7, 3, 0x0c, 0x81, 0x63, 0xc0}, cty.Bool},
	} {
		if v, err := decodeValue(&tfplugin6.DynamicValue{Msgpack: test.data}, test.ty); err == nil && !v.Type().Equals(test.ty) {
			t.Errorf("%s: got %#v, want an error, or a value of the type %#v", name, v, test.ty)
		} else if err == nil && name != "bad refinements" {
			t.Errorf("%s: got no error and %#v, want an error", name, v)
		}
	}
	if _, err := decodeValue(&tfplugin6.DynamicValue{Json: []byte(`{"`)}, cty.String); err == nil {
		t.Error("bad JSON was accepted")
	}
	if v, err := decodeValue(nil, cty.String); err != nil || !v.RawEquals(cty.NullVal(cty.String)) {
		t.Errorf("decodeValue(nothing): got %#v, %v, want null", v, err)
	}
}

// values generates values of a type.
func values(t *rapid.T, ty cty.Type, depth int) cty.Value {
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		return cty.NullVal(ty)
	case 1:
		if ty == cty.String {
			return cty.UnknownVal(ty).Refine().NotNull().StringPrefixFull("p").NewValue()
		}
		return cty.UnknownVal(ty)
	}
	items := func(ety cty.Type) []cty.Value {
		var list []cty.Value
		for range rapid.IntRange(1, 3).Draw(t, "length") {
			list = append(list, values(t, ety, depth+1))
		}
		return list
	}
	switch {
	case ty == cty.String:
		return cty.StringVal(rapid.String().Draw(t, "string"))
	case ty == cty.Bool:
		return cty.BoolVal(rapid.Bool().Draw(t, "bool"))
	case ty == cty.Number:
		if rapid.Bool().Draw(t, "whole") {
			return cty.NumberIntVal(rapid.Int64().Draw(t, "int"))
		}
		return cty.NumberFloatVal(rapid.Float64Range(-1<<53, 1<<53).Draw(t, "float"))
	case ty == cty.DynamicPseudoType:
		return values(t, rapid.SampledFrom([]cty.Type{cty.String, cty.Number, cty.List(cty.Bool)}).Draw(t, "type"), depth+1)
	case ty.IsListType():
		return cty.ListVal(items(ty.ElementType()))
	case ty.IsSetType():
		return cty.SetVal(items(ty.ElementType()))
	case ty.IsMapType():
		m := map[string]cty.Value{}
		for _, v := range items(ty.ElementType()) {
			m[rapid.String().Draw(t, "key")] = v
		}
		return cty.MapVal(m)
	case ty.IsTupleType():
		var list []cty.Value
		for _, ety := range ty.TupleElementTypes() {
			list = append(list, values(t, ety, depth+1))
		}
		return cty.TupleVal(list)
	default:
		m := map[string]cty.Value{}
		for name, aty := range ty.AttributeTypes() {
			m[name] = values(t, aty, depth+1)
		}
		return cty.ObjectVal(m)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(t, nestedType, 0)
		in, err := encodeValue(v, nestedType, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeValue(in, nestedType)
		if err != nil {
			t.Fatalf("%#v: %v", v, err)
		}
		if !got.RawEquals(v) {
			t.Fatalf("got %#v, want %#v", got, v)
		}
	})
}

func FuzzDecodeValue(f *testing.F) {
	for _, v := range []cty.Value{
		nested("s", cty.StringVal("x")), nested("n", cty.UnknownVal(cty.Number)), nested("d", cty.ListVal([]cty.Value{cty.True})),
		nested("set", cty.UnknownVal(nestedType.AttributeType("set")).RefineNotNull()),
	} {
		in, err := encodeValue(v, nestedType, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in.Msgpack)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decodeValue(&tfplugin6.DynamicValue{Msgpack: data}, nestedType)
		if err != nil {
			return
		}
		// The first round may round: floats beyond the range of exact integers are sent as decimals.
		v = again(t, v)
		if got := again(t, v); !got.RawEquals(v) {
			t.Fatalf("got %#v, want %#v", got, v)
		}
	})
}

func again(t *testing.T, v cty.Value) cty.Value {
	in, err := encodeValue(v, nestedType, nil)
	if err != nil {
		t.Fatalf("%#v was decoded and cannot be encoded: %v", v, err)
	}
	got, err := decodeValue(in, nestedType)
	if err != nil {
		t.Fatalf("%#v was encoded and cannot be decoded: %v", v, err)
	}
	return got
}

func FuzzIndexSchema(f *testing.F) {
	f.Add(simpleResponse(f), false)
	f.Add(field(fieldFunctions, field(1, []byte("f"))), true)
	f.Fuzz(func(t *testing.T, data []byte, five bool) {
		c := newClient(fakeName, 6, nil, nil)
		if five {
			c.protocol = 5
		}
		cat, _ := c.newCatalog(data)
		if cat == nil {
			return
		}
		for _, types := range cat.types {
			for name, l := range types {
				if s, diags := l.get(fakeName); (s == nil) != diags.HasErrors() {
					t.Fatalf("%s: got schema %v, diagnostics %v, want one of both", name, s, diags)
				}
			}
		}
		cat.Functions()
	})
}

// TestDeepAnswerIsNotLost holds that an object is kept, but for a part of it that nests too deeply for any
// decoder, and that what is left cannot be stored without an error about that part.
func TestDeepAnswerIsNotLost(t *testing.T) {
	ty := cty.Object(map[string]cty.Type{"id": cty.String, "any": cty.DynamicPseudoType})
	for _, levels := range []int{maxDepth / 2, maxDepth, maxDepth + 200} {
		x := &exchange{}
		v := x.decodeApplied(ty, &tfplugin6.DynamicValue{Msgpack: deepObject(levels)})
		if v == cty.NilVal || len(x.diags) > 0 {
			t.Errorf("%d levels: %v", levels, x.diags)
			continue
		}
		if id := v.GetAttr("id"); id.AsString() != "i-1" {
			t.Errorf("%d levels: got the id %#v, want \"i-1\"", levels, id)
		}
		stored, faults := value.Storable(v, ty)
		if len(faults) == 0 || !errors.Is(faults[0].Err, value.ErrTooDeep) || stored.GetAttr("id").AsString() != "i-1" {
			t.Errorf("Storable(%d levels): got faults %v, want one that is %v first, and the id kept", levels, faults, value.ErrTooDeep)
		}
	}
}

// deepObject encodes an object with tuples in an attribute of dynamic type, so many in each other.
func deepObject(levels int) []byte {
	text := func(b []byte, code byte, s string) []byte {
		return append(binary.BigEndian.AppendUint32(append(b, code), uint32(len(s))), s...)
	}
	b := text([]byte{0x82}, 0xdb, "id")
	b = text(text(b, 0xdb, "i-1"), 0xdb, "any")
	b = text(append(b, 0x92), 0xc6, strings.Repeat(`["tuple",[`, levels)+`"string"`+strings.Repeat("]]", levels))
	b = append(b, bytes.Repeat([]byte{0x91}, levels)...)
	return text(b, 0xdb, "end")
}
