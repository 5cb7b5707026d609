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
			t.Fatalf("Pack(%#v): got % x, %v, want as by the library: % x", v, own, err, packed)
		}
		got, err := Unpack(packed, openObject)
		if err != nil || !got.RawEquals(v) {
			t.Fatalf("Unpack: got %#v, %v, want %#v", got, err, v)
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

// TestUnpackOfNonsense cuts and changes what is packed, at each byte. It fails as the library does, or gives
// the same.
func TestUnpackOfNonsense(t *testing.T) {
	long := strings.Repeat("n", 300)
	many := map[string]cty.Type{long: cty.String}
	manyValues := obj{long: str(long)}
	for i := range 20 {
		name := string(rune('a' + i))
		many[name], manyValues[name] = cty.Bool, cty.True
	}
	open := cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType})
	list := cty.ListVal([]cty.Value{str("x")})
	for _, c := range []struct {
		v  cty.Value
		ty cty.Type
	}{
		{cty.ObjectVal(obj{"a": str("x"), "b": cty.ObjectVal(obj{"x": cty.True}), "c": cty.NullVal(cty.String), "d": cty.ListVal([]cty.Value{cty.Zero})}), openObject},
		{cty.ObjectVal(obj{"a": cty.UnknownVal(cty.Number).RefineNotNull(), "b": cty.DynamicVal, "c": cty.UnknownVal(cty.String).RefineNotNull(), "d": cty.UnknownVal(cty.List(cty.Number)).RefineNotNull()}), openObject},
		{cty.ObjectVal(manyValues), cty.Object(many)},
		{cty.ObjectVal(obj{"a": list}), open},
		{cty.ObjectVal(obj{"a": cty.NullVal(list.Type())}), open},
		{cty.EmptyObjectVal, cty.EmptyObject},
		{cty.MapVal(obj{"a": str("x")}), cty.Map(cty.String)},
		{str("x"), cty.String},
	} {
		packed, err := msgpack.Marshal(c.v, c.ty)
		if err != nil {
			t.Fatal(err)
		}
		compare := func(b []byte) {
			b = slices.Clip(b)
			got, ok := unpackObject(b, c.ty)
			if !ok {
				return
			}
			if want, err := msgpack.Unmarshal(b, c.ty); err != nil || !got.RawEquals(want) {
				t.Errorf("% x as %#v: got %#v, want as by the library: %#v, %v", b, c.ty, got, want, err)
			}
		}
		for at := range packed {
			compare(packed[:at])
			compare(slices.Insert(slices.Clone(packed), at, 0xc0))
			for _, other := range []byte{0, 1, 0x80, 0x90, 0x92, 0xa1, 0xbf, 0xc0, 0xc1, 0xc3, 0xc4, 0xc6, 0xc9, 0xd4, 0xd9, 0xdb, 0xdc, 0xde, 0xdf, 0xff} {
				changed := slices.Clone(packed)
				changed[at] = other
				compare(changed)
			}
		}
		compare(append(slices.Clone(packed), 0xc0))
		for _, ty := range []cty.Type{cty.String, cty.EmptyObject, open, openObject} {
			if got, ok := unpackObject(packed, ty); ok && !ty.Equals(c.ty) {
				t.Errorf("%#v unpacked as %#v: got %#v, want it refused", c.v, ty, got)
			}
		}
	}
}

// TestParts splits objects, and nothing else.
func TestParts(t *testing.T) {
	if parts, ok := (Durable{}).Parts(); ok || parts != nil {
		t.Errorf("no value has the parts %v", parts)
	}
	v := cty.ObjectVal(obj{"a": str("x"), "b": cty.True, "c": cty.NullVal(cty.String), "d": cty.UnknownVal(cty.List(cty.Number))})
	d, err := Seal(v, openObject, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts, ok := d.Parts()
	if !ok || len(parts) != 4 {
		t.Fatalf("parts: got %v, want 4", parts)
	}
	for i, p := range parts {
		got, err := p.Value()
		if name := string(rune('a' + i)); err != nil || p.Name != name || !got.RawEquals(v.GetAttr(name)) || p.Open != (i < 2) || p.IsNull() != (i == 2) {
			t.Errorf("part %s: got %#v, %v, open %t, null %t, want %s with its value, open %t, null %t", p.Name, got, err, p.Open, p.IsNull(), name, i < 2, i == 2)
		}
		if text, ok := p.Text(); ok != (i == 0) || ok && string(text) != "x" {
			t.Errorf("text of part %s: got %s, %t, want \"x\" of the first alone", p.Name, text, ok)
		}
	}
	if d, err = Seal(cty.ListVal([]cty.Value{str("x")}), cty.List(cty.String), nil); err != nil {
		t.Fatal(err)
	}
	if parts, ok := d.Parts(); ok {
		t.Errorf("a list has the parts %v", parts)
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
			t.Fatalf("got %#v, want as by the library: %#v, %v", got, want, err)
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
			t.Fatalf("%#v: got marked %t, want as by the library: %t", v, IsMarked(v), v.ContainsMarked())
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
			t.Errorf("%.20v: got it cut to %d bytes, %d left, %t, want %d, 1 left", v, len(got), len(rest), ok, len(packed))
		}
		for n := range min(len(packed), 400) {
			if _, _, ok := cutValue(slices.Clip(packed[:n])); ok {
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
