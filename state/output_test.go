package state

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// TestEncodeOutput holds the short cut for objects against the library.
func TestEncodeOutput(t *testing.T) {
	str, object := cty.StringVal, cty.ObjectVal
	type attrs = map[string]cty.Value
	for _, v := range []cty.Value{
		str("a"), cty.True, cty.EmptyObjectVal, cty.NullVal(cty.EmptyObject), cty.NullVal(cty.DynamicPseudoType), cty.TupleVal([]cty.Value{str("a")}),
		object(attrs{"a": str("x"), "b": object(attrs{"c": str("<&> \" \\ \n \u2028 \u00e9"), "d": cty.NullVal(cty.String), "e": cty.EmptyObjectVal})}),
		object(attrs{"a": object(attrs{"n": cty.NumberFloatVal(1.5), "l": cty.ListVal([]cty.Value{str("x")}), "m": cty.MapVal(attrs{"k": cty.False})}), "z": cty.NullVal(cty.EmptyObject)}),
		object(attrs{"\u00e9": object(attrs{strings.Repeat("n", 300): cty.TupleVal([]cty.Value{object(attrs{"a": cty.True})})})}),
		object(attrs{"a": object(attrs{"d": cty.NullVal(cty.DynamicPseudoType)})}),
	} {
		want, err := ctyjson.Marshal(v, v.Type())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encodeOutput(sealed(t, v)); err != nil || string(got) != string(want) {
			t.Errorf("%#v:\n got %s, %v\nwant %s", v, got, err, want)
		}
	}
	for _, v := range []cty.Value{cty.DynamicVal, object(attrs{"a": object(attrs{"b": str("x"), "c": cty.UnknownVal(cty.String)})})} {
		if got, err := encodeOutput(sealed(t, v)); err == nil || err.Error() != "a value that is not known cannot be stored" {
			t.Errorf("%#v: got %s, %v, want an error", v, got, err)
		}
	}
}

// TestEncodeOutputCost requires that objects within objects are not made.
func TestEncodeOutputCost(t *testing.T) {
	attrs := map[string]cty.Value{}
	for c := 'a'; c <= 'z'; c++ {
		attrs[string(c)] = cty.StringVal(strings.Repeat("x", 30))
	}
	d := sealed(t, cty.ObjectVal(map[string]cty.Value{"o": cty.ObjectVal(attrs)}))
	if n := testing.AllocsPerRun(10, func() { _, _ = encodeOutput(d) }); n > 40 {
		t.Errorf("allocations for 26 texts: got %g, want no more than 40", n)
	}
}

// TestUnknownPart names the part of an object that is not known.
func TestUnknownPart(t *testing.T) {
	v := cty.ObjectVal(map[string]cty.Value{"a": cty.ObjectVal(map[string]cty.Value{"b": cty.ObjectVal(map[string]cty.Value{"c": cty.UnknownVal(cty.String)})})})
	want := `the value at "a.b.c" is not known, so the object cannot be stored`
	if _, err := ObjectFrom(sealed(t, v)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
