package value_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestKnownOnceMade asks of objects with one attribute whether this run will know them.
func TestKnownOnceMade(t *testing.T) {
	made, past := value.Computed{By: "x.a.token"}, value.Computed{By: "x.a.token", Past: true}
	tests := map[string]struct {
		v    cty.Value
		want bool
	}{
		"known":                 {cty.StringVal("x"), true},
		"unknown":               {cty.UnknownVal(cty.String), false},
		"to be made":            {cty.UnknownVal(cty.String).Mark(made), true},
		"of an earlier run":     {cty.UnknownVal(cty.String).Mark(past), false},
		"within a list":         {cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String).Mark(made)}), true},
		"beside an unknown one": {cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String).Mark(made), cty.UnknownVal(cty.String)}), false},
	}
	for name, test := range tests {
		if got := value.KnownOnceMade(cty.ObjectVal(map[string]cty.Value{"a": test.v})); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}
