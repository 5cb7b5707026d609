package marked

import (
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestShortcutsChangeNothing holds calls with shortcuts against those without.
func TestShortcutsChangeNothing(t *testing.T) {
	table := funcs.Table(funcs.Options{})
	str, num := cty.StringVal, cty.NumberIntVal
	collections := []cty.Value{
		cty.ListVal([]cty.Value{str("a"), str("b"), str("c")}), cty.ListValEmpty(cty.String), cty.TupleVal([]cty.Value{str("a"), num(1)}), cty.EmptyTupleVal,
		cty.MapVal(map[string]cty.Value{"a": str("x"), "b": str("y")}), cty.MapValEmpty(cty.String), cty.ObjectVal(map[string]cty.Value{"a": num(1), "b": str("y")}),
		cty.SetVal([]cty.Value{str("a"), cty.UnknownVal(cty.String)}), str("text"), cty.DynamicVal, cty.NullVal(cty.List(cty.String)), cty.UnknownVal(cty.Map(cty.String)),
		cty.NullVal(cty.DynamicPseudoType), cty.MapVal(map[string]cty.Value{"a": cty.UnknownVal(cty.String)}), num(3),
		cty.ListVal([]cty.Value{str("a").Mark(value.Sensitive), str("b")}), cty.MapVal(map[string]cty.Value{"a": str("x").Mark(value.Ephemeral)}),
		cty.ListVal([]cty.Value{str("a")}).Mark(value.Sensitive), cty.MapVal(map[string]cty.Value{"a": str("x")}).Mark(value.Ephemeral),
	}
	collections = append(collections,
		cty.TupleVal([]cty.Value{collections[0], str("a"), cty.TupleVal([]cty.Value{collections[2], num(1)})}), cty.ListVal([]cty.Value{collections[0], collections[1]}),
		cty.TupleVal([]cty.Value{str("a").Mark(value.Ephemeral), cty.EmptyTupleVal, cty.NullVal(cty.List(cty.String)), cty.UnknownVal(cty.String)}), cty.TupleVal([]cty.Value{collections[0].Mark(value.Sensitive)}),
		cty.TupleVal([]cty.Value{cty.UnknownVal(cty.List(cty.String))}), cty.TupleVal([]cty.Value{cty.NullVal(cty.DynamicPseudoType), cty.DynamicVal}), cty.TupleVal([]cty.Value{cty.SetVal([]cty.Value{str("q")})}),
	)
	others := []cty.Value{
		cty.MapVal(map[string]cty.Value{"a": str("y"), "c": str("z")}), cty.MapVal(map[string]cty.Value{"a": num(1)}), cty.NullVal(cty.Map(cty.String)), cty.ObjectVal(map[string]cty.Value{"a": str("x").Mark(value.Ephemeral)}),
		num(0), num(1), num(7), num(-1), cty.NumberFloatVal(1.5), str("a"), str("b"), str("z"), str("1"), cty.True, cty.UnknownVal(cty.String), cty.UnknownVal(cty.Number),
		cty.DynamicVal, cty.NullVal(cty.String), cty.NullVal(cty.DynamicPseudoType), num(0).Mark(value.Sensitive), str("a").Mark(value.Sensitive), str("a").Mark(value.Ephemeral),
		cty.SetVal([]cty.Value{str("q"), str("a")}), cty.ListVal([]cty.Value{str("c"), str("a")}), cty.TupleVal([]cty.Value{str("b"), cty.UnknownVal(cty.String), cty.NullVal(cty.String)}),
		cty.EmptyObjectVal, cty.TupleVal([]cty.Value{str("q").Mark(value.Sensitive)}),
	}
	more := func(name string) []cty.Value {
		if name == "length" || name == "element" {
			return others[:1] // three arguments are too many, whatever they are
		}
		return others
	}
	taken := map[string]int{}
	parsed := map[string]hclsyntax.Expression{} // by their texts: each is called with many arguments
	for _, name := range []string{"length", "element", "lookup", "core::lookup", "merge", "flatten", "setunion", "setintersection", "setsubtract"} {
		for _, coll := range collections {
			check := func(args ...cty.Value) {
				if compareCalls(t, table, parsed, name, append([]cty.Value{coll}, args...)) {
					taken[name]++
				}
			}
			check()
			for _, b := range others {
				check(b)
			}
			for _, b := range more(name) {
				for _, c := range more(name) {
					check(b, c)
				}
			}
		}
	}
	for _, name := range []string{"length", "element", "lookup", "core::lookup", "merge", "flatten", "setunion", "setintersection", "setsubtract"} {
		if taken[name] == 0 {
			t.Errorf("no call of %s was answered by the shortcut", name)
		}
	}
}

// compareCalls calls a function with and without a shortcut, and reports whether there was one.
func compareCalls(t *testing.T, table map[string]function.Function, parsed map[string]hclsyntax.Expression, name string, args []cty.Value) bool {
	t.Helper()
	vars, src := map[string]cty.Value{}, name+"("
	for i, arg := range args {
		vars[fmt.Sprintf("a%d", i)] = arg
		src += fmt.Sprintf("a%d,", i)
	}
	expr := parsed[src]
	if expr == nil {
		var diags hcl.Diagnostics
		if expr, diags = hclsyntax.ParseExpression([]byte(src+")"), "test.tf", hcl.InitialPos); diags.HasErrors() {
			t.Fatal(diags)
		}
		parsed[src] = expr
	}
	ctx := &hcl.EvalContext{Variables: vars, Functions: table}
	quick := Expression(expr)
	got, gotDiags := quick.Value(ctx)
	want, wantDiags := expr.Value(ctx)
	if gotDiags.Error() != wantDiags.Error() || !got.RawEquals(want) {
		t.Errorf("%s with %#v:\n got %#v, %v\nwant %#v, %v", src, vars, got, gotDiags, want, wantDiags)
	}
	_, ok := shortcut(quick.(called).FunctionCallExpr)(args)
	return ok
}

// TestShortcutsLookAtNoElement counts what calls allocate: no more for a large collection than for a small
// one.
func TestShortcutsLookAtNoElement(t *testing.T) {
	table := funcs.Table(funcs.Options{})
	for _, src := range []string{"length(l)", "length(m)", "element(l, 7)", `lookup(m, "k7", "")`, `lookup(m, "k7", null)`, `lookup(m, "none", "")`, `lookup(m, "none", null)`, `can(m["k7"])`, `yes ? element(l, 7) : ""`, `yes ? lookup(m, "k7", "") : ""`, `length(l) > 0 ? l[7] : ""`, `yes && length(m) > 0`, `can(l[7])`, "element(t.o[*].a, 7)"} {
		parsed, diags := hclsyntax.ParseExpression([]byte(src), "test.tf", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		expr := Expression(parsed)
		allocs := func(n int) float64 {
			list, objects, keyed := make([]cty.Value, n), make([]cty.Value, n), make(map[string]cty.Value, n)
			for i := range n {
				list[i] = cty.StringVal(fmt.Sprint(i))
				objects[i] = cty.ObjectVal(map[string]cty.Value{"a": list[i]})
				keyed[fmt.Sprintf("k%d", i)] = list[i]
			}
			ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"yes": cty.True, "l": cty.ListVal(list), "m": cty.MapVal(keyed), "t": cty.ObjectVal(map[string]cty.Value{"o": cty.TupleVal(objects)})}, Functions: table}
			return testing.AllocsPerRun(10, func() {
				if _, diags := expr.Value(ctx); diags.HasErrors() {
					t.Fatal(diags)
				}
			})
		}
		if small, large := allocs(10), allocs(1000); large > small+2 {
			t.Errorf("%s allocates %.0f times with 10 elements, %.0f times with 1000", src, small, large)
		}
	}
}

