package schema

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

var collections = []Nesting{Single, Group, List, Set, Map}

// eachShape runs f for blocks and nested attributes of all nesting modes.
func eachShape(t *testing.T, f func(t *testing.T, b *Block, nesting Nesting)) {
	for _, nesting := range collections {
		t.Run("block "+nesting.String(), func(t *testing.T) { f(t, nestedBlock(nesting), nesting) })
		if nesting != Group {
			t.Run("attribute "+nesting.String(), func(t *testing.T) { f(t, nestedAttr(nesting), nesting) })
		}
	}
}

func TestProposedNew(t *testing.T) {
	eachShape(t, func(t *testing.T, b *Block, nesting Nesting) {
		prior := collect(nesting, elem(str("a"), str("old"), str("chosen"), str("1")))
		for _, tc := range []struct {
			name                string
			prior, config, want cty.Value
		}{
			{
				"create", cty.NullVal(b.Type()), collect(nesting, elem(str("a"), null, null, null)),
				collect(nesting, elem(str("a"), null, null, null)),
			},
			{
				"create with unknown", cty.NilVal, collect(nesting, elem(str("a"), unknown, str("x"), null)),
				collect(nesting, elem(str("a"), unknown, str("x"), null)),
			},
			{"keep", prior, collect(nesting, elem(str("a"), str("old"), null, null)), prior},
			{"set what was computed", prior, collect(nesting, elem(str("a"), str("old"), str("chosen"), null)), prior},
			{"delete", prior, cty.NullVal(b.Type()), cty.NullVal(b.Type())},
			{"no elements", prior, collect(nesting), collect(nesting)},
		} {
			t.Run(tc.name, func(t *testing.T) { wantValue(t, ProposedNew(b, tc.prior, tc.config), tc.want) })
		}
		changed := ProposedNew(b, prior, collect(nesting, elem(str("a"), null, null, null)))
		want := collect(nesting, elem(str("a"), null, str("chosen"), str("1")))
		if nesting == Set { // another element: nothing says that it is the same
			want = collect(nesting, elem(str("a"), null, null, null))
		}
		wantValue(t, changed, want)
		wantValue(t, PlannedDataObject(b, collect(nesting, elem(str("a"), null, null, null))),
			collect(nesting, elem(str("a"), null, unknown, unknown)))
	})
}

func TestProposedNewElements(t *testing.T) {
	a, b, c := elem(str("a"), null, str("A"), str("1")), elem(str("b"), null, str("B"), str("2")), elem(str("c"), null, null, null)
	bare := func(key string) cty.Value { return elem(str(key), null, null, null) }
	for nesting, want := range map[Nesting]cty.Value{
		// Lists go by index: the computed values stay where they were.
		List: collect(List, elem(str("c"), null, str("A"), str("1")), elem(str("b"), null, str("B"), str("2")), bare("a")),
		Set:  collect(Set, c, b, a),
		Map:  collect(Map, c, b, a),
	} {
		for _, schema := range []*Block{nestedBlock(nesting), nestedAttr(nesting)} {
			got := ProposedNew(schema, collect(nesting, a, b), collect(nesting, bare("c"), bare("b"), bare("a")))
			wantValue(t, got, want)
		}
	}
}

// Of two configured elements that the same prior element could belong to, the one that says more gets it.
func TestProposedNewSetPrefersTheMostSpecific(t *testing.T) {
	b := nestedBlock(Set)
	prior := collect(Set, elem(str("a"), null, str("x"), str("1")), elem(str("a"), null, str("y"), str("2")))
	config := collect(Set, elem(str("a"), null, null, null), elem(str("a"), null, str("x"), null))
	wantValue(t, ProposedNew(b, prior, config), prior)
}

