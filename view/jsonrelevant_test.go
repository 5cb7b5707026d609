package view

import (
	"encoding/json"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/schema"
)

// thingSchemas know the types t_x and data t_x.
func thingSchemas() fixtureSchemas {
	attrs := map[string]*schema.Attribute{
		"id": {Type: cty.String, Computed: true}, "v": {Type: cty.DynamicPseudoType, Optional: true}, "w": {Type: cty.Map(cty.String), Optional: true},
	}
	inner := schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"p": {Type: cty.String, Optional: true}}}}
	types := map[string]*schema.Schema{"t_x": {Block: &schema.Block{Attributes: attrs, Blocks: map[string]*schema.NestedBlock{"part": &inner}}}}
	return fixtureSchemas{"registry.opentofu.org/hashicorp/t": {Resources: types, Data: types}}
}

// TestRelevantJSON orders attributes by their resources, then by their text.
func TestRelevantJSON(t *testing.T) {
	a, b := mustInstance(t, "t_x.a"), mustInstance(t, `module.m["k"].t_x.b[0]`)
	got, err := json.Marshal(relevantJSON([]plan.RelevantAttribute{
		{Instance: a},
		{Instance: a, Path: cty.GetAttrPath("v")},
		{Instance: a, Path: cty.GetAttrPath("part").IndexInt(0).GetAttr("p")},
		{Instance: b, Path: cty.GetAttrPath("w").IndexString("k")},
	}))
	const want = `[{"resource":"module.m[\"k\"].t_x.b[0]","attribute":["w","k"]},{"resource":"t_x.a","attribute":["part",0,"p"]},` +
		`{"resource":"t_x.a","attribute":["v"]},{"resource":"t_x.a","attribute":[]}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// TestNoValues leaves out the values of an object of which none is known.
func TestNoValues(t *testing.T) {
	p := &plan.Plan{Changes: []*plan.Change{
		{Addr: mustInstance(t, "t_x.a"), Action: plan.Create, After: seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)}))},
	}}
	got, err := PlanJSON(p, nil, nil, nil, testVersions)
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
