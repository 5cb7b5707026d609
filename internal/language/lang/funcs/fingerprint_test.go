package funcs

import (
	"errors"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestFingerprint checks marks, and what has no fingerprint yet.
func TestFingerprint(t *testing.T) {
	other := value.Mark("other")
	secret := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x").Mark(value.Sensitive), "b": cty.StringVal("y").Mark(other)}).Mark(value.Ephemeral).Mark(value.EphemeralType)
	bare, _ := secret.UnmarkDeep()
	unknown := cty.UnknownVal(cty.Number).RefineNotNull()
	broken := errors.New("broken")
	wrong := func(cty.Value) (uint64, bool, error) { return 1, true, nil }
	text := value.TypeName(cty.String)
	past := func(number uint64) cty.Value {
		return cty.UnknownVal(cty.String).Mark(value.Ephemeral).Mark(value.Computed{By: "b", Number: number, Past: true, Type: text})
	}
	for _, test := range []struct {
		name string
		fn   func(cty.Value) (uint64, bool, error)
		arg  cty.Value
		want cty.Value // cty.NilVal for an error
	}{
		{"known", func(v cty.Value) (uint64, bool, error) { return 7, v.RawEquals(bare), nil }, secret, cty.NumberIntVal(7).Mark(other)},
		{"no salt", func(cty.Value) (uint64, bool, error) { return 0, false, nil }, secret, unknown.Mark(other)},
		{"no hasher", nil, secret, unknown.Mark(other)},
		{"unknown", func(cty.Value) (uint64, bool, error) { return 7, true, nil }, cty.UnknownVal(cty.String).Mark(value.Ephemeral), unknown},
		{"unknown inside", func(cty.Value) (uint64, bool, error) { return 7, true, nil }, cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)}), unknown},
		{"null", func(v cty.Value) (uint64, bool, error) { return 8, v.IsNull(), nil }, cty.NullVal(cty.String).Mark(value.Sensitive), cty.NumberIntVal(8)},
		{"computed earlier", wrong, past(7), cty.NumberIntVal(7)},
		{"computed earlier, without a number", wrong, past(0), cty.NilVal},
		{"made of one computed earlier", wrong, value.Derived(past(7)), cty.NilVal},
		{"made of one computed now", wrong, value.Derived(cty.StringVal("x").Mark(value.Computed{By: "a", Number: 7, Type: text})), cty.NilVal},
		{"part of one computed now", wrong, cty.NumberIntVal(1).Mark(value.Computed{By: "a", Number: 7, Type: text}), cty.NilVal},
		{"made of two computed earlier", wrong, past(7).Mark(value.Computed{By: "c", Number: 8, Past: true, Type: text}), cty.NilVal},
		{"one of two that are not computed yet", wrong, cty.UnknownVal(cty.String).Mark(value.Computed{By: "a", Type: text}).Mark(value.Computed{By: "b", Type: text}), unknown},
		{"with one computed earlier in it", wrong, cty.ListVal([]cty.Value{past(7)}), cty.NilVal},
		{"computed now", func(v cty.Value) (uint64, bool, error) { return 9, true, nil }, cty.StringVal("x").Mark(value.Ephemeral).Mark(value.Computed{By: "a", Number: 7, Type: text}), cty.NumberIntVal(9)},
		{"error", func(cty.Value) (uint64, bool, error) { return 0, false, broken }, cty.StringVal("x"), cty.NilVal},
	} {
		for _, name := range []string{"fingerprint", CorePrefix + "fingerprint"} {
			got, err := Table(Options{Fingerprint: test.fn})[name].Call([]cty.Value{test.arg})
			if (test.want == cty.NilVal) != (err != nil) || err == nil && !got.RawEquals(test.want) {
				t.Errorf("%s: got %#v, %v, want %#v", test.name, got, err, test.want)
			}
		}
	}
}
