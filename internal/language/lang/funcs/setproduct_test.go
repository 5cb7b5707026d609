package funcs_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestSetproductIsTheLibrarys holds products against the library's.
func TestSetproductIsTheLibrarys(t *testing.T) {
	f := funcs.Table(funcs.Options{})["setproduct"]
	leaves := []cty.Value{
		cty.StringVal("a"), cty.StringVal("b"), cty.Zero, cty.True, cty.NullVal(cty.String), cty.UnknownVal(cty.String), cty.DynamicVal,
		cty.TupleVal([]cty.Value{cty.Zero}), cty.ObjectVal(map[string]cty.Value{"a": cty.True}), cty.StringVal("secret").Mark(value.Sensitive),
	}
	products := 0
	rapid.Check(t, func(t *rapid.T) {
		var args []cty.Value
		for range rapid.IntRange(2, 3).Draw(t, "arguments") {
			elems := rapid.SliceOfN(rapid.SampledFrom(leaves[:rapid.SampledFrom([]int{2, 3, len(leaves)}).Draw(t, "leaves")]), 0, 3).Draw(t, "elements")
			arg := cty.TupleVal(elems)
			switch {
			case len(elems) > 0 && cty.CanSetVal(elems) && rapid.IntRange(0, 3).Draw(t, "set") == 0:
				arg = cty.SetVal(elems)
			case len(elems) > 0 && cty.CanListVal(elems) && rapid.IntRange(0, 3).Draw(t, "list") == 0:
				arg = cty.ListVal(elems)
			}
			args = append(args, arg)
		}
		got, err := f.Call(args)
		want, wantErr := stdlib.SetProductFunc.Call(args)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%#v: error %v, want %v", args, err, wantErr)
		}
		if err != nil {
			return
		}
		products++
		if want.IsKnown() && !got.RawEquals(want) {
			t.Fatalf("%#v:\n got %#v\nwant %#v", args, got, want)
		}
	})
	if products == 0 {
		t.Error("no product was ever made")
	}
}
