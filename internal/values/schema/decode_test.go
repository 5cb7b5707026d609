package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

func ctx(vars obj) *hcl.EvalContext { return &hcl.EvalContext{Variables: vars} }

func TestType(t *testing.T) {
	one := cty.Object(map[string]cty.Type{"key": cty.String, "opt": cty.String, "both": cty.String, "id": cty.String})
	want := map[Nesting]cty.Type{Single: one, Group: one, List: cty.List(one), Set: cty.Set(one), Map: cty.Map(one)}
	for nesting, typ := range want {
		if got := nestedBlock(nesting).Type().AttributeType("n"); !got.Equals(typ) {
			t.Errorf("block %s: got %#v, want %#v", nesting, got, typ)
		}
		if got := nestedAttr(nesting).Type().AttributeType("n"); !got.Equals(typ) {
			t.Errorf("attribute %s: got %#v, want %#v", nesting, got, typ)
		}
	}
	for _, nesting := range []Nesting{List, Map} {
		b := nestedBlock(nesting)
		b.Blocks["n"].Attributes["any"] = &Attribute{Type: cty.DynamicPseudoType, Optional: true}
		if got := b.Type().AttributeType("n"); got != cty.DynamicPseudoType {
			t.Errorf("dynamic %s: got %#v, want %#v", nesting, got, cty.DynamicPseudoType)
		}
	}
}

func TestDecodeNestings(t *testing.T) {
	block := `n { 
  key = "a" 
}`
	labelled := `n "a" { 
  key = "a" 
}`
	a := elem(str("a"), null, null, null)
	for _, nesting := range []Nesting{Single, Group, List, Set, Map} {
		b, src := nestedBlock(nesting), block
		if nesting == Map {
			src = labelled
		}
		got, diags := b.Decode(parse(t, src), nil)
		if len(diags) > 0 {
			t.Errorf("%s: %v", nesting, diags)
		}
		wantValue(t, got, collect(nesting, a))

		got, diags = b.Decode(parse(t, ""), nil)
		if len(diags) > 0 {
			t.Errorf("%s: %v", nesting, diags)
		}
		wantValue(t, got, b.Empty())
		if nesting == Group {
			wantValue(t, got, collect(Group, elem(null, null, null, null)))
		}
		if !got.Type().Equals(b.Type()) {
			t.Errorf("%s: got the type %#v, want %#v", nesting, got.Type(), b.Type())
		}
	}
	attrs := map[Nesting]string{
		Single: `n = { key = "a" }`, List: `n = [{ key = "a" }]`, Set: `n = [{ key = "a" }]`, Map: `n = { a = { key = "a" } }`,
	}
	for nesting, src := range attrs {
		got, diags := nestedAttr(nesting).Decode(parse(t, src), nil)
		if len(diags) > 0 {
			t.Errorf("%s: %v", nesting, diags)
		}
		wantValue(t, got, collect(nesting, a))
	}
}

// Nested attributes may be left out, which must not show in the type of an empty collection of blocks around
// them.
func TestDecodeEmptyBlocksAroundNestedAttributes(t *testing.T) {
	for _, nesting := range []Nesting{Single, List, Set, Map, Group} {
		b := &Block{Blocks: map[string]*NestedBlock{"outer": {Nesting: nesting, Block: Block{Attributes: nestedAttr(List).Attributes}}}}
		got, diags := b.Decode(parse(t, ""), nil)
		if len(diags) > 0 || !got.Type().Equals(b.Type()) {
			t.Errorf("%s: got the type %#v, %v, want %#v", nesting, got.Type(), diags, b.Type())
		}
		wantValue(t, got, b.Empty())
	}
}

func TestDecodeDynamicTypes(t *testing.T) {
	for nesting, src := range map[Nesting]string{
		List: "n { \n any = 1 \n}\n n { \n any = \"x\" \n}",
		Map:  "n \"a\" { \n any = 1 \n}\n n \"b\" { \n any = \"x\" \n}",
	} {
		b := &Block{Blocks: map[string]*NestedBlock{"n": {Nesting: nesting, Block: Block{
			Attributes: map[string]*Attribute{"any": {Type: cty.DynamicPseudoType, Optional: true}},
		}}}}
		got, diags := b.Decode(parse(t, src), nil)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		one, two := object(obj{"any": cty.NumberIntVal(1)}), object(obj{"any": str("x")})
		want := cty.TupleVal([]cty.Value{one, two})
		if nesting == Map {
			want = object(obj{"a": one, "b": two})
		}
		wantValue(t, got.GetAttr("n"), want)
	}
}

