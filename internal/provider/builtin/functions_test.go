package builtin

import (
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"pgregory.net/rapid"
)

func TestFunctions(t *testing.T) {
	capsule := cty.CapsuleVal(cty.Capsule("thing", reflect.TypeFor[int]()), new(int))
	unknownText := cty.UnknownVal(cty.String).RefineNotNull()
	tests := []struct {
		name, function string
		arg            cty.Value
		want           cty.Value
		err            string
	}{
		{"all kinds", "encode_tfvars", cty.ObjectVal(attrs{
			"a": cty.NumberIntVal(1), "b": str("x\n${y}"), "c": cty.TupleVal([]cty.Value{cty.True, null}),
			"d": cty.ObjectVal(attrs{"k": str("v"), "a b": cty.Zero}), "e": cty.SetVal([]cty.Value{str("q")}), "f": cty.MapValEmpty(cty.String),
			"ff": cty.EmptyTupleVal,
		}), str("a = 1\nb = \"x\\n$${y}\"\nc = [true, null]\nd = {\n  \"a b\" = 0\n  k     = \"v\"\n}\ne  = [\"q\"]\nf  = {}\nff = []\n"), ""},
		{"empty", "encode_tfvars", cty.EmptyObjectVal, str(""), ""},
		{"map", "encode_tfvars", cty.MapVal(attrs{"b": cty.Zero, "a": cty.Zero}), str("a = 0\nb = 0\n"), ""},
		{"marks", "encode_tfvars", cty.ObjectVal(attrs{"a": cty.Zero.Mark("m")}), str("a = 0\n").Mark("m"), ""},
		{"part unknown", "encode_tfvars", cty.ObjectVal(attrs{"a": unknown}), unknownText, ""},
		{"unknown", "encode_tfvars", unknown, unknownText, ""},
		{"unknown map", "encode_tfvars", cty.UnknownVal(cty.Map(cty.String)), unknownText, ""},
		{"not an identifier", "encode_tfvars", cty.ObjectVal(attrs{"s3 cret": cty.Zero}), cty.NilVal, "not a valid variable name"},
		{"string", "encode_tfvars", str("s3 cret"), cty.NilVal, "an object whose attributes"},
		{"tuple", "encode_tfvars", cty.EmptyTupleVal, cty.NilVal, "an object whose attributes"},
		{"null", "encode_tfvars", null, cty.NilVal, "must not be null"},
		{"capsule", "encode_tfvars", cty.ObjectVal(attrs{"a": capsule}), cty.NilVal, "cannot be written"},

		{"string", "encode_expr", str(`x"y`), str(`"x\"y"`), ""},
		{
			"nested", "encode_expr", cty.ObjectVal(attrs{"a": cty.TupleVal([]cty.Value{cty.Zero, cty.ObjectVal(attrs{"b": null})})}),
			str("{\n  a = [0, {\n    b = null\n  }]\n}"), "",
		},
		{"null", "encode_expr", null, str("null"), ""},
		{"fraction", "encode_expr", cty.MustParseNumberVal("1.5"), str("1.5"), ""},
		{"unknown", "encode_expr", unknown, unknownText, ""},
		{"infinite", "encode_expr", cty.NumberVal(new(big.Float).SetInf(false)), cty.NilVal, "infinite"},
		{"capsule", "encode_expr", capsule, cty.NilVal, "cannot be written"},

		{"values", "decode_tfvars", str("a=1\nb=[1,\"x\"]"), cty.ObjectVal(attrs{"a": cty.NumberIntVal(1), "b": cty.TupleVal([]cty.Value{cty.NumberIntVal(1), str("x")})}), ""},
		{"empty", "decode_tfvars", str(""), cty.EmptyObjectVal, ""},
		{"unknown", "decode_tfvars", cty.UnknownVal(cty.String), unknown, ""},
		{"null", "decode_tfvars", cty.NullVal(cty.String), cty.NilVal, "must not be null"},
		{"number", "decode_tfvars", cty.Zero, cty.NilVal, "a string is required"},
		{"variable", "decode_tfvars", str("a = foo"), cty.NilVal, "Variables not allowed (line 1, column 5)"},
		{"call", "decode_tfvars", str("\na = max(1)"), cty.NilVal, "Function calls not allowed (line 2, column 5)"},
		{"block", "decode_tfvars", str("s3cret {}"), cty.NilVal, "Blocks not allowed (line 1, column 1)"},
		{"cut off", "decode_tfvars", str("a = "), cty.NilVal, "Missing expression"},
		{"twice", "decode_tfvars", str("s3cret=1\ns3cret=2"), cty.NilVal, "Attribute redefined (line 2, column 1)"},
		{"deep", "decode_tfvars", str("a = " + strings.Repeat("[", 100_000)), cty.NilVal, "nested too deep"},
		{"operators", "decode_tfvars", str("a = (" + strings.Repeat("1 +\n", 100_000)), cty.NilVal, "nested too deep"},
		{"directives", "decode_tfvars", str(`a = "` + strings.Repeat("%{if true}", 100_000)), cty.NilVal, "nested too deep"},
		{"long", "decode_tfvars", str("a = [" + strings.Repeat("-1, ", 100_000) + "]\n"), cty.ObjectVal(attrs{"a": cty.TupleVal(repeat(100_000))}), ""},
		{"other", "nosuch", null, cty.NilVal, "no function"},
	}
	for _, test := range tests {
		t.Run(test.function+" "+test.name, func(t *testing.T) {
			got, err := testProvider().CallFunction(t.Context(), test.function, []cty.Value{test.arg})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3") {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				var arg function.ArgError
				if test.function != "nosuch" && !errors.As(err, &arg) {
					t.Errorf("got %T, want an error about an argument", err)
				}
				return
			}
			if err != nil || !got.RawEquals(test.want) {
				t.Errorf("got %#v, %v, want %#v", got, err, test.want)
			}
		})
	}
	if _, err := testProvider().CallFunction(t.Context(), "encode_expr", nil); err == nil {
		t.Error("a call without argument succeeded")
	}
}

