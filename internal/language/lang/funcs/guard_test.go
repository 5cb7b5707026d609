package funcs

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestE24ErrorsNeverShowSecrets calls every function with secrets in all places and looks for them in the
// errors.
func TestE24ErrorsNeverShowSecrets(t *testing.T) {
	table := Table(Options{BaseDir: t.TempDir(), Console: true})
	secrets := []cty.Value{
		str(secretText), tuple(str(secretText)), cty.ObjectVal(map[string]cty.Value{secretText: str(secretText)}),
		strs(secretText), cty.MapVal(map[string]cty.Value{secretText: str(secretText)}), str("{" + secretText),
	}
	failures := 0
	for name, f := range table {
		if name = strings.TrimPrefix(name, CorePrefix); name == "can" || name == "try" {
			continue
		}
		for _, secret := range secrets {
			for _, m := range []value.Mark{value.Sensitive, value.Ephemeral} {
				args := make([]cty.Value, len(f.Params()), len(f.Params())+1)
				for i := range args {
					args[i] = secret.Mark(m)
				}
				if f.VarParam() != nil {
					args = append(args, secret.Mark(m))
				}
				_, err := f.Call(args)
				if err != nil {
					failures++
					if strings.Contains(err.Error(), secretText) {
						t.Errorf("%s shows the secret: %s", name, err)
					}
				}
			}
		}
	}
	if failures < 200 {
		t.Errorf("only %d calls failed; the test does not test much", failures)
	}
}

func TestE24PublicReasonsStay(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `tonumber(s)`, err: "cannot convert the value to number; the details are withheld because they could reveal a value: (sensitive value)"},
		{expr: `tonumber(se)`, err: "(sensitive, ephemeral value)"},
		{expr: `base64decode(e)`, err: "failed to decode base64 data; the details"},
		{expr: `cidrsubnet(s, 8, 1)`, err: "invalid CIDR expression"},
		// What does not depend on the secret is shown in full.
		{expr: `cidrsubnets("nope", sensitive(1))`, err: "the details are withheld"},
		{expr: `tobool([s])`, err: "cannot convert tuple to bool"},
		{expr: `element([], sensitive(1))`, err: "details are withheld"},
		{expr: `length(sensitive(5))`, err: "argument must be a string"},
		{expr: `upper(sensitive(null))`, err: "argument must not be null"},
		{expr: `tonumber("` + "abc" + `")`, err: `cannot convert "abc" to number`},
		{expr: `tonumber(d)`, err: `cannot convert "old" to number`},
	})
}

func TestGuardKeepsArgumentIndex(t *testing.T) {
	_, err := Table(Options{})["timecmp"].Call([]cty.Value{str("2020-01-01T00:00:00Z"), sens(str(secretText))})
	if argErr, ok := err.(function.ArgError); !ok || argErr.Index != 1 {
		t.Errorf("got %#v, want an error about argument 1", err)
	}
}

func TestGuardCatchesPanics(t *testing.T) {
	f := guard("test", function.New(&function.Spec{
		Params: []function.Parameter{stringParam("s")},
		Type:   function.StaticReturnType(cty.String),
		Impl:   func([]cty.Value, cty.Type) (cty.Value, error) { panic(secretText) },
	}))
	_, err := f.Call([]cty.Value{str("x")})
	if err == nil || strings.Contains(err.Error(), "goroutine") || strings.Contains(err.Error(), secretText) {
		t.Errorf("got %v", err)
	}
}

func TestGuardMarksUnknownResults(t *testing.T) {
	runExprs(t, Options{}, []exprTest{
		{expr: `element(el, un)`, want: eph(cty.UnknownVal(cty.String))},
		{expr: `replace(e, u, "x")`, want: eph(cty.UnknownVal(cty.String).RefineNotNull())},
		{expr: `merge(eo, dy)`, want: eph(cty.DynamicVal)},
		{expr: `concat(el, dy)`, want: eph(cty.DynamicVal)},
		{expr: `format("%s-%s", e, u)`, want: eph(cty.UnknownVal(cty.String).RefineNotNull())},
		{expr: `jsonencode([e, u])`, want: eph(cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("[").NewValue())},
	})
}

