package engine

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/engine/part"
)

// TestAttemptsKeepReads holds that only plans which may be made again keep the objects that were read: these
// take a quarter of the memory of a plan.
func TestAttemptsKeepReads(t *testing.T) {
	for name, row := range map[string]struct {
		req   PlanRequest
		keeps bool
	}{
		"made once":       {req: PlanRequest{}},
		"may defer":       {req: PlanRequest{AllowDeferral: true}, keeps: true},
		"part of a state": {req: PlanRequest{Part: &part.Part{}}, keeps: true},
	} {
		if got := newAttempts(&row.req).reads != nil; got != row.keeps {
			t.Errorf("%s: got objects kept: %t, want %t", name, got, row.keeps)
		}
	}
}
