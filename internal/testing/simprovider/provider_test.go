package simprovider

//lint:file-ignore SA1019 the legacy type system is what these types are about

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

const fullThing = `{"name":"x","size":3,"tags":{"a":"b"},"json":"{\"k\":1}","secret_wo":"CANARY-wo","secret_wo_version":1,
	"rule":[{"port":80},{"port":81,"note":"n"}],"zone":[{"name":"z"}],"nested":{"m":{"value":"v"}}}`

func TestThingLifecycle(t *testing.T) {
	r := newRig(t)
	s := r.resources[typeThing]
	plan, err := r.planChange(typeThing, nil, fullThing)
	r.none(plan.Diagnostics, err)
	planned := r.object(plan.PlannedState, s)
	if planned.known("id") || planned.text("label") != "p-x" || !isUnset(planned["secret_wo"]) || !isUnset(planned["replace_me"]) {
		t.Errorf("planned: got %v, want id unknown, the label p-x, and the others unset", planned)
	}
	applied, err := r.applyPlan(typeThing, nil, fullThing, plan)
	r.none(applied.Diagnostics, err)
	state := r.object(applied.NewState, s)
	if state.text("id") != "x-1" || state.number("serial") != 1 || !state.value(s.ValueType()).IsFullyKnown() || !isUnset(state["secret_wo"]) {
		t.Errorf("state: got %v, want x-1 with serial 1, wholly known, without secret_wo", state)
	}
	obj, err := simcloud.ReadObject(r.cloud.dir, "x-1")
	if err != nil || obj.SecretHash != simlog.Hash("CANARY-wo") {
		t.Fatalf("object in the cloud: got %+v, %v, want the hash of the secret: %s", obj, err, simlog.Hash("CANARY-wo"))
	}

	same, err := r.planChange(typeThing, applied.NewState, strings.Replace(fullThing, `{\"k\":1}`, `{ \"k\" : 1 }`, 1))
	r.none(same.Diagnostics, err)
	if got := r.object(same.PlannedState, s).text("json"); got != `{"k":1}` {
		t.Errorf("json with other white space is planned as: got %q, want %q", got, `{"k":1}`)
	}

	replaced, err := r.planChange(typeThing, applied.NewState, strings.Replace(fullThing, `"size":3`, `"size":4,"replace_me":"y"`, 1))
	r.none(replaced.Diagnostics, err)
	if got := pathNames(replaced.RequiresReplace); got != `AttributeName("replace_me")` {
		t.Errorf("RequiresReplace: got %s, want %s", got, `AttributeName("replace_me")`)
	}

	obj.Attrs["size"] = json.RawMessage("7")
	if err := simcloud.WriteObject(r.cloud.dir, obj); err != nil {
		t.Fatal(err)
	}
	read, err := r.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeThing, CurrentState: applied.NewState})
	r.none(read.Diagnostics, err)
	if got := r.object(read.NewState, s).number("size"); got != 7 {
		t.Errorf("size after drift: got %d, want 7", got)
	}
	updated := r.change(typeThing, read.NewState, fullThing)
	if got := r.object(updated.NewState, s).number("serial"); got != 2 {
		t.Errorf("serial after the update: got %d, want 2", got)
	}
	gone := r.change(typeThing, updated.NewState, "")
	if objs, err := simcloud.Objects(r.cloud.dir); err != nil || len(objs) != 0 || !isNull(t, gone.NewState) {
		t.Errorf("after the delete: got %v, %v, want no objects, and a null state", objs, err)
	}
	read, err = r.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeThing, CurrentState: updated.NewState})
	r.none(read.Diagnostics, err)
	if !isNull(t, read.NewState) {
		t.Error("a deleted object can be read")
	}
}

