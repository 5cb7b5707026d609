package marked_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// envExpressions is how many random expressions TestE22E23NonInterference tries; envFirstExpression is the
// first one.
const (
	envExpressions     = "MAYFLY_TEST_EXPRESSIONS"
	envFirstExpression = "MAYFLY_TEST_EXPRESSIONS_FIRST"
	expressions        = 4_000 // a long run sets the variable
)

func envNumber(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %s", name, err)
	}
	return n
}

// TestE22E23NonInterference evaluates random expressions twice, with values that differ only where they are
// ephemeral. What is not ephemeral of the two results must be the same, in values, types, marks and the bytes
// that would be stored, and so must be what ephemeralasnull makes of them.
func TestE22E23NonInterference(t *testing.T) {
	first, n := envNumber(t, envFirstExpression, 0), envNumber(t, envExpressions, expressions)
	table := worldFunctions()
	compared, public := 0, 0
	called := map[string]bool{}
	for seed := first; seed < first+n; seed++ {
		g := newExpressions(uint64(seed), table)
		var src string
		if seed%3 == 0 {
			src = g.callOf(g.names[seed/3%len(g.names)], 1+seed%4)
		} else {
			src = g.any(1 + seed%4)
		}
		one, another := g.worlds()
		a, okA := evaluateIn(t, src, one, table)
		b, okB := evaluateIn(t, src, another, table)
		if !okA || !okB || strings.Contains(src, "issensitive") && hasUnknown(src) {
			continue // whether an unknown value is sensitive is not certain
		}
		compared++
		for _, name := range g.called {
			called[name] = true
		}
		if !value.Contains(a, value.Ephemeral) {
			public++
		}
		if difference := tellsApart(t, a, b); difference != "" {
			t.Errorf("%s=%d: %s\n  got %s, want no difference\n  %s\n  with %s", envFirstExpression, seed, src, difference, strings.ReplaceAll(fmt.Sprintf("%#v\n  %#v", a, b), "cty.", ""), differences(one, another, src))
		}
		if t.Failed() && seed > first+n/2 {
			break
		}
	}
	t.Logf("%d expressions had results in both worlds, %d of them public", compared, public)
	if n >= expressions && (compared < n/6 || public < compared/20) {
		t.Errorf("of %d expressions, only %d had results in both worlds, %d of them public", n, compared, public)
	}
	for name := range table {
		if n >= expressions && !called[name] && !strings.Contains(name, "::") {
			t.Errorf("%s was never called", name)
		}
	}
}

// TestE22E23KnownWorlds compares the results of expressions in all worlds that differ in one ephemeral
// variable.
func TestE22E23KnownWorlds(t *testing.T) {
	table := worldFunctions()
	for _, src := range []string{
		// A part of a type is open.
		`tolist([object, o])`, `tomap({ a = object, b = o })`, `tolist([[object], [o]])`, `setunion([object], [o])`, `coalesce(object, o)`,
		// An ephemeral value decides whether the result is known.
		`s == unknowns`, `b || maybe`, `b ? unknown : "x"`, `yes ? try(b ? "x" : unknown, "") : ""`, `"%{ if b }${unknown}%{ else }a%{ endif }"`,
		`coalesce(s, unknown)`, `alltrue([b, maybe])`, `contains([s, unknown], "12")`, `compact([unknown, s])`, `max([1, many, n]...)`,
		`lookup({ a = unknown, b = "x" }, s, "u")`, `lookup(tomap({ a = unknown, b = "x" }), s, "u")`, `lookup(map, s, unknown)`, `lookup(m, "a", unknown)`,
		`tomap({ "12" = unknown, abc = "x" })[s]`, `[unknown, "x"][n]`, `element(["a", unknown], n)`,
		`[for v in l : unknown]`, `[for v in [unknown, "x"] : v if b]`, `[for v in [s, "x"] : v if v == unknown]`, `concat(["a", unknown], l...)`,
		`try(tonumber(s), unknown)`, `try(tonumber(s), uuid())`, `try(x || b, texts[1] != unknowns)`, `can(tonumber(b ? unknown : "x"))`,
		`alltrue([for v in m : v == "a" if v == unknown])`, `(maybe ? m : m)[*].b`, `try(unknowns != pair[1], "")`,
		`(1 <= x - length([unknown])) && ({ a = o } == object)`, `true ? "a" : "%{ for v in x }${tonumber(pair)}%{ endfor }"`,
		`try([maybe && b, "a"], "")`, `contains(["a", unknown], compact([s])...)`,
		`max(1, [for v in [many] : v if b]...)`, `setintersection([unknown, "a"], [for v in l : ["a"]]...)`,
		`keys(tomap({ for k, v in m : k => whatever if maybe }))`, `keys(tomap({ for k, v in x : k => whatever if maybe }))`,
		// Null and what does not convert keep their marks.
		`[{ for k, v in [unknown, s] : v => k }]`, `[{ for k, v in [unknown, x] : v => k... }]`, `[[for v in [maybe, b] : v if v]]`,
		`chunklist([unknown, s], q)`,
		`issensitive(b ? unknown : "x")`, `ephemeralasnull(b ? unknown : "x")`, `(b ? [unknown] : ["a"])[0]`,
	} {
		results := 0
		for name, of := range ephemeralValues {
			first := cty.NilVal
			for _, v := range of.values {
				got, ok := evaluateIn(t, src, worldWith(name, v), table)
				if !ok {
					continue
				}
				if first == cty.NilVal {
					first = got
				}
				if difference := tellsApart(t, first, got); difference != "" {
					t.Errorf("%s, with %s: got %s, want no difference", src, name, difference)
				}
				results++
			}
		}
		if results < 2 {
			t.Errorf("%s has too few results to compare", src)
		}
	}
}

