package funcs

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func TestMarks(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `sensitive(1)`, want: sens(num(1))},
		{expr: `sensitive(null)`, want: sens(cty.NullVal(cty.DynamicPseudoType))},
		{expr: `sensitive(u)`, want: sens(cty.UnknownVal(cty.String))},
		{expr: `sensitive(e)`, want: sens(eph(str(secretText)))},
		{expr: `sensitive(s)`, want: sens(str(secretText))},
		{expr: `nonsensitive(s)`, want: str(secretText)},
		{expr: `nonsensitive(se)`, want: eph(str(secretText))},
		{expr: `nonsensitive(1)`, want: num(1)},
		{expr: `nonsensitive(null)`, want: cty.NullVal(cty.DynamicPseudoType)},
		{expr: `nonsensitive([s])`, want: tuple(sens(str(secretText)))},
		{expr: `nonsensitive(sensitive(u))`, want: cty.UnknownVal(cty.String)},
		{expr: `nonsensitive(d)`, want: scope()["d"]},
		{expr: `issensitive(s)`, want: cty.True},
		{expr: `issensitive(se)`, want: cty.True},
		{expr: `issensitive(e)`, want: cty.False},
		{expr: `issensitive([s])`, want: cty.False},
		{expr: `issensitive(null)`, want: cty.False},
		{expr: `issensitive(u)`, want: cty.UnknownVal(cty.Bool).RefineNotNull()},
		{expr: `issensitive(sensitive(u))`, want: cty.UnknownVal(cty.Bool).RefineNotNull()},
	})
}

func TestE23EphemeralAsNull(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `ephemeralasnull(e)`, want: cty.NullVal(cty.String)},
		{expr: `ephemeralasnull(se)`, want: sens(cty.NullVal(cty.String))},
		{expr: `ephemeralasnull(s)`, want: sens(str(secretText))},
		{expr: `ephemeralasnull(d)`, want: scope()["d"]},
		{expr: `ephemeralasnull(1)`, want: num(1)},
		{expr: `ephemeralasnull(null)`, want: cty.NullVal(cty.DynamicPseudoType)},
		{expr: `ephemeralasnull(u)`, want: cty.UnknownVal(cty.String)},
		{expr: `ephemeralasnull(ue)`, want: cty.UnknownVal(cty.String)},
		{expr: `ephemeralasnull("a-${ue}")`, want: cty.UnknownVal(cty.String)},
		{expr: `ephemeralasnull([e, 1, [se]])`, want: tuple(cty.NullVal(cty.String), num(1), tuple(sens(cty.NullVal(cty.String))))},
		{expr: `ephemeralasnull(o)`, want: cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String), "b": str("x"), "n": num(1)})},
		{expr: `ephemeralasnull(tolist([e, "x"]))`, want: cty.ListVal([]cty.Value{cty.NullVal(cty.String), str("x")})},
		{expr: `ephemeralasnull(toset([e, "x"]))`, want: cty.NullVal(cty.Set(cty.String))},
		{expr: `ephemeralasnull(eo)`, want: cty.NullVal(cty.Object(map[string]cty.Type{"a": cty.String}))},
		{expr: `ephemeralasnull(dy)`, want: cty.DynamicVal},
	})
}

// TestE23NothingEphemeralStays builds random values and checks what ephemeralasnull promises about all of
// them.
func TestE23NothingEphemeralStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := randomValue(t, 3)
		got := ephemeralAsNull(in)
		if value.Contains(got, value.Ephemeral) {
			t.Fatalf("an ephemeral mark stayed in %#v", got)
		}
		if !got.Type().Equals(in.Type()) {
			t.Fatalf("got the type %#v, want it unchanged: %#v", got.Type(), in.Type())
		}
		if text := got.GoString(); value.Contains(in, value.Ephemeral) && strings.Contains(text, secretText) {
			t.Fatalf("an ephemeral value stayed in %s", text)
		}
	})
}

// randomValue returns a value in which exactly the ephemeral strings hold the secret.
func randomValue(t *rapid.T, depth int) cty.Value {
	var v cty.Value
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0:
		v = cty.NullVal(cty.String)
	case kind == 1:
		v = cty.UnknownVal(cty.String)
	case kind == 2 && depth > 0:
		v = tuple(randomValue(t, depth-1), randomValue(t, depth-1))
	case kind == 3 && depth > 0:
		v = cty.ObjectVal(map[string]cty.Value{"a": randomValue(t, depth-1)})
	case kind == 4:
		v = eph(str(secretText))
	default:
		v = str("plain")
	}
	if rapid.Bool().Draw(t, "sensitive") {
		v = sens(v)
	}
	if rapid.IntRange(0, 5).Draw(t, "ephemeral") == 0 {
		v = eph(v)
	}
	return v
}

