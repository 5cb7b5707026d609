package funcs

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const secretText = "hunter2secret"

func sens(v cty.Value) cty.Value { return v.Mark(value.Sensitive) }
func eph(v cty.Value) cty.Value  { return v.Mark(value.Ephemeral) }
func str(s string) cty.Value     { return cty.StringVal(s) }
func num(n int64) cty.Value      { return cty.NumberIntVal(n) }
func tuple(vs ...cty.Value) cty.Value {
	return cty.TupleVal(vs)
}

// strs returns a list of strings.
func strs(ss ...string) cty.Value {
	vs := make([]cty.Value, len(ss))
	for i, s := range ss {
		vs[i] = str(s)
	}
	if len(vs) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	return cty.ListVal(vs)
}

// scope is what the expressions of the tests can refer to.
func scope() map[string]cty.Value {
	dep := value.Deprecated{By: "module.m.out", Message: "use other"}
	return map[string]cty.Value{
		"s":  sens(str(secretText)),
		"e":  eph(str(secretText)),
		"se": sens(eph(str(secretText))),
		"d":  str("old").Mark(dep),
		"p":  str("plain"),
		"u":  cty.UnknownVal(cty.String),
		"ue": eph(cty.UnknownVal(cty.String)),
		"un": cty.UnknownVal(cty.Number),
		"ul": cty.UnknownVal(cty.List(cty.String)),
		"dy": cty.DynamicVal,
		"o":  cty.ObjectVal(map[string]cty.Value{"a": eph(str(secretText)), "b": str("x"), "n": num(1)}),
		"m":  cty.MapVal(map[string]cty.Value{"k": cty.ObjectVal(map[string]cty.Value{"v": eph(str(secretText)), "w": str("x")})}),
		"eo": eph(cty.ObjectVal(map[string]cty.Value{"a": str(secretText)})),
		"el": eph(strs("a", "b")),
		"t":  str("Hi ${n}!"),
	}
}

func evalIn(t *testing.T, o Options, expr string) (cty.Value, error) {
	t.Helper()
	e, diags := hclsyntax.ParseExpression([]byte(expr), "test.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %s", expr, diags)
	}
	v, diags := e.Value(&hcl.EvalContext{Variables: scope(), Functions: Table(o)})
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return v, nil
}

type exprTest struct {
	expr string
	want cty.Value
	err  string // part of the error
}

func runExprs(t *testing.T, o Options, tests []exprTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.expr, func(t *testing.T) {
			got, err := evalIn(t, o, test.expr)
			switch {
			case test.err != "" && err == nil:
				t.Fatalf("got %#v, want an error with %q", got, test.err)
			case test.err != "" && !strings.Contains(err.Error(), test.err):
				t.Fatalf("got error %q, want one with %q", err, test.err)
			case test.err == "" && err != nil:
				t.Fatalf("unexpected error: %s", err)
			case test.err == "" && !got.RawEquals(test.want):
				t.Fatalf("got  %#v\nwant %#v", got, test.want)
			}
			if err != nil && strings.Contains(err.Error(), secretText) {
				t.Fatalf("the error shows the secret: %s", err)
			}
		})
	}
}
