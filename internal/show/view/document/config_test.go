package document

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/plan"
)

// The configuration part is what a peer writes for the same files, except that ephemeral resources are not in
// it.
func TestConfigurationMatchesPeers(t *testing.T) {
	tree, diags := (&config.Loader{}).Load("testdata/config")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	b, err := Plan(&plan.Plan{}, tree, nil, fixture.LoadSchemas(t), testVersions)
	if err != nil {
		t.Fatal(err)
	}
	var parsed tfjson.Plan
	if err := json.Unmarshal(b, &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed.Config == nil || len(parsed.Config.RootModule.Resources) != 4 {
		t.Fatalf("resources that the library finds: got %s, want 4", b)
	}
	var want any
	document, err := os.ReadFile("testdata/config.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(document, &want); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, doc["configuration"]); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}
