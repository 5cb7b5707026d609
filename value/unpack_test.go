package value

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	vmihailenco "github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"
	"pgregory.net/rapid"
)

var openObject = cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType, "b": cty.DynamicPseudoType, "c": cty.String, "d": cty.List(cty.Number)})

// TestPackIsTheLibrarys holds the ways around the library against the library.
func TestPackIsTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, _ := cty.ObjectVal(obj{
			"a": rapid.OneOf(drawValue(0), drawValue(1)).Draw(t, "a"), "b": drawValue(0).Draw(t, "b"),
			"c": rapid.SampledFrom([]cty.Value{str("c"), cty.NullVal(cty.String), cty.UnknownVal(cty.String).RefineNotNull()}).Draw(t, "c"),
			"d": rapid.SampledFrom([]cty.Value{cty.NullVal(cty.List(cty.Number)), cty.ListVal([]cty.Value{cty.NumberIntVal(1)})}).Draw(t, "d"),
		}).UnmarkDeep()
		packed, err := msgpack.Marshal(v, openObject)
		if err != nil {
			t.Fatal(err)
		}
		if own, err := Pack(v, openObject, nil); err != nil || !bytes.Equal(own, packed) {
			t.Fatalf("%#v is packed as % x, %v, and by the library as % x", v, own, err, packed)
		}
		got, err := Unpack(packed, openObject)
		if err != nil || !got.RawEquals(v) {
			t.Fatalf("%#v came back as %#v, %v", v, got, err)
		}
	})
}

// TestUnpackNeedsNoLibrary holds that the way around is taken at all.
func TestUnpackNeedsNoLibrary(t *testing.T) {
	v := cty.ObjectVal(obj{"a": str("x"), "b": cty.UnknownVal(cty.Bool), "c": cty.NullVal(cty.String), "d": cty.NullVal(cty.List(cty.Number))})
	packed, err := msgpack.Marshal(v, openObject)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := unpackObject(packed, openObject); !ok {
		t.Error("an object was left to the library")
	}
}

func FuzzUnpack(f *testing.F) {
	for _, v := range []cty.Value{cty.NullVal(cty.Bool), cty.ObjectVal(obj{"x": str("y")}), cty.Zero, cty.UnknownVal(cty.Number)} {
		packed, err := msgpack.Marshal(cty.ObjectVal(obj{"a": v, "b": str("b"), "c": str("c"), "d": cty.ListVal([]cty.Value{cty.Zero})}), openObject)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		got, ok := unpackObject(packed, openObject)
		if !ok {
			return
		}
		if want, err := msgpack.Unmarshal(packed, openObject); err != nil || !got.RawEquals(want) {
			t.Fatalf("%#v, where the library gives %#v, %v", got, want, err)
		}
	})
}

func TestIsMarked(t *testing.T) {
	for name, v := range map[string]cty.Value{
		"itself":    str("x").Mark(Sensitive),
		"null":      cty.NullVal(cty.String).Mark(Sensitive),
		"unknown":   cty.UnknownVal(cty.List(cty.String)).Mark(Sensitive),
		"attribute": cty.ObjectVal(obj{"a": str("x"), "b": str("y").Mark(Sensitive)}),
		"element":   cty.ListVal([]cty.Value{str("x"), str("y").Mark(Sensitive)}),
		"set":       cty.SetVal([]cty.Value{str("x"), str("y").Mark(Sensitive)}),
		"deep":      cty.TupleVal([]cty.Value{cty.MapVal(obj{"k": cty.ObjectVal(obj{"a": cty.SetVal([]cty.Value{str("x").Mark(Ephemeral)})})})}),
	} {
		if !IsMarked(v) || !v.ContainsMarked() {
			t.Errorf("%s: not seen as marked", name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if v := drawValue(3).Draw(t, "value"); IsMarked(v) != v.ContainsMarked() {
			t.Fatalf("%#v: the library says %t", v, v.ContainsMarked())
		}
	})
	if IsMarked(cty.NilVal) {
		t.Error("no value is seen as marked")
	}
}

// TestCutValue takes each form of value off what the library writes.
func TestCutValue(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	for _, v := range []any{
		nil, true, false, 1, -1, 200, -200, 1 << 15, -(1 << 15), 1 << 31, -(1 << 31), int64(1) << 62, float32(1), 1.5, "", "a", long[:40], long[:300], long,
		[]byte("b"), []byte(long[:300]), []byte(long),
		[]any{},
		[]any{1, "a"},
		make([]int, 20), make([]bool, 1<<16),
		map[string]any{"a": []any{map[string]any{"b": nil}}},
	} {
		packed, err := vmihailenco.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, rest, ok := cutValue(append(slices.Clone(packed), msgpcode.True))
		if !ok || !bytes.Equal(got, packed) || len(rest) != 1 {
			t.Errorf("%.20v: cut to %d of %d bytes, %d left, %v", v, len(got), len(packed), len(rest), ok)
		}
		for n := range min(len(packed), 400) {
			if _, _, ok := cutValue(packed[:n]); ok {
				t.Errorf("%.20v: %d of %d bytes count as a value", v, n, len(packed))
			}
		}
	}
}

// BenchmarkSeal seals and decodes an object of strings with open types.
func BenchmarkSeal(b *testing.B) {
	v := cty.ObjectVal(obj{"a": str("x"), "b": cty.NullVal(cty.DynamicPseudoType), "c": cty.UnknownVal(cty.String).RefineNotNull(), "d": cty.NullVal(cty.List(cty.Number))})
	b.ReportAllocs()
	for b.Loop() {
		d, err := Seal(v, openObject, nil)
		if err == nil {
			_, err = d.Live()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
