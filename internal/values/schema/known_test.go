package schema

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestWhollyKnown holds the short cut against the library.
func TestWhollyKnown(t *testing.T) {
	known := object(obj{"a": str("x"), "b": null, "c": object(obj{"d": list(str("x")).Mark("m"), "e": cty.True.Mark("m")}), "f": cty.EmptyObjectVal})
	for _, v := range []cty.Value{
		known, known.Mark("m"), unknown, null, unknown.Mark("m"), cty.DynamicVal, cty.NullVal(known.Type()), cty.UnknownVal(known.Type()), list(str("x")), list(unknown),
		object(obj{"a": known, "b": unknown}), object(obj{"a": object(obj{"b": unknown.Mark("m")})}), object(obj{"a": list(object(obj{"b": unknown}))}), object(obj{"a": cty.UnknownVal(known.Type())}),
	} {
		if got, want := WhollyKnown(v), v.IsWhollyKnown(); got != want {
			t.Errorf("%#v: got %t, want %t", v, got, want)
		}
	}
	flat := object(obj{"a": str("x"), "b": null, "c": object(obj{"d": str("x")})})
	if n := testing.AllocsPerRun(10, func() { WhollyKnown(flat) }); n > 0 {
		t.Errorf("allocations for objects: got %g, want 0", n)
	}
}
