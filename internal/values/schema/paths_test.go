package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

// everyNesting has the attribute "a" with the given flags at the top and in blocks and nested attributes of
// all modes.
func everyNesting(flags string) *Block {
	b := &Block{Attributes: map[string]*Attribute{"a": attr(flags)}, Blocks: map[string]*NestedBlock{}}
	inner := func() map[string]*Attribute { return map[string]*Attribute{"a": attr(flags), "b": attr("o")} }
	for _, nesting := range []Nesting{Single, List, Set, Map, Group} {
		b.Blocks["block_"+nesting.String()] = &NestedBlock{Nesting: nesting, Block: Block{Attributes: inner()}}
		if nesting != Group {
			b.Attributes["attr_"+nesting.String()] = &Attribute{Optional: true, Nested: &Object{Nesting: nesting, Attributes: inner()}}
		}
	}
	return b
}

func filled(a cty.Value) cty.Value {
	one := object(obj{"a": a, "b": str("b").Mark("m")})
	return object(obj{
		"a": a, "attr_single": one, "attr_list": list(one), "attr_set": set(one), "attr_map": cty.MapVal(obj{"k": one}),
		"block_single": one, "block_group": one, "block_list": list(one), "block_set": set(one), "block_map": cty.MapVal(obj{"k": one}),
	})
}

var everyPath = []string{
	"a", "attr_list[0].a", `attr_map["k"].a`, "attr_set", "attr_single.a",
	"block_group.a", "block_list[0].a", `block_map["k"].a`, "block_set", "block_single.a",
}

func TestWriteOnly(t *testing.T) {
	b := everyNesting("ow")
	for _, v := range []cty.Value{str("x"), unknown, str("x").Mark("m")} {
		if diff := cmp.Diff(everyPath, pathStrings(b.WriteOnlyPaths(filled(v)))); diff != "" {
			t.Error(diff)
		}
		wantValue(t, b.NullWriteOnly(filled(v)), filled(null))
	}
	if got := b.WriteOnlyPaths(filled(null)); len(got) > 0 {
		t.Error(got)
	}
	if !b.HasWriteOnly() || everyNesting("o").HasWriteOnly() {
		t.Error("HasWriteOnly")
	}
	wantValue(t, everyNesting("o").NullWriteOnly(filled(str("x"))), filled(str("x")))
	for _, v := range []cty.Value{cty.NullVal(b.Type()), cty.UnknownVal(b.Type()), b.Empty(), cty.DynamicVal} {
		wantValue(t, b.NullWriteOnly(v), v)
		if got := b.WriteOnlyPaths(v); len(got) > 0 {
			t.Error(got)
		}
	}
}

func TestSensitivePaths(t *testing.T) {
	if diff := cmp.Diff(everyPath, pathStrings(everyNesting("os").SensitivePaths(filled(null)))); diff != "" {
		t.Error(diff)
	}
	if got := everyNesting("o").SensitivePaths(filled(null)); got != nil {
		t.Error(got)
	}
}

func TestDeprecatedUses(t *testing.T) {
	b := everyNesting("od")
	b.Attributes["a"].DeprecationMessage = "Use b."
	b.Blocks["block_single"].Deprecated = true
	var got []string
	for _, d := range b.DeprecatedUses(filled(str("x"))) {
		got = append(got, PathString(d.Path))
		if d.Summary == "" || d.Detail == "" || strings.Contains(d.Detail, "\"x\"") {
			t.Error(d)
		}
	}
	want := append(append([]string{}, everyPath[:9]...), "block_single", "block_single.a")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b.Blocks["block_single"].Deprecated = false
	if got := b.DeprecatedUses(filled(null)); len(got) > 0 {
		t.Error(got)
	}
}

