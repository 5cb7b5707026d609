package value

import (
	"reflect"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestStatement(t *testing.T) {
	secret := cty.StringVal("hunter2").Mark(Sensitive)
	tests := []struct {
		v    cty.Value
		want string
	}{
		{cty.StringVal("a"), `is "a"`},
		{cty.StringVal(strings.Repeat("x", 200)), `is "` + strings.Repeat("x", 120) + `"…`},
		{cty.NumberFloatVal(1.5), "is 1.5"},
		{cty.True, "is true"},
		{cty.NullVal(cty.String), "is null"},
		{cty.EmptyTupleVal, "is tuple with no elements"},
		{cty.ListVal([]cty.Value{cty.Zero, cty.Zero}), "is list of number with 2 elements"},
		{cty.ObjectVal(map[string]cty.Value{"a": secret}), `is object with 1 attribute "a"`},
		{cty.ObjectVal(map[string]cty.Value{"a": secret, "b": secret}), "is object with 2 attributes"},
		{secret, "is (sensitive value)"},
		{secret.Mark(Ephemeral), "is (sensitive, ephemeral value)"},
		{cty.UnknownVal(cty.String), "is a string, known only after apply"},
		{cty.DynamicVal, "is known only after apply"},
		{cty.UnknownVal(cty.String).Mark(Ephemeral), "is (ephemeral value)"},
		{cty.StringVal("a").Mark(Deprecated{}), `is "a"`},
		{cty.ListVal([]cty.Value{cty.Zero}), "is list of number with 1 element"},
		{cty.CapsuleVal(cty.Capsule("engine", reflect.TypeFor[int]()), new(int)), "is an engine"},
		{cty.UnknownVal(cty.EmptyObject), "is an object, known only after apply"},
	}
	for _, test := range tests {
		if got := Statement(test.v, true); got != test.want {
			t.Errorf("%#v: got %s, want %s", test.v, got, test.want)
		}
	}
	if got := Statement(cty.UnknownVal(cty.Number), false); got != "is a number" {
		t.Error(got)
	}
	if got := Statement(cty.DynamicVal, false); got != "" {
		t.Error(got)
	}
}

// TestKind names kinds of values in sentences.
func TestKind(t *testing.T) {
	for want, v := range map[string]cty.Value{
		"null": cty.NullVal(cty.String), "a value of a type that is not known yet": cty.DynamicVal, "a string": cty.UnknownVal(cty.String), "an object": cty.EmptyObjectVal, "a list of number": cty.ListValEmpty(cty.Number),
	} {
		if got := Kind(v); got != want {
			t.Errorf("%#v: got %s, want %s", v, got, want)
		}
	}
}

// TestTypes asks for the types of elements, and whether there are keys, which errors tell.
func TestTypes(t *testing.T) {
	text, named := cty.String, cty.EmptyObject
	for _, test := range []struct {
		ty        cty.Type
		all, keys bool // all elements are text
	}{
		{text, false, false},
		{cty.List(text), true, false},
		{cty.Set(cty.Number), false, false},
		{cty.Map(text), true, true},
		{cty.EmptyTuple, true, false},
		{cty.Tuple([]cty.Type{text, text}), true, false},
		{cty.Tuple([]cty.Type{text, cty.Bool}), false, false},
		{cty.Tuple([]cty.Type{text, named}), false, true},
		{named, false, true},
		{cty.List(cty.Set(named)), false, true},
		{cty.DynamicPseudoType, false, false},
	} {
		if got := AllElements(test.ty, text.Equals); got != test.all {
			t.Errorf("all elements of %#v are text: got %t, want %t", test.ty, got, test.all)
		}
		if got := HasKeys(test.ty); got != test.keys {
			t.Errorf("%#v has keys: got %t, want %t", test.ty, got, test.keys)
		}
	}
}

// TestRedactedDeep names the marks that are anywhere in values.
func TestRedactedDeep(t *testing.T) {
	within := cty.TupleVal([]cty.Value{str("x"), sensitive})
	for want, values := range map[string][]cty.Value{
		"": {cty.NilVal, str("x"), str("x").Mark(Deprecated{})}, "(sensitive value)": {str("x"), within}, "(sensitive, ephemeral value)": {within, ephemeral, str("x")},
	} {
		if got, secret := RedactedDeep(values...); got != want || secret != (want != "") {
			t.Errorf("got %s, %t, want %s", got, secret, want)
		}
	}
}