func TestProposedNewAttributes(t *testing.T) {
	b := &Block{Attributes: parts()}
	b.Attributes["wo"] = attr("ow")
	b.Attributes["group"] = &Attribute{Optional: true, Computed: true, Nested: &Object{Nesting: Single, Attributes: parts()}}
	group := b.Type().AttributeType("group")
	value := func(base cty.Value, wo, group cty.Value) cty.Value {
		m := base.AsValueMap()
		m["wo"], m["group"] = wo, group
		return object(m)
	}
	computed := elem(null, null, str("b"), str("c"))
	for _, tc := range []struct {
		name                string
		prior, config, want cty.Value
	}{
		{
			"write-only is as configured", value(elem(str("k"), null, null, str("1")), null, cty.NullVal(group)),
			value(elem(str("k"), null, null, null), str("secret"), cty.NullVal(group)),
			value(elem(str("k"), null, null, str("1")), str("secret"), cty.NullVal(group)),
		},
		{
			"computed group stays", value(elem(str("k"), null, null, str("1")), null, computed),
			value(elem(str("k"), null, null, null), null, cty.NullVal(group)),
			value(elem(str("k"), null, null, str("1")), null, computed),
		},
		{
			"configured group goes", value(elem(str("k"), null, null, str("1")), null, elem(str("k"), null, null, str("c"))),
			value(elem(str("k"), null, null, null), null, cty.NullVal(group)),
			value(elem(str("k"), null, null, str("1")), null, cty.NullVal(group)),
		},
	} {
		t.Run(tc.name, func(t *testing.T) { wantValue(t, ProposedNew(b, tc.prior, tc.config), tc.want) })
	}
}

func TestAssertPlanValid(t *testing.T) {
	eachShape(t, func(t *testing.T, b *Block, nesting Nesting) {
		at := map[Nesting]string{Single: "n", Group: "n", List: "n[0]", Map: `n["a"]`}[nesting]
		prior := collect(nesting, elem(str("a"), str("old"), str("x"), str("1")))
		config := collect(nesting, elem(str("a"), str("secret"), null, null))
		for _, tc := range []struct {
			name            string
			config, planned cty.Value
			want, inSet     string
		}{
			{"configured", config, collect(nesting, elem(str("a"), str("secret"), unknown, str("any"))), "", ""},
			{"prior kept", config, collect(nesting, elem(str("a"), str("old"), str("x"), str("1"))), "", ""},
			{
				"changed", config, collect(nesting, elem(str("a"), str("other"), null, null)),
				at + ".opt: the planned value is neither the configured nor the prior one",
				"n: the planned value has an element that corresponds to none in the configuration",
			},
			{
				"unknown", config, collect(nesting, elem(str("a"), unknown, null, null)),
				at + ".opt: the planned value is neither the configured nor the prior one",
				"n: the planned value has an element that corresponds to none in the configuration",
			},
			{
				"set unbidden", collect(nesting, elem(str("a"), null, null, null)), collect(nesting, elem(str("a"), str("x"), null, null)),
				at + ".opt: the planned value must be null: the attribute is not computed and the configuration does not set it",
				"n: the planned value has an element that corresponds to none in the configuration",
			},
			{
				"refined unknown", collect(nesting, elem(str("a"), unknown, null, null)),
				collect(nesting, elem(str("a"), unknown.RefineNotNull(), null, null)), "", "",
			},
			{
				"computed but configured", collect(nesting, elem(str("a"), null, str("mine"), null)),
				collect(nesting, elem(str("a"), null, str("yours"), null)),
				at + ".both: the planned value is neither the configured nor the prior one",
				"n: the planned value has an element that corresponds to none in the configuration",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				errs, want := AssertPlanValid(b, prior, tc.config, tc.planned), tc.want
				if nesting == Set {
					want = tc.inSet
				}
				if want == "" {
					wantErrors(t, errs)
				} else {
					wantErrors(t, errs, want)
				}
			})
		}
	})
}