func repeat(n int) []cty.Value {
	values := make([]cty.Value, n)
	for i := range values {
		values[i] = cty.NumberIntVal(-1)
	}
	return values
}

// Escape sequences stay whole when a combining mark follows them.
func TestEscapesBeforeMarks(t *testing.T) {
	p := testProvider()
	for _, text := range []string{"\n\u0301", "\u061c\u0327\u0301", "\U000e0001\u0301", "\"\u0338", "a\\\u0301"} {
		v := cty.ObjectVal(attrs{"x": str(text)})
		encoded, err := p.CallFunction(t.Context(), "encode_tfvars", []cty.Value{v})
		if err != nil {
			t.Fatal(err)
		}
		back, err := p.CallFunction(t.Context(), "decode_tfvars", []cty.Value{encoded})
		if err != nil || !back.RawEquals(v) {
			t.Errorf("%+q, encoded as %+q: got %#v, %v, want %#v", text, encoded.AsString(), back, err, v)
		}
	}
}

func TestTfvarsRoundTrip(t *testing.T) {
	p := testProvider()
	rapid.Check(t, func(rt *rapid.T) {
		variables := attrs{}
		for _, name := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-z_][a-z0-9_-]{0,5}`), rapid.ID).Draw(rt, "names") {
			text := str(rapid.String().Draw(rt, "text"))
			variables[name] = rapid.SampledFrom([]cty.Value{
				null, text, cty.False, cty.NumberFloatVal(1e9), cty.TupleVal([]cty.Value{text, cty.EmptyTupleVal}),
				cty.ObjectVal(attrs{rapid.StringMatching(`[a-z ."$]{1,4}`).Draw(rt, "key"): text}),
			}).Draw(rt, "value")
		}
		text, err := p.CallFunction(t.Context(), "encode_tfvars", []cty.Value{cty.ObjectVal(variables)})
		if err != nil {
			rt.Fatal(err)
		}
		back, err := p.CallFunction(t.Context(), "decode_tfvars", []cty.Value{text})
		if err != nil || !back.RawEquals(cty.ObjectVal(variables)) {
			rt.Fatalf("%s\ngot %#v, %v, want %#v", text.AsString(), back, err, cty.ObjectVal(variables))
		}
	})
}

func FuzzDecodeTfvars(f *testing.F) {
	for _, seed := range []string{"", "a = 1", "a = \"${1}\"", "a = <<E\nx\nE\n", "a {\n}", "a = [for x in []: x]", "a = {b = (1)}"} {
		f.Add(seed)
	}
	p := testProvider()
	f.Fuzz(func(t *testing.T, text string) {
		v, err := p.CallFunction(t.Context(), "decode_tfvars", []cty.Value{cty.StringVal(text)})
		if err == nil && !v.Type().IsObjectType() {
			t.Errorf("%#v", v)
		}
	})
}