func TestThingFailOn(t *testing.T) {
	for _, point := range []string{"plan", "create", "create-partial"} {
		t.Run(point, func(t *testing.T) {
			r := newRig(t)
			config := `{"name":"x","fail_on":"` + point + `"}`
			plan, err := r.planChange(typeThing, nil, config)
			if err != nil {
				t.Fatal(err)
			}
			if point == "plan" {
				fails(t, plan.Diagnostics, "fail on plan")
				return
			}
			applied, err := r.applyPlan(typeThing, nil, config, plan)
			if err != nil {
				t.Fatal(err)
			}
			fails(t, applied.Diagnostics, "fail on "+point)
			made := applied.NewState != nil && !isNull(t, applied.NewState)
			if made != (point == "create-partial") {
				t.Errorf("an object is answered: got %v, want %v", made, (point == "create-partial"))
			}
		})
	}
	for _, point := range []string{"update", "update-partial", "delete", "read"} {
		t.Run(point, func(t *testing.T) {
			r := newRig(t)
			config := `{"name":"x","fail_on":"` + point + `"}`
			made := r.change(typeThing, nil, config)
			switch point {
			case "read":
				read, err := r.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeThing, CurrentState: made.NewState})
				if err != nil {
					t.Fatal(err)
				}
				fails(t, read.Diagnostics, "fail on read")
				return
			case "delete":
				config = ""
			default:
				config = strings.Replace(config, `"x"`, `"x","size":1`, 1)
			}
			plan, err := r.planChange(typeThing, made.NewState, config)
			r.none(plan.Diagnostics, err)
			applied, err := r.applyPlan(typeThing, made.NewState, config, plan)
			if err != nil {
				t.Fatal(err)
			}
			fails(t, applied.Diagnostics, "fail on "+point)
		})
	}
}

func TestUpgradeMoveImport(t *testing.T) {
	r := newRig(t)
	s := r.resources[typeThing]
	up, err := r.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: typeThing, RawState: &tfprotov6.RawState{JSON: []byte(`{"id":"x-1","name":"x","size":"12","labels":{"a":"b"}}`)},
	})
	r.none(up.Diagnostics, err)
	if o := r.object(up.UpgradedState, s); o.number("size") != 12 || o.text("id") != "x-1" || !o.known("tags") {
		t.Errorf("upgraded: got %v, want x-1 with size 12 and known tags", o)
	}
	old := r.object(r.change(typeOld, nil, `{"name":"o","old_value":"w"}`).NewState, r.resources[typeOld])
	raw, err := json.Marshal(plain(old.value(r.resources[typeOld].ValueType())))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := r.MoveResourceState(t.Context(), &tfprotov6.MoveResourceStateRequest{
		SourceTypeName: typeOld, TargetTypeName: typeThing, SourceState: &tfprotov6.RawState{JSON: raw},
	})
	r.none(moved.Diagnostics, err)
	read, err := r.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeThing, CurrentState: moved.TargetState})
	r.none(read.Diagnostics, err)
	if o := r.object(read.NewState, s); o.text("id") != "o-1" || !o.known("tags") {
		t.Errorf("moved and read: got %v, want o-1 with known tags", o)
	}
	made := r.object(r.change(typeThing, nil, fullThing).NewState, s)
	identity, err := identityOf("x")
	if err != nil {
		t.Fatal(err)
	}
	for _, req := range []*tfprotov6.ImportResourceStateRequest{{ID: "x-1"}, {Identity: identity}} {
		req.TypeName = typeThing
		imp, err := r.ImportResourceState(t.Context(), req)
		r.none(imp.Diagnostics, err)
		read, err = r.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeThing, CurrentState: imp.ImportedResources[0].State})
		r.none(read.Diagnostics, err)
		if o := r.object(read.NewState, s); !o.value(s.ValueType()).Equal(made.value(s.ValueType())) {
			t.Errorf("imported and read = %v, want %v", o, made)
		}
	}
	refused, err := r.MoveResourceState(t.Context(), &tfprotov6.MoveResourceStateRequest{SourceTypeName: "a", TargetTypeName: typeSlow})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, refused.Diagnostics, "Unsupported move")
}