func TestAssertPlanValidCounts(t *testing.T) {
	a, b, c := elem(str("a"), null, null, null), elem(str("b"), null, null, null), elem(str("c"), null, null, null)
	many := func(what string, has, configured int) string {
		return fmt.Sprintf("n: %s has %d elements, but %d are configured", what, has, configured)
	}
	for nesting, want := range map[Nesting][3]string{
		List: {many("the planned value", 3, 2), many("the planned value", 1, 2), "n[1].key: the planned value differs from the configured one"},
		Set: {
			many("the planned value", 3, 2), "n: the planned value has no element that corresponds to one in the configuration",
			"n: the planned value has an element that corresponds to none in the configuration",
		},
		Map: {
			`n["c"]: the planned value has this element, which is not configured`, `n["b"]: the planned value lacks this configured element`,
			"",
		},
	} {
		for _, schema := range []*Block{nestedBlock(nesting), nestedAttr(nesting)} {
			config, none := collect(nesting, a, b), cty.NullVal(schema.Type())
			wantErrors(t, AssertPlanValid(schema, none, config, config))
			wantErrors(t, AssertPlanValid(schema, none, config, collect(nesting, a, b, c)), want[0])
			wantErrors(t, AssertPlanValid(schema, none, config, collect(nesting, a)), want[1])
			if want[2] != "" {
				wantErrors(t, AssertPlanValid(schema, none, config, collect(nesting, a, c)), want[2])
			}
		}
		schema := nestedBlock(nesting)
		open := object(obj{"n": cty.UnknownVal(schema.Type().AttributeType("n"))})
		wantErrors(t, AssertPlanValid(schema, cty.NilVal, open, collect(nesting, a)))
		wantErrors(t, AssertPlanValid(schema, cty.NilVal, collect(nesting, a), open),
			"n: the planned value must not be unknown as a whole: the blocks are known, only their attributes may be unknown")
	}
	single := nestedBlock(Single)
	wantErrors(t, AssertPlanValid(single, cty.NilVal, collect(Single), collect(Single, a)),
		"n: the planned value must have an object for each configured block and no others")
	wantErrors(t, AssertPlanValid(single, cty.NilVal, cty.NullVal(single.Type()), cty.NullVal(single.Type())))
	wantErrors(t, AssertPlanValid(single, cty.NilVal, cty.NullVal(single.Type()), collect(Single)),
		": the object is to be deleted, but the plan is not null")
	wantErrors(t, AssertPlanValid(single, cty.NilVal, collect(Single), cty.NullVal(single.Type())),
		": the object is configured, but the plan is null or unknown as a whole")
}

func TestE60WriteOnlyIsNullInResponses(t *testing.T) {
	b := &Block{Attributes: map[string]*Attribute{"w": attr("ow"), "l": {Optional: true, Nested: &Object{
		Nesting: List, Attributes: map[string]*Attribute{"w": attr("ow")},
	}}}}
	bad := object(obj{"w": str("secret"), "l": list(object(obj{"w": unknown}))})
	want := []string{
		"l[0].w: a write-only attribute must be null in everything that a provider returns",
		"w: a write-only attribute must be null in everything that a provider returns",
	}
	good := b.NullWriteOnly(bad)
	wantErrors(t, AssertObject(b, bad), want...)
	wantErrors(t, AssertPlanValid(b, cty.NilVal, bad, bad), want...)
	wantErrors(t, AssertPlanValid(b, cty.NilVal, bad, good))
	wantErrors(t, AssertObject(b, good))
	wantErrors(t, AssertObject(b, object(obj{"w": null})), `: missing required attribute "l"`)
	wantErrors(t, AssertObject(b, cty.NilVal), ": there is no value")
}

// TestNullWriteOnlyForgetsTypes looks at the type of what is null: of a dynamic attribute it is part of the
// value.
func TestNullWriteOnlyForgetsTypes(t *testing.T) {
	dynamic := func() *Attribute { return &Attribute{Type: cty.DynamicPseudoType, Optional: true, WriteOnly: true} }
	b := &Block{
		Attributes: map[string]*Attribute{
			"d": dynamic(), "o": {Type: cty.Object(map[string]cty.Type{"d": cty.DynamicPseudoType, "s": cty.String}), Optional: true, WriteOnly: true},
			"n": {Optional: true, Nested: &Object{Nesting: List, Attributes: map[string]*Attribute{"d": dynamic()}}},
			"m": {Optional: true, Nested: &Object{Nesting: Map, Attributes: map[string]*Attribute{"d": dynamic()}}},
		},
		Blocks: map[string]*NestedBlock{"b": {Nesting: Single, Block: Block{Attributes: map[string]*Attribute{"d": dynamic()}}}},
	}
	secret := object(obj{"secret": str("s")})
	for name, d := range map[string]cty.Value{"value": secret, "null": cty.NullVal(secret.Type()), "unknown": cty.UnknownVal(secret.Type())} {
		one, none := object(obj{"d": d}), cty.NullVal(cty.Object(map[string]cty.Type{"d": d.Type()}))
		in := object(obj{
			"d": d, "n": list(one, none), "m": cty.MapVal(map[string]cty.Value{"x": one, "y": none}), "o": object(obj{"d": d, "s": str("x")}), "b": object(obj{"d": d}),
		})
		out := b.NullWriteOnly(in)
		one = object(obj{"d": cty.NullVal(cty.DynamicPseudoType)})
		none = cty.NullVal(one.Type())
		want := object(obj{
			"d": cty.NullVal(cty.DynamicPseudoType), "n": list(one, none), "m": cty.MapVal(map[string]cty.Value{"x": one, "y": none}),
			"o": cty.NullVal(b.Attributes["o"].Type), "b": one,
		})
		if !out.RawEquals(want) {
			t.Errorf("%s: got %#v, want %#v", name, out, want)
		}
		wantErrors(t, AssertObject(b, out))
	}
}

