package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestUnversionedUses warns of write-only values without a version where the schema has one, in blocks and
// nested attributes too.
func TestUnversionedUses(t *testing.T) {
	pair := func() map[string]*Attribute {
		return map[string]*Attribute{
			"key_wo": {Type: cty.String, Optional: true, WriteOnly: true}, "key_wo_version": {Type: cty.Number, Optional: true},
		}
	}
	attrs := pair()
	attrs["lone_wo"] = &Attribute{Type: cty.String, Optional: true, WriteOnly: true}
	attrs["token"] = &Attribute{Type: cty.String, Optional: true, WriteOnly: true}
	attrs["token_version"] = &Attribute{Type: cty.Number, Optional: true}
	attrs["auto_wo"] = &Attribute{Type: cty.String, Optional: true, WriteOnly: true}
	attrs["auto_wo_version"] = &Attribute{Type: cty.Number, Optional: true, Computed: true}
	attrs["nested"] = &Attribute{Optional: true, Nested: &Object{Nesting: List, Attributes: pair()}}
	b := &Block{Attributes: attrs, Blocks: map[string]*NestedBlock{"part": {Nesting: List, Block: Block{Attributes: pair()}}}}
	null := cty.NullVal(cty.Number)
	inner := func(version cty.Value) cty.Value {
		return cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"key_wo": cty.UnknownVal(cty.String), "key_wo_version": version})})
	}
	value := func(set map[string]cty.Value) cty.Value {
		all := map[string]cty.Value{}
		for name, ty := range b.Type().AttributeTypes() {
			all[name] = cty.NullVal(ty)
		}
		all["part"] = cty.ListValEmpty(b.Type().AttributeType("part").ElementType())
		for name, v := range set {
			all[name] = v
		}
		return cty.ObjectVal(all)
	}
	text := cty.StringVal("CANARY")
	for name, c := range map[string]struct {
		set  map[string]cty.Value
		want []string
	}{
		"nothing":              {nil, nil},
		"no version":           {map[string]cty.Value{"key_wo": text}, []string{"key_wo"}},
		"a version":            {map[string]cty.Value{"key_wo": text, "key_wo_version": cty.NumberIntVal(1)}, nil},
		"an unknown version":   {map[string]cty.Value{"key_wo": text, "key_wo_version": cty.UnknownVal(cty.Number)}, nil},
		"a version alone":      {map[string]cty.Value{"key_wo_version": cty.NumberIntVal(1)}, nil},
		"no such attribute":    {map[string]cty.Value{"lone_wo": text}, nil},
		"another name":         {map[string]cty.Value{"token": text}, nil},
		"computed":             {map[string]cty.Value{"auto_wo": text}, nil},
		"in a block":           {map[string]cty.Value{"part": inner(null)}, []string{"part[0].key_wo"}},
		"in an attribute":      {map[string]cty.Value{"nested": inner(null)}, []string{"nested[0].key_wo"}},
		"versions in both":     {map[string]cty.Value{"part": inner(cty.NumberIntVal(1)), "nested": inner(cty.NumberIntVal(1))}, nil},
		"a whole that's unset": {map[string]cty.Value{"nested": cty.NullVal(b.Type().AttributeType("nested"))}, nil},
	} {
		var got []string
		for _, d := range b.UnversionedUses(value(c.set)) {
			got = append(got, PathString(d.Path))
			if strings.Contains(d.Detail, "CANARY") {
				t.Errorf("%s: the value is shown: %s", name, d.Detail)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestWriteOnlyVersion(t *testing.T) {
	inner := map[string]*Attribute{"key_wo": {Type: cty.String, WriteOnly: true}, "key_wo_version": {Type: cty.Number}}
	b := &Block{
		Attributes: map[string]*Attribute{
			"a_wo": {Type: cty.Map(cty.String), WriteOnly: true}, "a_wo_version": {Type: cty.Number}, "b_wo": {Type: cty.String, WriteOnly: true}, "c": {Type: cty.String}, "c_version": {Type: cty.Number},
		},
		Blocks: map[string]*NestedBlock{"rule": {Nesting: List, Block: Block{Attributes: inner}}},
	}
	for _, row := range []struct{ path, want cty.Path }{
		{cty.GetAttrPath("a_wo"), cty.GetAttrPath("a_wo_version")},
		{cty.GetAttrPath("a_wo").IndexString("k"), cty.GetAttrPath("a_wo_version")},
		{cty.GetAttrPath("b_wo"), nil},
		{cty.GetAttrPath("c"), nil},
		{cty.GetAttrPath("rule").IndexInt(1).GetAttr("key_wo"), cty.GetAttrPath("rule").IndexInt(1).GetAttr("key_wo_version")},
	} {
		if got := b.WriteOnlyVersion(row.path); !got.Equals(row.want) {
			t.Errorf("%s: got %s, want %s", PathString(row.path), PathString(got), PathString(row.want))
		}
	}
}

func TestComputedAt(t *testing.T) {
	b := &Block{Attributes: map[string]*Attribute{
		"a": {Type: cty.Map(cty.String), Computed: true}, "b": {Type: cty.String, Optional: true}, "c": {Computed: true, Nested: &Object{Nesting: Single, Attributes: map[string]*Attribute{"d": {Type: cty.String, Optional: true}}}},
	}}
	for text, path := range map[string]cty.Path{"a": cty.GetAttrPath("a"), "a[k]": cty.GetAttrPath("a").IndexString("k"), "c.d": cty.GetAttrPath("c").GetAttr("d")} {
		if !b.ComputedAt(path) {
			t.Errorf("%s: got false, want true", text)
		}
	}
	if b.ComputedAt(cty.GetAttrPath("b")) || b.ComputedAt(nil) {
		t.Error("got true for an argument, want false")
	}
}
