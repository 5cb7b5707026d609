package funcs

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestConvert(t *testing.T) {
	object := func(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }
	runExprs(t, Options{}, []exprTest{
		{expr: `convert("true", bool)`, want: cty.True},
		{expr: `core::convert("1", number)`, want: num(1)},
		{expr: `convert([], list(string))`, want: strs()},
		{expr: `convert([1, "a"], any)`, want: tuple(num(1), str("a"))},
		{expr: `convert([1, "a"], list(any))`, want: strs("1", "a")},
		{expr: `convert({}, object({ name = optional(string, "x") }))`, want: object(map[string]cty.Value{"name": str("x")})},
		{expr: `convert({ t = {} }, map(object({ a = optional(string), d = optional(string, "v") })))`, want: cty.MapVal(map[string]cty.Value{
			"t": object(map[string]cty.Value{"a": cty.NullVal(cty.String), "d": str("v")}),
		})},
		{expr: `convert(null, string)`, want: cty.NullVal(cty.String)},
		{expr: `convert(dy, object({ a = string }))`, want: cty.UnknownVal(cty.Object(map[string]cty.Type{"a": cty.String}))},
		{expr: `convert(dy, object({ a = string })).b`, err: "does not have an attribute named"},
		{expr: `convert(u, number)`, want: cty.UnknownVal(cty.Number)},
		{expr: `convert(ue, number)`, want: eph(cty.UnknownVal(cty.Number))},
		{expr: `convert([s, "x"], list(string))`, want: cty.ListVal([]cty.Value{sens(str(secretText)), str("x")})},
		{expr: `convert(el, set(string))`, want: eph(cty.SetVal([]cty.Value{str("a"), str("b")}))},
		{expr: `convert("x", number)`, err: "a number is required"},
		{expr: `convert(s, number)`, err: "cannot convert the value to that type; the details are withheld"},
		{expr: `convert({}, object({ a = string }))`, err: `attribute "a" is required`},
		{expr: `convert(["1e999999999"], list(number))`, err: "number"},
		{expr: `convert(1)`, err: "Not enough function arguments"},
		{expr: `convert(1, text)`, err: "Invalid type specification"},
		{expr: `convert(1, list)`, err: "Invalid type specification"},
		{expr: `convert(1, "string")`, err: "Invalid type specification"},
		{expr: `convert([1, string]...)`, err: "no variable named"},
		{expr: `try(convert("x", number), "d")`, want: str("d")},
		{expr: `can(convert(e, number))`, want: eph(cty.False)},
	})
}

