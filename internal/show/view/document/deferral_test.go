package document

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
)

// TestDeferredJSON has a client read the deferred changes of a plan.
func TestDeferredJSON(t *testing.T) {
	p := fixture.Deferring(t)
	got, err := Plan(p, nil, nil, nil, testVersions)
	if err != nil {
		t.Fatal(err)
	}
	var read tfjson.Plan
	if err := json.Unmarshal(got, &read); err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Fatal(err)
	}
	if read.Complete == nil || *read.Complete || len(read.DeferredChanges) != len(p.Deferrals) || len(read.ResourceChanges) != 1 {
		t.Fatalf("got %s, want an incomplete plan with all deferrals and one change", got)
	}
	many, inCall, imported := read.DeferredChanges[0], read.DeferredChanges[1].ResourceChange, read.DeferredChanges[3].ResourceChange
	if c := many.ResourceChange; many.Reason != "instance_count_unknown" || c.Address != `t_x.many["*"]` || c.Index != "*" || !c.Change.Actions.Create() {
		t.Errorf("the block with unknown instances: got %+v, want the creation of t_x.many", many)
	} else if diff := cmp.Diff(map[string]any{"name": "t_x.many"}, c.Change.After); diff != "" {
		t.Error(diff)
	}
	if inCall.Address != `module.m["*"].t_x.in["*"]` || inCall.ModuleAddress != `module.m["*"]` {
		t.Errorf("the block in a module with unknown instances: got %+v, want module.m and t_x.in with unknown keys", inCall)
	}
	if c := imported.Change; c.Importing == nil || !c.Importing.Unknown || !c.Actions.NoOp() {
		t.Errorf("the import: got %v with %+v, want no action and an unknown object", c.Actions, c.Importing)
	}
	if c := read.DeferredChanges[4].ResourceChange.Change; !c.Actions.Create() {
		t.Errorf("an object that is not imported: got %v, want its creation", c.Actions)
	}
	if !read.DeferredChanges[2].ResourceChange.Change.Actions.NoOp() {
		t.Errorf("an object that stays is %+v", read.DeferredChanges[2].ResourceChange)
	}
	var ours struct {
		Deferred []struct {
			WaitsFor []string `json:"waits_for"`
			Change   struct {
				Address string `json:"address"`
				Unknown bool   `json:"index_unknown"`
			} `json:"resource_change"`
		} `json:"deferred_changes"`
		Planned any `json:"planned_values"`
	}
	if err := json.Unmarshal(got, &ours); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"t_x.first"}, ours.Deferred[0].WaitsFor); diff != "" {
		t.Error(diff)
	}
	for _, d := range ours.Deferred {
		if c := d.Change; c.Unknown != strings.Contains(c.Address, `["*"]`) {
			t.Errorf("%s: got index_unknown %t, want it of unknown keys only", c.Address, c.Unknown)
		}
	}
	if len(read.PlannedValues.RootModule.Resources) != 1 {
		t.Errorf("planned values: got %v, want one resource", ours.Planned)
	}
}

// TestCompleteJSON has no word of deferral in the document of a complete plan.
func TestCompleteJSON(t *testing.T) {
	p := fixture.Deferring(t)
	p.Deferrals = nil
	got, err := Plan(p, nil, nil, nil, testVersions)
	var doc map[string]any
	if err != nil || json.Unmarshal(got, &doc) != nil {
		t.Fatal(err)
	}
	if _, there := doc["deferred_changes"]; there || doc["complete"] != true {
		t.Errorf("got %s, want a complete plan", got)
	}
}
