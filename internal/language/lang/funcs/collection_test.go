package funcs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

func TestCollections(t *testing.T) {
	unknownBool := cty.UnknownVal(cty.Bool).RefineNotNull()
	runExprs(t, Options{}, []exprTest{
		{expr: `alltrue([true, null])`, want: cty.False},
		{expr: `alltrue([u == "x", false])`, want: cty.False},
		{expr: `alltrue([u == "x", true])`, want: unknownBool},
		{expr: `alltrue([e == "x", true])`, want: eph(cty.False)},
		{expr: `anytrue([null, true])`, want: cty.True},
		{expr: `anytrue([u == "x", true])`, want: cty.True},
		{expr: `anytrue([u == "x", false])`, want: unknownBool},
		{expr: `anytrue([sensitive(true)])`, want: sens(cty.True)},

		{expr: `coalesce(u, "a")`, want: cty.UnknownVal(cty.String)},
		{expr: `coalesce(p, e)`, want: eph(str("plain"))},

		{expr: `distinct([{a=1}, {a=1}])`, want: cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": num(1)})})},
		{expr: `distinct([null, "a", null])`, want: cty.ListVal([]cty.Value{cty.NullVal(cty.String), str("a")})},
		{expr: `distinct([u, "a"])`, want: cty.UnknownVal(cty.List(cty.String)).RefineNotNull()},
		{expr: `distinct(["a", sensitive("a")])`, want: sens(strs("a"))},

		{expr: `element([o.a, "x"], 1)`, want: str("x")},
		{expr: `element(el, 0)`, want: eph(str("a"))},
		{expr: `element(el, un)`, want: eph(cty.UnknownVal(cty.String))},
	})
}

func TestCollectionLookups(t *testing.T) {
	unknownNumber := cty.UnknownVal(cty.Number).RefineNotNull()
	runExprs(t, Options{}, []exprTest{
		{expr: `index(["1"], 1)`, err: "item not found"},
		{expr: `index([1, u], 1)`, want: num(0)},
		{expr: `index([u, "a"], "a")`, want: unknownNumber},
		{expr: `index(el, "b")`, want: eph(num(1))},

		{expr: `keys(o)`, want: tuple(str("a"), str("b"), str("n"))},
		{expr: `keys(eo)`, want: eph(tuple(str("a")))},

		{expr: `length([u, u])`, want: num(2)},
		{expr: `length("héé")`, want: num(3)},
		{expr: `length(e)`, want: eph(num(int64(len(secretText))))},
		{expr: `length(se)`, want: sens(eph(num(int64(len(secretText)))))},
		{expr: `length(el)`, want: eph(num(2))},
		{expr: `length([e])`, want: num(1)},
		{expr: `length(dy)`, want: unknownNumber},

		{expr: `lookup(tomap({ a = 1 }), "b")`, err: `lookup failed to find key "b"`},
		{expr: `lookup(o, "b", "z")`, want: str("x")},
		{expr: `lookup(o, "a", "z")`, want: eph(str(secretText))},
		{expr: `lookup({ a = 1 }, sensitive("a"), 2)`, want: sens(num(1))},
		{expr: `lookup({ a = 1 }, "b", sensitive(3))`, want: sens(num(3))},
		{expr: `lookup(tomap({ a = 1 }), "a", sensitive(3))`, want: num(1)},
		{expr: `lookup(tomap({ a = 1 }), u, 3)`, want: cty.UnknownVal(cty.Number)},
		{expr: `lookup(tomap({ a = 1 }), ue, 3)`, want: eph(cty.UnknownVal(cty.Number))},
		{expr: `lookup(eo, u, "")`, want: eph(cty.DynamicVal)},
		{expr: `lookup(tomap({ a = 1 }), s)`, err: "the map has no such element; the details are withheld"},
		{expr: `lookup({ a = 1 }, e)`, err: "the map has no such element"},
	})
}

func TestCollectionSelections(t *testing.T) {
	unknownNumber := cty.UnknownVal(cty.Number).RefineNotNull()
	runExprs(t, Options{}, []exprTest{
		{expr: `matchkeys(["a", "b"], ["x", "y"], [1])`, want: strs()},
		{expr: `matchkeys(["a", "b"], ["1", "y"], [1])`, want: strs("a")},
		{expr: `matchkeys([u], ["x", "y"], ["y"])`, err: "length of keys and values should be equal"},
		{expr: `matchkeys(ul, ["x", "y"], ["y"])`, want: cty.UnknownVal(cty.List(cty.String)).RefineNotNull()},
		{expr: `matchkeys(["a"], [u], ["y"])`, want: cty.UnknownVal(cty.List(cty.String)).RefineNotNull()},
		{expr: `matchkeys(["a"], ["x"], [e])`, want: eph(strs())},

		{expr: `merge({ a = 1 }, null)`, want: cty.ObjectVal(map[string]cty.Value{"a": num(1)})},
		{expr: `merge(o, {}).b`, want: str("x")},

		{expr: `one([1])`, want: num(1)},
		{expr: `one([e])`, want: eph(str(secretText))},
		{expr: `one(sensitive([1]))`, want: sens(num(1))},
		{expr: `one(el)`, err: "rejected; the details are withheld because they could reveal a value: (ephemeral value)"},
		{expr: `one(ul)`, want: cty.UnknownVal(cty.String)},
		{expr: `one([u])`, want: cty.UnknownVal(cty.String)},
		{expr: `one([e, 2])`, err: "either zero or one elements"},

		{expr: `sum([1, sensitive(2)])`, want: sens(num(3))},
		{expr: `sum([1, un])`, want: unknownNumber},
		{expr: `sum([e])`, err: "details are withheld"},
		{expr: `sum({ a = 1 })`, err: "Received object"},

		{expr: `transpose({ a = ["1", "2"], b = ["2"] })`, want: cty.MapVal(map[string]cty.Value{"1": strs("a"), "2": strs("a", "b")})},
		{expr: `transpose({ a = null })`, err: `cannot use null list`},
		{expr: `transpose({ a = [u] })`, want: cty.UnknownVal(cty.Map(cty.List(cty.String))).RefineNotNull()},
		{expr: `transpose({ a = [sensitive("x")] })`, want: sens(cty.MapVal(map[string]cty.Value{"x": strs("a")}))},

		{expr: `values(o)`, want: tuple(eph(str(secretText)), str("x"), num(1))},
		{expr: `zipmap(["a"], [e])`, want: cty.ObjectVal(map[string]cty.Value{"a": eph(str(secretText))})},
		{expr: `contains(el, "a")`, want: eph(cty.True)},
		{expr: `contains([null], null)`, want: cty.True},
		{expr: `contains(tolist(["a", null]), null)`, want: cty.True},
		{expr: `contains(["a"], null)`, want: cty.False},
		{expr: `slice([e, "x"], 1, 2)`, want: tuple(str("x"))},
	})
}

// TestDistinctIsOrderedSet checks distinct against a plain definition: the first of each, in order.
func TestDistinctIsOrderedSet(t *testing.T) {
	distinct := Table(Options{})["distinct"]
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.StringN(0, 2, -1), 1, 30).Draw(t, "in")
		var want []string
		for _, s := range in {
			if s = str(s).AsString(); !slices.Contains(want, s) {
				want = append(want, s)
			}
		}
		got, err := distinct.Call([]cty.Value{strs(in...)})
		if err != nil || !got.RawEquals(strs(want...)) {
			t.Fatalf("got %#v, %v; want %q", got, err, want)
		}
	})
}

func BenchmarkDistinct(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		ss := make([]string, n)
		for i := range ss {
			ss[i] = fmt.Sprint("element-", i)
		}
		in := []cty.Value{strs(ss...)}
		f := Table(Options{})["distinct"]
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := f.Call(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
