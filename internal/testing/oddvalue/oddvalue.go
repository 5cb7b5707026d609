// Package oddvalue draws values for tests of storage: odd ones that can be stored, and others that cannot,
// with the expected results.
//
// It may import cty and rapid. It must not know how values are stored.
package oddvalue

import (
	"math"
	"math/big"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

// Drawn is a value as it was answered or evaluated, without marks.
type Drawn struct {
	Value cty.Value
	// Stored is the value read after Value was stored: parts that cannot be stored are null.
	Stored cty.Value
	Faults int // parts that cannot be stored
}

// Any draws values that can be stored, nested so many levels deep at most.
func Any(levels int) *rapid.Generator[Drawn] { return value(levels, false) }

// Spoiled draws values, some parts of which may be impossible to store.
func Spoiled(levels int) *rapid.Generator[Drawn] { return value(levels, true) }

// numbers are texts of numbers that can be stored. Larger ones take long to print.
var numbers = []string{
	"0", "-0", "1", "-1", "0.1", "1.5", "-2.25", "1e100", "-1e100", "1e-100", "18446744073709551616.5", "9007199254740993",
	"0." + strings.Repeat("3", 154), strings.Repeat("9", 154), strings.Repeat("123456789", 40), "-" + strings.Repeat("7", 500) + "." + strings.Repeat("1", 500),
}

// unwritable are numbers that cannot be stored.
var unwritable = []cty.Value{
	cty.PositiveInfinity, cty.NegativeInfinity, cty.MustParseNumberVal("1e12000"),
	cty.NumberVal(new(big.Float).SetMantExp(big.NewFloat(1), math.MaxInt32)), // printing it takes hours
}

// texts are parts of strings and keys.
var texts = []string{
	"", "a", "value", "type", "é", "e\u0301", "\u212b", "\uac00", "\x00", "\x1f", "\x7f", "\u2028", "\ufeff", "\ufffd", "\U0010ffff", "<&>", `"`, `\`, `\u0000`,
	"null", "1", "true", "${a}", "%{if}", "\r\n", "__proto__", "\xf0\x9f\x92\xa9"[:4],
}

// ill are texts that are not UTF-8.
var ill = []string{"\xff", "a\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "ok\x80ok"}

func value(levels int, spoiled bool) *rapid.Generator[Drawn] {
	return rapid.Custom(func(t *rapid.T) Drawn {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if spoiled && rapid.IntRange(0, 5).Draw(t, "whole") == 0 {
			return whole(t)
		}
		return draw(t, kind, levels, spoiled)
	})
}

// whole draws a value that cannot be stored for its type.
func whole(t *rapid.T) Drawn {
	v := cty.StringVal("x")
	if rapid.Bool().Draw(t, "deep") {
		for range rapid.IntRange(201, 260).Draw(t, "levels") {
			v = cty.TupleVal([]cty.Value{v})
		}
	} else {
		v = cty.ObjectVal(map[string]cty.Value{rapid.SampledFrom(ill).Draw(t, "name"): v, "b": cty.True})
	}
	return Drawn{v, cty.NullVal(cty.DynamicPseudoType), 1}
}

func draw(t *rapid.T, kind, levels int, spoiled bool) Drawn {
	switch {
	case kind == 0:
		return Number(spoiled).Draw(t, "number")
	case kind == 1:
		v := cty.NullVal(rapid.SampledFrom([]cty.Type{cty.DynamicPseudoType, cty.String, cty.Number, cty.Set(cty.String), cty.Object(map[string]cty.Type{"a": cty.Bool})}).Draw(t, "null"))
		return Drawn{v, v, 0}
	case kind == 2:
		v := cty.BoolVal(rapid.Bool().Draw(t, "bool"))
		return Drawn{v, v, 0}
	case kind == 3 && levels > 0:
		parts := rapid.SliceOfN(inner(levels-1, spoiled), 0, 3).Draw(t, "tuple")
		values, stored, faults := split(parts)
		return Drawn{cty.TupleVal(values), cty.TupleVal(stored), faults}
	case kind == 4 && levels > 0:
		return object(t, levels-1, spoiled)
	case kind == 5:
		return Map(spoiled).Draw(t, "map")
	case kind == 6:
		values, stored, faults := split(rapid.SliceOfN(Number(spoiled), 1, 3).Draw(t, "numbers"))
		if rapid.Bool().Draw(t, "set") {
			return Drawn{cty.SetVal(values), cty.SetVal(stored), distinct(values, stored, faults)}
		}
		return Drawn{cty.ListVal(values), cty.ListVal(stored), faults}
	case kind == 7:
		values, stored, faults := split(rapid.SliceOfN(Text(spoiled), 1, 3).Draw(t, "strings"))
		if rapid.Bool().Draw(t, "set") {
			return Drawn{cty.SetVal(values), cty.SetVal(stored), distinct(values, stored, faults)}
		}
		return Drawn{cty.ListVal(values), cty.ListVal(stored), faults}
	default:
		return Text(spoiled).Draw(t, "text")
	}
}

// inner draws a part of a value with a type of its own. Its faults are in single parts, since the whole
// around it has one type.
func inner(levels int, spoiled bool) *rapid.Generator[Drawn] {
	return rapid.Custom(func(t *rapid.T) Drawn { return draw(t, rapid.IntRange(0, 9).Draw(t, "kind"), levels, spoiled) })
}

func object(t *rapid.T, levels int, spoiled bool) Drawn {
	attrs := map[string]cty.Value{}
	stored := map[string]cty.Value{}
	faults := 0
	for range rapid.IntRange(0, 3).Draw(t, "attributes") {
		name := cty.NormalizeString(word(t))
		if _, ok := attrs[name]; ok {
			continue
		}
		part := inner(levels, spoiled).Draw(t, "attribute")
		attrs[name], stored[name], faults = part.Value, part.Stored, faults+part.Faults
	}
	return Drawn{cty.ObjectVal(attrs), cty.ObjectVal(stored), faults}
}

func split(parts []Drawn) (values, stored []cty.Value, faults int) {
	for _, p := range parts {
		values, stored, faults = append(values, p.Value), append(stored, p.Stored), faults+p.Faults
	}
	return values, stored, faults
}

// distinct returns how many elements of a set cannot be stored: equal ones count once.
func distinct(values, stored []cty.Value, faults int) int {
	var bad []cty.Value
	for i, v := range values {
		if faults > 0 && stored[i].IsNull() && !v.IsNull() {
			bad = append(bad, v)
		}
	}
	if len(bad) == 0 {
		return 0
	}
	return cty.SetVal(bad).LengthInt()
}

func word(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 1, 4).Draw(t, "words"), "")
}

// Text draws a string.
func Text(spoiled bool) *rapid.Generator[Drawn] {
	return rapid.Custom(func(t *rapid.T) Drawn {
		if spoiled && rapid.IntRange(0, 2).Draw(t, "ill") == 0 {
			return Drawn{cty.StringVal(word(t) + rapid.SampledFrom(ill).Draw(t, "text")), cty.NullVal(cty.String), 1}
		}
		v := cty.StringVal(word(t))
		if rapid.IntRange(0, 39).Draw(t, "long") == 21 { // rapid prefers small numbers
			v = cty.StringVal(strings.Repeat("long", 100_000))
		}
		return Drawn{v, v, 0}
	})
}

// Number draws a number: of the usual precision, of less or more of it, and some that cannot be stored.
func Number(spoiled bool) *rapid.Generator[Drawn] {
	return rapid.Custom(func(t *rapid.T) Drawn {
		if spoiled && rapid.IntRange(0, 2).Draw(t, "bad") == 0 {
			v := rapid.SampledFrom(unwritable).Draw(t, "number")
			return Drawn{v, cty.NullVal(cty.Number), 1}
		}
		var v cty.Value
		switch rapid.IntRange(0, 3).Draw(t, "precision") {
		case 0:
			v = cty.MustParseNumberVal(rapid.SampledFrom(numbers).Draw(t, "number"))
		case 1:
			v = cty.NumberIntVal(rapid.Int64().Draw(t, "number"))
		case 2:
			v = cty.NumberFloatVal(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "number"))
		default: // more digits than are kept
			digits := rapid.StringMatching(`[1-9][0-9]{300,400}`).Draw(t, "number")
			f := cty.MustParseNumberVal("0").AsBigFloat()
			f.SetPrec(2000)
			if _, _, err := f.Parse(digits, 10); err != nil {
				t.Fatal(err)
			}
			v = cty.NumberVal(f)
		}
		text := v.AsBigFloat().Text('f', -1)
		if text == "-0" { // no other number than 0
			text = "0"
		}
		return Drawn{v, cty.MustParseNumberVal(text), 0}
	})
}

// Map draws a map of strings, whose keys may be impossible to store.
func Map(spoiled bool) *rapid.Generator[Drawn] {
	return rapid.Custom(func(t *rapid.T) Drawn {
		elems, stored := map[string]cty.Value{}, map[string]cty.Value{}
		faults := 0
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			key := cty.NormalizeString(word(t))
			if _, ok := elems[key]; ok {
				continue
			}
			if e := Text(spoiled).Draw(t, "element"); spoiled && rapid.IntRange(0, 3).Draw(t, "key") == 0 {
				key = cty.NormalizeString(key + rapid.SampledFrom(ill).Draw(t, "ill"))
				if _, ok := elems[key]; !ok {
					elems[key], faults = e.Value, faults+1
				}
			} else {
				elems[key], stored[key], faults = e.Value, e.Stored, faults+e.Faults
			}
		}
		return Drawn{mapping(elems), mapping(stored), faults}
	})
}

func mapping(elems map[string]cty.Value) cty.Value {
	if len(elems) == 0 {
		return cty.MapValEmpty(cty.String)
	}
	return cty.MapVal(elems)
}
