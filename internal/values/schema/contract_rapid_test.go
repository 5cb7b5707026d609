package schema

import (
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

// generator draws schemas and values that fit them.
type generator struct{ t *rapid.T }

func (g generator) attrs(depth int, inSet bool) map[string]*Attribute {
	attrs := map[string]*Attribute{}
	types := []cty.Type{cty.String, cty.Number, cty.List(cty.String), cty.Set(cty.String)}
	for i := range rapid.IntRange(1, 3).Draw(g.t, "attributes") {
		flags := []string{"r", "o", "oc", "c", "os"}
		if !inSet {
			flags = append(flags, "ow")
		}
		a := attr(rapid.SampledFrom(flags).Draw(g.t, "flags"))
		a.Type = rapid.SampledFrom(types).Draw(g.t, "type")
		if depth > 0 && rapid.IntRange(0, 3).Draw(g.t, "nested") == 0 {
			nesting := rapid.SampledFrom([]Nesting{Single, List, Set, Map}).Draw(g.t, "nesting")
			if a.WriteOnly {
				a = attr("o")
			}
			a.Type, a.Nested = cty.NilType, &Object{Nesting: nesting, Attributes: g.attrs(depth-1, inSet || nesting == Set)}
			if nesting == Set {
				a.Nested.Attributes["key"] = attr("r")
			}
		}
		attrs[fmt.Sprintf("a%d", i)] = a
	}
	return attrs
}

func (g generator) block(depth int, inSet bool) *Block {
	b := &Block{Attributes: g.attrs(depth, inSet), Blocks: map[string]*NestedBlock{}}
	if depth == 0 {
		return b
	}
	for i := range rapid.IntRange(0, 2).Draw(g.t, "blocks") {
		nesting := rapid.SampledFrom(collections).Draw(g.t, "nesting")
		inner := g.block(depth-1, inSet || nesting == Set)
		if nesting == Set {
			inner.Attributes["key"] = attr("r")
		}
		b.Blocks[fmt.Sprintf("b%d", i)] = &NestedBlock{Nesting: nesting, Block: Block{Attributes: inner.Attributes, Blocks: inner.Blocks}}
	}
	return b
}

// config draws a configuration: computed attributes may be set only if they are optional too.
func (g generator) config(c content) cty.Value {
	values := obj{}
	for name, a := range c.attrs {
		if a.Computed && !a.Optional || !a.Required && rapid.Bool().Draw(g.t, "null") {
			values[name] = cty.NullVal(a.ValueType())
			continue
		}
		if a.Nested != nil {
			values[name] = g.collection(a.Nested.Nesting, a.Nested.content(), a.ValueType())
		} else {
			values[name] = g.leaf(a.Type)
		}
	}
	for name, n := range c.blocks {
		values[name] = g.collection(n.Nesting, n.content(), n.valueType())
	}
	return object(values)
}

func (g generator) collection(nesting Nesting, c content, typ cty.Type) cty.Value {
	if nesting == Single || nesting == Group {
		return g.config(c)
	}
	var elems []cty.Value
	keyed := obj{}
	for i := range rapid.IntRange(0, 3).Draw(g.t, "elements") {
		one := g.config(c).AsValueMap()
		if nesting == Set {
			one["key"] = str(fmt.Sprint(i)) // without it, elements may become equal when unknown values are settled
		}
		elems = append(elems, object(one))
		keyed[fmt.Sprint(i)] = elems[i]
	}
	if nesting == Map {
		return keyedVal(typ, keyed)
	}
	return sequenceVal(typ, elems)
}

func (g generator) leaf(typ cty.Type) cty.Value {
	if rapid.IntRange(0, 5).Draw(g.t, "unknown") == 0 {
		return cty.UnknownVal(typ)
	}
	text := str(rapid.SampledFrom([]string{"x", "y"}).Draw(g.t, "text"))
	switch {
	case typ.IsListType():
		return list(text)
	case typ.IsSetType():
		return set(text)
	case typ == cty.Number:
		return cty.NumberIntVal(rapid.Int64Range(0, 2).Draw(g.t, "number"))
	default:
		return text
	}
}

// settle replaces unknown values, as apply does.
func settle(t *rapid.T, v cty.Value) cty.Value {
	settled, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		switch typ := v.Type(); {
		case v.IsKnown():
			return v, nil
		case typ == cty.String:
			return str("made"), nil
		case typ == cty.Number:
			return cty.NumberIntVal(7), nil
		case typ.IsListType():
			return cty.ListValEmpty(typ.ElementType()), nil
		case typ.IsSetType():
			return cty.SetValEmpty(typ.ElementType()), nil
		case typ.IsMapType():
			return cty.MapValEmpty(typ.ElementType()), nil
		default:
			return cty.NullVal(typ), nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return settled
}

// A provider that plans just what is proposed and makes just what it planned breaks no rule, and then has
// nothing to do.
func TestContractHoldsForAnObedientProvider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t}
		b := g.block(2, false)
		if err := b.InternalValidate(ForManaged); err != nil {
			t.Fatal(err)
		}
		config := g.config(b.content())
		obey := func(prior, config cty.Value) cty.Value {
			planned := b.NullWriteOnly(ProposedNew(b, prior, config))
			if errs := AssertPlanValid(b, prior, config, planned); len(errs) > 0 {
				t.Fatalf("plan: %v\nprior %#v\nconfig %#v\nplanned %#v", errs, prior, config, planned)
			}
			return planned
		}
		planned := obey(cty.NullVal(b.Type()), config)
		known := settle(t, config)
		second := obey(cty.NullVal(b.Type()), known)
		actual := settle(t, second)
		for what, errs := range map[string][]error{
			"second plan": AssertSecondPlan(b, planned, second),
			"result":      AssertApplyResult(b, second, actual),
			"known":       AssertWhollyKnown(actual),
		} {
			if len(errs) > 0 {
				t.Fatalf("%s: %v\nfirst %#v\nsecond %#v", what, errs, planned, second)
			}
		}
		if again := obey(actual, known); !equal(again, actual) {
			t.Fatalf("not stable\nactual %#v\nagain  %#v", actual, again)
		}
		obey(actual, g.config(b.content()))
	})
}

func TestNullWriteOnlyIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t}
		b := g.block(2, false)
		once := b.NullWriteOnly(g.config(b.content()))
		if twice := b.NullWriteOnly(once); !twice.RawEquals(once) || len(b.WriteOnlyPaths(once)) > 0 {
			t.Fatalf("%#v\n%#v, want %#v", once, twice, once)
		}
	})
}

// bigSet has n elements that differ in their keys only, with all else computed.
func bigSet(n int, both, id cty.Value) cty.Value {
	elems := make([]cty.Value, n)
	for i := range elems {
		elems[i] = elem(str(fmt.Sprint(i)), null, both, id)
	}
	return collect(Set, elems...)
}

func BenchmarkProposedNew(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		block, prior, config := nestedBlock(Set), bigSet(n, str("b"), str("c")), bigSet(n, null, null)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				ProposedNew(block, prior, config)
			}
		})
	}
}

func BenchmarkAssertPlanValid(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		block, config, planned := nestedBlock(Set), bigSet(n, null, null), bigSet(n, unknown, unknown)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if errs := AssertPlanValid(block, cty.NilVal, config, planned); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
	}
}
