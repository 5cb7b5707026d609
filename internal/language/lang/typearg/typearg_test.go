package typearg

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// TestVariables covers both syntaxes: a type has no references, whatever is around it has.
func TestVariables(t *testing.T) {
	for _, test := range []struct {
		native, json string
		want         []string
	}{
		{native: `convert(var.a, list(string))`, json: `{"x":"${convert(var.a, list(string))}"}`, want: []string{"var"}},
		{native: `core::convert(a.b, object({ n = optional(number, 1) }))`, want: []string{"a"}},
		{native: `convert(convert(var.a, any), map(bool))`, json: `["${convert(convert(var.a, any), map(bool))}"]`, want: []string{"var"}},
		{native: `convert(var.a, string) + string`, want: []string{"var", "string"}},
		{native: `convert(var.a)`, want: []string{"var"}},
		{native: `string`, json: `"${string}"`, want: []string{"string"}},
		{native: `tolist(string)`, want: []string{"string"}},
		{json: `{"${var.k}":"x","a":[1,true,null]}`, want: []string{"var"}},
	} {
		if test.native != "" {
			e, diags := hclsyntax.ParseExpression([]byte(test.native), "", hcl.InitialPos)
			check(t, test.native, e, diags, test.want)
		}
		if test.json != "" {
			e, diags := hcljson.ParseExpression([]byte(test.json), "")
			check(t, test.json, e, diags, test.want)
		}
	}
}

func check(t *testing.T, src string, e hcl.Expression, diags hcl.Diagnostics, want []string) {
	t.Helper()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	for _, v := range Variables(e) {
		got = append(got, v.RootName())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the variables: got %v, want %v", src, got, want)
	}
}
