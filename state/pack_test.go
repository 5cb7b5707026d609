package state

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

// packType is an object with attributes of several types.
var packType = cty.Object(map[string]cty.Type{
	"b": cty.Bool, "d": cty.DynamicPseudoType, "l": cty.List(cty.String), "n": cty.Number, "s": cty.String,
	"o": cty.Object(map[string]cty.Type{"x": cty.String, "y": cty.String}),
	"p": cty.ObjectWithOptionalAttrs(map[string]cty.Type{"x": cty.String}, []string{"x"}),
})

// withAttr returns the text of an object of packType, in which all attributes but one are null.
func withAttr(name, text string) string {
	return strings.Replace(`{"b":null,"d":null,"l":null,"n":null,"o":null,"p":null,"s":null}`, `"`+name+`":null`, `"`+name+`":`+text, 1)
}

// packSeeds are texts, and whether a value that has one for the attribute is packed without the library.
var packSeeds = []struct {
	name, text string
	plain      bool
}{
	{"s", `null`, true},
	{"s", `"a"`, true},
	{"s", `""`, true},
	{"s", `"` + strings.Repeat("a", 40) + `"`, true},
	{"s", `"` + strings.Repeat("a", 70000) + `"`, true},
	{"b", `true`, true},
	{"b", `false`, true},
	{"o", `{"x":"a","y":null}`, true},
	{"o", " {\n \"x\" : \"a\",\n \"y\" : \"b\" } ", true},
	{"s", `"\u00e9"`, false},
	{"s", "\"\u00e9\"", false},
	{"s", "\"e\u0301\"", false},
	{"s", `1`, false},
	{"b", `"true"`, false},
	{"b", `1`, false},
	{"n", `1`, false},
	{"l", `["a"]`, false},
	{"d", `{"value":"a","type":"string"}`, false},
	{"d", `null`, false},
	{"p", `{"x":"a"}`, false},
	{"o", `{"y":"a","x":"b"}`, false},
	{"o", `{"x":"a"}`, false},
	{"o", `{"x":"a","x":"b"}`, false},
	{"o", `{"x":"a","y":"b","z":"c"}`, false},
	{"o", `{"\u0078":"a","y":"b"}`, false},
	{"o", `"x"`, false},
	{"o", `[]`, false},
}

// withoutDynamic is packType without the attribute that is never plain.
var withoutDynamic = func() cty.Type {
	types := map[string]cty.Type{}
	for name, ty := range packType.AttributeTypes() {
		if name != "d" {
			types[name] = ty
		}
	}
	return cty.Object(types)
}()

// TestPackText says which values are packed without the library.
func TestPackText(t *testing.T) {
	for _, row := range packSeeds {
		ty, text := withoutDynamic, strings.Replace(withAttr(row.name, row.text), `"d":null,`, "", 1)
		if row.name == "d" {
			ty, text = packType, withAttr(row.name, row.text)
		}
		if _, plain := packText([]byte(text), ty); plain != row.plain {
			t.Errorf("%.99s: got plain %t, want %t", text, plain, row.plain)
		}
	}
	if _, plain := packText([]byte(`{`), packType); plain {
		t.Error("half an object: got plain true, want false")
	}
}

// FuzzPackText holds the short cut against the library.
func FuzzPackText(f *testing.F) {
	for _, row := range packSeeds {
		f.Add([]byte(withAttr(row.name, row.text)))
		f.Add([]byte(strings.Replace(withAttr(row.name, row.text), `"d":null,`, "", 1)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, ty := range []cty.Type{packType, withoutDynamic} {
			got, plain := packText(b, ty)
			if !plain {
				continue
			}
			v, err := jsonvalue.Unmarshal(b, ty)
			if err != nil {
				t.Fatalf("got a value, want error %v", err)
			}
			want, err := msgpack.Marshal(v, ty)
			if err != nil || string(got) != string(want) {
				t.Fatalf("got %x, want %x, %v", got, want, err)
			}
		}
	})
}
