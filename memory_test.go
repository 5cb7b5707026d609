package mayfly_test

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// storing calls a function whenever the state is stored.
type storing struct {
	store.Manager
	before func()
}

func (s *storing) BeginRun(_ context.Context, base *state.File, version string) (state.Run, error) {
	log, err := state.NewLog(countingFile{new(int64)}, base.Meta, nil)
	return state.NewRun(base, version, log, s.Write), err
}

func (s *storing) Write(ctx context.Context, f *state.File) error {
	s.before()
	return s.Manager.Write(ctx, f)
}

// TestChangesAreFreeBeforeTheStateIsStored looks from the store whether anything still holds the changes of
// the plan that was applied. Storing a large state takes much memory itself.
func TestChangesAreFreeBeforeTheStateIsStored(t *testing.T) {
	for what, saved := range map[string]bool{"a plan of the operation": false, "a saved plan": true} {
		t.Run(what, func(t *testing.T) {
			dir := filetest.Tree(t, map[string]string{"main.tf": "resource \"terraform_data\" \"a\" {\n  input = 1\n}\noutput \"a\" {\n  value = terraform_data.a.id\n}\n"})
			m, err := inmem.New().Manager(store.DefaultWorkspace)
			if err != nil {
				t.Fatal(err)
			}
			var change weak.Pointer[plan.Change]
			stored, held := 0, false
			p := open(t, dir, &storing{m, func() {
				stored++
				for range 1000 { // a worker may be about to end
					if runtime.GC(); change.Value() == nil {
						return
					}
					time.Sleep(time.Millisecond)
				}
				held = true
			}})
			op, diags := p.Begin(t.Context(), "apply", mayfly.BeginOptions{})
			must(t, diags)
			defer func() { must(t, op.End()) }()
			planned, diags := op.Plan(t.Context(), mayfly.PlanOptions{})
			must(t, diags)
			if saved {
				must(t, op.End())
				op, diags = p.Begin(t.Context(), "apply", mayfly.BeginOptions{Saved: planned})
				must(t, diags)
			}
			change = weak.Make(planned.Changes[0])
			_, diags = op.Apply(t.Context(), planned, mayfly.ApplyOptions{})
			must(t, diags)
			if stored != 1 || held {
				t.Errorf("stored %d times, a change is held %t, want once, and that none is", stored, held)
			}
		})
	}
}
