package value_test

import (
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func drawNested(t *rapid.T, depth int) cty.Value {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 || kind == 0 {
		return rapid.SampledFrom([]cty.Value{
			cty.StringVal("a"), cty.StringVal("b"), cty.Zero, cty.NullVal(cty.String), cty.UnknownVal(cty.String), cty.DynamicVal, cty.EmptyObjectVal,
			cty.MapValEmpty(cty.String), cty.StringVal("secret").Mark(value.Ephemeral),
		}).Draw(t, "leaf")
	}
	var elems []cty.Value
	attrs := map[string]cty.Value{}
	for i := range rapid.IntRange(0, 3).Draw(t, "length") {
		elems = append(elems, drawNested(t, depth-1))
		attrs[fmt.Sprint("k", i)] = elems[i]
	}
	switch {
	case kind == 1 && len(elems) > 0 && cty.CanListVal(elems):
		return cty.ListVal(elems)
	case kind == 2 && len(elems) > 0 && cty.CanSetVal(elems):
		return cty.SetVal(elems)
	case kind == 3 && len(elems) > 0 && cty.CanMapVal(attrs):
		return cty.MapVal(attrs)
	case kind <= 4:
		return cty.TupleVal(elems)
	}
	return cty.ObjectVal(attrs)
}

// TestMarkPathsMarksAsTheLibraryDoes holds it against cty.Value.MarkWithPaths.
func TestMarkPathsMarksAsTheLibraryDoes(t *testing.T) {
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		v := drawNested(t, 3)
		bare, _ := v.UnmarkDeep()
		var paths []cty.Path
		_ = cty.Walk(bare, func(p cty.Path, _ cty.Value) (bool, error) {
			if rapid.IntRange(0, 2).Draw(t, "choose") == 0 {
				paths = append(paths, p.Copy())
			}
			return true, nil
		})
		paths = append(paths, cty.GetAttrPath("k0").IndexString("k9"), cty.IndexIntPath(7), cty.GetAttrPath("none"))
		var pvm []cty.PathValueMarks
		for _, p := range paths {
			pvm = append(pvm, cty.PathValueMarks{Path: p, Marks: cty.NewValueMarks(value.Sensitive)})
		}
		want, got := v.MarkWithPaths(pvm), value.MarkPaths(v, paths, value.Sensitive)
		if !got.RawEquals(want) {
			t.Fatalf("%#v with %d paths:\n got %#v\nwant %#v", v, len(paths), got, want)
		}
		if !want.RawEquals(v) {
			changed++
		}
	})
	if changed == 0 {
		t.Error("nothing was ever marked")
	}
}

// TestMarkPathsOfEveryKind marks by paths of every kind, into values that have what they lead to and such as
// have not, as the library does.
func TestMarkPathsOfEveryKind(t *testing.T) {
	object := cty.Object(map[string]cty.Type{"a": cty.List(cty.String), "0": cty.String})
	text, one := cty.StringVal("a"), cty.NumberIntVal(1)
	values := []cty.Value{
		text, one, cty.True, cty.NullVal(object), cty.UnknownVal(object), cty.NullVal(cty.Map(cty.String)), cty.UnknownVal(cty.Map(cty.String)),
		cty.NullVal(cty.List(cty.String)), cty.UnknownVal(cty.List(cty.String)), cty.UnknownVal(cty.Tuple([]cty.Type{cty.String})), cty.NullVal(cty.Set(cty.String)), cty.UnknownVal(cty.Set(cty.Number)),
		cty.ListValEmpty(cty.String), cty.MapValEmpty(cty.String), cty.SetValEmpty(cty.String), cty.EmptyTupleVal, cty.EmptyObjectVal, cty.DynamicVal,
		cty.ListVal([]cty.Value{text, cty.StringVal("b")}), cty.TupleVal([]cty.Value{text, one}), cty.MapVal(map[string]cty.Value{"a": text, "b": text}),
		cty.SetVal([]cty.Value{text, cty.StringVal("b")}), cty.SetVal([]cty.Value{cty.Zero, one}), cty.SetVal([]cty.Value{cty.True}), cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": text})}),
		cty.ObjectVal(map[string]cty.Value{"a": cty.ListVal([]cty.Value{text, text}), "0": text}).Mark(value.Ephemeral), cty.ListVal([]cty.Value{cty.SetVal([]cty.Value{one})}),
	}
	keys := []cty.Value{
		text, cty.StringVal("0"), cty.Zero, one, cty.NumberIntVal(-1), cty.NumberIntVal(2), cty.NumberFloatVal(0.5), cty.True, cty.NullVal(cty.String), cty.NullVal(cty.Number),
		cty.UnknownVal(cty.String), cty.UnknownVal(cty.Number), text.Mark(value.Sensitive), one.Mark(value.Sensitive), cty.ObjectVal(map[string]cty.Value{"a": text}),
	}
	steps := []cty.Path{{}, cty.GetAttrPath("a"), cty.GetAttrPath("0")}
	for _, key := range keys {
		steps = append(steps, cty.IndexPath(key))
	}
	for _, v := range values {
		for _, first := range steps {
			for _, then := range steps {
				path := append(first.Copy(), then...)
				for _, paths := range [][]cty.Path{{path}, {first, path}} {
					want := v
					for _, p := range paths {
						want = want.MarkWithPaths([]cty.PathValueMarks{{Path: p, Marks: cty.NewValueMarks(value.Sensitive)}})
					}
					if got := value.MarkPaths(v, paths, value.Sensitive); !got.RawEquals(want) {
						t.Errorf("%#v at %#v:\n got %#v\nwant %#v", v, paths, got, want)
					}
				}
			}
		}
	}
}

// BenchmarkMarkPaths marks each of ten thousand elements.
func BenchmarkMarkPaths(b *testing.B) {
	attrs, paths := map[string]cty.Value{}, []cty.Path{}
	for i := range 10_000 {
		name := fmt.Sprint("k", i)
		attrs[name], paths = cty.StringVal("v"), append(paths, cty.GetAttrPath(name))
	}
	v := cty.ObjectVal(attrs)
	for b.Loop() {
		value.MarkPaths(v, paths, value.Sensitive)
	}
}
