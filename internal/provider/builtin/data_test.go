package builtin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

var (
	str     = cty.StringVal
	null    = cty.NullVal(cty.DynamicPseudoType)
	unknown = cty.DynamicVal
)

func testProvider() provider.Provider { return New(Options{NewID: func() string { return "new-id" }}) }

// object is a terraform_data with the given attributes; "id" may be left out, too.
func object(attrs map[string]cty.Value) cty.Value {
	all := map[string]cty.Value{"id": cty.NullVal(cty.String)}
	for name := range dataSchema.Block.Attributes {
		if name != "id" {
			all[name] = null
		}
	}
	for name, v := range attrs {
		all[name] = v
	}
	return cty.ObjectVal(all)
}

type attrs = map[string]cty.Value

func nothing() cty.Value { return cty.NullVal(dataSchema.Block.Type()) }

func plan(t testing.TB, p provider.Provider, prior, config cty.Value) provider.PlanResponse {
	t.Helper()
	resp, diags := p.PlanResource(t.Context(), provider.PlanRequest{
		Type: dataType, Prior: prior, Config: config, Proposed: schema.ProposedNew(dataSchema.Block, prior, config), PriorPrivate: []byte("p"),
	})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return resp
}

func TestSchemasAreValid(t *testing.T) {
	for mode, kind := range map[addr.Mode]schema.Kind{addr.Managed: schema.ForManaged, addr.Data: schema.ForData} {
		for _, name := range Catalog().Types(mode) {
			s, diags := Catalog().Resource(mode, name)
			if s == nil || diags.HasErrors() {
				t.Fatalf("%s: no schema: %v", name, diags)
			}
			if err := s.Block.InternalValidate(kind); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if types := Catalog().Types(addr.Ephemeral); len(types) != 0 {
		t.Errorf("ephemeral types: got %v, want none", types)
	}
}

func TestE65PlanTerraformData(t *testing.T) {
	prior := object(attrs{"id": str("i"), "input": str("a"), "output": str("a"), "triggers_replace": str("t")})
	id := cty.UnknownVal(cty.String).RefineNotNull()
	tests := map[string]struct {
		prior, config, planned cty.Value
		replace                bool
	}{
		"create": {
			nothing(), object(attrs{"input": str("a"), "input_wo": str("secret")}),
			object(attrs{"id": id, "input": str("a"), "output": cty.UnknownVal(cty.String)}), false,
		},
		"create without input": {nothing(), object(nil), object(attrs{"id": id}), false},
		"create with unknown":  {nothing(), object(attrs{"input": unknown}), object(attrs{"id": id, "input": unknown, "output": unknown}), false},
		"no change":            {prior, object(attrs{"input": str("a"), "triggers_replace": str("t"), "input_wo": unknown}), prior, false},
		"input": {
			prior, object(attrs{"input": cty.Zero, "triggers_replace": str("t")}),
			object(attrs{"id": str("i"), "input": cty.Zero, "output": cty.UnknownVal(cty.Number), "triggers_replace": str("t")}), false,
		},
		"input removed": {
			prior, object(attrs{"triggers_replace": str("t")}),
			object(attrs{"id": str("i"), "output": unknown, "triggers_replace": str("t")}), false,
		},
		"version": {
			prior, object(attrs{"input": str("a"), "triggers_replace": str("t"), "input_wo": str("secret"), "input_wo_version": cty.Zero}),
			object(attrs{"id": str("i"), "input": str("a"), "output": str("a"), "triggers_replace": str("t"), "input_wo_version": cty.Zero}), false,
		},
		"trigger": {
			prior, object(attrs{"input": str("a"), "triggers_replace": str("u")}),
			object(attrs{"id": id, "input": str("a"), "output": cty.UnknownVal(cty.String), "triggers_replace": str("u")}), true,
		},
		"trigger unknown": {
			prior, object(attrs{"input": str("a"), "triggers_replace": unknown}),
			object(attrs{"id": id, "input": str("a"), "output": cty.UnknownVal(cty.String), "triggers_replace": unknown}), true,
		},
		"delete": {prior, nothing(), nothing(), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := plan(t, testProvider(), test.prior, test.config)
			if !got.Planned.RawEquals(test.planned) {
				t.Errorf("planned: got %#v, want %#v", got.Planned, test.planned)
			}
			if replace := len(got.RequiresReplace) > 0; replace != test.replace {
				t.Errorf("replace: got %v, want %v", replace, test.replace)
			}
			if string(got.Private) != "p" {
				t.Errorf("private: got %q, want \"p\"", got.Private)
			}
		})
	}
}

func TestApplyTerraformData(t *testing.T) {
	p := testProvider()
	config := object(attrs{"input": cty.TupleVal([]cty.Value{cty.True}), "input_wo": str("secret"), "input_wo_version": cty.Zero})
	resp, diags := p.ApplyResource(t.Context(), provider.ApplyRequest{
		Type: dataType, Prior: nothing(), Config: config, Planned: plan(t, p, nothing(), config).Planned, PlannedPrivate: []byte("q"),
	})
	tuple := config.GetAttr("input")
	want := object(attrs{"id": str("new-id"), "input": tuple, "output": tuple, "input_wo_version": cty.Zero})
	if diags.HasErrors() || !resp.New.RawEquals(want) || string(resp.Private) != "q" {
		t.Errorf("got %#v, private %q, %v, want %#v, private \"q\"", resp.New, resp.Private, diags, want)
	}
	resp, diags = p.ApplyResource(t.Context(), provider.ApplyRequest{Type: dataType, Prior: want, Planned: nothing(), Config: nothing()})
	if diags.HasErrors() || !resp.New.IsNull() {
		t.Errorf("destroyed %#v, %v", resp.New, diags)
	}
	planned := object(attrs{"input": unknown, "id": str("i")})
	resp, diags = p.ApplyResource(t.Context(), provider.ApplyRequest{Type: dataType, Prior: want, Planned: planned, Config: planned})
	if !diags.HasErrors() || !resp.New.RawEquals(want) {
		t.Errorf("a plan with unknown input was applied: got %#v, want %#v", resp.New, want)
	}
}

func TestNewIDsDiffer(t *testing.T) {
	p, planned := New(Options{}), object(attrs{"id": cty.UnknownVal(cty.String)})
	ids := map[string]bool{}
	for range 3 {
		resp, _ := p.ApplyResource(t.Context(), provider.ApplyRequest{Type: dataType, Prior: nothing(), Planned: planned, Config: planned})
		ids[resp.New.GetAttr("id").AsString()] = true
	}
	if len(ids) != 3 {
		t.Errorf("got the IDs %v, want 3 different ones", ids)
	}
}

func anyValue() *rapid.Generator[cty.Value] {
	return rapid.SampledFrom([]cty.Value{
		null, str("a"), str("b"), cty.Zero, cty.EmptyTupleVal, cty.ListVal([]cty.Value{str("a")}), cty.TupleVal([]cty.Value{str("a"), null}),
		cty.ObjectVal(attrs{"a": str("a")}), cty.MapVal(attrs{"a": str("a")}), cty.NullVal(cty.String), cty.SetVal([]cty.Value{cty.Zero}),
	})
}

// TestObeysTheContract takes objects through lives of changes, each planned with parts unknown first, and
// checks every answer.
func TestObeysTheContract(t *testing.T) {
	p, block := testProvider(), dataSchema.Block
	rapid.Check(t, func(rt *rapid.T) {
		prior := nothing()
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			final, first := attrs{}, attrs{}
			for _, name := range []string{"input", "triggers_replace", "input_wo", "input_wo_version"} {
				final[name] = anyValue().Draw(rt, name)
				first[name] = final[name]
				if rapid.Bool().Draw(rt, "unknown") {
					first[name] = unknown
				}
			}
			early := plan(t, p, prior, object(first))
			assertNone(rt, schema.AssertPlanValid(block, prior, object(first), early.Planned))
			if len(early.RequiresReplace) > 0 {
				prior = nothing()
				early = plan(t, p, prior, object(first))
			}
			second := plan(t, p, prior, object(final))
			if len(second.RequiresReplace) > 0 {
				rt.Fatal("the second plan replaces, the first did not")
			}
			assertNone(rt, schema.AssertSecondPlan(block, early.Planned, second.Planned))
			got, diags := p.ApplyResource(t.Context(), provider.ApplyRequest{Type: dataType, Prior: prior, Planned: second.Planned, Config: object(final)})
			if diags.HasErrors() {
				rt.Fatal(diags.Err())
			}
			assertNone(rt, schema.AssertApplyResult(block, second.Planned, got.New))
			read, _ := p.ReadResource(t.Context(), provider.ReadRequest{Type: dataType, Prior: got.New})
			if !read.New.RawEquals(got.New) || !got.New.GetAttr("output").RawEquals(final["input"]) {
				rt.Fatalf("got %#v when it is read, want %#v with the output %#v", read.New, got.New, final["input"])
			}
			prior = got.New
		}
	})
}

