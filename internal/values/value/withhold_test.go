package value

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

func TestWithholdEphemeral(t *testing.T) {
	secret := cty.StringVal("secret").Mark(Ephemeral)
	unknown := cty.UnknownVal(cty.String).Mark(Ephemeral)
	plain, sensitive := cty.StringVal("plain"), cty.StringVal("hidden").Mark(Sensitive)
	for name, test := range map[string]struct{ in, want cty.Value }{
		"plain":               {plain, plain},
		"sensitive":           {sensitive, sensitive},
		"whole":               {secret, unknown},
		"null":                {cty.NullVal(cty.String).Mark(Ephemeral), unknown},
		"with another mark":   {secret.Mark(Sensitive), unknown.Mark(Sensitive)},
		"in a tuple":          {cty.TupleVal([]cty.Value{plain, secret}), cty.TupleVal([]cty.Value{plain, unknown})},
		"in a list":           {cty.ListVal([]cty.Value{plain, secret}), cty.ListVal([]cty.Value{plain, unknown})},
		"in a map":            {cty.MapVal(map[string]cty.Value{"a": secret, "b": sensitive}), cty.MapVal(map[string]cty.Value{"a": unknown, "b": sensitive})},
		"deep":                {cty.ObjectVal(map[string]cty.Value{"a": cty.TupleVal([]cty.Value{secret})}), cty.ObjectVal(map[string]cty.Value{"a": cty.TupleVal([]cty.Value{unknown})})},
		"in something marked": {cty.TupleVal([]cty.Value{secret, plain}).Mark(Sensitive), cty.TupleVal([]cty.Value{unknown, plain}).Mark(Sensitive)},
		"a set":               {cty.SetVal([]cty.Value{secret, plain}), cty.UnknownVal(cty.Set(cty.String)).Mark(Ephemeral)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := WithholdEphemeral(test.in); !got.RawEquals(test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}

// TestWithholdEphemeralKeepsTheRest changes no type and no mark, and leaves nothing known that is ephemeral.
func TestWithholdEphemeralKeepsTheRest(t *testing.T) {
	var draw func(t *rapid.T, depth int) cty.Value
	draw = func(t *rapid.T, depth int) cty.Value {
		v := cty.StringVal(rapid.StringN(0, 3, 9).Draw(t, "text"))
		if depth > 0 && rapid.Bool().Draw(t, "nested") {
			v = cty.TupleVal([]cty.Value{draw(t, depth-1), cty.ObjectVal(map[string]cty.Value{"a": draw(t, depth-1)})})
		}
		for _, m := range []Mark{Sensitive, Ephemeral} {
			if rapid.IntRange(0, 3).Draw(t, "mark") == 0 {
				v = v.Mark(m)
			}
		}
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t, 3)
		out := WithholdEphemeral(in)
		if !out.Type().Equals(in.Type()) {
			t.Fatalf("got the type %#v, want it unchanged: %#v", out.Type(), in.Type())
		}
		_ = cty.Walk(out, func(_ cty.Path, v cty.Value) (bool, error) {
			if raw, marks := v.Unmark(); raw.IsKnown() {
				if _, ok := marks[Ephemeral]; ok {
					t.Fatalf("%#v is still known", v)
				}
			}
			return true, nil
		})
	})
}
