package unify_test

import (
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/base/unify"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

var convertLeaves = []cty.Value{
	cty.StringVal("a"), cty.StringVal("1"), cty.NumberIntVal(1), cty.True, cty.NullVal(cty.String), cty.NullVal(cty.DynamicPseudoType),
	cty.UnknownVal(cty.String), cty.DynamicVal, cty.StringVal("secret").Mark(value.Sensitive), cty.EmptyObjectVal, cty.EmptyTupleVal,
	cty.ListValEmpty(cty.String), cty.MapValEmpty(cty.Number), cty.UnknownVal(cty.List(cty.String)), cty.SetVal([]cty.Value{cty.Zero}),
	cty.UnknownVal(cty.Tuple([]cty.Type{cty.String, cty.Number})),
}

func drawValue(t *rapid.T, depth int) cty.Value {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 || kind == 0 {
		return rapid.SampledFrom(convertLeaves[:rapid.SampledFrom([]int{2, 4, len(convertLeaves)}).Draw(t, "leaves")]).Draw(t, "leaf")
	}
	var elems []cty.Value
	n := rapid.IntRange(0, 4).Draw(t, "length")
	attrs := map[string]cty.Value{}
	for i := range n {
		e := drawValue(t, depth-1)
		if i > 0 && rapid.Bool().Draw(t, "again") {
			e = elems[0]
		}
		elems = append(elems, e)
		attrs[rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")] = e
	}
	var v cty.Value
	switch {
	case kind == 1 && len(elems) > 0 && cty.CanListVal(elems):
		v = cty.ListVal(elems)
	case kind == 2 && len(attrs) > 0 && cty.CanMapVal(attrs):
		v = cty.MapVal(attrs)
	case kind <= 3:
		v = cty.TupleVal(elems)
	default:
		v = cty.ObjectVal(attrs)
	}
	if rapid.IntRange(0, 9).Draw(t, "mark") == 0 {
		v = v.Mark(value.Ephemeral)
	}
	return v
}

func drawType(t *rapid.T, depth int) cty.Type {
	kind := rapid.IntRange(0, 6).Draw(t, "kind of type")
	if depth == 0 || kind == 0 {
		return rapid.SampledFrom([]cty.Type{cty.DynamicPseudoType, cty.String, cty.Number}).Draw(t, "type")
	}
	switch kind {
	case 1:
		return cty.Set(drawType(t, depth-1))
	case 2, 3:
		return cty.List(drawType(t, depth-1))
	case 4, 5:
		return cty.Map(drawType(t, depth-1))
	}
	return cty.ObjectWithOptionalAttrs(map[string]cty.Type{"a": drawType(t, depth-1), "b": drawType(t, depth-1)}, []string{"b"})
}

// library is the library's conversion. It panics over some values, to which there is nothing to compare.
func library(v cty.Value, want cty.Type) (out cty.Value, err error, panics bool) {
	defer func() { panics = recover() != nil }()
	out, err = convert.Convert(v, want)
	return out, err, false
}

// TestConvertChangesNoResult holds linear conversions against those of the library.
func TestConvertChangesNoResult(t *testing.T) {
	settled := 0
	rapid.Check(t, func(t *rapid.T) {
		v, want := drawValue(t, 3), drawType(t, 3)
		expected, expectedErr, panics := library(v, want)
		if panics {
			t.Skip("the library panics")
		}
		if _, ok := unify.Converted(v, want); ok {
			settled++
		}
		got, err := unify.Convert(v, want)
		if (err == nil) != (expectedErr == nil) { // which of several errors is reported is random
			t.Fatalf("%#v to %#v: error %v, want %v", v, want, err, expectedErr)
		}
		if err != nil {
			return
		}
		if hasMarkedNull(v) { // the library loses its marks, and here they may be on the whole
			if _, marks := got.UnmarkDeep(); len(marks) == 0 {
				t.Fatalf("%#v to %#v: %#v has no marks", v, want, got)
			}
			got, _ = got.UnmarkDeep()
			expected, _ = expected.UnmarkDeep()
		}
		if !got.RawEquals(expected) {
			t.Fatalf("%#v to %#v:\n got %#v\nwant %#v", v, want, got, expected)
		}
	})
	if settled == 0 {
		t.Error("no conversion was ever settled")
	}
}

func hasMarkedNull(v cty.Value) (found bool) {
	_ = cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) {
		found = found || part.IsMarked() && part.IsNull()
		return true, nil
	})
	return found
}

// BenchmarkConvert makes collections of ten thousand elements.
func BenchmarkConvert(b *testing.B) {
	const n = 10_000
	elems, attrs := make([]cty.Value, n), make(map[string]cty.Value, n)
	for i := range n {
		elems[i] = cty.ObjectVal(map[string]cty.Value{"a": cty.NumberIntVal(int64(i)), "b": cty.TupleVal([]cty.Value{cty.True})})
		attrs[fmt.Sprint("k", i)] = elems[i]
	}
	elem := cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.List(cty.DynamicPseudoType)})
	for name, c := range map[string]struct {
		v    cty.Value
		want cty.Type
	}{
		"list of any":     {cty.TupleVal(elems), cty.List(cty.DynamicPseudoType)},
		"list of objects": {cty.TupleVal(elems), cty.List(elem)},
		"map of any":      {cty.ObjectVal(attrs), cty.Map(cty.DynamicPseudoType)},
		"map of objects":  {cty.ObjectVal(attrs), cty.Map(elem)},
		"set of objects":  {cty.TupleVal(elems), cty.Set(elem)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, ok := unify.Converted(c.v, c.want); !ok {
					b.Fatal("not converted")
				}
			}
		})
	}
}