func TestLookupAndFunctions(t *testing.T) {
	r := newRig(t)
	r.change(typeThing, nil, fullThing)
	found, err := r.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: typeLookup, Config: jsonValue(`{"name":"x"}`)})
	r.none(found.Diagnostics, err)
	if o := r.object(found.State, r.sources[typeLookup]); o.text("id") != "x-1" || o.text("label") != "p-x" || o.number("size") != 3 {
		t.Errorf("found: got %v, want x-1 with the label p-x and size 3", o)
	}
	missing, err := r.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: typeLookup, Config: jsonValue(`{"name":"none"}`)})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, missing.Diagnostics, `no sim_thing named "none"`)

	call := func(name string, args ...*tfprotov6.DynamicValue) *tfprotov6.CallFunctionResponse {
		resp, err := r.CallFunction(t.Context(), &tfprotov6.CallFunctionRequest{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	v, err := call("concat2", jsonValue(`"a"`), jsonValue(`"b"`)).Result.Unmarshal(str("").Type())
	if err != nil || textOf(v) != "ab" {
		t.Errorf("concat2: got %v, %v, want \"ab\"", v, err)
	}
	if got := call("fail", jsonValue(`"because"`)).Error; got == nil || got.Text != "because" {
		t.Errorf("fail: got %+v, want \"because\"", got)
	}
}

// TestLegacy shows both inconsistencies, and that a second plan is quiet.
func TestLegacy(t *testing.T) {
	r := newRig(t)
	s := r.resources[typeLegacy]
	plan, err := r.planChange(typeLegacy, nil, `{"name":"l","value":"v"}`)
	r.none(plan.Diagnostics, err)
	if o := r.object(plan.PlannedState, s); !plan.UnsafeToUseLegacyTypeSystem || o.text("defaulted") == "" {
		t.Errorf("planned = %v", o)
	}
	made := r.change(typeLegacy, nil, `{"name":"l","value":"v"}`)
	state := r.object(made.NewState, s)
	if state.text("value") != "V" || !made.UnsafeToUseLegacyTypeSystem {
		t.Errorf("state: got %v, want the value V in the legacy type system", state)
	}
	again, err := r.planChange(typeLegacy, made.NewState, `{"name":"l","value":"v"}`)
	r.none(again.Diagnostics, err)
	if o := r.object(again.PlannedState, s); !o.value(s.ValueType()).Equal(state.value(s.ValueType())) {
		t.Errorf("second plan: got %v, want the state %v", o, state)
	}
}

func TestSchemas(t *testing.T) {
	places := map[string]func(*tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute{
		variantSetBlock: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			return s.ResourceSchemas[typeThing].Block.BlockTypes[1].Block.Attributes
		},
		variantSetAttr: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			attrs := s.ResourceSchemas[typeThing].Block.Attributes
			return attrs[len(attrs)-1].NestedType.Attributes
		},
		variantComputed: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			attrs := s.ResourceSchemas[typeThing].Block.Attributes
			return attrs[:len(attrs)-1]
		},
		variantData: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			return s.DataSourceSchemas[typeLookup].Block.Attributes
		},
		variantProvider: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			return s.Provider.Block.Attributes
		},
		variantEphemeral: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			return s.EphemeralResourceSchemas[typeSecret].Block.Attributes
		},
		variantListBlock: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			return s.ResourceSchemas[typeThing].Block.BlockTypes[0].Block.Attributes
		},
		variantNestedAttr: func(s *tfprotov6.GetProviderSchemaResponse) []*tfprotov6.SchemaAttribute {
			attrs := s.ResourceSchemas[typeThing].Block.Attributes
			return attrs[len(attrs)-1].NestedType.Attributes
		},
	}
	for _, variant := range variants {
		r := bareRig(t, Options{Schema: variant})
		resp, err := r.GetProviderSchema(t.Context(), nil)
		r.none(resp.Diagnostics, err)
		if variant == variantNoCapabilities {
			if *resp.ServerCapabilities != (tfprotov6.ServerCapabilities{}) {
				t.Errorf("%s: got %+v, want no capabilities", variant, resp.ServerCapabilities)
			}
			continue
		}
		if variant == variantGenerate {
			if !resp.ServerCapabilities.GenerateResourceConfig {
				t.Errorf("%s: %+v", variant, resp.ServerCapabilities)
			}
			continue
		}
		if variant == variantRequired {
			block := resp.Provider.Block
			if last := block.Attributes[len(block.Attributes)-1]; !last.Required || block.BlockTypes[0].MinItems != 1 {
				t.Errorf("%s: got the last attribute %v, the first block %v, want both required", variant, last, block.BlockTypes[0])
			}
			continue
		}
		attrs := places[variant](resp)
		if last := attrs[len(attrs)-1]; !last.WriteOnly {
			t.Errorf("%s: the last attribute is %s", variant, last.Name)
		}
	}
	if _, err := New6(Options{Schema: "nonsense", Dir: t.TempDir()}); err == nil {
		t.Error("an unknown variant is accepted")
	}
}

