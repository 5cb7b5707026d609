package schema_test

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// TestDynamicBlocksWithinBudget decodes dynamic blocks within dynamic blocks, which have no arguments.
func TestDynamicBlocksWithinBudget(t *testing.T) {
	inner, outer := &schema.NestedBlock{Nesting: schema.List}, &schema.NestedBlock{Nesting: schema.List}
	outer.Blocks = map[string]*schema.NestedBlock{"inner": inner}
	b := &schema.Block{Blocks: map[string]*schema.NestedBlock{"outer": outer}}
	file, diags := hclsyntax.ParseConfig([]byte(`
dynamic "outer" {
  for_each = l
  content {
    dynamic "inner" {
      for_each = l
      content {}
    }
  }
}`), "", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	list := make([]cty.Value, 100)
	for i := range list {
		list[i] = cty.NumberIntVal(int64(i))
	}
	for left, within := range map[int]bool{5000: false, 50_000: true} {
		vars, budget := map[string]cty.Value{"l": cty.TupleVal(list)}, bounds.NewBudget(nil)
		budget.Spend(bounds.MaxMade-left, nil)
		budget.Within(vars)
		v, found := b.Decode(file.Body, &hcl.EvalContext{Variables: vars})
		if found.HasErrors() {
			t.Error(found)
		}
		blocks := 0
		for _, o := range v.GetAttr("outer").Elements() {
			blocks += o.GetAttr("inner").LengthInt()
		}
		if excess := budget.Excess(); (excess == nil) != within || excess != nil && excess.Range.Empty() || (blocks == 10_000) != within || blocks > 10_000 {
			t.Errorf("with %d elements left: got %d blocks, %v, want all 10000: %t", left, blocks, excess, within)
		}
	}
}
