package document

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// TestTypesAreNoReferences has a call with a type in it, whose words refer to nothing.
func TestTypesAreNoReferences(t *testing.T) {
	e, diags := hclsyntax.ParseExpression([]byte(`convert(var.a, map(string))`), "x.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if got := expressionJSON(e).References; !slices.Equal(got, []string{"var.a"}) {
		t.Errorf("the references: got %q, want %q", got, []string{"var.a"})
	}
}
