package leak

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestEach goes through a value with marks, of a type that leaves some names to the value.
func TestEach(t *testing.T) {
	type attrs = map[string]cty.Value
	str := cty.StringVal
	v := cty.ObjectVal(attrs{
		"a": str("plain"),
		"b": cty.ObjectVal(attrs{"open": str("in open").Mark(value.Ephemeral)}).Mark(value.Sensitive),
		"c": cty.MapVal(attrs{"key": str("in map").Mark(value.Sensitive)}).Mark(value.Ephemeral),
		"d": cty.TupleVal([]cty.Value{cty.ObjectVal(attrs{"named": str("first")}), cty.ObjectVal(attrs{"unnamed": str("second")}), cty.ObjectVal(attrs{"more": str("third")})}),
		"e": cty.ListVal([]cty.Value{cty.ObjectVal(attrs{"element": str("in list").Mark(value.Sensitive)})}),
		"f": cty.NullVal(cty.String), "g": cty.UnknownVal(cty.List(cty.String)), "h": cty.MustParseNumberVal("4711081512"), "i": cty.True, "j": cty.NullVal(cty.Number).Mark(value.Ephemeral),
		"k": cty.SetVal([]cty.Value{str("in set")}),
		"l": cty.ObjectVal(attrs{"surplus": str("in an attribute that is not declared")}),
	})
	ty := cty.Object(map[string]cty.Type{
		"a": cty.String, "b": cty.DynamicPseudoType, "c": cty.Map(cty.String), "d": cty.Tuple([]cty.Type{cty.Object(map[string]cty.Type{"named": cty.String}), cty.DynamicPseudoType}),
		"e": cty.List(cty.Object(map[string]cty.Type{"element": cty.String})), "f": cty.String, "g": cty.List(cty.String), "h": cty.Number, "i": cty.Bool, "j": cty.Number, "k": cty.Set(cty.String),
	})
	var got []text
	if !each(v, ty, func(t text) bool { got = append(got, t); return true }) {
		t.Error("it has ended early")
	}
	name := func(s string) text { return text{text: s, name: true} }
	want := []text{
		name("a"),
		{text: "plain"},
		name("b"),
		{text: "open", key: true, sensitive: true},
		{text: "in open", sensitive: true, ephemeral: true},
		name("c"),
		{text: "key", key: true, ephemeral: true},
		{text: "in map", ephemeral: true, sensitive: true},
		name("d"), name("named"),
		{text: "first"},
		{text: "unnamed", key: true},
		{text: "second"},
		{text: "more", key: true},
		{text: "third"},
		name("e"), name("element"),
		{text: "in list", sensitive: true},
		name("f"), name("g"), name("h"),
		{text: "4711081512"},
		name("i"), name("j"), name("k"),
		{text: "in set"},
		name("l"),
		{text: "surplus", key: true},
		{text: "in an attribute that is not declared"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	for most := 1; most <= len(want); most++ {
		n := 0
		if each(v, ty, func(text) bool { n++; return n < most }) || n != most {
			t.Errorf("after %d texts, it goes on to %d, want %d", most, n, most)
		}
	}
	declared := []cty.Type{cty.Object(map[string]cty.Type{"0": cty.Object(map[string]cty.Type{"x": cty.String})}), cty.Tuple([]cty.Type{cty.String}), cty.String}
	for _, v := range []cty.Value{cty.ListVal([]cty.Value{str("x")}), cty.MapVal(attrs{"x": str("x")}), str("x")} {
		for _, ty := range declared { // which it may not have
			found := false
			each(v, ty, func(t text) bool { found = found || t == (text{text: "x"}); return true })
			if !found {
				t.Errorf("nothing is in %#v, declared as %#v", v, ty)
			}
		}
	}
}

// TestNumber writes numbers that have enough digits to be found, and not far too many.
func TestNumber(t *testing.T) {
	long := new(big.Float).SetMantExp(big.NewFloat(1), 511)
	for _, test := range []struct {
		n    *big.Float
		want string
	}{
		{big.NewFloat(4711), ""},
		{big.NewFloat(524287), ""},
		{big.NewFloat(524288), "524288"},
		{big.NewFloat(-1048575), "-1048575"},
		{big.NewFloat(4711081512), "4711081512"},
		{big.NewFloat(0.5), "0.5"},
		{big.NewFloat(17.25), "17.25"},
		{new(big.Float).SetInf(false), ""},
		{new(big.Float).SetInf(true), ""},
		{long, long.Text('f', -1)},
		{new(big.Float).SetMantExp(big.NewFloat(1), 512), ""},
		{new(big.Float).SetMantExp(big.NewFloat(1), -600), ""},
	} {
		if got := Number(cty.NumberVal(test.n)); got != test.want {
			t.Errorf("%v: got %q, want %q", test.n, got, test.want)
		}
	}
}

// TestIsSecret says what is long and varied enough.
func TestIsSecret(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "abcdefg": false, "abcdefgh": true, "aaaaaaaaaaaa": false, "abcabcabcabc": false, "aaaaaaaabcd": true, strings.Repeat("ab", 100) + "cd": true,
	} {
		if isSecret(s) != want {
			t.Errorf("isSecret(%q): got %t, want %t", s, !want, want)
		}
	}
}
