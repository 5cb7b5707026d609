package schema

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestNullTellsNoType(t *testing.T) {
	b := &Block{Attributes: map[string]*Attribute{
		"any":   {Type: cty.DynamicPseudoType, Optional: true},
		"typed": {Type: cty.Map(cty.String), Optional: true},
	}}
	secret := cty.ObjectVal(map[string]cty.Value{"secret": cty.True})
	v := cty.ObjectVal(map[string]cty.Value{
		"any":   cty.ObjectVal(map[string]cty.Value{"part": secret, "list": cty.TupleVal([]cty.Value{secret, cty.Zero})}),
		"typed": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("v")}),
	})
	open, text := cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.String)
	for _, test := range []struct {
		path cty.Path
		want cty.Value
	}{
		{cty.GetAttrPath("any"), open},
		{cty.GetAttrPath("any").GetAttr("part"), open},
		{cty.GetAttrPath("any").GetAttr("list").IndexInt(0), open},
		{cty.GetAttrPath("any").GetAttr("list").IndexInt(1), cty.NullVal(cty.Number)},
		{cty.GetAttrPath("typed").IndexString("k"), text},
		{cty.GetAttrPath("typed"), cty.NullVal(cty.Map(cty.String))},
	} {
		got, err := test.path.Apply(b.NullAt(v, []cty.Path{test.path}))
		if err != nil || !got.RawEquals(test.want) {
			t.Errorf("null at %s: got %#v (%v), want %#v", PathString(test.path), got, err, test.want)
		}
	}
}
