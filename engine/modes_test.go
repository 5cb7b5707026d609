package engine_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// summaries returns the distinct severities and summaries of diagnostics.
func summaries(diags diag.List) []string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Severity.String()+": "+d.Summary)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestConditionsWhileRefreshing lets conditions of every kind fail: refreshing warns, and takes over what is there.
func TestConditionsWhileRefreshing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
variable "ok" { default = true }
resource "sim_thing" "x" {
  name = "x"
  size = 1
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "pre"
    }
    postcondition {
      condition     = var.ok || self.size == 0
      error_message = "post"
    }
  }
}
data "sim_lookup" "d" {
  name = "x"
  depends_on = [sim_thing.x]
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "pre of data"
    }
  }
}
output "o" {
  value = data.sim_lookup.d.size
  precondition {
    condition     = var.ok
    error_message = "output"
  }
}`)
	w.ok(command{})
	w.drift("x-1", "size", "7")
	bad := map[string]cty.Value{"ok": cty.False}
	r := w.ok(command{mode: plan.RefreshOnly, vars: bad})
	if got := summaries(r.diags()); !slices.Equal(got, []string{"warning: Module output value precondition failed", "warning: Resource postcondition failed", "warning: Resource precondition failed"}) {
		t.Errorf("diagnostics: %q", got)
	}
	if got := w.output("o"); got != "cty.NumberIntVal(7)" {
		t.Errorf("the output is %s", got)
	}
	if got := w.checks(); !slices.Equal(got, []string{"data.sim_lookup.d fail", "output.o fail", "sim_thing.x fail"}) {
		t.Errorf("checks = %q", got)
	}
	w.ok(command{mode: plan.RefreshOnly})
	if got := w.checks(); !slices.Equal(got, []string{"data.sim_lookup.d pass", "output.o pass", "sim_thing.x pass"}) {
		t.Errorf("checks = %q", got)
	}
	w.fails(command{vars: bad}, "Resource precondition failed")
}