func TestDecodeErrors(t *testing.T) {
	b := &Block{
		Attributes: map[string]*Attribute{"name": attr("r"), "size": {Type: cty.Number, Optional: true}},
		Blocks: map[string]*NestedBlock{
			"disk": {Nesting: List, MinItems: 1, MaxItems: 2, Block: Block{Attributes: map[string]*Attribute{"gb": attr("o")}}},
			"tag":  {Nesting: Map, MaxItems: 1},
			"one":  {Nesting: Single, MinItems: 1, MaxItems: 1},
		},
	}
	for _, tc := range []struct{ src, want string }{
		{"disk {}\none {}", `Missing required argument: The argument "name" is required, but no definition was found.`},
		{"nane = \"\"\ndisk {}\none {}", `Unsupported argument: An argument named "nane" is not expected here. Did you mean "name"?`},
		{"name = \"\"\ndisc {}\none {}", `Unsupported block type: Blocks of type "disc" are not expected here. Did you mean "disk"?`},
		{"name = \"\"\nsize = \"big\"\ndisk {}\none {}", `Incorrect attribute value type: Inappropriate value for attribute "size": a number is required.`},
		{"name = \"\"\none {}", `Insufficient disk blocks: At least 1 "disk" blocks are required.`},
		{"name = \"\"\ndisk {}\ndisk {}\ndisk {}\none {}", `Too many disk blocks: No more than 2 "disk" blocks are allowed`},
		{"name = \"\"\ndisk {}\none {}\none {}", `Duplicate one block: Only one block of type "one" is allowed.`},
		{"name = \"\"\ndisk {}", `Missing one block: A block of type "one" is required here.`},
		{"name = \"\"\ndisk {}\none {}\ntag \"a\" {}\ntag \"b\" {}", `Too many tag blocks: No more than 1 "tag" blocks are allowed.`},
		{"name = \"\"\ndisk {}\none {}\ntag \"a\" {}\ntag \"a\" {}", `Duplicate tag block`},
	} {
		v, diags := b.Decode(parse(t, tc.src), nil)
		if !diags.HasErrors() || !strings.Contains(diags.Err().Error(), tc.want) {
			t.Errorf("%q: got %v, want %s", tc.src, diags, tc.want)
		}
		if errs := v.Type().TestConformance(b.Type()); len(errs) > 0 {
			t.Errorf("%q: %v", tc.src, errs)
		}
	}
}

func TestDecodeDynamicBlocks(t *testing.T) {
	src := `dynamic "n" {
  for_each = var
  labels   = %
  content {
    key = n.value
  }
}`
	for _, nesting := range []Nesting{List, Set, Map} {
		src := strings.Replace(src, "  labels   = %\n", "", 1)
		if nesting == Map {
			src = strings.Replace(src, "content", "labels = [n.value]\ncontent", 1)
		}
		b := nestedBlock(nesting)
		for _, tc := range []struct{ in, want cty.Value }{
			{list(str("a"), str("b")), collect(nesting, elem(str("a"), null, null, null), elem(str("b"), null, null, null))},
			{cty.ListValEmpty(cty.String), collect(nesting)},
			{cty.UnknownVal(cty.List(cty.String)), object(obj{"n": cty.UnknownVal(b.Type().AttributeType("n"))})},
		} {
			if nesting == Map && !tc.in.IsKnown() {
				continue // labels must be known
			}
			got, diags := b.Decode(parse(t, src), ctx(obj{"var": tc.in}))
			if len(diags) > 0 {
				t.Errorf("%s: %v", nesting, diags)
			}
			wantValue(t, got, tc.want)
		}
	}
}

// The marks of a for_each are on everything that its blocks generate, also in static blocks inside.
func TestDecodeKeepsMarksOfForEach(t *testing.T) {
	b := &Block{Blocks: map[string]*NestedBlock{"outer": {Nesting: Single, Block: Block{
		Attributes: map[string]*Attribute{"a": attr("o")},
		Blocks: map[string]*NestedBlock{"inner": {Nesting: Single, Block: Block{
			Attributes: map[string]*Attribute{"b": attr("o")},
		}}},
	}}}}
	body := parse(t, `dynamic "outer" {
  for_each = var
  content {
    a = outer.value
    inner {
      b = outer.value
    }
  }
}`)
	got, diags := b.Decode(body, ctx(obj{"var": list(str("x")).Mark("m")}))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	wantValue(t, got, object(obj{"outer": object(obj{
		"a": str("x").Mark("m"), "inner": object(obj{"b": str("x").Mark("m")}),
	})}))
	listed, diags := nestedBlock(List).Decode(parse(t, "dynamic \"n\" {\nfor_each = var\ncontent {\nkey = \"k\"\n}\n}"),
		ctx(obj{"var": cty.UnknownVal(cty.Set(cty.String)).Mark("m")}))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	wantValue(t, listed, object(obj{"n": cty.UnknownVal(cty.List(elemType)).Mark("m")}))
}

func rules(required bool) *Block {
	return &Block{
		Attributes: map[string]*Attribute{
			"rule": {Type: cty.Set(cty.Object(map[string]cty.Type{
				"port": cty.Number, "tags": cty.List(cty.Object(map[string]cty.Type{"k": cty.String})),
			})), Optional: !required, Required: required, Computed: !required},
		},
		Blocks: map[string]*NestedBlock{"other": {Nesting: List}},
	}
}

