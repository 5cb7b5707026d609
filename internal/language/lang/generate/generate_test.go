package generate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang/generate"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

func opt(t cty.Type) *schema.Attribute { return &schema.Attribute{Type: t, Optional: true} }

func nested(n schema.Nesting, attrs map[string]*schema.Attribute) *schema.Attribute {
	return &schema.Attribute{Optional: true, Nested: &schema.Object{Nesting: n, Attributes: attrs}}
}

var thing = addr.Resource{Mode: addr.Managed, Type: "test_thing", Name: "a"}

func TestAttributes(t *testing.T) {
	str := cty.StringVal
	for name, test := range map[string]struct {
		attr  *schema.Attribute
		value cty.Value
		want  string // "" if the attribute is left out
	}{
		"string":              {opt(cty.String), str("a\nb \"c\" ${d} %{e}"), `"a\nb \"c\" $${d} %%{e}"`},
		"empty":               {opt(cty.String), str(""), `""`},
		"null":                {opt(cty.String), cty.NullVal(cty.String), "null"},
		"required null":       {&schema.Attribute{Type: cty.String, Required: true}, cty.NullVal(cty.String), "null"},
		"number":              {opt(cty.Number), cty.MustParseNumberVal("12345678901234567890.25"), "12345678901234567890.25"},
		"bool":                {opt(cty.Bool), cty.True, "true"},
		"JSON":                {opt(cty.String), str(`{"a":[1,true],"b c":"${x}"}`), "jsonencode({\n    a     = [1, true]\n    \"b c\" = \"$${x}\"\n  })"},
		"JSON in other words": {opt(cty.String), str(`{ "a": 1 }`), `"{ \"a\": 1 }"`},
		"JSON scalar":         {opt(cty.String), str(`12`), `"12"`},
		"no JSON":             {opt(cty.String), str(`[x`), `"[x"`},
		"map":                 {opt(cty.Map(cty.Number)), cty.MapVal(map[string]cty.Value{"a b": cty.NumberIntVal(1), "c": cty.NumberIntVal(2)}), "{\n    \"a b\" = 1\n    c     = 2\n  }"},
		"dynamic":             {opt(cty.DynamicPseudoType), cty.TupleVal([]cty.Value{str("x"), cty.NullVal(cty.String)}), `["x", null]`},
		"sensitive":           {&schema.Attribute{Type: cty.String, Optional: true, Sensitive: true}, str("hidden"), "null # sensitive"},
		"write-only":          {&schema.Attribute{Type: cty.String, Optional: true, WriteOnly: true}, cty.NullVal(cty.String), "null # write-only"},
		"both":                {&schema.Attribute{Type: cty.String, Required: true, WriteOnly: true, Sensitive: true}, cty.NullVal(cty.String), "null # sensitive write-only"},
		"computed":            {&schema.Attribute{Type: cty.String, Computed: true}, str("x"), ""},
		"optional, computed":  {&schema.Attribute{Type: cty.String, Optional: true, Computed: true}, str("x"), `"x"`},
		"deprecated, set":     {&schema.Attribute{Type: cty.String, Optional: true, Deprecated: true}, str("x"), `"x"`},
		"deprecated, unset":   {&schema.Attribute{Type: cty.String, Optional: true, Deprecated: true}, cty.NullVal(cty.String), ""},
		"deprecated twin":     {&schema.Attribute{Type: cty.String, Optional: true, Computed: true, Deprecated: true}, str("x"), ""},
		"nested map": {
			nested(schema.Map, map[string]*schema.Attribute{"v": opt(cty.String), "c": {Type: cty.String, Computed: true}}),
			cty.MapVal(map[string]cty.Value{"a.b": cty.ObjectVal(map[string]cty.Value{"v": str("x"), "c": str("y")})}),
			"{\n    \"a.b\" = {\n      v = \"x\"\n    }\n  }",
		},
		"nested, empty": {nested(schema.List, map[string]*schema.Attribute{"v": opt(cty.String)}), cty.ListValEmpty(cty.Object(map[string]cty.Type{"v": cty.String})), "[]"},
		"nested, secret": {
			nested(schema.Set, map[string]*schema.Attribute{"v": {Type: cty.String, Optional: true, Sensitive: true}}),
			cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"v": str("hidden")})}), "[\n    {\n      v = null # sensitive\n    },\n  ]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &schema.Block{Attributes: map[string]*schema.Attribute{"x": test.attr}}
			got := generate.Resource(thing, "", b, cty.ObjectVal(map[string]cty.Value{"x": test.value}))
			want := "resource \"test_thing\" \"a\" {\n}"
			if test.want != "" {
				want = "resource \"test_thing\" \"a\" {\n  x = " + test.want + "\n}"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if _, diags := hclsyntax.ParseConfig([]byte(got), "x.tf", hcl.InitialPos); diags.HasErrors() {
				t.Error(diags)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	inner := func() *schema.Block {
		return &schema.Block{Attributes: map[string]*schema.Attribute{"v": opt(cty.String)}}
	}
	b := &schema.Block{
		Attributes: map[string]*schema.Attribute{"id": {Type: cty.String, Optional: true, Computed: true}},
		Blocks: map[string]*schema.NestedBlock{
			"list": {Nesting: schema.List, Block: schema.Block{Attributes: inner().Attributes, Blocks: map[string]*schema.NestedBlock{
				"deep": {Nesting: schema.Set, Block: schema.Block{Attributes: map[string]*schema.Attribute{"id": opt(cty.String)}}},
			}}},
			"map":    {Nesting: schema.Map, Block: schema.Block{Attributes: inner().Attributes}},
			"single": {Nesting: schema.Single, Block: schema.Block{Attributes: inner().Attributes}},
			"group":  {Nesting: schema.Group, Block: schema.Block{Attributes: inner().Attributes}},
		},
	}
	v := cty.StringVal
	one := cty.ObjectVal(map[string]cty.Value{"v": v("1")})
	got := generate.Resource(thing, "test.west", b, cty.ObjectVal(map[string]cty.Value{
		"id": v("i-1"),
		"list": cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{
			"v": v("l"), "deep": cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"id": v("d")})}),
		})}),
		"map": cty.MapVal(map[string]cty.Value{"a \"b\"": one}), "single": cty.NullVal(one.Type()), "group": one,
	}))
	want := strings.TrimPrefix(`
resource "test_thing" "a" {
  provider = test.west
  group {
    v = "1"
  }
  list {
    v = "l"
    deep {
      id = "d"
    }
  }
  map "a \"b\"" {
    v = "1"
  }
}`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
