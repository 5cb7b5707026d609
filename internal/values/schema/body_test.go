package schema

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func bodyBlock() *Block {
	return &Block{
		Attributes: map[string]*Attribute{
			"text": {Type: cty.String, Optional: true}, "needed": {Type: cty.Number, Required: true}, "open": {Type: cty.DynamicPseudoType, Optional: true},
			"list": {Type: cty.List(cty.String), Optional: true}, "id": {Type: cty.String, Computed: true},
			"object":  {Type: cty.ObjectWithOptionalAttrs(map[string]cty.Type{"a": cty.String, "b": cty.String}, []string{"b"}), Optional: true},
			"element": {Type: cty.List(cty.Object(map[string]cty.Type{"x": cty.String})), Optional: true},
			"nested":  {Nested: &Object{Nesting: List, Attributes: map[string]*Attribute{"x": {Type: cty.String, Optional: true}}}, Optional: true},
		},
		Blocks: map[string]*NestedBlock{
			"n": {Nesting: List, Block: Block{Attributes: map[string]*Attribute{"x": {Type: cty.String, Optional: true}}}},
			"g": {Nesting: Group, Block: Block{Attributes: map[string]*Attribute{"x": {Type: cty.String, Optional: true}}}},
		},
	}
}

// TestBodyDecodesAlike holds the decoding of a bound body against that of any body.
func TestBodyDecodesAlike(t *testing.T) {
	vars := ctx(obj{"v": str("value"), "marked": str("m").Mark("m"), "unknown": cty.UnknownVal(cty.String)})
	for src, plain := range map[string]bool{
		"needed = 1": true, "needed = \"2\"\ntext = v\nopen = marked": true, "needed = 1\nopen = [v, 1]\nlist = [1, unknown]": true,
		"needed = 1\nlist = marked": true, "needed = v": true, "needed = 1\ntext = missing": true, "needed = 1\nopen = null\ntext = null": true,
		"text = v": false, "needed = 1\nstranger = 1": false, "needed = 1\nn {}": false, "needed = 1\nelement { \n x = v \n}": false,
		"needed = 1\nobject = { a = v }": false, "needed = 1\ndynamic \"n\" {\n for_each = [1]\n content {}\n}": false, "needed = 1\nelement = [{ x = v }]": true,
	} {
		b := bodyBlock()
		bound := b.Bind(parse(t, src))
		if (bound.plain != nil) != plain {
			t.Errorf("%s: got plain %t, want %t", src, bound.plain != nil, plain)
		}
		for range 2 {
			got, gotDiags := bound.Decode(vars)
			want, wantDiags := b.Decode(parse(t, src), vars)
			if !got.RawEquals(want) || fmt.Sprint(gotDiags) != fmt.Sprint(wantDiags) {
				t.Errorf("%s:\n%#v, %v, want\n%#v, %v", src, got, gotDiags, want, wantDiags)
			}
		}
	}
	b := bodyBlock()
	b.Blocks["n"].MinItems = 1
	if _, diags := b.Bind(parse(t, "needed = 1")).Decode(nil); !diags.HasErrors() {
		t.Error("a body without a block that it must have is fine")
	}
}

// TestBodyEvaluatesOnce: an evaluation may call a provider, which may end in the first call.
func TestBodyEvaluatesOnce(t *testing.T) {
	calls := 0
	fails := function.New(&function.Spec{
		Type: function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) { calls++; return cty.NilVal, errors.New("broken") },
	})
	vars := ctx(obj{})
	vars.Functions = map[string]function.Function{"fails": fails}
	if _, diags := bodyBlock().Bind(parse(t, "needed = 1\ntext = fails()")).Decode(vars); len(diags) != 1 || calls != 1 {
		t.Errorf("got %d calls, %v, want one call, one diagnostic", calls, diags)
	}
}

func BenchmarkDecodeBody(b *testing.B) {
	block, vars := bodyBlock(), ctx(obj{"v": str("value")})
	body := block.Bind(parse(b, "needed = 1\ntext = v\nopen = v"))
	b.ReportAllocs()
	for b.Loop() {
		if _, diags := body.Decode(vars); len(diags) > 0 {
			b.Fatal(diags)
		}
	}
}