func TestDecodeAttributesAsBlocks(t *testing.T) {
	typ := rules(false).Attributes["rule"].Type
	tags := cty.List(cty.Object(map[string]cty.Type{"k": cty.String}))
	rule := func(port int64, tags cty.Value) cty.Value {
		return object(obj{"port": cty.NumberIntVal(port), "tags": tags})
	}
	two := set(rule(1, list(object(obj{"k": str("a")}))), rule(2, cty.NullVal(tags)))
	unmarked := []struct {
		name, src string
		want      cty.Value
	}{
		{"blocks", "rule {\n port = 1\n tags {\n k = \"a\"\n }\n}\nrule {\n port = 2\n}", two},
		{"attribute", `rule = [{ port = 1, tags = [{ k = "a" }] }, { port = 2, tags = null }]`, two},
		{"none", "other {}", cty.NullVal(typ)},
		{"empty", "rule = []\nother {}", cty.SetValEmpty(typ.ElementType())},
		{"dynamic", "dynamic \"rule\" {\n for_each = [2]\n content {\n port = rule.value\n }\n}", set(rule(2, cty.NullVal(tags)))},
		{"generates nothing", "dynamic \"rule\" {\n for_each = []\n content {\n port = rule.value\n }\n}", cty.NullVal(typ)},
		{"unknown", "dynamic \"rule\" {\n for_each = u\n content {\n port = rule.value\n }\n}", cty.UnknownVal(typ)},
	}
	for _, tc := range unmarked {
		t.Run(tc.name, func(t *testing.T) {
			got, diags := rules(false).Decode(parse(t, tc.src), ctx(obj{"u": cty.UnknownVal(cty.List(cty.Number))}))
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			wantValue(t, got.GetAttr("rule"), tc.want)
		})
	}
	got, diags := rules(false).Decode(parseJSON(t, `{"rule": [{"port": 1, "tags": [{"k": "a"}]}, {"port": 2, "tags": null}]}`), nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	wantValue(t, got.GetAttr("rule"), two)
	got, diags = rules(false).Decode(parseJSON(t, `{"dynamic": {"rule": {"for_each": [2], "content": {"port": "${rule.value}"}}}}`), nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	wantValue(t, got.GetAttr("rule"), set(rule(2, cty.NullVal(tags))))

	_, diags = rules(true).Decode(parse(t, "other {}"), nil)
	if !diags.HasErrors() || diags[0].Summary != "Missing required argument" {
		t.Error(diags)
	}
	_, diags = rules(false).Decode(parse(t, "rule {\n prt = 1\n}"), nil)
	if !diags.HasErrors() || !strings.Contains(diags[0].Detail, `Did you mean "port"?`) {
		t.Error(diags)
	}
	bad, diags := rules(false).Decode(parse(t, "rule {\n port = \"x\"\n}"), nil)
	if !diags.HasErrors() || len(bad.Type().TestConformance(rules(false).Type())) > 0 {
		t.Errorf("%#v %v", bad, diags)
	}
}

func TestExpressions(t *testing.T) {
	b := nestedBlock(List)
	b.Attributes = rules(false).Attributes
	body := parse(t, `
rule {
  port = var.port
}
n {
  key = local.a
}
dynamic "n" {
  for_each = var.many
  iterator = it
  labels   = [it.key, var.label]
  content {
    key = "${it.value}${local.b}"
  }
}
dynamic "rule" {
  for_each = it.x
  content {
    dynamic "tags" {
      for_each = rule.value.tags
      content {
        k = "${tags.value}${rule.key}${n.c}"
      }
    }
  }
}
bogus = foo.bar
`)
	var got []string
	for _, expr := range b.Expressions(body) {
		for _, tr := range expr.Variables() {
			text := expr.Argument + ": " + tr.RootName()
			for _, step := range tr[1:] {
				if a, ok := step.(hcl.TraverseAttr); ok {
					text += "." + a.Name
				}
			}
			got = append(got, strings.Join(append([]string{text}, expr.Iterators...), ", "))
		}
	}
	want := []string{
		"rule: var.port", "n: local.a", "n: var.many", "n: it.key, it", "n: var.label, it", "n: it.value, it", "n: local.b, it",
		"rule: it.x", "rule: rule.value.tags, rule", "rule: tags.value, rule, tags", "rule: rule.key, rule, tags", "rule: n.c, rule, tags",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	fromJSON := b.Expressions(parseJSON(t, `{"rule": "${var.rules}", "dynamic": {"n": {"for_each": "${var.many}", "content": {"key": "${n.value}"}}}}`))
	if len(fromJSON) != 3 || fromJSON[2].Argument != "n" || !slices.Equal(fromJSON[2].Iterators, []string{"n"}) {
		t.Errorf("expressions of JSON: got %v, want 3, the last one of the argument n with the iterator n", fromJSON)
	}
}

func BenchmarkDecode(b *testing.B) {
	block, body := nestedBlock(List), parse(b, "n {\n key = x\n}\ndynamic \"n\" {\n for_each = [1, 2, 3]\n content {\n key = n.value\n }\n}")
	scope := ctx(obj{"x": str("y")})
	for b.Loop() {
		if _, diags := block.Decode(body, scope); len(diags) > 0 {
			b.Fatal(diags)
		}
	}
}

func BenchmarkType(b *testing.B) {
	for b.Loop() {
		nestedBlock(List).Type()
	}
}
