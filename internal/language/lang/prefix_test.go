package lang

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
)

func TestPrefixes(t *testing.T) {
	for text, want := range map[string][]string{
		"t.n[0].a.b":          {"t.n[0].a.b", "t.n[0].a", "t.n[0]", "t.n"},
		"resource.t.n.a":      {"t.n.a", "t.n"},
		`data.t.n["k"].a`:     {`data.t.n["k"].a`, `data.t.n["k"]`, "data.t.n"},
		"ephemeral.t.n":       {"ephemeral.t.n"},
		"module.m":            {"module.m"},
		"module.m.out.a":      {"module.m.out.a", "module.m.out", "module.m"},
		"module.m[1].out":     {"module.m[1].out", "module.m[1]"},
		"self.a.b":            {"self.a.b", "self.a", "self"},
		"each.value.a":        {"each.value.a", "each.value"},
		"var.v":               {"var.v"},
		"terraform.workspace": {"terraform.workspace"},
		"word":                {"word"},
	} {
		expr, diags := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var got []string
		for _, prefix := range Prefixes(expr.Variables()[0]) {
			got = append(got, diag.Reference(prefix))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