func TestAssertKept(t *testing.T) {
	b := &Block{Attributes: map[string]*Attribute{
		"s": attr("c"), "n": {Type: cty.Number, Computed: true}, "d": {Type: cty.DynamicPseudoType, Computed: true},
		"l": {Type: cty.List(cty.String), Computed: true}, "m": {Type: cty.Map(cty.String), Computed: true},
		"t": {Type: cty.Set(cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.String})), Computed: true},
	}}
	with := func(name string, v cty.Value) cty.Value {
		m := b.Empty().AsValueMap()
		m[name] = v
		return object(m)
	}
	pair := func(a, b cty.Value) cty.Value { return object(obj{"a": a, "b": b}) }
	precise, _, _ := big.ParseFloat("1.5", 10, 512, big.ToNearestEven)
	rough := big.NewFloat(1.5)
	for _, tc := range []struct {
		attr            string
		planned, actual cty.Value
		want            string
	}{
		{"s", str("secret"), str("secret"), ""},
		{"s", str("secret"), str("hidden"), "s: the result differs from the planned one"},
		{"s", str("secret"), null, "s: the result is null, but a value was planned"},
		{"s", null, str("secret"), "s: the result has a value, but null was planned"},
		{"s", str("x"), unknown, "s: the result is unknown, but was known in the plan"},
		{"s", null, unknown, "s: the result is unknown, but was known in the plan"},
		{"s", unknown, unknown.RefineNotNull(), ""},
		{"s", unknown, null, ""},
		{"s", unknown.RefineNotNull(), null, "s: the result is outside of the range that was planned for it"},
		{"s", unknown.Refine().StringPrefixFull("ab").NewValue(), str("abc"), ""},
		{"s", unknown.Refine().StringPrefixFull("ab").NewValue(), str("ba"), "s: the result is outside of the range that was planned for it"},
		{"n", cty.NumberVal(precise), cty.NumberVal(rough), ""},
		{"d", str("1"), cty.NumberIntVal(1), "d: the result has another type than planned"},
		{"d", cty.DynamicVal, list(str("x")), ""},
		{"d", cty.UnknownVal(cty.List(cty.String)), str("x"), "d: the result is outside of the range that was planned for it"},
		{"d", cty.TupleVal([]cty.Value{unknown}), cty.TupleVal([]cty.Value{str("x")}), ""},
		{"l", list(str("a"), unknown), list(str("a"), str("b")), ""},
		{"l", list(str("a"), unknown), list(str("a")), "l: the result has 1 elements, but 2 were planned"},
		{
			"l", cty.UnknownVal(cty.List(cty.String)).Refine().CollectionLength(1).NewValue(), list(str("a"), str("b")),
			"l: the result is outside of the range that was planned for it",
		},
		{"m", cty.MapVal(obj{"k": unknown}), cty.MapVal(obj{"k": str("x")}), ""},
		{
			"m", cty.MapVal(obj{"k": unknown}), cty.MapVal(obj{"j": str("x")}),
			`m["k"]: the result lacks this element, which was planned|m["j"]: the result has this element, which was not planned`,
		},
		{"t", set(pair(str("a"), unknown), pair(str("b"), str("b"))), set(pair(str("a"), str("x")), pair(str("b"), str("b"))), ""},
		{"t", set(pair(str("a"), unknown), pair(unknown, str("x"))), set(pair(str("a"), str("x"))), ""},
		{
			"t", set(pair(str("a"), unknown), pair(str("b"), unknown)), set(pair(str("a"), str("x"))),
			"t: the result has no element that corresponds to one in the plan",
		},
		{"t", set(pair(str("a"), unknown)), set(pair(str("b"), str("x"))), "t: the result has an element that corresponds to none in the plan"},
		{"t", set(pair(str("a"), unknown)), set(pair(str("a"), str("x")), pair(str("a"), str("y"))), "t: the result has 2 elements, but 1 were planned"},
	} {
		errs := AssertApplyResult(b, with(tc.attr, tc.planned), with(tc.attr, tc.actual))
		second := AssertSecondPlan(b, with(tc.attr, tc.planned), with(tc.attr, tc.actual))
		if tc.want == "" {
			wantErrors(t, errs)
			wantErrors(t, second)
			continue
		}
		wantErrors(t, errs, strings.Split(tc.want, "|")...)
		wantErrors(t, second, strings.Split(strings.ReplaceAll(tc.want, "the result", "the second plan"), "|")...)
	}
	none := cty.NullVal(b.Type())
	wantErrors(t, AssertApplyResult(b, none, none))
	wantErrors(t, AssertApplyResult(b, none, b.Empty()), ": the result is not null, but no object was planned")
	wantErrors(t, AssertApplyResult(b, b.Empty(), none), ": the result is null, but an object was planned")
	wantErrors(t, AssertApplyResult(b, b.Empty(), cty.DynamicVal), ": the result is unknown as a whole")
}

