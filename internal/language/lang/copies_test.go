package lang

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func TestCopies(t *testing.T) {
	for src, want := range map[string]bool{
		"a.b.c": true, "a.b[0].c": true, "a.b[var.k].c": true, "(a.b)": true, "[a.b, \"x\"]": true, "{ x = a.b, y = 1 }": true, "{ x = [a.b] }": true, "a.b[0][\"k\"].c": true,
		"upper(a.b)": false, "\"x-${a.b}\"": false, "a.b == 1": false, "[upper(a.b)]": false, "{ x = upper(a.b) }": false, "a.b ? a.c : a.d": false, "1": false, "upper(a)[0]": false, "upper(a).b": false,
		"[for x in a : x]": false, "a[*].b": false,
	} {
		e, diags := hclsyntax.ParseExpression([]byte(src), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if got := (&Expr{Source: e}).Copies(); got != want {
			t.Errorf("%s: got %t, want %t", src, got, want)
		}
	}
}