// TestE22KnownResultsStayKnown holds that a result is not withheld because it may be unknown with others.
func TestE22KnownResultsStayKnown(t *testing.T) {
	for _, src := range []string{`try([maybe && b, "a"], "")`, `b ? unknown : "x"`, `can(tonumber(b ? unknown : "x"))`, `[for v in [unknown, "x"] : "y" if b]`} {
		got, ok := evaluateIn(t, src, worldWith("b", cty.False), worldFunctions())
		if !ok || !got.IsWhollyKnown() || !value.Contains(got, value.EphemeralKnown) {
			t.Errorf("%s: %#v", src, got)
		}
	}
}

// worldWith returns the world in which one ephemeral variable has the given value, and the others their
// first.
func worldWith(name string, v cty.Value) map[string]cty.Value {
	vars := map[string]cty.Value{}
	for other, of := range ephemeralValues {
		vars[other] = value.Ephemerally(of.values[0], of.declared)
	}
	vars[name] = value.Ephemerally(v, ephemeralValues[name].declared)
	return world(vars)
}

// hasUnknown reports whether an expression has an unknown variable.
func hasUnknown(src string) bool {
	for _, name := range []string{"unknown", "whatever", "maybe", "many"} {
		if strings.Contains(src, name) {
			return true
		}
	}
	return false
}

// tellsApart says how results of two worlds differ in what is not ephemeral, or returns "".
func tellsApart(t *testing.T, a, b cty.Value) string {
	if x, y := outline(a), outline(b); x != y {
		return "public: " + x + " or " + y
	}
	x, y := nullified(t, a), nullified(t, b)
	if !x.Type().Equals(y.Type()) || !x.RawEquals(y) {
		return fmt.Sprintf("without ephemeral parts: %#v or %#v", x, y)
	}
	if !x.IsWhollyKnown() {
		return "" // only what is known can be stored
	}
	sealedX, errX := value.Seal(x, x.Type(), nil)
	sealedY, errY := value.Seal(y, y.Type(), nil)
	if (errX == nil) != (errY == nil) || !bytes.Equal(sealedX.Packed(), sealedY.Packed()) {
		return fmt.Sprintf("stored: %q (%v) or %q (%v)", sealedX.Packed(), errX, sealedY.Packed(), errY)
	}
	return ""
}