func assertNone(t *rapid.T, errs []error) {
	t.Helper()
	for _, err := range errs {
		t.Error(err)
	}
}

func TestUpgradeTerraformData(t *testing.T) {
	full := object(attrs{"id": str("i"), "input": cty.Zero, "output": cty.Zero})
	tests := map[string]struct {
		req  provider.UpgradeRequest
		want cty.Value
		err  string
	}{
		"of a peer": {provider.UpgradeRequest{
			Type: dataType,
			JSON: []byte(`{"id":"i","input":{"value":0,"type":"number"},"output":{"value":0,"type":"number"},"triggers_replace":null}`),
		}, full, ""},
		"unknown attribute": {provider.UpgradeRequest{
			Type: dataType,
			JSON: []byte(`{"id":"i","input":{"value":0,"type":"number"},"output":{"value":0,"type":"number"},"new":1}`),
		}, full, ""},
		"write-only stored": {provider.UpgradeRequest{
			Type: dataType,
			JSON: []byte(`{"id":"i","input_wo":{"value":"x","type":"string"}}`),
		}, object(attrs{"id": str("i")}), ""},
		"newer":    {provider.UpgradeRequest{Type: dataType, Version: 1, JSON: []byte(`{}`)}, cty.NilVal, "newer version"},
		"flat":     {provider.UpgradeRequest{Type: dataType, Flatmap: map[string]string{"id": "i"}}, cty.NilVal, "a form that this type never had"},
		"damaged":  {provider.UpgradeRequest{Type: dataType, JSON: []byte(`{"id":["s3cret"]}`)}, cty.NilVal, "attribute id does not fit"},
		"null":     {provider.UpgradeRequest{Type: dataType, JSON: []byte(`null`)}, cty.NilVal, "not a JSON object"},
		"not JSON": {provider.UpgradeRequest{Type: dataType}, cty.NilVal, "not a JSON object"},
		"bad type": {provider.UpgradeRequest{Type: "x", JSON: []byte(`{}`)}, cty.NilVal, `no resource type "x"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, diags := testProvider().UpgradeResource(t.Context(), test.req)
			if test.err != "" {
				if err := diags.Err(); err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cret") {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			if diags.HasErrors() || !got.RawEquals(test.want) {
				t.Errorf("got %#v, %v, want %#v", got, diags, test.want)
			}
		})
	}
}

func TestImportTerraformData(t *testing.T) {
	resp, diags := testProvider().ImportResource(t.Context(), provider.ImportRequest{Type: dataType, ID: "x"})
	if diags.HasErrors() || len(resp.Objects) != 1 || !resp.Objects[0].State.RawEquals(object(attrs{"id": str("x")})) {
		t.Errorf("ImportResource: got %#v, %v, want one object with the id x", resp, diags)
	}
	for _, req := range []provider.ImportRequest{{Type: dataType}, {Type: "x", ID: "x"}, {Type: remoteStateType, ID: "x"}} {
		if _, diags := testProvider().ImportResource(t.Context(), req); !diags.HasErrors() {
			t.Errorf("import %+v succeeded", req)
		}
	}
}

func TestMoveNullResource(t *testing.T) {
	nullProvider := addr.DefaultProvider("null")
	move := func(p addr.Provider, typ, json string) (cty.Value, error) {
		resp, diags := testProvider().MoveResource(t.Context(), provider.MoveRequest{
			SourceProvider: p, SourceType: typ, SourceJSON: []byte(json), TargetType: dataType,
		})
		return resp.Target, diags.Err()
	}
	got, err := move(nullProvider, "null_resource", `{"id":"1","triggers":{"a":"b"}}`)
	if err != nil || !got.RawEquals(object(attrs{"id": str("1"), "triggers_replace": cty.ObjectVal(attrs{"a": str("b")})})) {
		t.Errorf("moving a null_resource: got %#v, %v, want its id, and the triggers as triggers_replace", got, err)
	}
	config := object(attrs{"triggers_replace": cty.ObjectVal(attrs{"a": str("b")})})
	if again := plan(t, testProvider(), got, config); !again.Planned.RawEquals(got) {
		t.Errorf("the move alone is a change: got %#v, want %#v", again.Planned, got)
	}
	if got, err = move(nullProvider, "null_resource", `{"id":"1","triggers":null}`); err != nil || !got.RawEquals(object(attrs{"id": str("1")})) {
		t.Errorf("moving a null_resource without triggers: got %#v, %v, want its id alone", got, err)
	}
	for name, try := range map[string][2]string{"type": {"null_data_source", `{"id":"1"}`}, "no id": {"null_resource", `{}`}, "form": {"null_resource", `{"id":1}`}} {
		if _, err := move(nullProvider, try[0], try[1]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := move(addr.DefaultProvider("random"), "null_resource", `{"id":"1"}`); err == nil {
		t.Error("an object of another provider was moved")
	}
}

func TestRefusals(t *testing.T) {
	p, ctx := testProvider(), t.Context()
	refused := map[string]bool{}
	_, diags := p.OpenEphemeral(ctx, "e", cty.EmptyObjectVal)
	refused["open"] = diags.HasErrors()
	_, diags = p.RenewEphemeral(ctx, "e", nil)
	refused["renew"] = diags.HasErrors()
	refused["close"] = p.CloseEphemeral(ctx, "e", nil).HasErrors()
	_, diags = p.UpgradeIdentity(ctx, provider.UpgradeRequest{Type: dataType})
	refused["identity"] = diags.HasErrors()
	_, diags = p.ReadResource(ctx, provider.ReadRequest{Type: "x"})
	refused["read"] = diags.HasErrors()
	_, diags = p.ReadResource(ctx, provider.ReadRequest{Type: dataType})
	refused["read nothing"] = diags.HasErrors()
	_, diags = p.PlanResource(ctx, provider.PlanRequest{Type: dataType, Prior: str("x"), Proposed: nothing()})
	refused["plan"] = diags.HasErrors()
	_, diags = p.ApplyResource(ctx, provider.ApplyRequest{Type: dataType, Prior: nothing(), Planned: cty.EmptyObjectVal})
	refused["apply"] = diags.HasErrors()
	refused["validate"] = p.ValidateResource(ctx, addr.Managed, remoteStateType, cty.EmptyObjectVal).HasErrors()
	refused["validate marked"] = p.ValidateResource(ctx, addr.Managed, dataType, object(attrs{"input": str("x").Mark("m")})).HasErrors()
	_, diags = p.ReadData(ctx, provider.DataRequest{Type: dataType, Config: object(nil)})
	refused["data"] = diags.HasErrors()
	want := map[string]bool{}
	for name := range refused {
		want[name] = true
	}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"id", "output"} {
		if diags := p.ValidateResource(ctx, addr.Managed, dataType, object(attrs{name: str("x")})); len(diags) != 1 || !diags[0].Path.Equals(cty.GetAttrPath(name)) {
			t.Errorf("value for %s: got %v, want one diagnostic at this attribute", name, diags)
		}
	}
	if diags := p.ValidateResource(ctx, addr.Managed, dataType, object(attrs{"input": unknown})); len(diags) > 0 {
		t.Error(diags)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
