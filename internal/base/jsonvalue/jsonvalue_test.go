package jsonvalue

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestUnmarshal(t *testing.T) {
	pair := cty.Tuple([]cty.Type{cty.String, cty.String})
	for _, test := range []struct {
		text string
		ty   cty.Type
		want cty.Value // NilVal for an error
	}{
		{`["a","b"]`, pair, cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")})},
		{`["a"]`, pair, cty.NilVal},
		{`[]`, pair, cty.NilVal},
		{`["a","b","c"]`, pair, cty.NilVal},
		{`[{"type":"string","value":"a"},{"type":"number","value":1}]`, cty.List(cty.DynamicPseudoType), cty.NilVal},
		{`[{"type":"string","value":"a"},{"type":"number","value":1}]`, cty.Set(cty.DynamicPseudoType), cty.NilVal},
		{`{"a":{"type":"string","value":"a"},"b":{"type":"bool","value":true}}`, cty.Map(cty.DynamicPseudoType), cty.NilVal},
		{`{`, cty.EmptyObject, cty.NilVal},
		{``, cty.String, cty.NilVal},
		{`[{"":1E20200000}]`, cty.Set(cty.Map(cty.Number)), cty.NilVal},
		{`["-1E20200000"]`, cty.Set(cty.Number), cty.NilVal},
		{`{"e": false}`, cty.Object(map[string]cty.Type{"e": cty.Bool}), cty.ObjectVal(map[string]cty.Value{"e": cty.False})},
		{`{"1E20200000": 2}`, cty.Map(cty.Number), cty.MapVal(map[string]cty.Value{"1E20200000": cty.NumberIntVal(2)})},
		{`["1E20200000","\\\"1"]`, cty.List(cty.String), cty.ListVal([]cty.Value{cty.StringVal("1E20200000"), cty.StringVal(`\"1`)})},
		{`["true","12.50",-1e3]`, cty.Tuple([]cty.Type{cty.Bool, cty.Number, cty.Number}), cty.TupleVal([]cty.Value{cty.True, cty.NumberFloatVal(12.5), cty.NumberIntVal(-1000)})},
	} {
		got, err := Unmarshal([]byte(test.text), test.ty)
		if (err == nil) != (test.want != cty.NilVal) || err == nil && !got.RawEquals(test.want) {
			t.Errorf("%s: got %#v, %v; want %#v", test.text, got, err, test.want)
		}
	}
}

func TestUnmarshalType(t *testing.T) {
	if ty, err := UnmarshalType([]byte(`["list","string"]`)); err != nil || !ty.Equals(cty.List(cty.String)) {
		t.Errorf("UnmarshalType: got %#v, %v, want a list of strings", ty, err)
	}
	for _, text := range []string{`["object",{"a":"string"},["b"]]`, `["object"]`, `["tuple"]`, `"text"`, `["list"]`, `[`, `null`} {
		if ty, err := UnmarshalType([]byte(text)); err == nil {
			t.Errorf("%s: got %#v, want an error", text, ty)
		}
	}
}

// FuzzUnmarshal reads a value of a type that is read as well: no panic, and what is read is of that type.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range [][2]string{
		{`"string"`, `"a"`},
		{`["tuple",["string","number"]]`, `["a"]`},
		{`["list","dynamic"]`, `[{"type":"string","value":"a"},{"type":"number","value":1}]`},
		{`["object",{"a":"bool"},["a"]]`, `{}`},
		{`["set",["map","number"]]`, `[{"x":1e400}]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, typ, text []byte) {
		ty, err := UnmarshalType(typ)
		if err != nil {
			return
		}
		v, err := Unmarshal(text, ty)
		if err != nil {
			return
		}
		if errs := v.Type().TestConformance(ty.WithoutOptionalAttributesDeep()); len(errs) > 0 {
			t.Errorf("%s as %s: got %#v", text, typ, v)
		}
	})
}