// TestElementOfSplatChangesNothing holds element(x[*].a, i) against what the library makes of it.
func TestElementOfSplatChangesNothing(t *testing.T) {
	str, num := cty.StringVal, cty.NumberIntVal
	object := func(a, b cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": a, "b": b}) }
	plain, other := object(str("x"), cty.True), object(str("y"), cty.False)
	secret, marked := object(str("x").Mark(value.Sensitive), cty.True), plain.Mark(value.Ephemeral)
	unknown, dynamic := object(cty.UnknownVal(cty.String), cty.True), object(cty.DynamicVal, cty.True)
	table := funcs.Table(funcs.Options{})
	settled := 0
	for _, v := range []cty.Value{
		cty.TupleVal([]cty.Value{plain, other}), cty.ListVal([]cty.Value{plain, other}), cty.TupleVal([]cty.Value{plain, secret}), cty.ListVal([]cty.Value{secret, other}),
		cty.TupleVal([]cty.Value{marked, other}), cty.TupleVal([]cty.Value{plain, other}).Mark(value.Sensitive), cty.TupleVal([]cty.Value{unknown, other}), cty.ListVal([]cty.Value{unknown, other}),
		cty.TupleVal([]cty.Value{dynamic, other}), cty.TupleVal([]cty.Value{object(num(1), cty.True), plain}), cty.EmptyTupleVal, cty.ListValEmpty(plain.Type()), plain,
		cty.SetVal([]cty.Value{plain, other}), cty.NullVal(cty.List(plain.Type())), cty.UnknownVal(cty.List(plain.Type())), cty.DynamicVal, str("x"),
		cty.TupleVal([]cty.Value{str("x"), str("y")}), cty.TupleVal([]cty.Value{cty.UnknownVal(plain.Type()), other}),
	} {
		for _, i := range []cty.Value{num(0), num(1), num(3), num(-1), cty.NumberFloatVal(0.5), str("1"), cty.UnknownVal(cty.Number), cty.NullVal(cty.Number), num(1).Mark(value.Sensitive)} {
			for _, src := range []string{"element(t.v[*].a, i)", "element(t.v.*.a, i)", "core::element(t.v[*].b, i)", "element(t.v[*].none, i)"} {
				parsed, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"t": cty.ObjectVal(map[string]cty.Value{"v": v}), "i": i}, Functions: table}
				want, wantDiags := parsed.Value(ctx)
				e := Expression(parsed).(called)
				got, gotDiags := e.Value(ctx)
				if !got.RawEquals(want) || gotDiags.Error() != wantDiags.Error() {
					t.Errorf("%s of %#v, %#v:\n got %#v, %v\nwant %#v, %v", src, v, i, got, gotDiags, want, wantDiags)
				}
				if _, ok := e.elementOfSplat(ctx).plain(ctx); ok {
					settled++
				}
			}
		}
	}
	if settled == 0 {
		t.Error("no call was answered from one element")
	}
	for _, src := range []string{"element(local.v[*].a, 0)", "element(t.v[*].a.b, 0)", `element(t.v[*]["a"], 0)`, "element(t.v.list[*].a, 0)", "element(module.m.list[*].a, 0)", "element(t.v[0].b[*].a, 0)", "element(data.t[*].a, 0)", "element(path.x[*].a, 0)", "element(t.v[*], 0)", "element([t.v][*].a, 0)"} {
		parsed, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if Expression(parsed).(called).elementOfSplat(&hcl.EvalContext{}) != nil {
			t.Errorf("%s is answered from one element, whatever is wrong with the others", src)
		}
	}
	for _, src := range []string{"element(t.v[*].a, 0)", "element(module.m[*].a, 0)", "element(data.t.v.*.a, 0)", "element(ephemeral.t.v[*].a, 0)"} {
		parsed, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if Expression(parsed).(called).elementOfSplat(&hcl.EvalContext{}) == nil {
			t.Errorf("%s is not answered from one element", src)
		}
	}
}

