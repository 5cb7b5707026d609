package withheld

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestStandInHasTheForm(t *testing.T) {
	for _, test := range []struct{ value, want cty.Value }{
		{cty.StringVal("Secret-42"), cty.StringVal("xxxxxx-00")},
		{cty.StringVal("xx-0"), cty.StringVal("yy-1")},
		{cty.StringVal(""), cty.StringVal("x")},
		{cty.StringVal("-----BEGIN KEY-----\nAb1+\n-----END KEY-----\n"), cty.StringVal("-----BEGIN KEY-----\nxx0+\n-----END KEY-----\n")},
		{cty.NumberIntVal(7), cty.Zero},
		{cty.Zero, cty.NumberIntVal(1)},
		{cty.True, cty.False},
		{cty.MapVal(map[string]cty.Value{"key": cty.StringVal("a")}), cty.MapVal(map[string]cty.Value{"key": cty.StringVal("x")})},
		{cty.TupleVal([]cty.Value{cty.NullVal(cty.String), cty.StringVal("b1")}), cty.TupleVal([]cty.Value{cty.NullVal(cty.String), cty.StringVal("x0")})},
		{cty.ListValEmpty(cty.String), cty.ListValEmpty(cty.String)},
		{cty.UnknownVal(cty.String), cty.StringVal(standInKey)},
		{cty.UnknownVal(cty.Number), cty.UnknownVal(cty.Number)},
	} {
		if got := standIn(test.value); !got.RawEquals(test.want) {
			t.Errorf("stand-in for %#v: got %#v, want %#v", test.value, got, test.want)
		}
	}
}
