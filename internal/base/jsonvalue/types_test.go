package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

func drawType(t *rapid.T, depth int) cty.Type {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 || kind < 2 {
		return rapid.SampledFrom([]cty.Type{cty.String, cty.Number, cty.Bool, cty.DynamicPseudoType}).Draw(t, "type")
	}
	switch kind {
	case 2:
		return cty.List(drawType(t, depth-1))
	case 3:
		return cty.Set(drawType(t, depth-1))
	case 4:
		return cty.Map(drawType(t, depth-1))
	case 5, 6:
		attrs := map[string]cty.Type{}
		for range rapid.IntRange(0, 3).Draw(t, "attributes") {
			attrs[rapid.SampledFrom([]string{"a", "b", "ü", `"q"`, "<b>", "\u2028", "]", ""}).Draw(t, "name")] = drawType(t, depth-1)
		}
		if len(attrs) > 0 && rapid.IntRange(0, 3).Draw(t, "optional") == 0 {
			for name := range attrs {
				return cty.ObjectWithOptionalAttrs(attrs, []string{name})
			}
		}
		return cty.Object(attrs)
	default:
		elems := []cty.Type{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			elems = append(elems, drawType(t, depth-1))
		}
		return cty.Tuple(elems)
	}
}

// TestTypesAreThoseOfTheLibrary holds what is written and read against the library.
func TestTypesAreThoseOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ty := drawType(t, 4)
		want, err := ctyjson.MarshalType(ty)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsonvalue.MarshalType(ty)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("MarshalType(%#v): got %s, %v, want as by the library: %s", ty, got, err, want)
		}
		if rapid.Bool().Draw(t, "indented") {
			var out bytes.Buffer
			if err := json.Indent(&out, want, "", "  "); err != nil {
				t.Fatal(err)
			}
			want = out.Bytes()
		}
		if again, err := jsonvalue.UnmarshalType(want); err != nil || !again.Equals(ty) {
			t.Fatalf("UnmarshalType(%s): got %#v, %v, want %#v", want, again, err, ty)
		}
	})
	if _, err := jsonvalue.MarshalType(cty.Capsule("x", reflect.TypeFor[int]())); err == nil {
		t.Error("a type of no JSON was written")
	}
}

// FuzzType reads what may be no type.
func FuzzType(f *testing.F) {
	for _, seed := range []string{`"string"`, `["list","bool"]`, `["tuple",[ ]]`, `["object",{"a":"number","b":["set","dynamic"]},["a"]]`, `["map","string"`, `"strin\u0067"`, `["tuple",["string",]]`, `["object",{"a":"string"} ] x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := jsonvalue.UnmarshalType(b)
		want, wantErr := library(b)
		if (err == nil) != (wantErr == nil) || err == nil && !got.Equals(want) {
			t.Errorf("UnmarshalType(%q): got %#v, %v, want as by the library: %#v, %v", b, got, err, want, wantErr)
		}
	})
}

// library reads a type as the library does, which panics over some.
func library(b []byte) (ty cty.Type, err error) {
	defer func() {
		if recover() != nil {
			err = json.Unmarshal([]byte("not a type"), &ty)
		}
	}()
	return ctyjson.UnmarshalType(b)
}

// BenchmarkType writes and reads the type of a tuple of tuples of tuples, with 65536 elements in all.
func BenchmarkType(b *testing.B) {
	ty := cty.String
	for range 16 {
		ty = cty.Tuple([]cty.Type{ty, ty})
	}
	for b.Loop() {
		text, err := jsonvalue.MarshalType(ty)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := jsonvalue.UnmarshalType(text); err != nil {
			b.Fatal(err)
		}
	}
}