func TestAssume(t *testing.T) {
	unknown := cty.UnknownVal
	bounded := func(ty cty.Type, least, most int) cty.Value {
		return unknown(ty).Refine().CollectionLengthLowerBound(least).CollectionLengthUpperBound(most).NewValue()
	}
	runExprs(t, Options{}, []exprTest{
		{expr: `assumeequal(u, "x")`, want: str("x")},
		{expr: `assumeequal(1, "1")`, want: str("1")},
		{expr: `assumeequal(s, "` + secretText + `")`, want: str(secretText)},
		{expr: `assumeequal(e, s)`, want: sens(str(secretText))},
		{expr: `assumeequal(dy, [1, "a"])`, want: tuple(num(1), str("a"))},
		{expr: `assumeequal(ue, u)`, want: unknown(cty.String)},
		{expr: `assumeequal(null, null)`, want: cty.NullVal(cty.DynamicPseudoType)},
		{expr: `assumeequal("x", "y")`, err: "the value is not equal to the assumed one"},
		{expr: `assumeequal([u, "x"], [u, "y"])`, err: "the value is not equal to the assumed one"},
		{expr: `assumeequal(s, "y")`, err: "the value is not equal to the assumed one; the details are withheld"},
		{expr: `assumeequal([], "y")`, err: "string required"},

		{expr: `assumenotnull(u)`, want: unknown(cty.String).RefineNotNull()},
		{expr: `assumenotnull(u) != null`, want: cty.True},
		{expr: `assumenotnull(ue)`, want: eph(unknown(cty.String).RefineNotNull())},
		{expr: `assumenotnull(e)`, want: eph(str(secretText))},
		{expr: `assumenotnull(dy)`, want: cty.DynamicVal},
		{expr: `assumenotnull(null)`, err: "was assumed not to be"},
		{expr: `assumenotnull(convert(null, string))`, err: "was assumed not to be"},

		{expr: `assumestringprefix(u, "ab")`, want: unknown(cty.String).Refine().StringPrefixFull("ab").NewValue()},
		{expr: `startswith(assumestringprefix(dy, "abc"), "ab")`, want: cty.True},
		{expr: `assumestringprefix("abc-${u}", "ab")`, want: unknown(cty.String).Refine().NotNull().StringPrefixFull("abc-").NewValue()},
		{expr: `assumestringprefix("abc-${u}", "abc-d")`, want: unknown(cty.String).Refine().NotNull().StringPrefixFull("abc-d").NewValue()},
		{expr: `assumestringprefix("abc-${u}", "x")`, err: `does not begin with the assumed prefix "x"`},
		{expr: `assumestringprefix("x", u)`, want: str("x")},
		{expr: `assumestringprefix(null, "x")`, want: cty.NullVal(cty.String)},
		{expr: `assumestringprefix(e, "hunter")`, want: eph(str(secretText))},
		{expr: `assumestringprefix("a", null)`, err: "must not be null"},
		{expr: `assumestringprefix(s, "x")`, err: "details are withheld"},

		{expr: `assumelistlength(ul, 1, 3)`, want: bounded(cty.List(cty.String), 1, 3)},
		{expr: `length(assumelistlengthmin(ul, 1)) != 0`, want: cty.True},
		{expr: `length(assumenotnull(assumelistlength(ul, 2, 2)))`, want: num(2)},
		{expr: `assumelistlengthmax(["a"], 1)`, want: strs("a")},
		{expr: `assumelistlengthmin([e], 1)`, want: cty.ListVal([]cty.Value{eph(str(secretText))})},
		{expr: `assumelistlengthmin(["a"], 2)`, err: "the length of the list was assumed to be 2 or more"},
		{expr: `assumelistlengthmax(["a", "b"], 1)`, err: "the length of the list was assumed to be 1 or less"},
		{expr: `assumelistlengthmin(assumelistlengthmax(ul, 1), 2)`, err: "the length of the list was assumed to be 2 or more"},
		{expr: `assumelistlengthmin(el, 5)`, err: "details are withheld"},
		{expr: `assumelistlength(ul, 3, 1)`, err: "must not be greater"},
		{expr: `assumelistlengthmin(ul, -1)`, err: "whole number"},
		{expr: `assumelistlengthmin(ul, 0.5)`, err: "whole number"},
		{expr: `assumelistlengthmin(ul, 1e40)`, err: "whole number"},
		{expr: `assumenotnull(assumelistlength(ul, 1e15, 1e15))`, want: unknown(cty.List(cty.String)).RefineNotNull()},
		{expr: `assumelistlengthmin(ul, un)`, want: unknown(cty.List(cty.String))},
		{expr: `assumelistlengthmin(null, 1)`, want: cty.NullVal(cty.List(cty.DynamicPseudoType))},
		{expr: `assumelistlengthmin("x", 1)`, err: "list of dynamic required"},
		{expr: `assumesetlengthmin([u, "a"], 1)`, want: cty.SetVal([]cty.Value{unknown(cty.String), str("a")})},
		{expr: `assumesetlengthmin([u, "a"], 3)`, err: "3 or more"},
		{expr: `assumesetlength([1, 1], 1, 1)`, want: cty.SetVal([]cty.Value{num(1)})},
		{expr: `assumesetlengthmax([1, 2], 1)`, err: "the length of the set was assumed to be 1 or less"},
		{expr: `assumemaplengthmax({ a = 1 }, 1)`, want: cty.MapVal(map[string]cty.Value{"a": num(1)})},
		{expr: `assumemaplength({ a = 1 }, 2, 3)`, err: "the length of the map was assumed to be 2 or more"},
		{expr: `assumemaplengthmin(convert(dy, map(string)), 1)`, want: unknown(cty.Map(cty.String)).Refine().CollectionLengthLowerBound(1).NewValue()},
	})
}
