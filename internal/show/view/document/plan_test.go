package document

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

var testVersions = Versions{Compat: "1.12.0", Product: "0.1.0"}

// The documents that a peer wrote for the fixtures come back from the plans that were read from them.
func TestPlanJSONMatchesPeers(t *testing.T) {
	schemas := fixture.LoadSchemas(t)
	for _, name := range []string{"create", "update", "mixed", "free", "actions"} {
		t.Run(name, func(t *testing.T) {
			p := fixture.Plan(t, name+".plan.json", schemas)
			got, err := Plan(p, nil, nil, schemas, testVersions)
			if err != nil {
				t.Fatal(err)
			}
			var parsed tfjson.Plan
			if err := json.Unmarshal(got, &parsed); err != nil {
				t.Fatal(err)
			}
			if err := parsed.Validate(); err != nil {
				t.Fatal(err)
			}
			var want, have map[string]any
			fixture.Read(t, name+".plan.json", &want)
			if err := json.Unmarshal(got, &have); err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"resource_changes", "resource_drift", "output_changes", "errored"} {
				if diff := cmp.Diff(want[part], have[part]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", part, diff)
				}
			}
		})
	}
}

func TestPlanJSONTopLevel(t *testing.T) {
	p := &plan.Plan{
		Timestamp: time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC),
		Variables: map[string]value.Durable{"a": fixture.Seal(t, cty.StringVal("x"))}, EphemeralVariables: []string{"secret"},
		Outputs: []*plan.OutputChange{
			{Name: "known", Action: plan.Create, After: fixture.Seal(t, cty.StringVal("v")), Sensitive: true},
			{Name: "later", Action: plan.Create, After: fixture.Seal(t, cty.UnknownVal(cty.String))},
		},
		Checks: []state.CheckResult{{Kind: "check", Config: "check.c", Status: state.CheckFail, Objects: []state.CheckObject{
			{Addr: "check.c", Status: state.CheckFail, Failures: []string{"bad step"}},
		}}},
		Prior: state.New(),
	}
	got, err := Plan(p, nil, nil, nil, testVersions)
	if err != nil {
		t.Fatal(err)
	}
	var parsed tfjson.Plan
	if err := json.Unmarshal(got, &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed.FormatVersion != "1.2" || parsed.TerraformVersion != "1.12.0" || parsed.Timestamp != "2026-11-21T01:02:03Z" {
		t.Errorf("head: got %s, want format 1.2, version 1.12.0 and its time", got)
	}
	if !*parsed.Complete {
		t.Error("a plan without targets is complete")
	}
	if len(parsed.Variables) != 1 || parsed.Variables["a"].Value != "x" {
		t.Errorf("variables: got %v, want a = \"x\" alone", parsed.Variables)
	}
	if o := parsed.PlannedValues.Outputs["known"]; o == nil || !o.Sensitive || o.Value != "v" {
		t.Errorf("planned output: got %v, want \"v\", sensitive", o)
	}
	if parsed.OutputChanges["later"].AfterUnknown != true {
		t.Errorf("unknown output: got %v, want it unknown after the change", parsed.OutputChanges["later"])
	}
	want := []tfjson.CheckResultStatic{{
		Address: tfjson.CheckStaticAddress{ToDisplay: "check.c", Kind: tfjson.CheckKindCheckBlock, Name: "c"}, Status: tfjson.CheckStatusFail,
		Instances: []tfjson.CheckResultDynamic{{
			Address: tfjson.CheckDynamicAddress{ToDisplay: "check.c"}, Status: tfjson.CheckStatusFail,
			Problems: []tfjson.CheckResultProblem{{Message: "bad step"}},
		}},
	}}
	if diff := cmp.Diff(want, parsed.Checks); diff != "" {
		t.Error(diff)
	}
}

