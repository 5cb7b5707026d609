package value

import (
	"reflect"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestWithType(t *testing.T) {
	object := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": v, "b": cty.True}) }
	for _, v := range []cty.Value{
		object(cty.StringVal("x")), object(cty.StringVal("x").Mark(Sensitive)), object(cty.StringVal("x")).Mark(Ephemeral),
		object(cty.UnknownVal(cty.String).RefineNotNull()), cty.NullVal(object(cty.StringVal("x")).Type()), cty.UnknownVal(object(cty.StringVal("x")).Type()),
	} {
		shared := object(cty.StringVal("y")).Type()
		got := WithType(v, shared)
		if !got.RawEquals(v) {
			t.Errorf("%#v: got %#v, want %#v", v, got, v)
		}
		if reflect.ValueOf(got.Type().AttributeTypes()).Pointer() != reflect.ValueOf(shared.AttributeTypes()).Pointer() {
			t.Errorf("%#v: got a copy of the type %#v, want the shared one", v, got.Type())
		}
	}
}
