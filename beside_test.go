package mayfly_test

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
)

// assertion returns a condition, as a test file has it.
func assertion(t *testing.T, condition string) *config.Condition {
	t.Helper()
	parse := func(src string) hcl.Expression {
		e, hd := hclsyntax.ParseExpression([]byte(src), "t.tftest.hcl", hcl.InitialPos)
		if hd.HasErrors() {
			t.Fatal(hd)
		}
		return e
	}
	return &config.Condition{Condition: parse(condition), ErrorMessage: parse(`"it is not"`)}
}

// TestAssertionsOfATestRun evaluates assertions about outputs and earlier runs at the end of an apply. They
// are not evaluated by its plan, and hold nothing up.
func TestAssertionsOfATestRun(t *testing.T) {
	dir := t.TempDir()
	source := `
		resource "terraform_data" "a" { input = "x" }
		output "id" { value = terraform_data.a.id }
		output "in" { value = terraform_data.a.output }`
	filetest.Write(t, filepath.Join(dir, "main.tf"), source)
	p, diags := mayfly.Open(t.Context(), mayfly.Options{Dir: dir, Launcher: &mayfly.Launcher{}})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	defer p.Close()
	tree := p.Tree.Copy()
	tree.Root.Variables[config.EarlierRun("first")] = config.Given(config.EarlierRun("first"), cty.ObjectVal(map[string]cty.Value{"in": cty.StringVal("x")}), false)
	tree.Root.Checks["t"] = &config.Check{Name: "t", Test: true, Late: true, Asserts: []*config.Condition{
		assertion(t, `output.in == run.first.in`), assertion(t, `output.id == "none"`),
	}}
	manager, err := inmem.New().Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	beside := p.Beside(mayfly.BesideOptions{Tree: tree, Store: manager})
	op, diags := beside.Begin(t.Context(), "test", mayfly.BeginOptions{})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	defer op.End()
	var planned *plan.Plan
	if planned, diags = op.Plan(t.Context(), mayfly.PlanOptions{}); len(diags) > 0 {
		t.Fatalf("planning: %v", diags)
	}
	_, diags = op.Apply(t.Context(), planned, mayfly.ApplyOptions{})
	if len(diags) != 1 || diags[0].Severity != diag.Warning || diags[0].Subject.Start.Line != 1 {
		t.Fatalf("Apply: got %v, want one warning on line 1", diags)
	}
	if a, ok := diags[0].Extra.(diag.Assertion); !ok || a.Undecided || a.Difference == nil || a.Difference.Right.AsString() != "none" {
		t.Errorf("assertion: got %v, want a decided one whose right side is \"none\"", diags[0].Extra)
	}
	if len(op.State().Outputs) != 2 {
		t.Errorf("got %d outputs stored, want 2", len(op.State().Outputs))
	}
}
