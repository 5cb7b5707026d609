package contract

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

func TestCompleteIdentity(t *testing.T) {
	id := &schema.Identity{Attributes: map[string]*schema.IdentityAttribute{
		"name": {Type: cty.String, RequiredForImport: true},
		"zone": {Type: cty.Number, OptionalForImport: true},
	}}
	given := func(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }
	for _, row := range []struct {
		name    string
		id      *schema.Identity
		given   cty.Value
		summary string // of the error; "" for none
		text    string
	}{
		{"complete", id, given(map[string]cty.Value{"name": str("n"), "zone": str("1")}), "", "name n,zone=1"},
		{"without what is optional", id, given(map[string]cty.Value{"name": str("n")}), "", "name n"},
		{"as a map", id, cty.MapVal(map[string]cty.Value{"name": str("n")}), "", "name n"},
		{"without what is required", id, given(map[string]cty.Value{"zone": str("1")}), "Incomplete import identity", ""},
		{"null where something is required", id, given(map[string]cty.Value{"name": cty.NullVal(cty.String), "zone": str("1")}), "Incomplete import identity", ""},
		{"unknown attribute", id, given(map[string]cty.Value{"name": str("n"), "nmae": str("n")}), "Invalid import identity", ""},
		{"wrong type", id, given(map[string]cty.Value{"name": str("n"), "zone": str("x")}), "Invalid import identity", ""},
		{"not an object", id, str("n"), "Invalid import identity", ""},
		{"no identity", nil, given(map[string]cty.Value{"name": str("n")}), "Import by identity is not supported", ""},
	} {
		got, diags := CompleteIdentity(row.id, "t", row.given, hcl.Range{})
		if row.summary != "" {
			if len(diags) != 1 || diags[0].Summary != row.summary {
				t.Errorf("%s: %v, want %q", row.name, diags, row.summary)
			}
			if got != cty.NilVal && got.GetAttr("zone").Type() != cty.Number {
				t.Errorf("%s: got the identity %#v, want none, or a number as zone", row.name, got)
			}
			continue
		}
		if diags != nil || !got.Type().HasAttribute("zone") {
			t.Errorf("%s: %#v, %v", row.name, got, diags)
			continue
		}
		if key, text := IdentityText(got); key+" "+text != row.text {
			t.Errorf("%s: shown as %s %s, want %s", row.name, key, text, row.text)
		}
	}
}

// TestIdentityText shows what is known of an identity and can be written in a line.
func TestIdentityText(t *testing.T) {
	id := cty.ObjectVal(map[string]cty.Value{
		"a": cty.NullVal(cty.String), "b": cty.UnknownVal(cty.String), "c": cty.ListVal([]cty.Value{str("x")}), "d": str("first"), "e": cty.NumberIntVal(17), "f": cty.NullVal(cty.List(cty.String)), "g": cty.True,
	})
	if key, text := IdentityText(id); key != "d" || text != "first,e=17,g=true" {
		t.Errorf("IdentityText: got %s: %s, want d: first,e=17,g=true", key, text)
	}
}

// TestIdentityPairs shows everything that is set.
func TestIdentityPairs(t *testing.T) {
	id := cty.ObjectVal(map[string]cty.Value{
		"a": cty.NullVal(cty.String), "b": cty.UnknownVal(cty.String), "c": cty.ListVal([]cty.Value{str("x")}), "d": str("first"), "e": cty.NumberIntVal(17), "g": cty.True,
	})
	if got := IdentityPairs(id); got != `c=["x"],d=first,e=17,g=true` {
		t.Error(got)
	}
}
