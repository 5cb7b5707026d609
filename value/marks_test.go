package value

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

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
