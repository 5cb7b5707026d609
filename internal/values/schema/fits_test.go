package schema

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

// TestFitsIsConformance holds the short cut against the library.
func TestFitsIsConformance(t *testing.T) {
	var types func(depth int) *rapid.Generator[cty.Type]
	types = func(depth int) *rapid.Generator[cty.Type] {
		return rapid.Custom(func(t *rapid.T) cty.Type {
			kind := rapid.IntRange(0, 8).Draw(t, "kind")
			if depth == 0 {
				kind %= 4
			}
			switch kind {
			case 0:
				return cty.String
			case 1:
				return cty.Number
			case 2:
				return cty.Bool
			case 3:
				return cty.DynamicPseudoType
			case 4:
				return cty.List(types(depth-1).Draw(t, "element"))
			case 5:
				return cty.Tuple(rapid.SliceOfN(types(depth-1), 0, 2).Draw(t, "elements"))
			default:
				attrs := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), types(depth-1), 0, 2).Draw(t, "attributes")
				if kind == 8 {
					return cty.ObjectWithOptionalAttrs(attrs, optional(attrs))
				}
				return cty.Object(attrs)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		given, want := types(2).Draw(t, "given"), types(2).Draw(t, "want")
		if got, expected := fits(given, want), len(given.TestConformance(want)) == 0; got != expected {
			t.Fatalf("%#v fits %#v: got %t, want %t", given, want, got, expected)
		}
		if !fits(want, want) {
			t.Fatalf("%#v does not fit itself", want)
		}
	})
}

func optional(attrs map[string]cty.Type) []string {
	for name := range attrs {
		return []string{name}
	}
	return nil
}
