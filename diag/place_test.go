package diag

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// TestPlace names second places by their lines, also in what package hcl reports.
func TestPlace(t *testing.T) {
	rng := hcl.Range{Filename: "a b/m.tf", Start: hcl.Pos{Line: 12, Column: 3}, End: hcl.Pos{Line: 13, Column: 1}}
	if got := Place(rng); got != "a b/m.tf:12" {
		t.Error(got)
	}
	start := hcl.InitialPos
	_, twice := hclsyntax.ParseConfig([]byte("a = 1\na = 2\n"), "a b.tf", start)
	_, opened := hclsyntax.ParseTemplate([]byte("\n%{ if true\n }x%{ endfor }"), "t.tftpl", start)
	_, otherwise := hclsyntax.ParseTemplate([]byte("\n%{ if true }x%{ else }y%{ else }z%{ endif }"), "t.tftpl", start)
	file, hd := hcljson.Parse([]byte("{\"a\": 1,\n\"a\": 2}"), "m.tf.json")
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	_, again := file.Body.JustAttributes()
	for want, found := range map[string]hcl.Diagnostics{
		`The argument "a" was already set at a b.tf:1. Each argument may be set only once.`: twice,
		"Expecting an endif directive for the if started at t.tftpl:2.":                     opened,
		"Already in the else clause for the if started at t.tftpl:2.":                       otherwise,
		`The argument "a" was already set at m.tf.json:1.`:                                  again,
	} {
		if l := FromHCL(found); len(l) == 0 || l[0].Detail != want {
			t.Errorf("got %v, want %q", l, want)
		}
	}
}