func TestAssertWhollyKnown(t *testing.T) {
	wantErrors(t, AssertWhollyKnown(filled(str("x"))))
	var want []string
	for _, path := range everyPath {
		want = append(want, path+": the value is unknown, but must be known now")
	}
	wantErrors(t, AssertWhollyKnown(filled(unknown)), want...)
}

func TestE43AssertOpenResult(t *testing.T) {
	b := nestedBlock(List)
	b.Attributes = parts()
	full := func(e cty.Value, n ...cty.Value) cty.Value {
		m := e.AsValueMap()
		m["n"] = collect(List, n...).GetAttr("n")
		return object(m)
	}
	config := full(elem(str("secret"), null, str("mine"), null), elem(str("k"), null, null, null))
	for _, tc := range []struct {
		result cty.Value
		want   []string
	}{
		{full(elem(str("secret"), null, str("mine"), str("1")), elem(str("k"), null, str("b"), str("2"))), nil},
		{full(elem(str("secret"), null, str("yours"), null), elem(str("k"), null, null, null)), []string{"both: the result differs from the configured one"}},
		{
			full(elem(str("secret"), str("x"), str("mine"), null), elem(str("k"), null, null, null)),
			[]string{"opt: the result must be null: the attribute is not computed and the configuration does not set it"},
		},
		{full(elem(str("secret"), null, str("mine"), unknown), elem(str("k"), null, null, null)), []string{"id: the value is unknown, but must be known now"}},
		{full(elem(str("secret"), null, str("mine"), null)), []string{"n: the result has 0 elements, but 1 are configured"}},
		{cty.NullVal(b.Type()), []string{": the result is null or unknown as a whole"}},
	} {
		wantErrors(t, AssertOpenResult(b, config, tc.result), tc.want...)
	}
	one := &Block{Attributes: map[string]*Attribute{"a": attr("c")}}
	wantErrors(t, AssertOpenResult(one, object(obj{"a": null}), cty.EmptyObjectVal), `: missing required attribute "a"`)
}

// cty orders the elements of sets by a text that leaves out the last digits of large numbers.
func TestEqualIgnoresTheOrderOfSets(t *testing.T) {
	n := func(i int64) cty.Value { return object(obj{"n": cty.NumberIntVal(i)}) }
	a, b := set(n(123456789012345), n(123456789012346)), set(n(123456789012346), n(123456789012345))
	if !equal(a, b) || equal(a, set(n(123456789012345), n(123456789012347))) {
		t.Error("wrong equality of sets")
	}
	if !equal(set(unknown), set(unknown.RefineNotNull())) || equal(set(unknown), set(str("x"))) || equal(set(str("x")), set(unknown)) {
		t.Error("wrong equality of unknown elements")
	}
}