func TestE22CanAndTryKeepEphemeral(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `can(tonumber("1"))`, want: cty.True},
		{expr: `can(tonumber("a"))`, want: cty.False},
		{expr: `can(tonumber(e))`, want: eph(cty.False)},
		{expr: `can(tonumber(se))`, want: eph(cty.False)},
		{expr: `can(upper(e))`, want: eph(cty.True)},
		{expr: `can(core::tonumber("${e}0"))`, want: eph(cty.False)},
		{expr: `can(jsondecode(o.a))`, want: eph(cty.False)},
		{expr: `can(jsondecode(o.b))`, want: cty.False},
		{expr: `can([for x in [e] : tonumber(x)])`, want: eph(cty.False)},
		{expr: `can(el[5])`, want: eph(cty.False)},
		{expr: `can(["a"][length(el)])`, want: eph(cty.False)},
		{expr: `can(eo.nope)`, want: eph(cty.False)},
		{expr: `can(tonumber(m[p == "plain" ? "k" : "x"].v))`, want: eph(cty.False)},
		{expr: `can(tonumber(m["k"].w))`, want: cty.False},
		{expr: `can(e ? 1 : 2)`, want: eph(cty.False)},
		{expr: `can(-e)`, want: eph(cty.False)},
		{expr: `can({ x = tonumber(e) })`, want: eph(cty.False)},
		{expr: `can(tonumber(ue))`, want: eph(cty.UnknownVal(cty.Bool))},
		{expr: `can(tonumber((m)["k"].v))`, want: eph(cty.False)},
		{expr: `can(tonumber((m["${p}"]).w))`, want: cty.False},
		{expr: `can(m[lower("K")].v)`, want: eph(cty.True)},
		{expr: `can(merge(eo, {}).nope)`, want: eph(cty.False)},
		{expr: `can((eo).nope)`, want: eph(cty.False)},
		{expr: `can({ (e) = 1 }.nope)`, want: eph(cty.False)},
		{expr: `can(m.*.v.nope)`, want: eph(cty.False)},
		{expr: `can(nosuch.a)`, want: cty.False},
		// A reference fails by its containers alone.
		{expr: `can(o.a)`, want: cty.True},
		{expr: `can(o.nope)`, want: cty.False},
		{expr: `can(m["k"].v)`, want: cty.True},
		{expr: `can(m["z"].v)`, want: cty.False},
		{expr: `can(tonumber(s))`, want: cty.False},

		{expr: `try(tonumber("a"), 5)`, want: num(5)},
		{expr: `try(tonumber(e), 5)`, want: eph(num(5)).Mark(value.EphemeralType)},
		{expr: `try(tonumber(s), 5)`, want: num(5)},
		{expr: `try(e, 5)`, want: eph(str(secretText))},
		{expr: `try(s, 5)`, want: sens(str(secretText))},
		{expr: `try(o.b, 5)`, want: str("x")},
		{expr: `try(o.nope, 5)`, want: num(5)},
		{expr: `try(u, 5)`, want: cty.DynamicVal},
		{expr: `try([ue], 5)`, want: eph(cty.DynamicVal)},
		{expr: `try(tonumber(e), u)`, want: eph(cty.DynamicVal).Mark(value.EphemeralType)},
		{expr: `try()`, err: "at least one argument"},
		{expr: `try(tonumber("a"), tonumber("b"))`, err: `cannot convert "b" to number`},
		{expr: `try(tonumber(s))`, err: "no expression succeeded"},
		{expr: `try({ for k in [e, e] : k => k })`, err: "no expression succeeded"},
		{expr: `try(p[e], tonumber(sensitive("` + secretText + `")))`, err: "The details are withheld"},
	})
}

// TestTryCostIsLinear nests try so deep that any repeated evaluation per level would not end.
func TestTryCostIsLinear(t *testing.T) {
	expr := `"x"`
	for range 200 {
		expr = `try(` + expr + `)`
	}
	got, err := evalIn(t, Options{}, expr)
	if err != nil || !got.RawEquals(str("x")) {
		t.Fatalf("got %#v, %v, want \"x\"", got, err)
	}
}

// TestEveryPairOfMarksSurvives sends each pair of marks through a function of each kind.
func TestEveryPairOfMarksSurvives(t *testing.T) {
	all := []any{value.Sensitive, value.Ephemeral, value.Deprecated{By: "a", Message: "b"}}
	calls := map[string][]cty.Value{
		"upper": {}, "length": {}, "jsonencode": {}, "base64encode": {}, "startswith": {str("a")}, "tostring": {}, "sha256": {},
		"coalesce": {}, "urlencode": {}, "join": {strs("a")}, "replace": {str("a"), str("b")}, "md5": {}, "base64gzip": {}, "type": {},
	}
	table := Table(Options{Console: true})
	for name, more := range calls {
		for i, a := range all {
			for _, b := range all[i+1:] {
				for _, in := range []cty.Value{str("abc"), cty.UnknownVal(cty.String)} {
					got, err := table[name].Call(append([]cty.Value{in.Mark(a).Mark(b)}, more...))
					if err != nil {
						t.Fatalf("%s: %s", name, err)
					}
					if !got.HasMark(a) || !got.HasMark(b) {
						t.Errorf("%s of %#v lost a mark of %#v and %#v: %#v", name, in, a, b, got)
					}
				}
			}
		}
	}
}

// TestComputedAsNull has values of an earlier run, which never become known.
func TestComputedAsNull(t *testing.T) {
	for _, past := range []bool{true, false} {
		v := cty.UnknownVal(cty.String).Mark(value.Ephemeral).Mark(value.Sensitive).Mark(value.Computed{By: "a", Past: past})
		want := cty.UnknownVal(cty.String).Mark(value.Sensitive)
		if past {
			want = cty.NullVal(cty.String).Mark(value.Sensitive)
		}
		if got := ephemeralAsNull(v); !got.RawEquals(want) {
			t.Errorf("past %t: got %#v, want %#v", past, got, want)
		}
	}
}