// TestTemplatesChangeNothing holds texts with numbers in them against what the library makes of them.
func TestTemplatesChangeNothing(t *testing.T) {
	num := cty.MustParseNumberVal
	for _, v := range []cty.Value{
		num("0"), num("1"), num("-1"), num("42"), num("9223372036854775807"), num("9223372036854775808"), num("-9223372036854775808"), num("1e30"), num("1.5"), num("-0"),
		cty.NumberFloatVal(0.1), cty.PositiveInfinity, num("7").Mark(value.Sensitive), cty.NullVal(cty.Number), cty.UnknownVal(cty.Number), cty.StringVal("1"), cty.True,
		cty.DynamicVal, cty.EmptyTupleVal, cty.UnknownVal(cty.Number).Mark(value.Ephemeral),
	} {
		for _, src := range []string{`"n${v}"`, `"${v}-${v}"`, `"${v}"`, `"%{ if true }${v},%{ endif }"`, `"x${v + 1}"`} {
			e, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"v": v}}
			want, wantDiags := e.Value(ctx)
			got, gotDiags := Expression(e).Value(ctx)
			if !got.RawEquals(want) || len(gotDiags) != len(wantDiags) {
				t.Errorf("%s of %#v: got %#v, %v, want as by the library: %#v, %v", src, v, got, gotDiags, want, wantDiags)
			}
			for i, d := range gotDiags {
				if d.Detail != wantDiags[i].Detail || *d.Subject != *wantDiags[i].Subject {
					t.Errorf("%s of %#v: got %v, want as by the library: %v", src, v, d, wantDiags[i])
				}
			}
		}
	}
}
