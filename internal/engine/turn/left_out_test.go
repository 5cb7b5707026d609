package turn

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

const guarded = `
resource "t" "a" {}
resource "t" "b" {}
locals { a = [t.a.id] }
check "a" {
  assert {
    condition     = local.a != null
    error_message = "No."
  }
}
check "b" {
  assert {
    condition     = t.b.id != null
    error_message = "No."
  }
}
check "module" {
  assert {
    condition     = module.m != null
    error_message = "No."
  }
}
module "m" {
  source = "./m"
  a      = t.a.id
}
module "after" {
  source     = "./m"
  a          = t.b.id
  depends_on = [module.m]
}
`

const inModule = `
variable "a" {
  validation {
    condition     = var.a != "x"
    error_message = "No."
  }
}
resource "t" "inner" {
  lifecycle {
    postcondition {
      condition     = self.id != null
      error_message = "No."
    }
  }
}
output "a" {
  value = var.a
  precondition {
    condition     = var.a != "y"
    error_message = "No."
  }
}
`

// TestLeftOut finds the conditions that a plan leaves out, and behind which it changes an object.
func TestLeftOut(t *testing.T) {
	dir := fstest.MapFS{"main.tf": {Data: []byte(guarded)}, "m/main.tf": {Data: []byte(inModule)}}
	tree, diags := (&config.Loader{FS: dir}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := blocks.Compile(tree, blockstest.Schemas{"id": {Type: cty.String, Computed: true}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	all := []string{"check.a", "check.b", "check.module", "module.after.output.a", "module.after.t.inner", "module.after.var.a", "module.m.output.a", "module.m.t.inner", "module.m.var.a"}
	for _, c := range []struct {
		changes map[string]plan.Action
		want    []string
	}{
		{nil, nil},
		{map[string]plan.Action{"t.a": plan.NoOp, "t.gone": plan.Delete, "module.gone.t.x": plan.Delete}, nil},
		{map[string]plan.Action{"t.b": plan.Update}, []string{"check.b", "module.after.output.a", "module.after.var.a"}},
		{map[string]plan.Action{"t.a": plan.Update}, []string{"check.a", "check.module", "module.after.t.inner", "module.m.output.a", "module.m.var.a"}},
		{map[string]plan.Action{"module.m.t.inner": plan.Update}, []string{"module.after.t.inner", "module.m.t.inner"}},
	} {
		p := &plan.Plan{Checks: []state.CheckResult{
			{Config: "check.a", Status: state.CheckUnknown, Objects: []state.CheckObject{{}}},
			{Config: "check.b", Status: state.CheckPass},
		}}
		for _, name := range all {
			p.Checks = append(p.Checks, state.CheckResult{Config: name, Status: state.CheckUnknown})
		}
		for name, action := range c.changes {
			a, err := addr.ParseInstance(name)
			if err != nil {
				t.Fatal(err)
			}
			p.Changes = append(p.Changes, &plan.Change{Addr: a, Action: action})
		}
		var got []string
		for _, r := range leftOut(cfg, p) {
			got = append(got, r.Config)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("after %v, got %v, want %v", c.changes, got, c.want)
		}
	}
	if got := leftOut(cfg, &plan.Plan{Changes: []*plan.Change{{Action: plan.Update}}}); got != nil {
		t.Errorf("got %v of a plan that leaves nothing out, want nothing", got)
	}
}
