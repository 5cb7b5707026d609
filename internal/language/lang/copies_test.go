package lang

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

func TestCopies(t *testing.T) {
	for src, want := range map[string]bool{
		"a.b.c": true, "a.b[0].c": true, "a.b[var.k].c": true, "(a.b)": true, "[a.b, \"x\"]": true, "{ x = a.b, y = 1 }": true, "{ x = [a.b] }": true, "a.b[0][\"k\"].c": true,
		"upper(a.b)": false, "\"x-${a.b}\"": false, "a.b == 1": false, "[upper(a.b)]": false, "{ x = upper(a.b) }": false, "a.b ? a.c : a.d": false, "c.d ? a.c : a.d": true, "c.d == 1 ? a.c : null": true, "c.d ? upper(a.c) : null": false, "1": false, "upper(a)[0]": false, "upper(a).b": false,
		"[for x in a : x]": true, "{ for k, x in a : k => x.b }": true, "[for x in a : x if x != 1]": false, "[for x in a : upper(x)]": false, "[for x in keys(a) : x]": false,
		"a[*].b": true, "a[*][0]": true, "values(a)[*].b": true, "one(a[*].b)": true, "core::one(a)": true, "one([upper(a.b)])": false, "one(a...)": false, "a.*.b": true, "\"${a.b}\"": true, "\"${upper(a.b)}\"": false,
	} {
		e, diags := hclsyntax.ParseExpression([]byte(src), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if got := (&Expr{Source: e}).Copies(); got != want {
			t.Errorf("%s: got %t, want %t", src, got, want)
		}
	}
	for src, want := range map[string]bool{
		`"${a.b}"`: true, `"x-${a.b}"`: false, `"${upper(a.b)}"`: false, `"x"`: false, `1`: false, `["${a.b}", 1]`: true, `{"x": "${a.b}", "y": ["z"]}`: true, `{"x": ["${upper(a.b)}"]}`: false,
	} {
		e, diags := json.ParseExpression([]byte(src), "")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if got := (&Expr{Source: e}).Copies(); got != want {
			t.Errorf("%s in JSON: got %t, want %t", src, got, want)
		}
	}
}
