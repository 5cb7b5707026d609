package settle

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestRecordsNothing finds no units in plans that don't look at everything that has changed, or whose hashes
// are not known.
func TestRecordsNothing(t *testing.T) {
	plain := compile(t, "resource \"t\" \"a\" {}\n")
	work, hashes := &changed.Work{}, state.BlockHashes{}
	for name, c := range map[string]struct {
		cfg    *blocks.Config
		plan   plan.Plan
		work   *changed.Work
		hashes state.BlockHashes
	}{
		"another scope":        {plain, plan.Plan{}, nil, hashes},
		"no hashes":            {plain, plan.Plan{}, work, nil},
		"computed values":      {compile(t, "resource \"t\" \"a\" {\n  lifecycle { ephemeral_attributes = [made] }\n}\n"), plan.Plan{}, work, hashes},
		"only refreshing":      {plain, plan.Plan{Mode: plan.RefreshOnly}, work, hashes},
		"targets":              {plain, plan.Plan{Targets: make([]addr.Target, 1)}, work, hashes},
		"excludes":             {plain, plan.Plan{Excludes: make([]addr.Target, 1)}, work, hashes},
		"deferrals":            {plain, plan.Plan{Deferrals: make([]*plan.Deferral, 1)}, work, hashes},
		"an action by request": {plain, plan.Plan{Invocations: []*plan.Invocation{{}}}, work, hashes},
	} {
		if got := find(nil, c.cfg, &c.plan, c.work, c.hashes); got != nil {
			t.Errorf("%s: got units, want none", name)
		}
	}
}
