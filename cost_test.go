package mayfly_test

import (
	"context"
	"testing"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// counts is the work of one plan and apply.
type counts struct{ evaluations, calls, bytes, deps, edges int64 }

// countingStore counts what the journal and the state would write to disk.
type countingStore struct {
	store.Manager
	bytes int64
}

type countingFile struct{ n *int64 }

func (f countingFile) Write(b []byte) (int, error) { *f.n += int64(len(b)); return len(b), nil }
func (f countingFile) Sync() error                 { return nil }
func (f countingFile) Reserve(int64) error         { return nil }

func (s *countingStore) BeginRun(_ context.Context, base *state.File, version string) (state.Run, error) {
	log, err := state.NewLog(countingFile{&s.bytes}, base.Meta, nil)
	return state.NewRun(base, version, log, s.Write), err
}

func (s *countingStore) Write(ctx context.Context, f *state.File) error {
	b, err := state.Write(f)
	s.bytes += int64(len(b))
	if err != nil {
		return err
	}
	return s.Manager.Write(ctx, f)
}

func open(t testing.TB, dir string, m store.Manager) *mayfly.Project {
	t.Helper()
	p, diags := mayfly.Open(t.Context(), mayfly.Options{Dir: dir, Launcher: &mayfly.Launcher{Dir: dir}, State: mayfly.StateOptions{Store: m}})
	must(t, diags)
	t.Cleanup(p.Close)
	return p
}

func must(t testing.TB, diags diag.List) {
	t.Helper()
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
}

// measure plans and applies a configuration from nothing, plans again, and returns what that took.
func measure(t testing.TB, files map[string]string) counts {
	t.Helper()
	dir := filetest.Tree(t, files)
	m, err := inmem.New().Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	counting := &countingStore{Manager: m}
	p := open(t, dir, counting)
	op, diags := p.Begin(t.Context(), "apply", mayfly.BeginOptions{})
	must(t, diags)
	defer op.End()
	planned, diags := op.Plan(t.Context(), mayfly.PlanOptions{})
	must(t, diags)
	_, diags = op.Apply(t.Context(), planned, mayfly.ApplyOptions{})
	must(t, diags)
	again, diags := op.Plan(t.Context(), mayfly.PlanOptions{})
	must(t, diags)
	if again.Changed() {
		t.Fatalf("the second plan has changes: %+v", again.Counts())
	}
	s := p.Stats()
	c := counts{evaluations: s.Evaluations, calls: s.ProviderCalls, bytes: counting.bytes}
	for _, change := range planned.Changes {
		c.deps += int64(1 + len(change.Deps))
	}
	steps, diags := planned.Steps()
	must(t, diags)
	for _, step := range steps {
		c.edges += int64(1 + len(step.Next))
	}
	return c
}

// growth compares what was counted at n and at twice as much.
func growth(t testing.TB, what string, n int, one, two int64) {
	t.Helper()
	const limit = 2.2
	ratio := float64(two) / float64(one)
	t.Logf("%s: %d at %d, %d at %d: ratio %.2f", what, one, n, two, 2*n, ratio)
	switch {
	case one <= 0:
		t.Errorf("%s: nothing was counted at %d", what, n)
	case ratio > limit:
		t.Errorf("%s grow by %.2f when the configuration doubles", what, ratio)
	}
}

// TestCostIsLinear counts evaluations, provider calls and bytes written at N and 2N.
func TestCostIsLinear(t *testing.T) {
	const n = 200
	for _, shape := range work.Shapes {
		if shape.Name == "large" {
			continue // its number of modules does not grow, and the others have what is in them
		}
		t.Run(shape.Name, func(t *testing.T) {
			t.Parallel()
			one, two := measure(t, shape.Files(n, work.Builtin)), measure(t, shape.Files(2*n, work.Builtin))
			for what, pair := range map[string][2]int64{
				"evaluations": {one.evaluations, two.evaluations}, "provider calls": {one.calls, two.calls}, "bytes written": {one.bytes, two.bytes},
				"dependencies": {one.deps, two.deps}, "edges": {one.edges, two.edges},
			} {
				growth(t, what, n, pair[0], pair[1])
			}
		})
	}
}

func BenchmarkPlanApply(b *testing.B) {
	for _, shape := range work.Shapes {
		b.Run(shape.Name, func(b *testing.B) {
			files := shape.Files(1000, work.Builtin)
			for b.Loop() {
				measure(b, files)
			}
		})
	}
}
