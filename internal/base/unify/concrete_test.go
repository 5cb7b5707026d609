package unify_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/base/unify"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestConcreteChangesNoResult holds conversions to concrete types against those that unify.
func TestConcreteChangesNoResult(t *testing.T) {
	elems := []cty.Value{
		cty.StringVal("a"), cty.StringVal("b"), cty.NullVal(cty.String), cty.UnknownVal(cty.String), cty.NumberIntVal(1), cty.True, cty.DynamicVal,
		cty.NullVal(cty.DynamicPseudoType), cty.EmptyTupleVal, cty.TupleVal([]cty.Value{cty.Zero}), cty.ListVal([]cty.Value{cty.Zero}),
		cty.EmptyObjectVal, cty.StringVal("secret").Mark(value.Sensitive),
	}
	wants := []cty.Type{
		cty.List(cty.DynamicPseudoType), cty.Set(cty.DynamicPseudoType), cty.Map(cty.DynamicPseudoType), cty.List(cty.String), cty.DynamicPseudoType,
		cty.List(cty.List(cty.DynamicPseudoType)),
	}
	settled := 0
	rapid.Check(t, func(t *rapid.T) {
		of := elems
		if rapid.Bool().Draw(t, "strings only") {
			of = elems[:4]
		}
		list := rapid.SliceOfN(rapid.SampledFrom(of), 0, 4).Draw(t, "elements")
		v := cty.TupleVal(list)
		if rapid.Bool().Draw(t, "object") {
			attrs := map[string]cty.Value{}
			for i, e := range list {
				attrs[string(rune('a'+i))] = e
			}
			v = cty.ObjectVal(attrs)
		}
		want := rapid.SampledFrom(wants).Draw(t, "want")
		concrete := unify.Concrete(want, v.Type())
		if !concrete.Equals(want) {
			settled++
		}
		got, err := convert.Convert(v, concrete)
		expected, expectedErr := convert.Convert(v, want)
		if (err == nil) != (expectedErr == nil) {
			t.Fatalf("%#v to %#v: error %v, want %v", v, want, err, expectedErr)
		}
		if err == nil && !got.RawEquals(expected) {
			t.Fatalf("%#v to %#v:\n got %#v\nwant %#v", v, want, got, expected)
		}
	})
	if settled == 0 {
		t.Error("no type was ever settled")
	}
}
