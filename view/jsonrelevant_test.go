package view

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// loadText loads a configuration of one file.
func loadText(t *testing.T, text string) *config.Tree {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, diags := (&config.Loader{}).Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return tree
}

// thingSchemas know the types t_x and data t_x.
func thingSchemas() fixtureSchemas {
	attrs := map[string]*schema.Attribute{
		"id": {Type: cty.String, Computed: true}, "v": {Type: cty.DynamicPseudoType, Optional: true}, "w": {Type: cty.Map(cty.String), Optional: true},
	}
	inner := schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"p": {Type: cty.String, Optional: true}}}}
	types := map[string]*schema.Schema{"t_x": {Block: &schema.Block{Attributes: attrs, Blocks: map[string]*schema.NestedBlock{"part": &inner}}}}
	return fixtureSchemas{"registry.opentofu.org/hashicorp/t": {Resources: types, Data: types}}
}

// TestRelevantAttributes finds what peers find for the creation of t_x.b.
func TestRelevantAttributes(t *testing.T) {
	const others = `
resource "t_x" "a" {
  v = t_x.first.id
  w = { k = t_x.second.id }
  part {
    p = t_x.third.id
  }
}
resource "t_x" "first" {
}
resource "t_x" "second" {
}
resource "t_x" "third" {
}
resource "t_x" "b" {
`
	attr := func(resource, attributes string) string {
		return fmt.Sprintf(`{"resource":"t_x.%s","attribute":[%s]}`, resource, attributes)
	}
	first, second, third := attr("first", `"id"`), attr("second", `"id"`), attr("third", `"id"`)
	for block, want := range map[string][]string{
		"v = t_x.a.id":                     {attr("a", `"id"`)},
		"v = t_x.a.v":                      {attr("a", `"v"`), first},
		`v = t_x.a.w["k"]`:                 {attr("a", `"w","k"`), second},
		"v = t_x.a.part[0].p":              {attr("a", `"part",0,"p"`), third},
		"v = t_x.a":                        {attr("a", ""), first, second, third},
		"count = length(t_x.a.id)\n v = 1": nil, // what says how many there are contributes if they depend on it
		"count = length(t_x.a.id)\n v = count.index":               {attr("a", `"id"`)},
		"for_each = { k = t_x.a.id }\n v = 1":                      nil,
		"for_each = { k = t_x.a.id }\n v = each.key":               {attr("a", `"id"`)},
		"for_each = { k = t_x.a.id }\n v = [each.key, each.value]": {attr("a", `"id"`)},
	} {
		p := &plan.Plan{Changes: []*plan.Change{{Addr: mustInstance(t, "t_x.b"), Action: plan.Create}}}
		got, err := json.Marshal(relevant(p, loadText(t, others+block+"\n}\n"), thingSchemas()))
		if want := "[" + strings.Join(want, ",") + "]"; err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", block, got, err, want)
		}
	}
}

// TestRelevantToDestruction counts the data sources of the state: they go with it.
func TestRelevantToDestruction(t *testing.T) {
	tree := loadText(t, "resource \"t_x\" \"a\" {\n}\ndata \"t_x\" \"d\" {\n  v = t_x.a.id\n}\n")
	base := state.New()
	base.SetObject(addr.Object{Instance: mustInstance(t, "data.t_x.d")}, &state.Object{}, addr.ProviderConfig{})
	for mode, want := range map[plan.Mode]int{plan.Destroy: 1, plan.Normal: 0} {
		if got := relevant(&plan.Plan{Mode: mode, Base: base}, tree, thingSchemas()); len(got) != want {
			t.Errorf("mode %d: %v", mode, got)
		}
	}
}

// TestNoValues leaves out the values of an object of which none is known.
func TestNoValues(t *testing.T) {
	p := &plan.Plan{Changes: []*plan.Change{
		{Addr: mustInstance(t, "t_x.a"), Action: plan.Create, After: seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)}))},
	}}
	got, err := PlanJSON(p, nil, nil, testVersions)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Planned struct {
			Root struct{ Resources []map[string]any } `json:"root_module"`
		} `json:"planned_values"`
	}
	if err := json.Unmarshal(got, &doc); err != nil || len(doc.Planned.Root.Resources) != 1 {
		t.Fatalf("%v: %s", err, got)
	}
	if values, there := doc.Planned.Root.Resources[0]["values"]; there {
		t.Errorf("values are %v", values)
	}
}