// nullified returns what ephemeralasnull makes of a value.
func nullified(t *testing.T, v cty.Value) cty.Value {
	out, err := funcs.Table(funcs.Options{})["ephemeralasnull"].Call([]cty.Value{v})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// outline writes what is public of a value: everything but what is in ephemeral parts.
func outline(v cty.Value) string {
	bare, marks := v.Unmark()
	prefix := ""
	for _, m := range []value.Mark{value.Sensitive, value.Ephemeral} {
		if _, ok := marks[m]; ok {
			prefix += string(m) + " "
		}
	}
	ty := bare.Type()
	switch {
	case strings.HasSuffix(prefix, "ephemeral "):
		return prefix
	case !bare.IsKnown() || bare.IsNull() || !bare.CanIterateElements():
		return prefix + bare.GoString()
	}
	var parts []string
	for key, elem := range bare.Elements() {
		parts = append(parts, key.GoString()+"="+outline(elem))
	}
	shape := "collection of " + ty.GoString()
	switch {
	case ty.IsObjectType():
		shape = "object"
	case ty.IsTupleType():
		shape = "tuple"
	}
	return prefix + shape + "(" + strings.Join(parts, ", ") + ")"
}

func evaluateIn(t *testing.T, src string, vars map[string]cty.Value, table map[string]function.Function) (cty.Value, bool) {
	native, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %s", src, diags)
	}
	ctx := marked.Context(vars, table, bounds.NewBudget(nil), true, "")
	v, diags := marked.Expression(native).Value(ctx)
	return v, !diags.HasErrors()
}

// worldFunctions returns the functions of the language without those that read files or take long.
func worldFunctions() map[string]function.Function {
	table := funcs.Table(funcs.Options{PureOnly: true})
	for name := range table {
		switch plain := strings.TrimPrefix(name, "core::"); {
		case strings.HasPrefix(plain, "file"), plain == "templatefile", plain == "bcrypt", plain == "rsadecrypt", plain == "pathexpand", plain == "abspath",
			plain == "list", plain == "map", plain == "sensitive", plain == "nonsensitive": // whether a value is sensitive is not secret
			delete(table, name)
		}
	}
	return table
}

// The values that each ephemeral variable may have, with the type that it is declared with.
var ephemeralValues = map[string]struct {
	declared cty.Type
	values   []cty.Value
}{
	"s": {cty.String, []cty.Value{cty.StringVal("12"), cty.StringVal("abc"), cty.StringVal(""), cty.NullVal(cty.String), cty.StringVal("a"), cty.StringVal("true"), cty.StringVal("1,2")}},
	"n": {cty.Number, []cty.Value{cty.Zero, cty.NumberIntVal(1), cty.NumberIntVal(2), cty.NullVal(cty.Number), cty.NumberIntVal(-1), cty.NumberFloatVal(1.5)}},
	"b": {cty.Bool, []cty.Value{cty.True, cty.False, cty.NullVal(cty.Bool)}},
	"doc": {cty.String, []cty.Value{
		cty.StringVal(`{"canary":1}`), cty.StringVal(`{"a":"x","b":[1]}`), cty.StringVal(`[1,"2"]`), cty.StringVal(`[]`), cty.StringVal(`"text"`), cty.StringVal(`12`),
		cty.StringVal(`null`), cty.StringVal("a,b\n1,2\n"), cty.StringVal(`{"a":{"canary":1}}`), cty.StringVal(`{}`), cty.StringVal(`["a","b"]`),
	}},
	"x": {cty.DynamicPseudoType, []cty.Value{
		cty.StringVal("12"), cty.StringVal("abc"), cty.NumberIntVal(1), cty.True, cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.String), cty.EmptyTupleVal, cty.EmptyObjectVal,
		cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}), cty.ListVal([]cty.Value{cty.StringVal("a")}), cty.ListValEmpty(cty.Number),
		cty.ObjectVal(map[string]cty.Value{"canary": cty.Zero}), cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("a"), "b": cty.Zero}),
		cty.MapVal(map[string]cty.Value{"a": cty.StringVal("a")}), cty.SetVal([]cty.Value{cty.StringVal("a")}), cty.TupleVal([]cty.Value{cty.EmptyTupleVal, cty.Zero}),
	}},
	"l": {cty.List(cty.String), []cty.Value{cty.ListValEmpty(cty.String), cty.ListVal([]cty.Value{cty.StringVal("a")}), cty.ListVal([]cty.Value{cty.StringVal("1"), cty.NullVal(cty.String)}), cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}), cty.NullVal(cty.List(cty.String))}},
	"m": {cty.Map(cty.String), []cty.Value{cty.MapValEmpty(cty.String), cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1")}), cty.MapVal(map[string]cty.Value{"canary": cty.StringVal("x"), "b": cty.NullVal(cty.String)}), cty.NullVal(cty.Map(cty.String))}},
	"t": {cty.Set(cty.String), []cty.Value{cty.SetValEmpty(cty.String), cty.SetVal([]cty.Value{cty.StringVal("a")}), cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("2")})}},
	"o": {cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.DynamicPseudoType}), []cty.Value{
		cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "b": cty.Zero}), cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String), "b": cty.StringVal("y")}),
		cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("1"), "b": cty.ObjectVal(map[string]cty.Value{"canary": cty.True})}), cty.NullVal(cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.String})),
		cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("1"), "b": cty.NullVal(cty.DynamicPseudoType)}),
	}},
	"lo": {cty.List(cty.Object(map[string]cty.Type{"a": cty.String})), []cty.Value{
		cty.ListValEmpty(cty.Object(map[string]cty.Type{"a": cty.String})), cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x")})}),
		cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x")}), cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String)})}),
	}},
	"la": {cty.List(cty.DynamicPseudoType), []cty.Value{cty.ListValEmpty(cty.DynamicPseudoType), cty.ListVal([]cty.Value{cty.Zero}), cty.ListVal([]cty.Value{cty.StringVal("q")}), cty.ListVal([]cty.Value{cty.EmptyObjectVal})}},
}

