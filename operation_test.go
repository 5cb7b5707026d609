package mayfly

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestPartReader reads a part for plans with targets alone, and only from stores that can.
func TestPartReader(t *testing.T) {
	x, err := addr.ParseTarget("t.a")
	if err != nil {
		t.Fatal(err)
	}
	targets := []addr.Target{x}
	for _, row := range []struct {
		what string
		o    Operation
		want bool
	}{
		{"nothing known", Operation{}, false},
		{"targets", Operation{purpose: &PlanOptions{Targets: targets}}, true},
		{"no targets", Operation{purpose: &PlanOptions{}}, false},
		{"also excludes", Operation{purpose: &PlanOptions{Targets: targets, Excludes: targets}}, false},
		{"deferral", Operation{purpose: &PlanOptions{Targets: targets, AllowDeferral: true}}, false},
		{"the lock", Operation{purpose: &PlanOptions{Targets: targets}, lock: "id"}, false},
		{"a saved plan with targets", Operation{saved: &plan.Plan{Targets: targets, Scope: &state.Scope{}}}, true},
		{"a saved plan without a scope", Operation{saved: &plan.Plan{Targets: targets}}, false},
		{"changes", Operation{purpose: &PlanOptions{Scope: ScopeChanged}}, true},
		{"changes under the lock", Operation{purpose: &PlanOptions{Scope: ScopeChanged}, lock: "id"}, false},
		{"a saved plan of changes", Operation{saved: &plan.Plan{Scope: &state.Scope{}, Extent: &plan.Extent{}}}, true},
		{"a saved plan of changes that is a full one", Operation{saved: &plan.Plan{Scope: &state.Scope{}, Extent: &plan.Extent{Full: "why"}}}, false},
		{"a saved plan of everything", Operation{saved: &plan.Plan{Scope: &state.Scope{}}}, false},
	} {
		if got := row.o.wantsPart(); got != row.want {
			t.Errorf("%s: got %v, want %v", row.what, got, row.want)
		}
	}
}

// TestSuits has another plan than the expected one use the whole state.
func TestSuits(t *testing.T) {
	x, err := addr.ParseTarget("t.a")
	if err != nil {
		t.Fatal(err)
	}
	opt := PlanOptions{Targets: []addr.Target{x}}
	destroy, more, none := opt, opt, PlanOptions{}
	destroy.Mode = plan.Destroy
	more.AllowDeferral = true
	for what, row := range map[string]struct {
		o    Operation
		opt  PlanOptions
		want bool
	}{
		"the whole state":       {Operation{}, none, true},
		"the expected plan":     {Operation{part: &part.Part{}, purpose: &opt}, opt, true},
		"another mode":          {Operation{part: &part.Part{}, purpose: &opt}, destroy, false},
		"no targets":            {Operation{part: &part.Part{}, purpose: &opt}, none, false},
		"deferral":              {Operation{part: &part.Part{}, purpose: &opt}, more, false},
		"changes":               {Operation{part: &part.Part{}, purpose: &opt}, PlanOptions{Scope: ScopeChanged}, true},
		"not the changes":       {Operation{part: &part.Part{}, purpose: &PlanOptions{Targets: opt.Targets, Scope: ScopeChanged}}, opt, false},
		"after a saved one":     {Operation{part: &part.Part{}, saved: &plan.Plan{}}, opt, false},
		"after one was applied": {Operation{part: &part.Part{}}, opt, false},
	} {
		if got := row.o.suits(row.opt); got != row.want {
			t.Errorf("%s: got %v, want %v", what, got, row.want)
		}
	}
}
