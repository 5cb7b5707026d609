package mock_test

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/mock"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// block has a computed part of each kind.
var block = &schema.Block{
	Attributes: map[string]*schema.Attribute{
		"name":   {Type: cty.String, Required: true},
		"id":     {Type: cty.String, Computed: true},
		"size":   {Type: cty.Number, Optional: true, Computed: true},
		"list":   {Type: cty.List(cty.String), Computed: true},
		"secret": {Type: cty.String, Optional: true, WriteOnly: true},
		"nested": {Nested: &schema.Object{Nesting: schema.Map, Attributes: map[string]*schema.Attribute{
			"in": {Type: cty.String, Required: true}, "hash": {Type: cty.String, Computed: true},
		}}, Optional: true},
	},
	Blocks: map[string]*schema.NestedBlock{
		"rule": {Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{
			"port": {Type: cty.Number, Required: true}, "rule_id": {Type: cty.String, Computed: true},
		}}},
	},
}

type catalog struct{ provider.Catalog }

func (catalog) Resource(addr.Mode, string) (*schema.Schema, diag.List) {
	return &schema.Schema{Block: block}, nil
}

func answering(values ...mock.Values) provider.Provider {
	return mock.New(mock.Options{
		Seed: "t.a", Values: values,
		Catalog:  func(context.Context) (provider.Catalog, diag.List) { return catalog{}, nil },
		Validate: func(context.Context, addr.Mode, string, cty.Value) diag.List { return nil },
	})
}

func configuration() cty.Value {
	attrs := block.Empty().AsValueMap()
	attrs["name"], attrs["secret"] = cty.StringVal("n"), cty.StringVal("s3cr3t")
	nested := block.Type().AttributeType("nested").ElementType()
	attrs["nested"] = cty.MapVal(map[string]cty.Value{"k": cty.ObjectVal(map[string]cty.Value{"in": cty.StringVal("i"), "hash": cty.NullVal(nested.AttributeType("hash"))})})
	attrs["rule"] = cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"port": cty.NumberIntVal(1), "rule_id": cty.NullVal(cty.String)})})
	return cty.ObjectVal(attrs)
}

// TestAnswersKeepTheContract plans, applies and opens with values for some attributes, and holds the answers
// against the rules for providers.
func TestAnswersKeepTheContract(t *testing.T) {
	given := mock.Values{Object: cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal("given"), "nested": cty.ObjectVal(map[string]cty.Value{"hash": cty.StringVal("h")}), "rule": cty.ObjectVal(map[string]cty.Value{"rule_id": cty.StringVal("r")}),
	})}
	config, prior := configuration(), cty.NullVal(block.Type())
	for _, during := range []bool{false, true} {
		given.DuringPlan = during
		p := answering(given)
		planned, diags := p.PlanResource(t.Context(), provider.PlanRequest{Type: "t", Prior: prior, Config: config, Proposed: schema.ProposedNew(block, prior, config)})
		if errs := schema.AssertPlanValid(block, prior, config, planned.Planned); len(errs) > 0 || diags.HasErrors() {
			t.Fatal(errs, diags)
		}
		if planned.Planned.GetAttr("id").IsKnown() != during || planned.Planned.GetAttr("list").IsKnown() {
			t.Errorf("planned: got %#v, want id known: %t, and list unknown", planned.Planned, during)
		}
		applied, diags := p.ApplyResource(t.Context(), provider.ApplyRequest{Type: "t", Prior: prior, Config: config, Planned: planned.Planned})
		errs := append(schema.AssertApplyResult(block, planned.Planned, applied.New), schema.AssertWhollyKnown(applied.New)...)
		if len(errs) > 0 || diags.HasErrors() {
			t.Fatal(errs, diags)
		}
		rule, nested := applied.New.GetAttr("rule").Index(cty.Zero), applied.New.GetAttr("nested").Index(cty.StringVal("k"))
		if rule.GetAttr("rule_id").AsString() != "r" || nested.GetAttr("hash").AsString() != "h" || !applied.New.GetAttr("secret").IsNull() {
			t.Errorf("applied: got %#v, want rule_id r, hash h, and secret null", applied.New)
		}
	}
	opened, diags := answering().OpenEphemeral(t.Context(), "t", config)
	if errs := schema.AssertOpenResult(block, block.NullWriteOnly(config), opened.Result); len(errs) > 0 || diags.HasErrors() || !opened.Opened {
		t.Error(errs, diags)
	}
}

// TestRequiredArgumentsAreChecked has arguments that are null, unknown and missing in nested objects.
func TestRequiredArgumentsAreChecked(t *testing.T) {
	attrs := configuration().AsValueMap()
	plan := func() diag.List {
		config, prior := cty.ObjectVal(attrs), cty.NullVal(block.Type())
		_, diags := answering().PlanResource(t.Context(), provider.PlanRequest{Type: "t", Prior: prior, Config: config, Proposed: config})
		return diags
	}
	if diags := plan(); len(diags) > 0 {
		t.Error(diags)
	}
	attrs["name"] = cty.UnknownVal(cty.String)
	attrs["rule"] = cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"port": cty.NullVal(cty.Number), "rule_id": cty.NullVal(cty.String)})})
	diags := plan()
	if len(diags) != 1 || diags[0].Detail != "The argument rule[0].port is required, but its value here is null." {
		t.Error(diags)
	}
	attrs["name"] = cty.NullVal(cty.String)
	if diags := plan(); len(diags) != 2 {
		t.Error(diags)
	}
	if _, diags := answering().OpenEphemeral(t.Context(), "t", cty.ObjectVal(attrs)); len(diags) != 2 {
		t.Error(diags)
	}
}

// TestCheck finds each kind of mistake in given values.
func TestCheck(t *testing.T) {
	diags := mock.Check(block, cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal("fine"), "name": cty.StringVal("configured"), "secret": cty.StringVal("write-only"), "sise": cty.Zero, "list": cty.True,
		"rule": cty.TupleVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"port": cty.Zero})}),
	}))
	if len(diags) != 5 {
		t.Errorf("got %d mistakes, want 5: %v", len(diags), diags)
	}
}