// worlds returns two sets of variables that differ in ephemeral values only.
func (g *expressionGenerator) worlds() (one, another map[string]cty.Value) {
	names := make([]string, 0, len(ephemeralValues))
	for name := range ephemeralValues {
		names = append(names, name)
	}
	slices.Sort(names)
	a, b := map[string]cty.Value{}, map[string]cty.Value{}
	for _, name := range names {
		of := ephemeralValues[name]
		v, w := pick(g, of.values...), pick(g, of.values...)
		if g.IntN(3) == 0 {
			w = v
		}
		a[name], b[name] = value.Ephemerally(v, of.declared), value.Ephemerally(w, of.declared)
	}
	return world(a), world(b)
}

// world returns the ephemeral variables with those that have them as parts, and those that are public.
func world(vars map[string]cty.Value) map[string]cty.Value {
	object := func(parts map[string]cty.Value) cty.Value { return cty.ObjectVal(parts) }
	member := func(pw cty.Value) cty.Value {
		return object(map[string]cty.Value{"a": cty.StringVal("name"), "b": pw})
	}
	for name, v := range map[string]cty.Value{
		"mixed": object(map[string]cty.Value{"a": cty.StringVal("P"), "b": vars["s"], "c": vars["x"], "d": vars["l"]}),
		"pair":  cty.TupleVal([]cty.Value{cty.StringVal("P"), vars["s"], vars["n"], vars["x"], vars["l"]}),
		"users": cty.ListVal([]cty.Value{member(vars["s"]), member(cty.StringVal("open"))}),
		"keyed": cty.MapVal(map[string]cty.Value{"a": member(vars["s"]), "b": member(cty.StringVal("open"))}),
		"texts": cty.ListVal([]cty.Value{cty.StringVal("p"), vars["s"]}),
		"deep":  cty.ListVal([]cty.Value{cty.ListVal([]cty.Value{cty.StringVal("p"), vars["s"]}), vars["l"]}),
		"p":     cty.StringVal("P"), "q": cty.StringVal("12"), "one": cty.NumberIntVal(1), "yes": cty.True, "no": cty.False,
		"list": cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}), "tuple": cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.Zero, cty.EmptyTupleVal}),
		"map": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("x")}), "object": object(map[string]cty.Value{"a": cty.StringVal("x"), "b": cty.Zero}),
		"set": cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("c")}), "none": cty.NullVal(cty.String), "unknown": cty.UnknownVal(cty.String),
		"unknowns": cty.UnknownVal(cty.List(cty.String)), "maybe": cty.UnknownVal(cty.Bool), "many": cty.UnknownVal(cty.Number), "whatever": cty.DynamicVal,
	} {
		vars[name] = v
	}
	return vars
}

// differences shows the variables of an expression that differ.
func differences(one, another map[string]cty.Value, src string) string {
	var out []string
	for name := range ephemeralValues {
		if !one[name].RawEquals(another[name]) && strings.Contains(src, name) {
			a, _ := one[name].UnmarkDeep()
			b, _ := another[name].UnmarkDeep()
			out = append(out, fmt.Sprintf("%s = %#v or %#v", name, a, b))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
