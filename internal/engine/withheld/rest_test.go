package withheld

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// restBlock has attributes and blocks of all kinds. With more, it is the same in a later version of its
// provider, which has more of each.
func restBlock(more bool) *schema.Block {
	text := func() *schema.Attribute { return &schema.Attribute{Type: cty.String, Optional: true} }
	inner := func() map[string]*schema.Attribute {
		if more {
			return map[string]*schema.Attribute{"a": text(), "more": text()}
		}
		return map[string]*schema.Attribute{"a": text()}
	}
	attrs := map[string]cty.Type{"a": cty.String}
	b := &schema.Block{
		Attributes: map[string]*schema.Attribute{
			"text": text(), "list": {Type: cty.List(cty.String), Optional: true}, "map": {Type: cty.Map(cty.String), Optional: true},
			"any": {Type: cty.DynamicPseudoType, Optional: true},
		},
		Blocks: map[string]*schema.NestedBlock{},
	}
	nested := map[string]schema.Nesting{"single": schema.Single, "group": schema.Group, "many": schema.List, "bag": schema.Set, "keyed": schema.Map}
	for name, mode := range nested {
		b.Blocks[name] = &schema.NestedBlock{Nesting: mode, Block: schema.Block{Attributes: inner()}}
	}
	if more {
		attrs["more"] = cty.String
		b.Attributes["more"] = text()
		b.Blocks["another"] = &schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: inner()}}
		b.Blocks["else"] = &schema.NestedBlock{Nesting: schema.Single, Block: schema.Block{Attributes: inner()}}
	}
	b.Attributes["object"] = &schema.Attribute{Type: cty.List(cty.Object(attrs)), Optional: true}
	return b
}

// restConfigs are configurations of which no two are the same.
var restConfigs = []map[string]any{
	{},
	{"text": ""},
	{"text": "x"},
	{"any": "x"},
	{"list": []any{}},
	{"list": []any{"x"}},
	{"list": []any{"x", "y"}},
	{"list": []any{"y", "x"}},
	{"map": map[string]any{}},
	{"map": map[string]any{"a": "x"}},
	{"map": map[string]any{"b": "x"}},
	{"map": map[string]any{"b": nil}},
	{"object": []any{map[string]any{}}},
	{"object": []any{map[string]any{"a": "x"}}},
	{"object": []any{map[string]any{}, map[string]any{"a": "x"}}},
	{"object": []any{map[string]any{"a": "x"}, map[string]any{}}},
	{"single": map[string]any{}},
	{"single": map[string]any{"a": "x"}},
	{"group": map[string]any{"a": "x"}},
	{"many": []any{map[string]any{}}},
	{"many": []any{map[string]any{"a": "x"}}},
	{"many": []any{map[string]any{"a": "x"}, map[string]any{"a": "x"}}},
	{"bag": []any{map[string]any{"a": "x"}}},
	{"bag": []any{map[string]any{"a": "y"}}},
	{"keyed": map[string]any{"k": map[string]any{"a": "x"}}},
	{"keyed": map[string]any{"l": map[string]any{"a": "x"}}},
}

// valueOf returns the value of a type for a literal of a test.
func valueOf(ty cty.Type, v any) cty.Value {
	switch v := v.(type) {
	case nil:
		return cty.NullVal(ty)
	case string:
		return cty.StringVal(v)
	case []any:
		var list []cty.Value
		for _, e := range v {
			list = append(list, valueOf(ty.ElementType(), e))
		}
		switch {
		case ty.IsSetType() && len(list) > 0:
			return cty.SetVal(list)
		case ty.IsSetType():
			return cty.SetValEmpty(ty.ElementType())
		case len(list) > 0:
			return cty.ListVal(list)
		}
		return cty.ListValEmpty(ty.ElementType())
	case map[string]any:
		out := map[string]cty.Value{}
		if ty.IsMapType() {
			for name, e := range v {
				out[name] = valueOf(ty.ElementType(), e)
			}
			if len(out) == 0 {
				return cty.MapValEmpty(ty.ElementType())
			}
			return cty.MapVal(out)
		}
		for name, of := range ty.AttributeTypes() {
			out[name] = valueOf(of, v[name])
		}
		return cty.ObjectVal(out)
	}
	panic("no such value")
}

func restConfig(b *schema.Block, v map[string]any) cty.Value {
	out := valueOf(b.Type(), v).AsValueMap()
	for name, nested := range b.Blocks {
		if _, given := v[name]; given {
			continue
		}
		switch ty := b.Type().AttributeType(name); nested.Nesting {
		case schema.Group:
			out[name] = valueOf(ty, map[string]any{})
		case schema.List, schema.Set:
			out[name] = valueOf(ty, []any{})
		case schema.Map:
			out[name] = valueOf(ty, map[string]any{})
		}
	}
	return cty.ObjectVal(out)
}

// TestRestSet has the rest of a configuration the same under a later version of a schema, and different for
// different configurations.
func TestRestSet(t *testing.T) {
	now, later := newFixture(t), newFixture(t)
	now.Block, later.Block = restBlock(false), restBlock(true)
	seen := map[string]map[string]any{}
	for _, cfg := range restConfigs {
		got := quickOf(t, now.restSet(restConfig(now.Block, cfg)))
		if !later.isOf(got, later.restSet(restConfig(later.Block, cfg))) {
			t.Errorf("%v is another configuration under a later schema", cfg)
		}
		text := now.restSet(restConfig(now.Block, cfg)).GoString()
		if other, ok := seen[text]; ok {
			t.Errorf("%v is the same configuration as %v", cfg, other)
		}
		seen[text] = cfg
		for _, other := range restConfigs[:len(seen)-1] {
			if now.isOf(got, now.restSet(restConfig(now.Block, other))) {
				t.Errorf("%v has the fingerprint of %v", cfg, other)
			}
		}
	}
	if now.restSet(restConfig(now.Block, nil)).IsNull() || now.restSet(cty.UnknownVal(now.Block.Type())).IsWhollyKnown() {
		t.Error("an unknown configuration is known")
	}
}

// TestUpgraded has an object that the state has under an earlier schema.
func TestUpgraded(t *testing.T) {
	f := newFixture(t)
	o := stored(t, thing(none, str("o")), sent(t, password, str("a")))
	o.Withheld[0].Config = restOf(t, thing(none, str("o")))
	f.Made = []Made{{Value: thing(str("how"), str("o"))}}
	if got := f.Records(thing(none, str("o")), cty.NilVal, o); got[0].Config.IsZero() {
		t.Error("an object that is as it was lost its record")
	}
	f.Upgraded = thing(none, str("of before"))
	if got := f.Records(thing(none, str("of before")), cty.NilVal, o); got[0].Config.IsZero() {
		t.Error("an object that is as its upgrade has it lost its record")
	}
	if got := f.Records(thing(none, str("o")), cty.NilVal, o); !got[0].Config.IsZero() {
		t.Error("an object that has changed since its upgrade kept its record")
	}
}
