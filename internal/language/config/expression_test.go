package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
)

func TestInExpression(t *testing.T) {
	tests := []struct{ src, want string }{
		{"1 +\n", "in:1,3-4: Missing expression: Expected the start of an expression, but found the end of the expression."},
		{"f(1,\n\"é\",\n\n", "in:2,4-5: Missing expression: Expected the start of an expression, but found the end of the expression."},
		{"[1,2\n", "in:1,1-2: Unterminated tuple constructor expression: There is no corresponding closing bracket before the end of the expression. This may be caused by incorrect bracket nesting elsewhere in it."},
		{"var.\n", "in:1,4-5: Invalid attribute name: An attribute name is required after a dot."},
		{"1 2\n", "in:1,3-4: Extra characters after expression: An expression was successfully parsed, but extra characters were found after it."},
		{"\n", "in:2,1-1: Missing expression: Expected the start of an expression, but found the end of the expression."},
	}
	for _, test := range tests {
		_, hd := hclsyntax.ParseExpression([]byte(test.src), "in", hcl.InitialPos)
		got := InExpression(diag.FromHCL(hd), []byte(test.src), "in")
		if len(got) != 1 {
			t.Fatalf("%q: got %v, want one diagnostic", test.src, got)
		}
		if diff := cmp.Diff(test.want, got[0].String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.src, diff)
		}
	}
}
