package view

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/schema"
)

// TestRelevantRepetition counts what count and for_each refer to if an argument depends on the instance, as peers do.
func TestRelevantRepetition(t *testing.T) {
	const all = "resource \"t_x\" \"a\" {\n}\n"
	for block, want := range map[string]string{
		"count = length(t_x.a.v)\n v = 1":                           `[]`,
		"count = length(t_x.a.v)\n v = count.index":                 `[{"resource":"t_x.a","attribute":["v"]}]`,
		"for_each = t_x.a.v\n v = 1":                                `[]`,
		"for_each = t_x.a.v\n v = each.key":                         `[{"resource":"t_x.a","attribute":["v"]}]`,
		"for_each = { k = t_x.a.v }\n v = [each.value, each.value]": `[{"resource":"t_x.a","attribute":["v"]}]`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(all+"resource \"t_x\" \"b\" {\n "+block+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tree, diags := (&config.Loader{}).Load(dir)
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		s := &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{"v": {Type: cty.DynamicPseudoType, Optional: true}}}}
		schemas := fixtureSchemas{"registry.opentofu.org/hashicorp/t": {Resources: map[string]*schema.Schema{"t_x": s}}}
		p := &plan.Plan{Changes: []*plan.Change{{Addr: mustInstance(t, "t_x.b"), Action: plan.Create}}}
		got, err := json.Marshal(relevant(p, tree, schemas))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", block, got, err, want)
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