func TestPathString(t *testing.T) {
	path := cty.GetAttrPath("a").IndexInt(0).GetAttr("b").IndexString("k").Index(object(obj{"s": str("secret")})).Index(unknown)
	if got, want := PathString(path), `a[0].b["k"][...][...]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := PathString(nil); got != "" {
		t.Error(got)
	}
}

func TestInternalValidate(t *testing.T) {
	for _, nesting := range []Nesting{Single, Group, List, Set, Map} {
		if err := nestedBlock(nesting).InternalValidate(ForManaged); err != nil {
			t.Error(err)
		}
	}
	nested := func(n *NestedBlock) *Block { return &Block{Blocks: map[string]*NestedBlock{"n": n}} }
	with := func(a *Attribute) *Block { return &Block{Attributes: map[string]*Attribute{"a": a}} }
	deep := Block{Attributes: map[string]*Attribute{"l": {Optional: true, Nested: &Object{Nesting: List, Attributes: map[string]*Attribute{"w": attr("ow")}}}}}
	for _, tc := range []struct {
		block *Block
		kind  Kind
		want  string
	}{
		{with(attr("ro")), ForManaged, "a: cannot be both required and optional"},
		{with(attr("rc")), ForManaged, "a: cannot be both required and computed"},
		{with(attr("")), ForManaged, "a: must be required, optional or computed"},
		{with(attr("ocw")), ForManaged, "a: cannot be both write-only and computed: write-only values are never returned"},
		{with(attr("ow")), ForData, "a: write-only attributes are not possible in data sources"},
		{with(attr("ow")), ForEphemeral, "a: write-only attributes are not possible in ephemeral resources"},
		{with(attr("ow")), ForProvider, "a: write-only attributes are not possible in provider configurations"},
		{with(&Attribute{Optional: true}), ForManaged, "a: has neither a type nor nested attributes"},
		{with(&Attribute{Optional: true, Type: cty.String, Nested: &Object{Nesting: List}}), ForManaged, "a: cannot have both a type and nested attributes"},
		{with(&Attribute{Optional: true, Nested: &Object{Nesting: Group}}), ForManaged, "a: unknown nesting mode"},
		{
			with(&Attribute{Optional: true, Nested: &Object{Nesting: Set, Attributes: map[string]*Attribute{"w": attr("ow")}}}), ForManaged,
			"a.w: a write-only attribute cannot be inside a set, where elements have no identity but their values",
		},
		{
			nested(&NestedBlock{Nesting: Set, Block: Block{Attributes: deep.Attributes}}), ForManaged,
			"n.l.w: a write-only attribute cannot be inside a set, where elements have no identity but their values",
		},
		{
			nested(&NestedBlock{Nesting: Set, Block: Block{Attributes: map[string]*Attribute{"d": {Optional: true, Type: cty.DynamicPseudoType}}}}), ForManaged,
			"n: a set of blocks must not contain attributes of dynamic type",
		},
		{nested(&NestedBlock{}), ForManaged, "n: unknown nesting mode"},
		{nested(&NestedBlock{Nesting: List, MinItems: 3, MaxItems: 2}), ForManaged, "n: at least 3 but at most 2 blocks is impossible"},
		{nested(&NestedBlock{Nesting: List, MinItems: -1}), ForManaged, "n: the limits on the number of blocks must not be negative"},
		{nested(&NestedBlock{Nesting: Single, MaxItems: 2}), ForManaged, "n: a single block can be required once at most"},
		{&Block{Attributes: map[string]*Attribute{"Bad-Name": attr("o")}}, ForManaged, "Bad-Name: names may contain only lowercase letters, digits and underscores"},
		{&Block{Attributes: map[string]*Attribute{"n": attr("o")}, Blocks: map[string]*NestedBlock{"n": {Nesting: List}}}, ForManaged, "n: is both an attribute and a block"},
	} {
		if err := tc.block.InternalValidate(tc.kind); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}

// TestNothingToFind has walks that can find nothing. They are made for every instance.
func TestNothingToFind(t *testing.T) {
	b, v := everyNesting("o"), filled(str("x"))
	n := testing.AllocsPerRun(10, func() {
		if b.SensitivePaths(v) != nil || b.DeprecatedUses(v) != nil {
			t.Error("something was found")
		}
	})
	if n > 0 {
		t.Errorf("allocations: got %g, want 0", n)
	}
}
