package value

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestUnknownAsNull(t *testing.T) {
	secret := cty.StringVal("s").Mark(Sensitive)
	for _, test := range []struct{ in, want cty.Value }{
		{cty.UnknownVal(cty.String).Mark(Sensitive), cty.NullVal(cty.String).Mark(Sensitive)},
		{secret, secret},
		{
			cty.ObjectVal(map[string]cty.Value{"a": secret, "b": cty.UnknownVal(cty.Number), "c": cty.ListVal([]cty.Value{cty.UnknownVal(cty.String).Mark(Sensitive)})}),
			cty.ObjectVal(map[string]cty.Value{"a": secret, "b": cty.NullVal(cty.Number), "c": cty.ListVal([]cty.Value{cty.NullVal(cty.String).Mark(Sensitive)})}),
		},
	} {
		if got := UnknownAsNull(test.in); !got.RawEquals(test.want) {
			t.Errorf("%#v: got %#v, want %#v", test.in, got, test.want)
		}
	}
}
