package value

import (
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
	}
	for _, test := range tests {
		if got := Statement(test.v, true); got != test.want {
			t.Errorf("%#v %s, not %s", test.v, got, test.want)
		}
	}
	if got := Statement(cty.UnknownVal(cty.Number), false); got != "is a number" {
		t.Error(got)
	}
	if got := Statement(cty.DynamicVal, false); got != "" {
		t.Error(got)
	}
}