// FuzzCalls feeds text to the functions that parse: no panic, no hang, and no secret in an error.
func FuzzCalls(f *testing.F) {
	table := Table(Options{})
	names := []string{
		"base64decode", "base64gunzip", "cidrhost", "cidrnetmask", "csvdecode", "formatdate", "jsondecode", "parseint", "regex", "replace",
		"templatestring", "textdecodebase64", "timeadd", "timecmp", "urldecode", "uuidv5", "yamldecode", "cidrcontains", "rsadecrypt",
	}
	for i, seed := range []string{`{"a":[1]}`, "10.0.0.0/8", "a: [*x]", "${a", "2020-01-01T00:00:00Z", "aGk=", "/(x/", "%zz"} {
		f.Add(uint8(i), seed, "UTF-8")
	}
	f.Fuzz(func(t *testing.T, which uint8, a, b string) {
		fn := table[names[int(which)%len(names)]]
		args := []cty.Value{str(a), str(b), str("c")}[:len(fn.Params())]
		for i, p := range fn.Params() {
			switch {
			case p.Type == cty.Number:
				args[i] = num(int64(len(b)))
			case p.Name == "vars":
				args[i] = cty.EmptyObjectVal
			}
		}
		if _, err := fn.Call(args); err != nil && strings.Contains(err.Error(), "goroutine ") {
			t.Fatalf("an error with a stack: %s", err)
		}
	})
}

// TestRejectedArguments has calls whose errors the library words in terms of its own code.
func TestRejectedArguments(t *testing.T) {
	num := cty.NumberFloatVal
	text := cty.StringVal
	for _, test := range []struct {
		function string
		args     []cty.Value
		index    int // of the argument that the error is about; -1 for none
		want     string
	}{
		{"coalesce", nil, -1, "at least one argument is required"},
		{"jsondecode", []cty.Value{text("{")}, -1, "ends before it is complete"},
		{"jsondecode", []cty.Value{text("")}, -1, "ends before it is complete"},
		{"substr", []cty.Value{text("abc"), num(1.5), num(3)}, 1, "whole number"},
		{"substr", []cty.Value{text("abc"), num(1), num(2.5)}, 2, "whole number"},
		{"indent", []cty.Value{num(0.5), text("a")}, 0, "whole number"},
		{"chunklist", []cty.Value{cty.ListVal([]cty.Value{num(1)}), num(1e30)}, 1, "whole number"},
		{"parseint", []cty.Value{text("a"), num(1.5)}, 1, "whole number"},
	} {
		_, err := Table(Options{})[test.function].Call(test.args)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.function, err, test.want)
			continue
		}
		index := -1
		if argErr, ok := errors.AsType[function.ArgError](err); ok {
			index = argErr.Index
		}
		if index != test.index {
			t.Errorf("%s: the error is about argument: got %d, want %d: %v", test.function, index, test.index, err)
		}
	}
}

// TestErrorsQuoteNoSecretKeys calls functions with objects and maps whose keys are secret.
func TestErrorsQuoteNoSecretKeys(t *testing.T) {
	const key = "secret-key"
	doc := cty.ObjectVal(map[string]cty.Value{key: str("x"), "b": cty.EmptyTupleVal})
	vars := map[string]cty.Value{
		"whole": value.Ephemerally(doc, cty.DynamicPseudoType), "part": cty.ObjectVal(map[string]cty.Value{"k": value.Ephemerally(doc, cty.DynamicPseudoType)}),
		"sensitive": sens(doc), "inside": cty.ObjectVal(map[string]cty.Value{"k": sens(doc)}), "list": cty.ListVal([]cty.Value{sens(doc)}),
		"map": eph(cty.MapVal(map[string]cty.Value{key: str("x")})), "tuple": value.Ephemerally(tuple(doc, cty.True), cty.DynamicPseudoType),
	}
	failed := 0
	for name := range vars {
		for _, call := range []string{
			"convert(V, map(number))", "convert(V, map(map(number)))", "convert(V, object({ k = map(number) }))", "convert(V, list(map(number)))", "lookup(V, \"z\")", "merge(V, [1])", "values(V, 1)",
			"zipmap([\"a\"], V)", "sum(V)", "assumeequal(V, { a = 1 })", "assumelistlength(V, 1, 1)", "templatestring(\"$${z}\", V)", "flatten(V)", "index(V, 1)", "concat(V)", "try(convert(V, map(map(number))))",
		} {
			src := strings.ReplaceAll(call, "V", name)
			e, diags := hclsyntax.ParseExpression([]byte(src), "test.tf", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			_, diags = e.Value(&hcl.EvalContext{Variables: vars, Functions: Table(Options{})})
			if diags.HasErrors() {
				failed++
			}
			if strings.Contains(diags.Error(), key) {
				t.Errorf("%s: %s", src, diags)
			}
		}
	}
	if failed == 0 {
		t.Error("no call failed")
	}
}