func TestProtocol5(t *testing.T) {
	s, err := New5(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := s.GetProviderSchema(t.Context(), &tfprotov5.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	thing := schema.ResourceSchemas[typeThing]
	for _, a := range thing.Block.Attributes {
		if a.Name == "nested" || a.Type == nil {
			t.Errorf("attribute %s has no place in protocol 5", a.Name)
		}
	}
	if len(thing.Block.BlockTypes) != 2 || !schema.ServerCapabilities.PlanDestroy {
		t.Errorf("schema: got %+v, want two blocks and PlanDestroy", thing)
	}
	conf, err := s.ConfigureProvider(t.Context(), &tfprotov5.ConfigureProviderRequest{Config: &tfprotov5.DynamicValue{JSON: []byte(`{}`)}})
	if err != nil || len(conf.Diagnostics) > 0 {
		t.Fatal(conf, err)
	}
	config := &tfprotov5.DynamicValue{JSON: []byte(`{"name":"x","secret_wo":"s"}`)}
	plan, err := s.PlanResourceChange(t.Context(), &tfprotov5.PlanResourceChangeRequest{TypeName: typeThing, Config: config, ProposedNewState: config})
	if err != nil || len(plan.Diagnostics) > 0 {
		t.Fatal(plan, err)
	}
	applied, err := s.ApplyResourceChange(t.Context(), &tfprotov5.ApplyResourceChangeRequest{
		TypeName: typeThing, Config: config, PlannedState: plan.PlannedState, PlannedPrivate: plan.PlannedPrivate,
	})
	if err != nil || len(applied.Diagnostics) > 0 {
		t.Fatal(applied, err)
	}
	v, err := applied.NewState.Unmarshal(thing.ValueType())
	if err != nil {
		t.Fatal(err)
	}
	if got := asObject(v).text("id"); got != "x-1" {
		t.Errorf("id: got %q, want %q", got, "x-1")
	}
	val, err := s.ValidateResourceTypeConfig(t.Context(), &tfprotov5.ValidateResourceTypeConfigRequest{TypeName: typeThing, Config: config})
	if err != nil || len(val.Diagnostics) != 1 || val.Diagnostics[0].Severity != tfprotov5.DiagnosticSeverityError {
		t.Errorf("write-only value without the capability: got %+v, %v, want one error", val, err)
	}
}

func TestTranscriptHidesSecrets(t *testing.T) {
	r := newRig(t)
	r.change(typeThing, nil, fullThing)
	l := r.transcript()
	apply := l.Calls(simlog.Filter{RPC: "ApplyResourceChange", Action: actionCreate})
	want := map[string]string{"config.secret_wo": simlog.Hash("CANARY-wo"), "planned.secret_wo": "null"}
	if diff := cmp.Diff(want, apply[0].Begin.Hash); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "CANARY-") {
		t.Error("the transcript shows a secret")
	}
}
