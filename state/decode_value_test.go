package state

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

var decodeSeeds = []string{
	`{"s":"a","b":true,"n":1.5,"d":{"value":"x","type":"string"},"l":["a"]}`, `{"s":null,"d":null}`, `{"s":"a","x":1}`, `{"s":1,"b":"true","n":"2"}`,
	`{"d":{"value":{"a":1},"type":["object",{"a":"number"}]}}`, `{"d":{"value":null,"type":"string"}}`, `{"d":{"type":"string"}}`, `{"d":{"value":1,"type":"string"}}`,
	`{"s":"e\u0301 \ud800"}`, `null`, `[]`, `{`, `{"s":"a","s":"b"}`, ` { "s" : "a" } `, `{"d":{"VALUE":"x","Type":"string"}}`, `{"S":"a"}`, `{"d":{"value":"x","type":"string","more":1}}`,
	`{"n":1e400}`, `{"n":123456789012345678901234567890}`, `{"b":null}`, `{"d":"x"}`, `{"b":null""}`,
}

// FuzzDecodeValue holds the short cut against the library.
func FuzzDecodeValue(f *testing.F) {
	for _, s := range decodeSeeds {
		f.Add([]byte(s))
	}
	ty := cty.Object(map[string]cty.Type{
		"s": cty.String, "b": cty.Bool, "n": cty.Number, "d": cty.DynamicPseudoType, "l": cty.List(cty.String),
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, gotErr := decodeValue(b, ty)
		want, wantErr := ctyjson.Unmarshal(b, ty)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("error %v, want %v", gotErr, wantErr)
		}
		if gotErr == nil && !got.RawEquals(want) {
			t.Fatalf("%#v, want %#v", got, want)
		}
	})
}