func TestE81_NoEphemeralResourceInDocuments(t *testing.T) {
	a, err := addr.ParseInstance("ephemeral.random_password.p")
	if err != nil {
		t.Fatal(err)
	}
	m, err := addr.ParseInstance("terraform_data.x")
	if err != nil {
		t.Fatal(err)
	}
	obj := fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("i")}))
	p := &plan.Plan{
		Changes: []*plan.Change{{Addr: a, Action: plan.Create, After: obj}, {
			Addr: m, Action: plan.Create, After: obj, Deps: []plan.Dep{{Resource: a.Abs(), All: true}},
		}},
		Checks: []state.CheckResult{{Kind: "resource", Config: "ephemeral.random_password.p", Status: state.CheckPass}},
	}
	p.Changes[0].Provider.Provider, p.Changes[1].Provider.Provider = addr.DefaultProvider("random"), addr.BuiltinProvider
	got, err := Plan(p, nil, nil, nil, testVersions)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(got, &doc); err != nil {
		t.Fatal(err)
	}
	if n := len(doc["resource_changes"].([]any)); n != 1 {
		t.Errorf("got %d resource changes, want only the managed one", n)
	}
	for _, part := range []string{"checks", "relevant_attributes"} {
		if doc[part] != nil {
			t.Errorf("%s names the ephemeral resource: %s", part, got)
		}
	}
}

// TestRelevantJSON orders attributes by their resources, then by their text.
func TestRelevantJSON(t *testing.T) {
	a, b := fixture.Instance(t, "t_x.a"), fixture.Instance(t, `module.m["k"].t_x.b[0]`)
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
		{Addr: fixture.Instance(t, "t_x.a"), Action: plan.Create, After: fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)}))},
	}}
	got, err := Plan(p, nil, nil, nil, testVersions)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Planned struct {
			Root struct{ Resources []map[string]any } `json:"root_module"`
		} `json:"planned_values"`
	}
	if err := json.Unmarshal(got, &doc); err != nil || len(doc.Planned.Root.Resources) != 1 {
		t.Fatalf("got %v: %s, want one planned resource", err, got)
	}
	if values, there := doc.Planned.Root.Resources[0]["values"]; there {
		t.Errorf("values are %v", values)
	}
}

// TestScopeInDocuments says that values are missing from a plan of changes, unless it looks at everything.
func TestScopeInDocuments(t *testing.T) {
	prior := state.New()
	prior.Outputs["o"] = &state.Output{Value: fixture.Seal(t, cty.True)}
	for name, test := range map[string]struct {
		extent     *plan.Extent
		prior      *state.State
		incomplete int
		want       string
	}{
		"no plan of changes": {nil, prior, 0, `"errored":false`},
		"everything":         {&plan.Extent{Full: "objects move"}, prior, 0, `"scope":{"mode":"all","reason":"objects move"}`},
		"changes":            {&plan.Extent{Objects: 9, Evaluated: 0, Rows: 5}, prior, 2, `"scope":{"mode":"changed","evaluated":0,"objects":9,"new":0,"rows_read":5}`},
		"collections":        {&plan.Extent{Rows: 5, Collections: map[string]int{"t.b": 1, "t.a": 2}, Collected: 3}, nil, 1, `"rows_read":5,"collections":{"t.a":2,"t.b":1},"rows_of_collections":3}`},
		"nothing read":       {&plan.Extent{}, nil, 1, `"scope":{"mode":"changed"`},
	} {
		src, err := Plan(&plan.Plan{Extent: test.extent, Prior: test.prior}, nil, nil, nil, Versions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(src), `"incomplete":true`); got != test.incomplete || !strings.Contains(string(src), test.want) {
			t.Errorf("%s: got %s, want %q and %d incomplete parts", name, src, test.want, test.incomplete)
		}
		var peer tfjson.Plan
		if err := peer.UnmarshalJSON(src); err != nil {
			t.Errorf("%s: programs that decode plans: %v", name, err)
		}
	}
}
